"""An estimate of how correlated the rewards of joint pulls are: the V of Assumption 2.2 in Sabato (2019)."""

import numpy as np
from jax.typing import ArrayLike

from jaxbandits.checks import NOT_NEGATIVE, each, numbers
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import UsageError

__all__ = ["estimate_correlation"]


@own_settings("mesh")
def estimate_correlation(samples: ArrayLike) -> float:
    """Estimate V, Var(X_A) <= V E X_A for every set A of arms, from a table of joint rewards.

    The estimate is the largest eigenvalue of D^(-1/2) C D^(-1/2), at least 1. D has the means, and C the covariances
    without the negative ones: x'Cx <= V x'Dx for all x, and so for the indicator of every set. It inherits the error of
    the covariances; with few rows, add a margin.

    Args:
        samples: shape `(rows, K)`, the rewards of all arms in each joint pull, not negative; at least two rows.

    Raises:
        UsageError: values that are not numbers, fewer than two rows or arms, or a negative or infinite reward.

    Example:
        >>> round(float(jb.estimate_correlation(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]))), 2)
        1.0
    """
    table = numbers("joint rewards", samples)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise UsageError(f"a table of joint rewards has at least two rows and two arms, got shape {table.shape}")
    for arm, rewards in enumerate(table.T):
        each(f"joint rewards of arm {arm}", rewards, NOT_NEGATIVE, "row")
    mean = table.mean(axis=0)
    paying = mean > 0  # an arm that never paid contributes nothing to either side
    covariance = np.maximum(np.atleast_2d(np.cov(table[:, paying], rowvar=False)), 0)
    scaled = covariance / np.sqrt(np.outer(mean[paying], mean[paying]))
    return max(1.0, float(np.linalg.eigvalsh(scaled)[-1])) if paying.any() else 1.0
