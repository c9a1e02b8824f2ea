"""What theory promises for infinitely many arms under a budget."""

import numpy as np

__all__ = ["reservoir_arms"]


def reservoir_arms(budget: float, beta: float) -> int:
    """K(B)."""
    return max(2, int(np.ceil(budget ** (beta / 2 if beta < 1 else beta / (1 + beta)) * (1 - 1e-12))))
