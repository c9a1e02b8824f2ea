"""The codes of `status`: how a run ended.

A run whose status is above `ENDED` was truncated: what it had spent by then is a lower bound of what it would have
spent. Counts of such runs are called `stopped_early`.
"""

from typing import Any

__all__ = [
    "CAPPED", "ENDED", "MOST_IDLE", "NONE_STAYS", "NOT_RUN", "OUTSIDE", "STALLED", "STATUS", "TAKEN_BACK", "fault_of",
    "stopped_early",
]  # fmt: skip

ENDED, CAPPED, STALLED = 0, 1, 2
#: There is no run: the algorithm does not fit the problem, and the study has left the pair out.
NOT_RUN = -1
#: Faults in a user's algorithm. They end its runs and with them the call, so that no result has these codes.
OUTSIDE, TAKEN_BACK, NONE_STAYS = 3, 4, 5
#: Consecutive steps without a pull after which a user's own algorithm is stopped.
MOST_IDLE = 10_000
STATUS = (
    f"{ENDED} finished, {CAPPED} truncated at max_pulls, {STALLED} truncated after {MOST_IDLE} steps without a pull"
)


def stopped_early(status: Any) -> Any:
    """Return which runs were truncated, bool in the shape of `status`."""
    return status > ENDED


def fault_of(status: int, name: str, arms: int) -> str:
    """Return what an algorithm did in a run that ended with a fault.

    Args:
        status: `OUTSIDE`, `TAKEN_BACK` or `NONE_STAYS`.
        name: of the algorithm.
        arms: the number of arms K.
    """
    if status == OUTSIDE:
        return f"{name} pulled an arm outside 0 … {arms - 1}, in place of which JAX silently takes another one"
    if status == NONE_STAYS:
        return f"{name}.keep kept no arm: at least one has to stay"
    return f"{name} took pulls back: it asked for fewer than no pulls of an arm, or fewer than no batches"
