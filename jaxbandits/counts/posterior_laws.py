"""The posterior of arms, given their counts: for the chances of each, and for runs that draw arms from it."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxbandits.checks import POSITIVE, is_number, number
from jaxbandits.counts.count_tables import CountTable
from jaxbandits.counts.marginals import Marginals, beta_marginals, student_marginals
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.posterior_arms import LOWEST, NARROWEST, BetaPosterior, BoundedPosterior, NormalPosterior
from jaxbandits.problems.pull_history import History

__all__ = ["Posterior", "posterior_of", "unit_of"]

#: Beta priors by name.
_PRIORS = {"uniform": (1.0, 1.0), "jeffreys": (0.5, 0.5)}
#: How far above the limits of the simulated arms the largest mean and variance have to be.
_ABOVE = 100.0
#: The prior of other rewards, in rewards: of the mean, and of the variance.
_WEIGHT, _FREEDOM = 1.0, 3.0


class Posterior(NamedTuple):
    """The posterior of arms."""

    prior: str  # what it is, in words
    marginals: Marginals  # of the means, in the users' units
    problem: Problem  # arms that each run draws, and the counts from which it starts; in units of `unit_of`


def posterior_of(counts: CountTable, prior: object, reward_range: float) -> Posterior:
    """Return the posterior of arms, given their counts.

    Args:
        counts: the counts.
        prior: of coins `uniform`, `jeffreys` or the two numbers of a Beta law; None for the usual one.
        reward_range: b, of bounded rewards.

    Raises:
        UsageError: no such prior, or rewards that do not vary.
    """
    if counts.rewards == "coins":
        return _of_coins(counts, *_beta_prior("uniform" if prior is None else prior))
    if prior is not None:
        raise UsageError(f"prior is for rewards of 0 and 1, and these are {counts.rewards}")
    return _of_moments(counts, reward_range)


def unit_of(counts: CountTable, reward_range: float) -> float:
    """Return the unit in which rewards are tested and simulated, so that float32 can square them.

    It is the range of bounded rewards. Of normal ones, of which only differences count, it is a power of two near their
    standard deviation: a division by it rounds nothing.
    """
    if counts.rewards == "bounded":
        return reward_range
    if counts.rewards == "coins" or not counts.squares.any():
        return 1.0
    return float(2.0 ** np.round(np.log2(counts.squares.sum() / counts.pulls.sum()) / 2))


def _beta_prior(prior: object) -> tuple[float, float]:
    if isinstance(prior, str) and prior in _PRIORS:
        return _PRIORS[prior]
    prior = prior.tolist() if isinstance(prior, np.ndarray) else prior
    if isinstance(prior, tuple | list) and len(prior) == 2 and all(map(is_number, prior)):
        a, b = (number("prior", each, POSITIVE) for each in prior)
        return a, b
    raise UsageError(f"prior must be {', '.join(_PRIORS)} or two positive numbers of a Beta law, got {prior!r}")


def _of_coins(counts: CountTable, a: float, b: float) -> Posterior:
    successes, failures = a + counts.total, b + (counts.pulls - counts.total)
    name = next((f"{name}, " for name, pair in _PRIORS.items() if pair == (a, b)), "")
    problem = BetaPosterior(
        jnp.asarray(successes, jnp.float32),
        jnp.asarray(failures, jnp.float32),
        history=History.of_counts(counts.pulls, counts.total),
        name="posterior",
    )
    return Posterior(f"Beta({a:g}, {b:g}) ({name}independent arms)", beta_marginals(successes, failures), problem)


def _of_moments(counts: CountTable, reward_range: float) -> Posterior:
    """Return the normal-inverse-gamma posterior; the prior has the mean and the variance of all rewards together."""
    number, within = counts.pulls.sum(), np.maximum(counts.pulls - 1, 0).sum()
    if not within or not counts.squares.sum():
        raise UsageError("counts: rewards that vary are needed, two of an arm at least: their variance is 0 or unknown")
    pooled, usual = counts.total.sum() / number, counts.squares.sum() / within
    n, mean = counts.pulls, np.where(counts.pulls > 0, counts.total / np.maximum(counts.pulls, 1), 0.0)
    weight, freedom = _WEIGHT + n, _FREEDOM + n
    center = (_WEIGHT * pooled + counts.total) / weight
    apart = _WEIGHT * n / weight * (mean - pooled) ** 2
    spread = (_FREEDOM * usual + counts.squares + apart) / freedom
    bounded = counts.rewards == "bounded"
    unit, origin = unit_of(counts, reward_range), 0.0
    if bounded:
        _check_range(center, spread, reward_range)
    else:
        origin = np.max(mean[n > 0])  # float32 loses the differences of means far from 0
    problem = (BoundedPosterior if bounded else NormalPosterior)(
        center=jnp.asarray((center - origin) / unit, jnp.float32),
        weight=jnp.asarray(weight, jnp.float32),
        freedom=jnp.asarray(freedom, jnp.float32),
        spread=jnp.asarray(spread / unit**2, jnp.float32),
        history=History.of_counts(n, n * (mean - origin) / unit, counts.squares / unit**2),
        name="posterior",
    )
    ends = (0.0, reward_range) if bounded else (-np.inf, np.inf)
    return Posterior(
        f"normal-inverse-gamma (about the mean of all rewards, {pooled:.4g}, of weight {_WEIGHT:g} reward, and their "
        f"variance, {usual:.4g}, of weight {_FREEDOM:g}; independent arms)",
        student_marginals(center, np.sqrt(spread / weight), freedom, *ends),
        problem,
    )


def _check_range(center: np.ndarray, spread: np.ndarray, reward_range: float) -> None:
    """Refuse a range beside which the rewards are too small to be simulated: means and variances `(K,)`."""
    least, narrowest = _ABOVE * LOWEST * reward_range, np.sqrt(_ABOVE * NARROWEST) * reward_range
    if np.max(center) < least or np.sqrt(np.max(spread)) < narrowest:
        raise UsageError(
            f"reward_range {reward_range:g}: simulated arms need a mean of at least {least:.2g} and a standard "
            f"deviation of at least {narrowest:.2g}, got {np.max(center):.2g} and {np.sqrt(np.max(spread)):.2g} at "
            "most: give a smaller reward_range, or rewards='normal'"
        )
