"""Properties of a problem besides its rewards, with defaults that hold for most families."""

import abc
from typing import TYPE_CHECKING, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.compilers.jax_settings import run_methods_so
from jaxbandits.errors import UsageError
from jaxbandits.problems.pull_costs import Costs

__all__ = ["Facts"]


#: Properties and methods that compute with JAX and may be called outside a run.
_COMPUTED = (
    "mean", "value", "variance", "reward_range", "best_ratio", "realised", "reward", "payoff", "rewards", "sums",
    "read", "evaluations", "all_cells", "most_cells",
)  # fmt: skip


class Facts(abc.ABC):
    """Properties of a problem; a family overrides those in which it differs."""

    costs: Costs | None
    name: str

    #: Whether rewards are bounded or sub-Gaussian: `reward_range` is then a number.
    bounded: ClassVar[bool] = True
    #: Whether the rewards of the family lie in an interval, as theorems for [0, 1] require.
    in_interval: ClassVar[bool] = False
    #: Whether the rewards of every arm are normal.
    normal: ClassVar[bool] = False
    #: Whether `moments` is defined for its law.
    has_moments: ClassVar[bool] = False
    #: Whether every run draws its own arms, as from a reservoir.
    drawn: ClassVar[bool] = False
    #: Whether arms are finite populations, of which a run reads each cell once.
    finite: ClassVar[bool] = False
    #: Whether sums of rewards are int32: of rewards 0 and 1 only, since sums of larger ones may pass 2^31.
    integer_sums: ClassVar[bool] = False

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        run_methods_so(cls, *_COMPUTED)

    @property
    @abc.abstractmethod
    def arms(self) -> int:
        """Return the number of arms K on the axis, padded arms and all bandits included."""

    @property
    @abc.abstractmethod
    def mean(self) -> jax.Array:
        """Return the expected reward of each arm, float32 `(K, …)`."""

    @property
    def exact_mean(self) -> jax.Array | np.ndarray:
        """Return the mean, in float64 where float32 may not hold it and the family computes it so."""
        return self.mean

    @property
    def sum_type(self) -> type[jnp.generic]:
        """Return the type of sums of rewards."""
        return jnp.int32 if self.integer_sums else jnp.float32

    @property
    def value(self) -> jax.Array:
        """Return expected reward over expected cost of each arm, float32 `(K, …)`."""
        return self.mean if self.costs is None else self.mean / self.costs.expected(self.mean)

    @property
    @abc.abstractmethod
    def variance(self) -> jax.Array:
        """Return the variance of the reward of each arm, float32 `(K, …)`."""

    @property
    @abc.abstractmethod
    def reward_range(self) -> jax.Array:
        """Return the b of the papers, float32 `(…)`.

        Rewards lie in an interval of this length, or are (b/2)-sub-Gaussian.
        """

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """Return E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`; infinite where there is none.

        Raises:
            UsageError: the family does not define its moments.
        """
        del p, central
        raise UsageError(f"{self.name} does not know its moments")

    @property
    def tail_index(self) -> np.ndarray:
        """Return the order below which moments are finite, float64 `(K,)`."""
        return np.full(self.arms, np.inf)

    if TYPE_CHECKING:  # a field of finite populations: a property would become its default

        @property
        def cells(self) -> jax.Array:
            """Return how many cells each arm of a finite population has, int32 `(K, …)`."""

    def read(self, pulls: jax.Array) -> jax.Array:
        """Return the pulls that cost something, int32 `(K, …)`, of all pulls; pulls of read-out arms do not."""
        return pulls

    def evaluations(self, pulls: jax.Array) -> jax.Array:
        """Return how many cells of finite populations were read in pulls `(K, …)` of the arms, int32 `(…)`."""
        raise NotImplementedError

    @property
    def all_cells(self) -> jax.Array:
        """Return how many cells finite populations have together, int32 `(…)`."""
        raise NotImplementedError

    @property
    def most_cells(self) -> jax.Array:
        """Return how many cells the largest finite population has, int32 `(…)`."""
        raise NotImplementedError

    @property
    def bound_law(self) -> tuple[str, float | np.ndarray] | None:
        """Return the law of rewards for likelihood ratio tests and lower bounds of pulls; None without one.

        The first entry is a name of `jaxbandits.statistics.exponential_families.FAMILIES`. The second is the standard
        deviation of normal rewards, an array `(K,)` if arms differ in it; 1 for other laws.
        """
        return None

    @property
    def unseen_mean(self) -> float | None:
        """Return the sum of the means of the arms that are not simulated; None where all are."""
        return None

    @property
    def regularity(self) -> float | None:
        """Return the exponent beta of the law that arms are drawn from; None where it is unknown or arms are given."""
        return None

    @property
    def best_ratio(self) -> float:
        """Return the largest ratio of expected reward to expected cost."""
        price = 1.0 if self.costs is None else np.asarray(self.costs.expected(self.mean), np.float64)
        return float(np.max(np.asarray(self.mean, np.float64) / price))

    @property
    def smallest_cost(self) -> float:
        """Return the smallest expected cost of any arm."""
        return 1.0 if self.costs is None else float(np.min(self.costs.expected(self.mean)))

    @property
    def unit_costs(self) -> bool:
        """Return whether every pull costs one."""
        return self.costs is None

    @property
    def cost_unit(self) -> str:
        """Return the unit that costs are counted in."""
        if self.costs is None:
            return "pulls"
        return "rewards" if self.costs.price is None else "prices"

    @property
    def lowest_reward(self) -> float:
        """Return a lower bound of the rewards of all arms; -inf where none is known."""
        return -np.inf

    @property
    def sub_gaussian(self) -> bool:
        """Return whether theorems for (b/2)-sub-Gaussian rewards of independent arms hold for it."""
        return False

    @property
    def common_random_numbers(self) -> bool:
        """Return whether the n-th pulls of all arms use the same random numbers, or read the same item."""
        return False

    @property
    def correlation(self) -> float:
        """Return V >= 1 with Var(X_A) <= V E X_A for the sum X_A of a joint pull of any set A of arms.

        This is Assumption 2.2 of Sabato (2019), if Var(X_i) <= E X_i; 1 where arms are independent.
        """
        return 1.0


run_methods_so(Facts, *_COMPUTED)
