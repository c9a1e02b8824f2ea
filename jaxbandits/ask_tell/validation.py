"""Checks of a session's input: each returns the value to use, or raises one UsageError that says what is wrong."""

from collections.abc import Mapping

import jax
import numpy as np
from numpy.typing import ArrayLike

from jaxbandits import checks
from jaxbandits.algorithms.hyperparameters import Hyperparameters
from jaxbandits.algorithms.likelihood_ratio.glr_families import UNKNOWN_VARIANCE, FamilyRule
from jaxbandits.arrays.pytrees import is_key
from jaxbandits.ask_tell.told_rewards import ToldRewards
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.random.streams import MOST_ARMS, root_key

__all__ = ["arms_of", "cost_of", "key_of", "law_of", "prior_of", "range_of", "reward_of"]


def arms_of(given: object) -> int:
    """Return a number of arms; to a problem the message says its number of arms."""
    if isinstance(given, Problem):
        rule = checks.whole_rule(2, MOST_ARMS)
        count = f", which has {given.arms} arms: arms={given.arms}" if given.arms > 1 else ""
        raise UsageError(f"arms {rule.words}, got the problem {checks.shown(given.name)}{count}")
    return checks.whole("arms", given, 2, MOST_ARMS)


def key_of(given: jax.Array | int) -> jax.Array:
    """Return a typed key of shape `()`, given as such or as a seed."""
    if not isinstance(given, jax.Array):
        return root_key(checks.seed("key", given))
    if not is_key(given) or given.shape:
        raise UsageError("key must be one typed key, such as jax.random.key(0), or a seed")
    return given


def range_of(algorithm: Hyperparameters, given: float | None, bounded: bool = True) -> float:
    """Return the algorithm's b, or else the given one, or 1; refuse two different ones."""
    own = algorithm.given("b")
    if own is None:
        own = 1.0 if given is None else given
    b = checks.number("reward_range", own, checks.POSITIVE)
    checks.as_single("reward_range", b)
    if algorithm.traits.unit_rewards and not (bounded and b <= 1):
        raise UsageError(
            f"{type(algorithm).__name__} needs rewards in [0, 1]: leave out bounded, and reward_range above 1"
        )
    setting = _setting_of_interval(algorithm)
    if setting is not None and not bounded:
        raise UsageError(f"{type(algorithm).__name__}{setting} needs rewards in [0, b]: leave out bounded")
    if given is not None and given != b:
        raise UsageError(f"reward_range={given:g} contradicts the algorithm's b={b:g}: give one of them")
    return b


def _setting_of_interval(algorithm: Hyperparameters) -> str | None:
    """Return the setting by which an algorithm needs rewards in [0, b], "" if it always does; None if it does not."""
    if algorithm.bets:
        return " by betting"
    if isinstance(algorithm, FamilyRule) and algorithm.family_word == "bernoulli":
        return " with family=bernoulli"
    return "" if algorithm.from_zero else None


def law_of(algorithm: Hyperparameters, given: float | None, bounded: bool) -> str:
    """Return what the rewards are taken for where the session itself judges them, a word of `glr_families`.

    Args:
        algorithm: the algorithm.
        given: the range that the session was given; None for none.
        bounded: whether rewards lie in [0, b].
    """
    if bounded:
        return "bernoulli"
    if algorithm.uses_range or given is not None:
        return "gaussian"
    family = algorithm.family_word if isinstance(algorithm, FamilyRule) else UNKNOWN_VARIANCE
    return str(family)


def prior_of(given: Mapping[str, ArrayLike], arms: int, b: float, bounded: bool) -> ToldRewards:
    """Return rewards from before a session: pulls and means, or pulls and sums, of this number of arms."""
    needs = 'prior must be {"pulls": …, "means": …} or {"pulls": …, "sums": …}'
    if hasattr(given, "columns"):  # a DataFrame
        given = {str(name): given[name] for name in given.columns}
    if not isinstance(given, Mapping) or set(given) not in ({"pulls", "means"}, {"pulls", "sums"}):
        raise UsageError(f"{needs}, got {checks.shown(given)}")
    found = {}
    for name, values in given.items():
        if np.shape(values) != (arms,):
            raise UsageError(f"prior: {name} must be {arms} numbers, one of each arm, got shape {np.shape(values)}")
        found[name] = np.asarray(checks.numbers(f"prior: {name}", values), np.float64)
    checks.each("prior: pulls", found["pulls"], checks.whole_rule(0, 2**30))
    pulls = found["pulls"].astype(np.int64)
    sums = found["sums"] if "sums" in found else pulls * np.where(pulls > 0, found["means"], 0.0)
    if int(pulls.sum()) > 2**30 or np.any(sums[pulls == 0] != 0):
        raise UsageError("prior: at most 2^30 pulls, and no rewards of an arm without pulls")
    for arm in np.flatnonzero(pulls):
        reward_of(sums[arm] / pulls[arm], b, bounded, what=f"prior of arm {arm}: the mean")
    return ToldRewards.of_sums(pulls, sums)


def reward_of(given: object, b: float, bounded: bool, *, what: str = "the reward") -> float:
    """Return a reward, rounded to float32; in [0, b] where rewards are bounded."""
    value = _measured("a reward", given)
    if bounded and not 0 <= value <= np.float32(b):
        raise UsageError(
            f"{what} {given} lies outside [0, {b:g}], the range of the session: "
            "scale it, or make the session with another reward_range or bounded=False"
        )
    return value


def cost_of(given: object) -> float:
    """Return a cost in [0, 1], rounded to float32."""
    value = _measured("a cost", given)
    if not 0 <= value <= 1:
        raise UsageError(f"the cost {given} lies outside [0, 1]: scale it, and the budget with it")
    return value


def _measured(what: str, given: object) -> float:
    """Return a number, or a truth value as one: True is 1."""
    happened = np.asarray(given).dtype == bool
    return float(np.float32(checks.number(what, np.asarray(given).astype(int) if happened else given, checks.SUMMABLE)))
