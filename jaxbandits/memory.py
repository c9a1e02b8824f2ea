"""How much memory there is, so that what cannot fit is refused before it is asked for."""

import os

from jaxbandits.errors import UsageError

__all__ = ["refuse_what_does_not_fit"]


def refuse_what_does_not_fit(what: str, needed: int, remedy: str) -> None:
    """Refuse what would take more memory than the machine has.

    Args:
        what: what would take it, as the subject of a sentence.
        needed: bytes.
        remedy: what to do instead.

    Raises:
        UsageError: if it does not fit; a system that does not say how much memory it has is believed to have enough.
    """
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    if needed > there:
        raise UsageError(f"{what} would take {needed / 2**30:.2g} of {there / 2**30:.2g} GiB: {remedy}")
