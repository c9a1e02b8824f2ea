"""Costs of pulls: one unit, the reward (pay per reward), or one price per arm."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.compensated_sums import compensated_total
from jaxbandits.arrays.on_host import as_float32, with_copies
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.checks import NOT_NEGATIVE, SUMMABLE, Rule, each, numbers, shown
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import UsageError
from jaxbandits.io.serialize import plain
from jaxbandits.problems.argument_checks import as_singles
from jaxbandits.problems.provenance import propagate_provenance
from jaxbandits.problems.value_range import check_moments
from jaxbandits.random.binomial_draws import binomial
from jaxbandits.random.gamma_draws import beta as draw_beta
from jaxbandits.random.leftover_bits import bernoulli_from_bits
from jaxbandits.random.streams import cost_block, costs_key
from jaxbandits.random.threefry import uniform

__all__ = ["SMALLEST_PRICE", "Costs", "with_costs"]

#: Smallest probability of a cost: single pulls compare it with 31 random bits.
SMALLEST_PRICE = 2.0**-31
_PROBABILITY = Rule(
    "must be probabilities, 0 or at least 2^-31, below which none would be drawn",
    lambda x: (x == 0) | ((x >= SMALLEST_PRICE) & (x <= 1)),
)


@pytree
@dataclasses.dataclass(frozen=True)
class Costs:
    """Costs of pulls; a problem without costs pays one unit a pull.

    Attributes:
        price: float32 `(K, …)`, expected cost of a pull of each arm; None for its expected reward (Sabato 2019).
        random: whether a pull costs 1 with probability `price` and nothing otherwise, rather than always `price`.
        concentration: float32 `(…)`: the s of random costs with law Beta(s price, s (1 - price)); None for 0/1 costs.
        coupling: float32 `(…)` in [0, 1]; None for independent costs. It makes 0/1 costs depend on Bernoulli rewards:
            the probability that both come from one uniform number. The larger of the two then covers the smaller.

    Example:
        >>> isinstance(jb.with_costs(jb.bernoulli([0.7, 0.5]), [1, 2]).costs, jb.problems.Costs)
        True
    """

    price: jax.Array | None = None
    random: bool = dataclasses.field(default=False, metadata={"static": True})
    concentration: jax.Array | None = None
    coupling: jax.Array | None = None

    def expected(self, mean: jax.Array) -> jax.Array:
        """Return the expected cost of a pull of each arm with these mean rewards, float32 `(K, …)`."""
        return mean if self.price is None else self.price

    def of_pull(
        self,
        key: jax.Array,
        arm: jax.Array,
        pull: jax.Array,
        reward: jax.Array,
        word: jax.Array,
        fresh: jax.Array | None,
    ) -> jax.Array:
        """Return the cost of one pull: an entry of a table, as its reward is.

        Args:
            key: the run's typed key, shape `(…)`.
            arm: int32 `(…)`.
            pull: int32 `(…)`: how often the arm was pulled before.
            reward: `(…)`: the reward of this pull.
            word: uint32 `(…)`: the random word that a Bernoulli reward was drawn from; small words pay. The reward
                depends on its upper bits.
            fresh: uint32 `(…)`: a random word of this pull that is still unused; None where there is none.

        Returns:
            float32 `(…)`.
        """
        if self.price is None:
            return reward.astype(jnp.float32)
        price = arms.take(jnp.asarray(self.price), arm)
        if not self.random:
            return price
        spare = word
        if fresh is None or self.concentration is not None or self.coupling is not None:
            words = cost_block(key, arm, pull)
            if self.concentration is not None:
                return draw_beta(words, self.concentration * price, self.concentration * (1 - price))
            fresh, spare = words
            if self.coupling is not None:
                fresh = jnp.where(uniform(words[1]) < self.coupling, word, fresh)
        return bernoulli_from_bits(price, fresh, spare).astype(jnp.float32)

    @property
    def drawn_as_sums(self) -> bool:
        """Return whether `paid` draws random sums: the number of pulls alone then does not determine their cost."""
        return self.random and self.concentration is None

    def paid(self, key: jax.Array, pulls: jax.Array, reward: jax.Array, since: ArrayLike = 0) -> jax.Array | None:
        """Return the cost of some pulls, drawn as one sum per arm where costs are random; None for Beta costs.

        Args:
            key: a typed key of these pulls, shape `(…)`.
            pulls: int32 `(K, …)`.
            reward: float32 `(…)`: the sum of their rewards.
            since: int32 `(…)`: pulls of the run before these; each value has separate draws.

        Returns:
            float32 `(…)`.
        """
        if self.price is None:
            return reward
        if self.concentration is not None:
            return None
        if self.random:
            hits = binomial(costs_key(key, since), pulls, self.price)
            return arms.total_of_counts(hits)
        return compensated_total(self.price * pulls.astype(jnp.float32))

    def padded(self, extra: int) -> "Costs":
        """Return the costs with prices for `extra` more arms, which are never pulled."""
        if self.price is None:
            return self
        return dataclasses.replace(self, price=with_copies(self.price, extra))


@own_settings("mesh")
def with_costs(problem: Any, costs: Any, *, random: bool = False) -> Any:
    """Return the same problem with other costs of pulls.

    Results then report `cost`, the expected cost of the pulls made, and `paid`, the cost that was drawn. Where a pull
    costs its reward, rules that eliminate arms and keep no sum of all rewards have no `paid`.

    Args:
        problem: a problem, or a family of problems (a constructor's result with axes).
        costs: `"reward"`, every pull costs its reward (pay per reward, Sabato 2019), and a negative one is paid back;
            or one price per arm, or one for all, not negative. On a score matrix it is the price of an evaluation;
            pulls that read no cell are free.
        random: whether a pull of an arm costs 1 with its price as probability, 0 or at least 2^-31, and else nothing.

    Raises:
        UsageError: costs of another form, prices that do not fit the arms, or a reservoir, which draws its own. A
            price must be a float32 number that can be summed, and not negative. A random cost must have a probability
            that can be drawn, at most 1.

    Example:
        >>> jb.with_costs(jb.bernoulli([0.7, 0.5]), [1, 2]).costs.price.tolist()
        [1.0, 2.0]
    """
    if not hasattr(problem, "axes"):
        raise UsageError(f"a problem is needed, such as jb.bernoulli([0.7, 0.5]), got {shown(problem)}")
    if problem.axes:
        return dataclasses.replace(problem, costs=(costs, random))
    if problem.finite and (random or isinstance(costs, str)):
        raise UsageError("an evaluation of a score matrix has a fixed price: give one per candidate, or one for all")
    if problem.drawn or (problem.supremum is not None and not isinstance(costs, str)):
        raise UsageError(f"{problem.name or 'a reservoir'} draws the costs of its arms itself")
    if isinstance(costs, str):
        if costs != "reward":
            raise UsageError(f"costs are 'reward' or prices of the arms, got {costs!r}")
        if random:
            raise UsageError("random costs are prices: what a pull costs with costs='reward' is its reward")
        return propagate_provenance(problem, dataclasses.replace(problem, costs=Costs()), costs=("reward", False))
    if problem.bandits > 1:
        raise UsageError("prices are for one bandit, the problem has several")
    given = numbers("costs", costs)
    try:
        price = np.broadcast_to(given, (problem.arms,))
    except ValueError:
        raise UsageError(
            f"costs must be one price, or one for each of {problem.arms} arms, got {given.size} of them"
        ) from None
    each("costs", price, _PROBABILITY if random else NOT_NEGATIVE, "arm")
    each("costs", price, SUMMABLE, "arm")
    priced = dataclasses.replace(problem, costs=Costs(as_float32(as_singles("costs", price)), random=bool(random)))
    check_moments(priced)
    return propagate_provenance(problem, priced, costs=(plain(costs), bool(random)))
