"""Rewards of a user's own family beside the means, variances and range that it declares: a warning if they differ.

Judged answers, lower bounds and confidence radii rest on these properties. It is a warning and not an error, since
rules may be studied under wrong properties on purpose.

Source of the bound of a sum of squares: Hsu, Kakade, Zhang, "A tail inequality for quadratic forms of subgaussian
random vectors", Electron. Commun. Probab. 17 (2012), Theorem 2.1 with the identity matrix.
"""

import collections
import math
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.errors import UsageError, warn
from jaxbandits.problems.base import Problem
from jaxbandits.problems.registry import REGISTRY
from jaxbandits.problems.value_range import is_checked
from jaxbandits.random.streams import root_key
from jaxbandits.users_code.cache_key import Code, code_of

__all__ = ["check_declared_properties"]

#: Rewards that are drawn, and arms that they are drawn of, at most; they take about 20 ms.
_REWARDS, _MOST_ARMS = 2**20, 64
#: Chebyshev's inequality puts a block's mean sqrt(8) standard errors off with probability at most 1/8; the median of 64
#: is that far off only if 32 are, with probability below 1e-12.
_BLOCKS = 64
#: Natural logarithm of 1 over the probability that a sum of squares exceeds its bound.
_LOG = 30.0
#: Rounding of float32 rewards and properties, relative to the largest reward.
_ROUNDING = 1e-5
#: Pulls of which rewards are drawn in every way.
_FEW = 16
#: How many families are remembered as checked.
_MOST_REMEMBERED = 256

_found: collections.OrderedDict[object, str] = collections.OrderedDict()


def check_declared_properties(problem: Problem) -> None:
    """Check the mean, variance and range of a user's own family against rewards that it draws.

    A family with the right properties is warned of with probability below 1e-10. Errors of a fifth of a standard
    deviation in means are noticed, and of a fifth of the squared range in variances.

    Args:
        problem: leaves `(K,)`; of at most 64 arms, evenly spread, rewards are drawn. Built-in families and those whose
            runs draw their arms are not checked, nor is one that is being traced, since it has no values.

    Raises:
        UsageError: rewards that are not finite.
    """
    if REGISTRY.holds(type(problem)) or is_checked(problem) or problem.drawn or problem.finite or is_traced(problem):
        return
    code = code_of(problem)
    key = code, tuple(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(problem))
    message = _found.pop(key, None)
    if message is None:
        message = next(_contradictions(problem, code), "")
    _found[key] = message
    if len(_found) > _MOST_REMEMBERED:
        _found.popitem(last=False)
    if message:
        warn(f"{type(problem).__name__}.{message}")


def _contradictions(problem: Problem, code: Code) -> Iterator[str]:
    """Yield each property that rewards contradict, and how."""
    arms = np.unique(np.linspace(0, problem.arms - 1, min(problem.arms, _MOST_ARMS)).round().astype(np.int32))
    count = _REWARDS // len(arms) // _BLOCKS * _BLOCKS
    drawn = _draw(problem, arms, np.arange(count, dtype=np.int32), code=code)
    rewards, *others = (np.asarray(each, np.float64) for each in drawn)
    mean, variance = (np.asarray(values, np.float64)[arms] for values in (problem.mean, problem.variance))
    rounding = _ROUNDING * np.max(np.abs(rewards), axis=1)
    if not np.isfinite(rewards).all():
        raise UsageError(f"{type(problem).__name__}.sample must return finite rewards, got {rewards.sum():g}")

    for method, found in zip(("rewards", "payoff"), others, strict=True):
        if not np.allclose(found, first := rewards[:, : found.shape[1]], rtol=_ROUNDING, atol=rounding.max()):
            i, pull = np.unravel_index(int(np.argmax(np.abs(found - first))), found.shape)
            one, other = found[i, pull], first[i, pull]
            yield (
                f"{method} draws another reward than reward: {one:.6g} and {other:.6g} in pull {pull} of arm "
                f"{arms[i]}; change sample, of which all are made"
            )

    def differing(name: str, declared: object, near: np.ndarray, what: str, found: np.ndarray) -> Iterator[str]:
        if not near.all():
            i = int(np.argmin(near))
            value = np.broadcast_to(np.asarray(declared), near.shape)[i]
            yield f"{name} is not that of its rewards: {value:.6g} for arm {arms[i]}, but {what} {found[i]:.6g}"

    found = _median_of_means(rewards)
    near = np.abs(found - mean) <= _error(variance, count) + rounding
    yield from differing("mean", mean, near, f"{count:,} rewards have the mean", found)
    if problem.integer_sums and (largest := np.max(np.abs(rewards))) > 1:
        yield f"integer_sums is for rewards 0 and 1, and one of its rewards is {largest:.6g}: sums may pass 2^31"
    if not problem.bounded:
        return
    width = float(np.max(problem.reward_range))
    if problem.in_interval:
        found = np.ptp(rewards, axis=1)
        yield from differing("reward_range", width, found <= width + 2 * rounding, "rewards differ by", found)
    squares = (rewards - mean[:, None]) ** 2
    # (b/2)-sub-Gaussian rewards, as those in an interval of length b are (Hoeffding's lemma).
    most = (width / 2) ** 2 * (1 + 2 * math.sqrt(_LOG / count) + 2 * _LOG / count)
    found = squares.mean(1)
    near = found <= most * (1 + _ROUNDING) + rounding**2
    what = f"the standard deviation of {count:,} rewards asks for at least"
    yield from differing("reward_range", width, near, what, 2 * np.sqrt(found))
    found = _median_of_means(squares)
    # The fourth central moment of such rewards is at most 16 (b/2)^4.
    near = np.abs(found - variance) <= _error(np.full(len(arms), width**4), count) + rounding**2
    yield from differing("variance", variance, near, f"{count:,} rewards have the variance", found)


@recent_programs(8, "code")
def _draw(problem: Problem, arms: jax.Array, pulls: jax.Array, *, code: Code) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return rewards `(arms, pulls)`, and those of the first pulls as the problem's other methods draw them."""
    key, few = root_key(0), pulls[:_FEW]

    def of_arms(draw: Callable[..., jax.Array], pulls: jax.Array) -> jax.Array:
        return jax.vmap(jax.vmap(draw, (None, None, 0)), (None, 0, None))(key, arms, pulls).astype(jnp.float32)

    with code.traced():
        rows = jax.vmap(problem.rewards, (None, 0), 1)(key, few)[arms].astype(jnp.float32)
        paid = of_arms(lambda *pull: problem.payoff(*pull)[0], few)
        return of_arms(problem.reward, pulls), rows, paid


def _median_of_means(x: np.ndarray) -> np.ndarray:
    """Return the median of the means of blocks of each row."""
    return np.median(x.reshape(len(x), _BLOCKS, -1).mean(2), axis=1)


def _error(variance: np.ndarray, count: int) -> np.ndarray:
    """Return the largest error of a median of means of `count` numbers: sqrt(8) standard errors of a block's mean."""
    return np.sqrt(8 * _BLOCKS * variance / count)
