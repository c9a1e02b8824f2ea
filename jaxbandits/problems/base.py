"""The base class of problems: per-arm parameters, and rewards as a pure function of (run key, arm, pull).

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

from jaxbandits.arrays import arms
from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.on_host import with_copies
from jaxbandits.arrays.pytrees import register_fields
from jaxbandits.checks import Rule
from jaxbandits.problems.inherited_laws import forget_inherited
from jaxbandits.problems.properties import Facts
from jaxbandits.problems.provenance import Recipe, propagate_provenance
from jaxbandits.problems.pull_costs import Costs
from jaxbandits.problems.pull_history import History
from jaxbandits.problems.tables.table_entries import entry
from jaxbandits.random.streams import batch_key, reward_block

__all__ = [
    "Problem",
    "per_bandit",
    "register_problem",
]


@dataclasses.dataclass(frozen=True)
class Problem(Facts):
    """Arms, each with its own reward distribution.

    Subclasses are frozen dataclasses registered with `register_problem`. Their array fields, shape `(K,)` float32,
    are the parameters of the law. Properties with a default that holds for most families are inherited.

    Attributes:
        mask: bool `(K,)`, false for padded arms; None when no arm is padded.
        costs: what pulls cost; None for one unit each.
        supremum: float32 `()`: the largest `value` of the reservoir that the arms were drawn from; None without one.
        history: pulls that were made before; a run starts from their counts, which its own pulls include. None for
            none.
        bandits: number of bandits M that share the axis of arms; 1 for an ordinary problem.
        name: what the problem is called in results.
        recipe: how the problem was made; None where it was made by hand, or by an operation on its leaves. Not part
            of the pytree.

    Example:
        >>> isinstance(jb.bernoulli([0.7, 0.5]), jb.Problem)
        True
    """

    mask: jax.Array | None = dataclasses.field(default=None, kw_only=True)
    costs: Costs | None = dataclasses.field(default=None, kw_only=True)
    supremum: jax.Array | None = dataclasses.field(default=None, kw_only=True)
    history: History | None = dataclasses.field(default=None, kw_only=True)
    bandits: int = dataclasses.field(default=1, kw_only=True)
    name: str = dataclasses.field(default="", kw_only=True, compare=False)
    recipe: Recipe | None = dataclasses.field(default=None, kw_only=True, compare=False, repr=False)

    #: The law's parameters: names of the per-arm fields.
    parameters: ClassVar[tuple[str, ...]]
    #: Names of static fields: they are part of the program, not of its input.
    choices: ClassVar[tuple[str, ...]] = ()
    #: The constructor that takes only the parameters: its name in the registry, and its names for them. Empty where
    #: there is none.
    written: ClassVar[tuple[str, ...]] = ()
    #: The name of the parameter that is the mean; empty where none is.
    mean_is: ClassVar[str] = ""
    #: Parameters in which `log_density` has a derivative for every reward: the support does not depend on them.
    scored: ClassVar[tuple[str, ...]] = ()
    #: The rule that a parameter must satisfy to have a score; None for any.
    score_range: ClassVar[Rule | None] = None
    #: Whether rewards are int32, or float32.
    integer_rewards: ClassVar[bool] = False

    @classmethod
    @abc.abstractmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: Any) -> jax.Array:
        """Return rewards computed elementwise from two random words (uint32) and the arrays of the parameters."""

    @classmethod
    def log_density(cls, reward: jax.Array, *parameters: Any) -> jax.Array:
        """Return the log density of float32 rewards, elementwise, up to a constant.

        Families with `scored` parameters define it.
        """
        raise NotImplementedError

    @property
    def mean(self) -> jax.Array:
        """Return the expected reward of each arm, float32 `(K, …)`: a parameter, or what a family computes."""
        if not self.mean_is:
            raise TypeError(f"{type(self).__name__} has neither a property mean nor a parameter mean_is")
        return getattr(self, self.mean_is)

    @property
    def arms(self) -> int:
        """Return the number of arms K on the axis, padded arms and all bandits included."""
        return int(getattr(self, self.parameters[0]).shape[0])

    @property
    def second_word_free(self) -> bool:
        """Return whether a reward leaves its second word unused, so that a cost may be drawn from it."""
        return False

    @property
    def axes(self) -> dict[str, Any]:
        """Return the axes: none, since only a family of problems has axes."""
        return {}

    def at(self, values: dict[str, object]) -> "Problem":
        """Return the problem at values of its axes: itself, since it has none."""
        del values
        return self

    def chosen(self, axes: dict[str, Any]) -> "Problem":
        """Return the problem with fewer values of its axes: itself."""
        del axes
        return self

    def sized(self, count: int) -> "Problem":
        """Return the problem with `count` arms, where their number is left open."""
        del count
        return self

    def realised(self, key: jax.Array) -> "Problem":
        """Return the problem of the runs with these keys, `(…)`: itself; a reservoir draws arms."""
        del key
        return self

    def reward(self, key: jax.Array, arm: ArrayLike, pull: ArrayLike) -> jax.Array:
        """Return the reward of one pull: an entry of the run's reward table.

        Args:
            key: the run's typed key, shape `(…)`.
            arm: whole numbers, shape `(…)`, in [0, K).
            pull: whole numbers, shape `(…)`: how often the arm was pulled before.

        Returns:
            int32 or float32, shape `(…)`.

        Raises:
            UsageError: an arm or a pull outside the table, where its value is known; or one that is not a whole number.
        """
        return self._drawn(key, *entry(arm, pull, self.arms))[0]

    def _drawn(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        """Return the reward of one pull, and the words that it was drawn from."""
        words = reward_block(key, arm, pull)
        parameters = [arms.take(jnp.asarray(getattr(self, name)), arm) for name in self.parameters]
        return self.sample(words, *parameters), words

    def payoff(self, key: jax.Array, arm: ArrayLike, pull: ArrayLike) -> tuple[jax.Array, jax.Array]:
        """Return the reward of one pull and its cost; arguments and errors as for `reward`.

        Returns:
            The reward, int32 or float32, and the cost, float32; shape `(…)`.
        """
        arm, pull = entry(arm, pull, self.arms)
        reward, words = self._drawn(key, arm, pull)
        if self.costs is None:
            return reward, jnp.ones(reward.shape, jnp.float32)
        fresh = words[1] if self.second_word_free else None
        return reward, self.costs.of_pull(key, arm, pull, reward, words[0], fresh)

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """Return the rewards of one pull of every arm.

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
        """Return the sum of fresh rewards of every arm: here of the next entries of the reward table.

        A batch that would pass the end of the table, 2^31 pulls of an arm, has separate rewards. Families with a known
        law of sums draw each sum at once: equal in distribution, with other numbers.

        Args:
            key: the run's typed key, shape `(…)`.
            batch: int32, shape `(…)`: number of this request, distinct within a run.
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
        return jnp.round(total.high).astype(jnp.int32) if self.integer_sums else total.high

    def kind(self) -> Self:
        """Return the problem without its name: cells that share a program may differ in it."""
        return dataclasses.replace(self, name="")

    def padded(self, count: int) -> Self:
        """Return the problem with `count` arms per bandit, the added ones masked out; for leaves of shape `(K,)`."""
        extra = (count - self.arms // self.bandits) * self.bandits
        exists = np.ones(self.arms, bool) if self.mask is None else np.asarray(self.mask)
        mask = np.concatenate([exists, np.zeros(extra, bool)])
        changes: dict[str, Any] = {name: with_copies(getattr(self, name), extra) for name in self.parameters}
        if self.costs is not None:
            changes["costs"] = self.costs.padded(extra)
        wider: Self = propagate_provenance(
            self, dataclasses.replace(self, mask=jax.device_put(mask), **changes), padded=count
        )
        return wider


P = TypeVar("P", bound=Problem)


def register_problem(cls: type[P]) -> type[P]:
    """Register a frozen dataclass whose leaves are its parameters and all other arrays; a class decorator.

    A class made from another family that has its own `sample` forgets what is known of that family's law.
    """
    forget_inherited(cls, Problem)
    leaves = [*cls.parameters, "mask", "costs", "supremum", "history"]
    return register_fields(cls, leaves, ["bandits", "name", *cls.choices])


def per_bandit(x: jax.Array, bandits: int) -> jax.Array:
    """Reshape `(K, …)` to `(K/M, M, …)`, so that reductions over arms work per bandit; unchanged for M = 1."""
    return x if bandits == 1 else x.reshape(x.shape[0] // bandits, bandits, *x.shape[1:])
