"""How a run ended: the codes of `status`."""

__all__ = ["CAPPED", "ENDED", "MOST_IDLE", "STALLED", "STATUS"]

ENDED, CAPPED, STALLED = 0, 1, 2
#: Steps without a pull, one after another, after which a user's own algorithm is stopped.
MOST_IDLE = 10_000
STATUS = f"{ENDED} finished, {CAPPED} stopped at max_pulls, {STALLED} stopped after {MOST_IDLE} steps without a pull"
