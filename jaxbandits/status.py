"""How a run ended: the codes of `status`.

A run whose status is not `ENDED` was stopped early, and what it had spent by then is a lower bound of what it would
have spent. Counts of such runs are called `stopped_early`.
"""

from typing import Any

__all__ = ["CAPPED", "ENDED", "MOST_IDLE", "STALLED", "STATUS", "stopped_early"]

ENDED, CAPPED, STALLED = 0, 1, 2
#: Steps without a pull, one after another, after which a user's own algorithm is stopped.
MOST_IDLE = 10_000
STATUS = f"{ENDED} finished, {CAPPED} stopped by max_pulls, {STALLED} stopped after {MOST_IDLE} steps without a pull"


def stopped_early(status: Any) -> Any:
    """Which runs did not end by themselves, bool in the shape of `status`."""
    return status != ENDED
