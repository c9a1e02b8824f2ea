"""What the runs on budgets share."""

import jax

__all__ = ["lanes"]


def lanes(seeds: int) -> int:
    """As many lanes as a cell has runs: these are few and long, and more lanes would stand idle."""
    return -(-seeds // jax.device_count())
