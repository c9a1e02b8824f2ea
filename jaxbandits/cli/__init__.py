"""The command line: `jaxbandits list | simulate | compare | plan | gradient | tune | sweep | status | merge | …`.

`main` reports any bad input as one line on stderr with exit status 2. The commands are in `run_commands`,
`plan_command`, `sweep_commands`, `gradient_command`, `tune_command`, `plot_commands`, `export_command` and
`list_command`. `inputs` converts text to values, `files` checks paths, and `display`, `result_text` and `status_text`
format the output.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Sequence

import cyclopts

from jaxbandits.cli.encodings import printable
from jaxbandits.cli.export_command import export
from jaxbandits.cli.gradient_command import gradient
from jaxbandits.cli.list_command import list_
from jaxbandits.cli.plan_command import plan
from jaxbandits.cli.plot_commands import plot, reproduce
from jaxbandits.cli.run_commands import compare, simulate
from jaxbandits.cli.sweep_commands import compact, merge, status, sweep
from jaxbandits.cli.tune_command import tune
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.aot_cache import machine_code
from jaxbandits.engine.compilation_cache import kept_programs
from jaxbandits.errors import UsageError
from jaxbandits.interruptions import Interrupts, interruptible
from jaxbandits.sweeps.time_limit import OutOfTimeError

__all__ = ["main"]

_USAGE, _FAILED, _OUT_OF_TIME = 2, 1, 75  # the last is EX_TEMPFAIL of sysexits.h: try again


def application() -> cyclopts.App:
    """Return the parser with all commands."""
    app = cyclopts.App(
        name="jaxbandits",
        help="Pure exploration in multi-armed bandits: simulate, compare and sweep identification algorithms.",
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # `main` reports it in one line
    )
    app.command(list_, name="list")
    for command in (simulate, compare, plan, gradient, tune, sweep, status, merge, compact, plot, export, reproduce):
        app.command(command)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments; None for those of the process.

    Returns:
        The exit status: 0, 2 for input that cannot be used, 1 where the machine failed (a full disk), 75 where a time
        limit ended a sweep, 130 when interrupted, 143 by SIGTERM and 138 by SIGUSR1.
    """
    with _writable_stderr(), interruptible() as interrupted, printable():
        return _run(argv, interrupted)


@contextlib.contextmanager
def _writable_stderr() -> Iterator[None]:
    """Let all that is for stderr vanish inside a `with` block where stderr is closed, as with `2>&-`."""
    if sys.stderr is not None:
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stderr(nowhere):
        yield


def _run(argv: Sequence[str] | None, interrupted: Interrupts) -> int:
    try:
        gc.freeze()  # imported objects stay: the collector, which tracing calls often, need not scan them
        # A caller that passes arguments may have patched the package with its own code.
        with own_settings(), kept_programs(), machine_code() if argv is None else contextlib.nullcontext():
            application()(sys.argv[1:] if argv is None else list(argv), exit_on_error=False, print_error=False)
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()
    except cyclopts.MissingArgumentError as error:
        command = " ".join(["jaxbandits", *(error.command_chain or ())])
        return _complain(f"{error} See {command} --help.", _USAGE)
    except (UsageError, cyclopts.CycloptsError) as error:
        return _complain(str(error), _USAGE)
    except OutOfTimeError as over:
        return _complain(str(over), _OUT_OF_TIME)
    except KeyboardInterrupt as interrupt:
        return _complain(str(interrupt) or interrupted.words, interrupted.status)
    except BrokenPipeError:
        # The reader (`| head`) is gone; without this, Python would report an error when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0  # the reader has had enough, and a pipeline that checks every status goes on
    except SystemExit as stop:
        if stop.code != 1:
            raise
        return 0  # rich, which prints the help, exits with 1 where others raise BrokenPipeError
    except (OSError, MemoryError) as error:
        return _complain(str(error) or type(error).__name__, _FAILED)
    return 0


def _complain(message: str, status: int) -> int:
    print(f"jaxbandits: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201
    return status
