"""What a problem is asked beside its rewards: facts that others decide by, with the answers that most families give."""

import abc
from typing import Any, ClassVar

import jax
import numpy as np

from jaxbandits.arrays.jax_settings import run_methods_so
from jaxbandits.errors import UsageError
from jaxbandits.problems.costs import Costs

__all__ = ["Facts"]


#: What computes with JAX, and may be asked outside a run: numbers of the arms, and draws.
_COMPUTED = (
    "mean", "value", "variance", "reward_range", "best_ratio", "realised", "reward", "payoff", "rewards", "sums",
)  # fmt: skip


class Facts(abc.ABC):
    """Facts of a problem; a family declares what is otherwise with it."""

    costs: Costs | None
    name: str

    #: Whether rewards lie in an interval, or are sub-Gaussian: whether `reward_range` is a number.
    bounded: ClassVar[bool] = True
    #: Whether the rewards of the family lie in an interval, as theorems for [0, 1] ask.
    in_interval: ClassVar[bool] = False
    #: Whether theorems for (b/2)-sub-Gaussian rewards hold for it.
    sub_gaussian: ClassVar[bool] = False
    #: Whether the rewards of every arm are normal.
    normal: ClassVar[bool] = False
    #: Whether `moments` knows the moments of its law.
    has_moments: ClassVar[bool] = False
    #: Whether every run draws arms of its own, as from a reservoir.
    drawn: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        run_methods_so(cls, *_COMPUTED)

    @property
    @abc.abstractmethod
    def arms(self) -> int:
        """Number of arms K on the axis, padded arms and all bandits included."""

    @property
    @abc.abstractmethod
    def mean(self) -> jax.Array:
        """Expected reward of each arm, float32 `(K, …)`."""

    @property
    def value(self) -> jax.Array:
        """Expected reward over expected cost of each arm, float32 `(K, …)`."""
        return self.mean if self.costs is None else self.mean / self.costs.expected(self.mean)

    @property
    @abc.abstractmethod
    def variance(self) -> jax.Array:
        """Variance of the reward of each arm, float32 `(K, …)`."""

    @property
    @abc.abstractmethod
    def reward_range(self) -> jax.Array:
        """The b of the papers, float32 `(…)`: rewards lie in an interval of this length, or are (b/2)-sub-Gaussian."""

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`; infinite where there is none.

        Raises:
            UsageError: a family that does not know them.
        """
        del p, central
        raise UsageError(f"{self.name} does not know its moments")

    @property
    def tail_index(self) -> np.ndarray:
        """Moments of lower order than this are finite, float64 `(K,)`."""
        return np.full(self.arms, np.inf)

    @property
    def bound_law(self) -> tuple[str, float | np.ndarray] | None:
        """The law of rewards as likelihood ratio tests and lower bounds of pulls take it; None without one.

        A name of `jaxbandits.statistics.exponential_families.FAMILIES`, and the standard deviation of normal rewards,
        of arms that have several an array `(K,)`; 1 for other laws.
        """
        return None

    @property
    def unseen_mean(self) -> float | None:
        """Sum of the means of the arms that are not simulated; None where all are."""
        return None

    @property
    def regularity(self) -> float | None:
        """The exponent beta of the law that arms are drawn from; None where they are given, or it is not known."""
        return None

    @property
    def best_ratio(self) -> float:
        """The largest ratio of expected reward to expected cost that there is."""
        price = 1.0 if self.costs is None else np.asarray(self.costs.expected(self.mean), np.float64)
        return float(np.max(np.asarray(self.mean, np.float64) / price))

    @property
    def smallest_cost(self) -> float:
        """No arm's expected cost is smaller."""
        return 1.0 if self.costs is None else float(np.min(self.costs.expected(self.mean)))

    @property
    def unit_costs(self) -> bool:
        """Whether every pull costs one."""
        return self.costs is None

    @property
    def cost_unit(self) -> str:
        """What costs are counted in."""
        if self.costs is None:
            return "pulls"
        return "rewards" if self.costs.price is None else "prices"

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


run_methods_so(Facts, *_COMPUTED)
