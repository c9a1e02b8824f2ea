"""What a problem is: an immutable pytree of per-arm parameters, and rewards as a pure function of (run key, arm, pull).

Shapes: `K` arms first, runs last. A problem on its own has leaves of shape `(K,)`; inside the engine they are `(K, R)`.
A multi-bandit problem (Gabillon et al. 2011) with M bandits of K/M arms each keeps all arms on one axis, arm `k` of
bandit `b` at `k * M + b`.
"""

import abc
import dataclasses
from typing import Any, ClassVar, Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from jaxbandits import arms
from jaxbandits.errors import UsageError
from jaxbandits.estimators import CompensatedSum
from jaxbandits.memory import refuse_what_does_not_fit
from jaxbandits.numerics import MAX_COUNT
from jaxbandits.problems.costs import Costs
from jaxbandits.pytrees import register_fields
from jaxbandits.random.streams import MOST_ARMS, batch_key, reward_block
from jaxbandits.recipes import Recipe, carried

__all__ = [
    "Problem",
    "arm_count",
    "check_each",
    "family_name",
    "per_arm",
    "per_arm_like",
    "per_bandit",
    "probabilities",
    "register_problem",
]

#: Bytes of an arm while a problem is made: its mean in double precision with two copies, and in float32.
_BYTES_OF_ARM = 32


@dataclasses.dataclass(frozen=True)
class Problem(abc.ABC):
    """Arms with a law of rewards each.

    Subclasses are frozen dataclasses whose array fields, shape `(K,)` float32, are the parameters of the law,
    registered with
    `register_problem`.

    Attributes:
        mask: bool `(K,)`, false for padded arms; None when no arm is padded.
        costs: what pulls cost; None for one unit each.
        supremum: float32 `()`, where the arms were drawn from a reservoir: the largest `value` it has; else None.
        bandits: number of bandits M that share the axis of arms; 1 for an ordinary problem.
        name: what the problem is called in results.
        recipe: how the problem was made; None where it was made by hand, or by an operation on its leaves. No part of
            the pytree.
    """

    mask: jax.Array | None = dataclasses.field(default=None, kw_only=True)
    costs: Costs | None = dataclasses.field(default=None, kw_only=True)
    supremum: jax.Array | None = dataclasses.field(default=None, kw_only=True)
    bandits: int = dataclasses.field(default=1, kw_only=True)
    name: str = dataclasses.field(default="", kw_only=True, compare=False)
    recipe: Recipe | None = dataclasses.field(default=None, kw_only=True, compare=False, repr=False)

    #: The law's parameters: names of the per-arm fields.
    parameters: ClassVar[tuple[str, ...]]
    #: Names of fields that are part of the program, not of its input.
    choices: ClassVar[tuple[str, ...]] = ()
    #: Whether rewards are int32 (sums are then exact) or float32.
    integer_rewards: ClassVar[bool] = False
    #: Whether rewards lie in an interval, or are sub-Gaussian: whether `reward_range` is a number.
    bounded: ClassVar[bool] = True

    @property
    @abc.abstractmethod
    def mean(self) -> jax.Array:
        """Expected reward of each arm, float32 `(K, …)`."""

    @property
    def value(self) -> jax.Array:
        """Expected reward over expected cost of each arm, float32 `(K, …)`."""
        return self.mean if self.costs is None else self.mean / self.costs.expected(self)

    @property
    @abc.abstractmethod
    def variance(self) -> jax.Array:
        """Variance of the reward of each arm, float32 `(K, …)`."""

    @property
    def lowest_reward(self) -> float:
        """No reward of any arm is smaller; -inf where that is not known."""
        return -np.inf

    @property
    def correlation(self) -> float:
        """V, at least 1: Var(X_A) <= V E X_A for the sum X_A of a joint pull of any set A of arms.

        Assumption 2.2 of Sabato (2019), if Var(X_i) <= E X_i; 1 where arms are independent.
        """
        return 1.0

    @property
    def second_word_free(self) -> bool:
        """Whether a reward leaves the second of its words alone, so that a cost may be drawn from it."""
        return False

    @property
    @abc.abstractmethod
    def reward_range(self) -> jax.Array:
        """The b of the papers, float32 `(…)`: rewards lie in an interval of this length, or are (b/2)-sub-Gaussian."""

    @classmethod
    @abc.abstractmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """Rewards from two random words (uint32) and the parameters, elementwise."""

    @property
    def arms(self) -> int:
        """Number of arms K on the axis, padded arms and all bandits included."""
        return int(getattr(self, self.parameters[0]).shape[0])

    def realised(self, key: jax.Array) -> "Problem":
        """The problem of the runs with these keys, `(…)`: itself; a reservoir draws arms."""
        del key
        return self

    def reward(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> jax.Array:
        """The reward of one pull: an entry of the run's reward table.

        Args:
            key: the run's typed key, shape `(…)`.
            arm: int32, shape `(…)`, in [0, K).
            pull: int32, shape `(…)`: how often the arm was pulled before.

        Returns:
            int32 or float32, shape `(…)`.
        """
        return self._drawn(key, arm, pull)[0]

    def _drawn(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        """The reward of one pull, and the words that it was drawn from."""
        words = reward_block(key, arm, pull)
        parameters = [arms.take(jnp.asarray(getattr(self, name)), arm) for name in self.parameters]
        return self.sample(words, *parameters), words

    def payoff(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The reward of one pull, as `reward`, and what it costs.

        Args:
            key: the run's typed key, shape `(…)`.
            arm: int32, shape `(…)`, in [0, K).
            pull: int32, shape `(…)`: how often the arm was pulled before.

        Returns:
            The reward, int32 or float32, and the cost, float32; shape `(…)`.
        """
        reward, words = self._drawn(key, arm, pull)
        if self.costs is None:
            return reward, jnp.ones(reward.shape, jnp.float32)
        fresh = words[1] if self.second_word_free else None
        return reward, self.costs.of_pull(key, arm, pull, reward, words[0], fresh)

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """The rewards of one pull of every arm.

        Args:
            key: the run's typed key, shape `(…)`.
            pull: int32 that broadcasts with `(K, …)`: how often each arm was pulled before.

        Returns:
            int32 or float32, shape `(K, …)`.
        """
        parameters = [jnp.asarray(getattr(self, name)) for name in self.parameters]
        words = reward_block(key, arms.index(self.arms, key.shape), pull, rolled=True)
        return self.sample(words, *parameters)

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """The sum of fresh rewards of every arm: here of the next entries of the reward table, one after another.

        A batch that would pass the end of the table, 2^31 pulls of an arm, has rewards of its own. Families whose sums
        have a law that can be drawn from draw it at once: the same in distribution, other numbers.

        Args:
            key: the run's typed key, shape `(…)`.
            batch: int32, shape `(…)`: number of this request, different for every one of a run.
            count: int32, shape `(K, …)`: how many rewards, 0 for none.
            pulled: int32, shape `(K, …)`: how often each arm was pulled before, 2^31 - 1 for more.

        Returns:
            int32 or float32, shape `(K, …)`.
        """
        most, beyond = jnp.max(count), arms.any_arm(count > MAX_COUNT - pulled)
        key, first = jnp.where(beyond, batch_key(key, batch), key), jnp.where(beyond, 0, pulled)

        def add(carry: tuple[jax.Array, CompensatedSum]) -> tuple[jax.Array, CompensatedSum]:
            i, total = carry
            reward = self.rewards(key, first + i).astype(jnp.float32)
            return i + 1, total.plus(jnp.where(i < count, reward, 0))

        nothing = CompensatedSum.of(jnp.zeros(count.shape, jnp.float32))
        _, total = lax.while_loop(lambda carry: carry[0] < most, add, (jnp.int32(0), nothing))
        return jnp.round(total.high).astype(jnp.int32) if self.integer_rewards else total.high

    def kind(self) -> Self:
        """Without what may differ between the cells that share a program: the name."""
        return dataclasses.replace(self, name="")

    def padded(self, count: int) -> Self:
        """The same problem with `count` arms per bandit, the added ones masked out; for leaves of shape `(K,)`."""
        extra = (count - self.arms // self.bandits) * self.bandits
        mask = np.arange(self.arms + extra) < self.arms
        changes: dict[str, Any] = {
            name: jnp.concatenate([getattr(self, name), jnp.repeat(getattr(self, name)[:1], extra, axis=0)])
            for name in self.parameters
        }
        if self.costs is not None:
            changes["costs"] = self.costs.padded(extra)
        wider: Self = carried(self, dataclasses.replace(self, mask=jnp.asarray(mask), **changes), padded=count)
        return wider


P = TypeVar("P", bound=Problem)


def register_problem(cls: type[P]) -> type[P]:
    """Class decorator: a frozen dataclass whose parameters, mask, costs and supremum are leaves."""
    leaves = [*cls.parameters, "mask", "costs", "supremum"]
    return register_fields(cls, leaves, ["bandits", "name", *cls.choices])


def per_bandit(x: jax.Array, bandits: int) -> jax.Array:
    """`(K, …)` as `(K/M, M, …)`, so that reductions over arms work per bandit; unchanged for M = 1."""
    return x if bandits == 1 else x.reshape(x.shape[0] // bandits, bandits, *x.shape[1:])


def per_arm(what: str, values: ArrayLike) -> tuple[jax.Array, int]:
    """Values given by a user, `(K,)` or one row a bandit `(M, K)`, as float32 on one axis, and M.

    Raises:
        UsageError: if there are fewer than two arms or too many, a value is not a finite number, or they differ by less
            than float32 can tell.
    """
    array, bandits = _on_one_axis(what, values)
    _check_kept(what, array)
    return jnp.asarray(array, jnp.float32), bandits


def _on_one_axis(what: str, values: ArrayLike) -> tuple[np.ndarray, int]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{what} must be numbers, one per arm, got {values!r}") from None
    if array.ndim not in (1, 2):
        raise UsageError(f"{what} must be a list of numbers, or one list per bandit, got {array.ndim} dimensions")
    if array.shape[-1] < 2:
        raise UsageError(f"{what}: a problem needs at least 2 arms, got {array.shape[-1]}")
    if not np.all(np.isfinite(array)):
        raise UsageError(f"{what} must be finite, got {array[~np.isfinite(array)][0]}")
    if array.size > MOST_ARMS:
        raise UsageError(f"{what}: there may be {MOST_ARMS:,} arms, got {array.size:,}")
    return array.T.reshape(-1), 1 if array.ndim == 1 else array.shape[0]


def probabilities(what: str, values: ArrayLike) -> tuple[jax.Array, int]:
    """`per_arm` of probabilities.

    Raises:
        UsageError: as there, or if a value is outside [0, 1], or so near to 1 that it would be taken for that.
    """
    array, bandits = per_arm(what, values)
    check_each(f"{what} must be in [0, 1]", array, (array >= 0) & (array <= 1))
    given = np.asarray(values, np.float64).T.reshape(-1)
    if np.any(sure := (given < 1) & (np.asarray(array) == 1)):
        arm = int(np.argmax(sure))
        raise UsageError(f"{what}: {float(given[arm])!r} at arm {arm} is 1 as a float32 number: it would never fail")
    return array, bandits


#: By how much of the distance to the next value rounding to float32 may move one.
_ROUNDING = 0.1


def _check_kept(what: str, values: np.ndarray) -> None:
    """Refuse values whose differences float32 does not keep: other arms than those asked for would be simulated."""
    distinct = np.unique(values)
    gaps = np.concatenate([[np.inf], np.diff(distinct), [np.inf]])
    moved = np.abs(distinct.astype(np.float32).astype(np.float64) - distinct)
    room = np.minimum(gaps[:-1], gaps[1:])
    if np.any(moved > _ROUNDING * room):
        worst = int(np.argmax(moved / room))
        value = distinct[worst]
        raise UsageError(
            f"{what}: {float(value)!r} and the value next to it differ by {room[worst]:.2g}, and float32 numbers are "
            f"{np.spacing(np.float32(abs(value))):.2g} apart there: move the values towards 0, or apart"
        )


def per_arm_like(what: str, values: ArrayLike, shape_of: ArrayLike) -> jax.Array:
    """One value for all arms, or one per arm, as float32 `(K,)`; `shape_of` are values given one per arm.

    Raises:
        UsageError: if the shapes do not fit, or a value is not a finite number.
    """
    try:
        values = np.broadcast_to(np.asarray(values, np.float64), np.shape(shape_of))
    except (TypeError, ValueError):
        raise UsageError(f"{what} must be one number, or one per arm") from None
    return jnp.asarray(_on_one_axis(what, values)[0], jnp.float32)


def check_each(rule: str, values: jax.Array, valid: jax.Array) -> None:
    """Refuse values that are not `valid`, naming the first such arm.

    Raises:
        UsageError: the rule, the value and the arm.
    """
    if not bool(jnp.all(valid)):
        arm = int(jnp.argmin(valid))
        raise UsageError(f"{rule}, got {float(values[arm]):g} at arm {arm}")


def arm_count(name: str, value: float) -> int:
    """A number of arms given by a user: from 2 to `MOST_ARMS`, and so many as memory holds.

    Raises:
        UsageError: not a whole number, fewer than two arms, or too many.
    """
    whole = isinstance(value, int | float | np.number) and np.isfinite(value) and value == int(value)
    if not whole or value < 2:
        raise UsageError(f"{name} must be a whole number of arms, at least 2, got {value}")
    if value > MOST_ARMS:
        raise UsageError(f"{name} must be at most {MOST_ARMS:,} arms, got {value:g}")
    refuse_what_does_not_fit(f"a problem of {int(value):,} arms", _BYTES_OF_ARM * int(value), f"a smaller {name}")
    return int(value)


def family_name(family: str, values: ArrayLike) -> str:
    """What a problem is called when its maker gives it no name."""
    shape = np.shape(values)
    return f"{family} ({shape[0]} arms)" if len(shape) == 1 else f"{family} ({shape[0]} bandits of {shape[1]} arms)"
