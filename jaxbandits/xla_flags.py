"""The flags of XLA that a process has been given, `XLA_FLAGS`: some of them change the bits of results.

`--xla_cpu_enable_fast_math=true` reorders sums. Runs under other flags are other runs, and one store does not hold
both. Flags that only set the number of devices or write debugging output are left out. Nobody promises of any other
flag that it leaves results alone.
"""

import contextlib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from jaxbandits.errors import UsageError

__all__ = ["ATTRIBUTE", "NONE", "flags_now", "refuse_other_flags"]

#: The attribute of a Dataset that records them, and its value where there are none.
ATTRIBUTE, NONE = "xla_flags", "none"
#: The beginnings of names that change no result.
_HARMLESS = ("xla_force_host_platform_device_count", "xla_dump_", "xla_enable_dumping", "xla_detailed_logging")


def flags_now() -> str:
    """Return the flags of this process that may change bits, in the order of their names: "a=1 b=true", or "none"."""
    given = os.environ.get("XLA_FLAGS", "").strip()
    if given and not given.startswith("-"):  # the name of a file that has them
        with contextlib.suppress(OSError):
            given = Path(given).read_text(encoding="utf-8", errors="replace")
    try:
        words = shlex.split(given, comments=False)
    except ValueError:
        words = given.split()
    found = {}
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        if not name.startswith(_HARMLESS):
            found[name] = value if equals else "true"
    return " ".join(f"{name}={value}" for name, value in sorted(found.items())) or NONE


def refuse_other_flags(there: Mapping[str, object], here: Mapping[str, object], what: str) -> None:
    """Refuse to merge runs that were made under different flags; attributes without a record pass.

    Args:
        there: attributes of the existing runs.
        here: attributes of the runs to add.
        what: where the existing runs are, for the message.

    Raises:
        UsageError: the flags differ; the message shows where.
    """
    first, second = (str(attrs.get(ATTRIBUTE, NONE)) for attrs in (there, here))
    if ATTRIBUTE not in there or ATTRIBUTE not in here or first == second:
        return
    one, other = ({} if flags == NONE else set(flags.split()) for flags in (first, second))
    only = [" ".join(sorted(set(a) - set(b))) or NONE for a, b in ((one, other), (other, one))]
    raise UsageError(
        f"{what} was made with other XLA flags, which may change bits: {only[0]} there and {only[1]} here; set "
        "XLA_FLAGS as they were"
    )
