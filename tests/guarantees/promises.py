"""The bound by which simulated failures are compared with a promise."""

from scipy import stats


def upper_bound(failures: int, runs: int) -> float:
    """Clopper and Pearson's bound at level 1 - 1e-8."""
    return float(stats.beta.ppf(1 - 1e-8, failures + 1, runs - failures))
