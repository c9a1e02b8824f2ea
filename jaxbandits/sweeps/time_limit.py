"""The time that a sweep may take: it stops cleanly before a scheduler would kill it."""

import re
import time
from typing import Any

from jaxbandits.checks import POSITIVE, is_number, number, shown
from jaxbandits.errors import UsageError

__all__ = ["OutOfTimeError", "TimeLimit", "seconds_of"]

#: Days, hours, minutes and seconds, as schedulers write a time limit.
_CLOCK = re.compile(r"(?:(?:(?P<d>\d+)-)?(?P<h>\d+):(?P<m>\d\d)|(?P<minutes>\d+)):(?P<s>\d\d(?:\.\d+)?)")
#: Seconds, and their largest share of the limit, that are left for the start and the end of the process.
_END, _END_SHARE = 3.0, 0.25
#: A pause between two checks counts less with each check after it.
_FORGET = 0.8
#: Bytes of blocks a second that become arrays, at least (measured: 60 to 200 million).
_ARRAYS = 30e6


class OutOfTimeError(Exception):
    """A sweep has stopped, since its time is over; completed runs are kept."""


def seconds_of(given: Any) -> float:
    """Return a time in seconds, from seconds or a text: "3:50:00", "50:00" (minutes) or "1-12:00:00" (with days).

    Raises:
        UsageError: anything else, or no time at all.
    """
    text = given.strip() if isinstance(given, str) else ""
    if match := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = (float(match[name] or 0) for name in ("d", "h", "m", "s"))
        minutes += float(match["minutes"] or 0)
        found = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    elif is_number(given):
        found = number("max_time", given, POSITIVE)
    else:
        try:
            found = float(text)
        except ValueError:
            found = 0.0
    if not 0 < found < float("inf"):
        raise UsageError(
            f'max_time must be a time above 0, "3:50:00", "50:00", "1-12:00:00" or seconds, got {shown(given)}'
        )
    return found


class TimeLimit:
    """Says whether the next piece of work would pass a limit.

    A piece of work is a call of the compiled loop. The time of the latest ones predicts that of the next one. A program
    that is to be compiled is expected to take as long as the longest so far; the first one always begins.
    """

    def __init__(self, seconds: float) -> None:
        """Start the clock."""
        self._latest = time.monotonic()
        self._ends = self._latest + seconds - min(_END, _END_SHARE * seconds)
        self._pause, self._compiling = 0.0, 0.0
        self._begins: float | None = None

    def is_near(self, writing: float = 0.0) -> bool:
        """Return whether another call may pass the limit, and `writing` seconds for what is held in memory."""
        now = time.monotonic()
        if self._begins is None:
            self._pause = max(now - self._latest, _FORGET * self._pause)
        else:  # the first call of a program: most of it was compiling
            self._compiling, self._begins = max(self._compiling, now - self._begins), None
        self._latest = now
        return now + 2 * (self._pause + writing) >= self._ends

    def allows_program(self, writing: float = 0.0) -> bool:
        """Return whether there is time to compile another program; its first call begins now."""
        now = self._begins = time.monotonic()
        return now + self._compiling + 2 * (self._pause + writing) < self._ends

    def allows_arrays(self, size: int) -> bool:
        """Return whether there is time to make arrays of blocks of `size` bytes."""
        return time.monotonic() + size / _ARRAYS < self._ends
