"""Reservoirs: infinitely many arms; every run draws some of them.

Li and Xia (2017), "Infinitely many-armed bandits with budget constraints", AAAI. With unit costs, Wang, Audibert,
Munos (2008), "Algorithms for infinitely many-armed bandits". Also with unit costs, Carpentier, Valko (2015), "Simple
regret for infinitely many armed bandits".
"""

import abc
import dataclasses
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import fast_max
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli
from jaxbandits.problems.distributions.beta_and_two_point import Beta
from jaxbandits.problems.provenance import propagate_provenance
from jaxbandits.problems.pull_costs import Costs

__all__ = ["Arms", "Reservoir", "register_reservoir"]


class Arms(NamedTuple):
    """Arms drawn from a reservoir."""

    shortfall: jax.Array  # float32 (K, …): the best ratio minus the arm's, with all its bits
    reward: jax.Array  # float32 (K, …): expected reward
    cost: jax.Array | None  # float32 (K, …): expected cost; None for one unit


@dataclasses.dataclass(frozen=True)
class Reservoir(Problem):
    """A law of arms; `realised` draws those of a run.

    Attributes:
        concentration: float32 `()`: s of Beta(s u, s (1 - u)) rewards and costs with mean u; None for 0 or 1.
        coupling: float32 `()` in [0, 1]: how often the cost of a pull is drawn from the uniform number of its reward;
            None for never.
        count: number of arms that a run draws; 0 until an algorithm has chosen it.

    Example:
        >>> isinstance(jb.reservoir(beta=1), jb.problems.Reservoir)
        True
    """

    concentration: jax.Array | None = dataclasses.field(default=None, kw_only=True)
    coupling: jax.Array | None = dataclasses.field(default=None, kw_only=True)
    count: int = dataclasses.field(default=0, kw_only=True)

    choices: ClassVar[tuple[str, ...]] = ("count",)
    drawn = True
    in_interval = True
    lowest_reward = 0.0
    cost_unit = "prices"

    @property
    def arms(self) -> int:
        """Return the number of arms that a run draws."""
        return self.count

    @property
    @abc.abstractmethod
    def best(self) -> jax.Array:
        """Return the supremum of expected reward over expected cost, float32 `(…)`."""

    @property
    @abc.abstractmethod
    def smallest_cost(self) -> float:
        """Return a lower bound of the arms' expected costs."""

    @property
    def best_ratio(self) -> float:
        """Return `best` as a Python number."""
        return float(self.best)

    @property
    def unit_costs(self) -> bool:
        """Return whether every pull costs one."""
        return False

    @abc.abstractmethod
    def draw(self, key: jax.Array) -> Arms:
        """Return the arms of the runs with these typed keys, `(…)`: the first arms do not depend on their number."""

    def realised(self, key: jax.Array) -> Problem:
        """Return the arms of the runs with these keys, as a problem with leaves `(K, …)`."""
        drawn = self.draw(key)
        costs = None
        if drawn.cost is not None:
            costs = Costs(drawn.cost, random=True, concentration=self.concentration, coupling=self.coupling)
        shared: dict[str, Any] = {"costs": costs, "supremum": jnp.broadcast_to(self.best, key.shape), "mask": self.mask}
        if self.concentration is None:
            return Bernoulli(drawn.reward, **shared)
        # A mean of exactly 0 or 1 would have no density.
        a, b = (fast_max(self.concentration * mean, jnp.float32(1e-6)) for mean in (drawn.reward, 1 - drawn.reward))
        return Beta(a, b, **shared)

    def sized(self, count: int) -> Self:
        """Return the reservoir from which a run draws `count` arms, unless it fixes their number itself."""
        return self if self.count else dataclasses.replace(self, count=count)

    def kind(self) -> Self:
        """Return the reservoir without its name and its number of arms."""
        return dataclasses.replace(self, name="", count=0)

    def padded(self, count: int) -> Self:
        """Return the reservoir with `count` arms, the added ones masked out."""
        mask = jnp.asarray(np.arange(count) < self.count)
        return propagate_provenance(self, dataclasses.replace(self, count=count, mask=mask), padded=count)

    @property
    def mean(self) -> NoReturn:
        """Raise a UsageError: the means differ from run to run."""
        self._unknown()

    @property
    def variance(self) -> NoReturn:
        """Raise a UsageError: the variances differ from run to run."""
        self._unknown()

    @property
    def reward_range(self) -> jax.Array:
        """Return 1."""
        return jnp.ones((), jnp.float32)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> NoReturn:
        """Raise a UsageError: only arms that were drawn have rewards."""
        del words, parameters
        raise UsageError("a reservoir has no rewards: draw arms with realised(key)")

    def _unknown(self) -> NoReturn:
        raise UsageError(f"{self.name}: every run draws its own arms, so their means are unknown before it")


def register_reservoir(cls: type[Any]) -> type[Any]:
    """Register a class of reservoirs as `register_problem` does; its leaves include those that all reservoirs have."""
    cls.parameters = (*cls.parameters, "concentration", "coupling")
    return register_problem(cls)
