"""Interruptions: Ctrl-C, and the signals by which a scheduler announces that a job will end.

SLURM sends SIGTERM some seconds before it kills, or SIGUSR1 where `--signal` requests it. Both are handled as Ctrl-C
is. A user's own handler and an ignored signal are left alone. Previous handlers are restored.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["Interrupts", "interruptible", "interrupts"]

#: Signals that are handled, and the handlers they have where nobody has set another; Windows has no SIGUSR1.
_DEFAULTS = {signal.SIGINT: signal.default_int_handler} | {
    number: signal.SIG_DFL for number in signal.Signals if number.name in ("SIGTERM", "SIGUSR1")
}


class Interrupts:
    """The first interruption that arrived, if any.

    Attributes:
        first: the signal, or None.
        waits: whether the first one is only noted.
    """

    def __init__(self, *, waits: bool) -> None:
        self.first: signal.Signals | None = None
        self.waits = waits

    @property
    def asked(self) -> bool:
        """Return whether an interruption arrived."""
        return self.first is not None

    @property
    def words(self) -> str:
        """Return the beginning of a message about it."""
        return _words(self.first or signal.SIGINT)

    @property
    def status(self) -> int:
        """Return the exit status of a process that such a signal has ended, 130 for Ctrl-C."""
        return 128 + (self.first or signal.SIGINT)


#: The blocks that are open, the innermost last.
_OPEN: list[Interrupts] = []


def interruptible() -> contextlib.AbstractContextManager[Interrupts]:
    """Open a block in which SIGTERM and SIGUSR1 raise KeyboardInterrupt, as SIGINT does; each only once."""
    return _block(Interrupts(waits=False))


def interrupts() -> contextlib.AbstractContextManager[Interrupts]:
    """Open a block in which the first signal is only noted, so that finished runs can be kept.

    A second SIGINT raises KeyboardInterrupt. A second SIGTERM does not, since schedulers send it repeatedly, and to
    every process of a job.
    """
    return _block(Interrupts(waits=True))


@contextlib.contextmanager
def _block(state: Interrupts) -> Iterator[Interrupts]:
    if threading.current_thread() is not threading.main_thread():  # Python runs handlers in that one only
        yield state
        return
    before = {number: signal.getsignal(number) for number in _DEFAULTS}
    _OPEN.append(state)
    try:
        for number, handler in before.items():
            if handler in (_answer, _DEFAULTS[number]):
                signal.signal(number, _answer)
        yield state
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is _answer:
                signal.signal(number, handler)
        _OPEN.remove(state)


def _answer(number: int, frame: FrameType | None) -> None:
    del frame
    told = signal.Signals(number)
    again, waits = _OPEN[0].asked, any(state.waits for state in _OPEN)
    for state in _OPEN:
        state.first = state.first or told
    if told == signal.SIGINT:
        if again or not waits:
            raise KeyboardInterrupt
    elif not again and not waits:
        raise KeyboardInterrupt(_words(told))


def _words(number: signal.Signals) -> str:
    return "interrupted" if number == signal.SIGINT else f"interrupted by {number.name}"
