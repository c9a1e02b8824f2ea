"""Check that a request fits into memory."""

import os

from jaxbandits.errors import UsageError

__all__ = ["check_fits_in_memory"]


def check_fits_in_memory(what: str, needed: int, remedy: str, *, there: int | None = None) -> None:
    """Refuse what would take more memory than there is.

    Args:
        what: what would take it, as the subject of a sentence.
        needed: bytes.
        remedy: what to do instead.
        there: bytes; None for the machine's.

    Raises:
        UsageError: it does not fit. Nothing is refused on a system that does not say how much memory it has.
    """
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if there is None else there
    except (AttributeError, ValueError, OSError):
        return
    if needed > there:
        raise UsageError(f"{what} would take {needed / 2**30:.2g} of {there / 2**30:.2g} GiB: {remedy}")
