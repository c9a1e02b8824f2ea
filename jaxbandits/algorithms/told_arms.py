"""What a rule knows about its arms, and how it requests several batches of pulls at once."""

import dataclasses
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from jaxbandits.arrays.pytrees import pytree
from jaxbandits.costs.arm_costs import ArmCosts, ToldCosts
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import per_bandit
from jaxbandits.statistics.arm_statistics import unbiased_variance

__all__ = ["LARGEST_BATCH", "Arms", "Batches", "OwnState"]

#: The most rewards of an arm in one of several batches, or with `fresh_only`: two batches must sum to an int32.
LARGEST_BATCH = 2**30 - 1


#: The own state of a rule: any pytree of arrays; None where it has none.
OwnState: TypeAlias = Any


class Batches(NamedTuple):
    """Several batches that are requested at once.

    Attributes:
        counts: int32 `(K,)`, how often to pull each arm in a batch.
        number: int32 `()`, the number of batches.

    Example:
        >>> jb.Batches(counts=jnp.array([5, 5]), number=3).number
        3
    """

    counts: jax.Array
    number: jax.Array


@pytree
@dataclasses.dataclass(frozen=True)
class Arms(ToldCosts):
    """The observations of a run, for each arm and in total.

    Attributes:
        pulls: int32 `(K,)`, pulls of each arm; 2^31 - 1 for more.
        mean: float32 `(K,)`, mean reward of each arm, 0 before the first pull; at most 2^100 in absolute value.
        inverse_root: float32 `(K,)`, `1 / sqrt(pulls)`; 1 before the first pull. It is kept because most confidence
            radii are multiples of it.
        total: float32 or int32 `(K,)`, sum of the rewards of each arm. With `fresh_only` these are zeros, and `mean`
            and `inverse_root` are None.
        time: int32 `()`, pulls of all arms; 2^31 - 2 for more.
        count: int32 `()`, the number of arms K, of all bandits, without padding.
        b: float32 `()`, what `reward_range` returns; None if rewards have no range.
        squares: float32 `(K,)`, sum of the squared deviations of the rewards from their mean, for `variance`; None if
            they are not kept.
        cells: int32 `(K,)`, how many items each arm has, where arms are finite populations whose items are read once
            (`jb.matrix`). None on other problems, and for rules that eliminate arms.
        costs: the data of `mean_cost`, `total_cost` and `spent`; None if they are not kept.
        own: the rule's state, in the result of `jb.run` and for metrics; None in the rule's methods.
        answer: bool `(K,)`, the arms that the run returns, likewise.
        ended: bool `()`, whether the rule has ended the run, likewise.
        bandits: the number of bandits M.

    Example:
        >>> @jb.algorithm
        ... class Widest:
        ...     budget: int
        ...
        ...     def select(self, arms, key):
        ...         return jnp.argmin(arms.pulls)
        ...
        ...     def done(self, arms):
        ...         return arms.time >= self.budget
        ...
        ...     def recommend(self, arms):
        ...         return jnp.argmax(arms.mean)
        ...
        >>> int(jb.run(Widest(budget=10), jb.bernoulli([0.9, 0.4]), jax.random.key(0)).time)
        10
    """

    pulls: jax.Array
    time: jax.Array
    count: jax.Array
    b: jax.Array | None
    total: jax.Array
    mean: Any = None
    inverse_root: Any = None
    squares: jax.Array | None = None
    cells: jax.Array | None = None
    costs: ArmCosts | None = None
    own: OwnState = None
    answer: jax.Array | None = None
    ended: jax.Array | None = None
    bandits: int = dataclasses.field(default=1, metadata={"static": True})

    def __len__(self) -> int:
        """Return the length of the arrays."""
        return int(self.pulls.shape[0])

    def per_bandit(self, x: jax.Array) -> jax.Array:
        """Reshape `(K,)` to `(K / M, M)`, the arms of each bandit along the first axis; unchanged for one bandit."""
        return per_bandit(x, self.bandits)

    @property
    def reward_range(self) -> jax.Array:
        """The b of the papers, float32 `()`: rewards lie in an interval of this length, or are (b/2)-sub-Gaussian.

        Raises:
            UsageError: neither is known of the rewards.
        """
        if self.b is None:
            raise UsageError("the rule reads arms.reward_range, and these rewards have heavy tails: they have none")
        return self.b

    def where_unread(self, x: jax.Array, known: float) -> jax.Array:
        """Return values of arms, `(K,)`, and another where all items of an arm of a finite population were read."""
        return x if self.cells is None else jnp.where(self.pulls < self.cells, x, known)

    @property
    def variance(self) -> jax.Array:
        """The unbiased empirical variance of each arm, float32 `(K,)`; 0 before the second pull.

        Raises:
            UsageError: the class does not set `second_moments = True`.
        """
        if self.squares is None:
            raise UsageError(
                "arms.variance needs second_moments = True in the class: all arms are then pulled twice first"
            )
        return unbiased_variance(self.squares, self.pulls)
