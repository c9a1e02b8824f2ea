"""Reservoirs: infinitely many arms, of which every run draws its own.

Li and Xia (2017), "Infinitely many-armed bandits with budget constraints", AAAI; with unit costs, Wang, Audibert, Munos
(2008), "Algorithms for infinitely many-armed bandits", and Carpentier, Valko (2015), "Simple regret for infinitely many
armed bandits".
"""

import abc
import dataclasses
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy import special  # type: ignore[import-untyped,unused-ignore]

from jaxbandits import arms
from jaxbandits.axes import varying
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.numerics import exp, larger, log, rounded
from jaxbandits.problems.base import Problem, arm_count, register_problem
from jaxbandits.problems.costs import Costs
from jaxbandits.problems.csv_files import Table, is_number
from jaxbandits.problems.families import Bernoulli, Beta
from jaxbandits.random.bits import block, fine_uniform, normal, uniform

__all__ = ["Arms", "RatioReservoir", "Reservoir", "TableReservoir", "reservoir", "reservoir_from_csv"]

# Counter words of the streams that draw arms: reward counters use arm numbers, which stay below 2^31.
_ARM_STREAM, _PRICE_STREAM = 0xFFFF0005, 0xFFFF0006
_PRICES = ("uniform", "log-normal", "unit")
_LAWS = ("bernoulli", "beta")
#: Share of log-normal costs that must lie in [lambda, 1], so that rejection ends.
_INSIDE = 0.05


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
        coupling: float32 `()` in [0, 1]: how often the cost of a pull is drawn from the uniform number of its
            reward; None for never.
        count: number of arms that a run draws; 0 before an algorithm has said how many it wants.
    """

    concentration: jax.Array | None = dataclasses.field(default=None, kw_only=True)
    coupling: jax.Array | None = dataclasses.field(default=None, kw_only=True)
    count: int = dataclasses.field(default=0, kw_only=True)

    choices: ClassVar[tuple[str, ...]] = ("count",)

    @property
    def arms(self) -> int:
        """Number of arms that a run draws."""
        return self.count

    @property
    def regularity(self) -> float | None:
        """The exponent beta in P(ratio > best - e) ~ e^beta; None where it is not known."""
        return None

    @property
    @abc.abstractmethod
    def best(self) -> jax.Array:
        """Supremum of expected reward over expected cost, float32 `(…)`."""

    @property
    @abc.abstractmethod
    def smallest_cost(self) -> float:
        """No arm's expected cost is smaller."""

    @property
    def unit_costs(self) -> bool:
        """Whether every pull costs one."""
        return False

    @abc.abstractmethod
    def draw(self, key: jax.Array) -> Arms:
        """The arms of the runs with these keys, `(…)`: the same ones, however many are drawn.

        Args:
            key: the runs' typed keys, shape `(…)`.
        """

    def realised(self, key: jax.Array) -> Problem:
        """The arms of the runs with these keys, as a problem with leaves `(K, …)`."""
        drawn = self.draw(key)
        costs = None
        if drawn.cost is not None:
            costs = Costs(drawn.cost, random=True, concentration=self.concentration, coupling=self.coupling)
        shared: dict[str, Any] = {"costs": costs, "supremum": jnp.broadcast_to(self.best, key.shape), "mask": self.mask}
        if self.concentration is None:
            return Bernoulli(drawn.reward, **shared)
        # A mean of exactly 0 or 1 would have no density.
        a, b = (larger(self.concentration * mean, jnp.float32(1e-6)) for mean in (drawn.reward, 1 - drawn.reward))
        return Beta(a, b, **shared)

    def sized(self, count: int) -> Self:
        """The reservoir from which a run draws so many arms, unless it says itself how many."""
        return self if self.count else dataclasses.replace(self, count=count)

    def kind(self) -> Self:
        """Without its name and its number of arms."""
        return dataclasses.replace(self, name="", count=0)

    def padded(self, count: int) -> Self:
        """The same with `count` arms, the added ones masked out."""
        return dataclasses.replace(self, count=count, mask=jnp.asarray(np.arange(count) < self.count))

    @property
    def mean(self) -> NoReturn:
        """Every run has its own."""
        self._unknown()

    @property
    def variance(self) -> NoReturn:
        """Every run has its own."""
        self._unknown()

    @property
    def reward_range(self) -> jax.Array:
        """1."""
        return jnp.ones((), jnp.float32)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> NoReturn:
        """Only arms that were drawn have rewards."""
        del words, parameters
        raise UsageError("a reservoir has no rewards: draw arms with realised(key)")

    def _unknown(self) -> NoReturn:
        raise UsageError(f"{self.name}: every run draws arms of its own, there are no means to know")


def _leaves(cls: type[Any]) -> type[Any]:
    cls.parameters = (*cls.parameters, "concentration", "coupling")
    return register_problem(cls)


@_leaves
@dataclasses.dataclass(frozen=True)
class RatioReservoir(Reservoir):
    """Ratios rho = rho* (1 - U^(1/beta)), so that P(rho > rho* - e) = (e / rho*)^beta exactly.

    Attributes:
        beta: float32 `()`.
        rho: float32 `()`: rho*, the best ratio of expected reward to expected cost.
        lam: float32 `()`: lambda, the smallest expected cost.
        mu: float32 `()`: mean of the logarithm of log-normal costs.
        sigma: float32 `()`: its standard deviation.
        prices: law of the expected costs.
    """

    beta: jax.Array
    rho: jax.Array
    lam: jax.Array
    mu: jax.Array
    sigma: jax.Array
    prices: str = "uniform"
    parameters = ("beta", "rho", "lam", "mu", "sigma")
    choices = ("count", "prices")

    @property
    def regularity(self) -> float | None:
        """Beta, as it was before it was rounded to float32, so that B^(1/2) is a whole number where it should be."""
        rounded_value = np.float32(self.beta)
        simple = float(Fraction(float(rounded_value)).limit_denominator(1000))
        return simple if np.float32(simple) == rounded_value else float(str(rounded_value))

    @property
    def best(self) -> jax.Array:
        """rho*."""
        return jnp.asarray(self.rho)

    @property
    def smallest_cost(self) -> float:
        """Lambda, or 1."""
        return 1.0 if self.prices == "unit" else float(self.lam)

    @property
    def unit_costs(self) -> bool:
        """Whether the prices are `unit`."""
        return self.prices == "unit"

    def draw(self, key: jax.Array) -> Arms:
        """Ratios by inversion, and costs independent of them."""
        arm = arms.index(self.count, key.shape)
        words = block(key, jnp.uint32(_ARM_STREAM), arm, rolled=True)
        # U keeps its bits down to 2^-64: the best arms have the smallest U.
        shortfall = self.rho * exp(log(fine_uniform(words)) * (1 / self.beta))
        ratio = self.rho - rounded(shortfall)
        if self.prices == "unit":
            return Arms(shortfall, ratio, None)
        if self.prices == "uniform":
            word = block(key, jnp.uint32(_PRICE_STREAM), arm, rolled=True)[0]
            cost = self.lam + rounded((1 - self.lam) * uniform(word))
        else:
            cost = self._log_normal(key, arm)
        return Arms(shortfall, rounded(ratio * cost), cost)

    def _log_normal(self, key: jax.Array, arm: jax.Array) -> jax.Array:
        """Log-normal costs within [lambda, 1], by rejection."""
        shape = jnp.broadcast_shapes(arm.shape, (1, *key.shape))

        def attempt(carry: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
            number, found, cost = carry
            words = block(key, jnp.uint32(_PRICE_STREAM), arm + number * jnp.int32(2**20), rolled=True)
            drawn = exp(self.mu + rounded(self.sigma * normal(words)))
            inside = (drawn >= self.lam) & (drawn <= 1)
            return number + 1, found | inside, jnp.where(inside & ~found, drawn, cost)

        start = (jnp.int32(0), jnp.zeros(shape, bool), jnp.zeros(shape, jnp.float32))
        # So many attempts number all counters there are; `reservoir` sees to it that one of twenty is inside.
        return lax.while_loop(lambda c: ~jnp.all(c[1]) & (c[0] < 2**11), attempt, start)[2]


@_leaves
@dataclasses.dataclass(frozen=True)
class TableReservoir(Reservoir):
    """Arms drawn from the rows of a table, with replacement.

    Attributes:
        gains: float32 `(N,)`: expected rewards, in [0, 1].
        prices: float32 `(N,)`: expected costs, in (0, 1].
        beta: regularity, for algorithms that ask for it; None for not known.
    """

    gains: jax.Array
    prices: jax.Array
    beta: float | None = None
    parameters = ("gains", "prices")
    choices = ("count", "beta")

    @property
    def regularity(self) -> float | None:
        """As given."""
        return self.beta

    @property
    def best(self) -> jax.Array:
        """The largest ratio in the table."""
        return arms.largest(jnp.asarray(self.gains) / jnp.asarray(self.prices))

    @property
    def smallest_cost(self) -> float:
        """The smallest in the table."""
        return float(np.min(np.asarray(self.prices)))

    def draw(self, key: jax.Array) -> Arms:
        """Rows with replacement."""
        arm = arms.index(self.count, key.shape)
        word = block(key, jnp.uint32(_ARM_STREAM), arm, rolled=True)[0]
        size = self.gains.shape[0]
        row = jnp.minimum((uniform(word) * size).astype(jnp.int32), size - 1)
        reward, cost = (arms.take(jnp.asarray(column), row) for column in (self.gains, self.prices))
        return Arms(self.best - reward / cost, reward, cost)


@varying
def reservoir(
    beta: float = 1.0,
    rho: float = 1.0,
    lam: float = 0.2,
    prices: str = "uniform",
    law: str = "bernoulli",
    coupling: float = 0.0,
    concentration: float = 4.0,
    mu: float = -0.97,
    sigma: float = 0.486,
    arms: int | None = None,
) -> RatioReservoir:
    """Infinitely many arms whose ratio of expected reward to expected cost is beta-regular (Li and Xia 2017, eq. 1).

    The ratio is rho (1 - U^(1/beta)): P(ratio > rho - e) = (e / rho)^beta. The expected cost u_c is independent of it,
    and the expected reward is ratio times u_c. Every run draws its own arms.

    Args:
        beta: regularity, positive: how rare good arms are.
        rho: rho*, the best ratio, in (0, 1].
        lam: lambda in (0, 1), the smallest expected cost.
        prices: law of the expected costs: `uniform` on [lambda, 1]; `log-normal` within [lambda, 1]; `unit`, every pull
            costs one, and the means are then rho Beta(1, beta), as in Wang et al. 2008 and Carpentier and Valko 2015.
        law: of rewards and costs about their means: `bernoulli`, 0 or 1, or `beta`.
        coupling: in [0, 1], with `bernoulli`: how often cost and reward of a pull come from one uniform number.
        concentration: s of `beta`, Beta(s u, s (1 - u)) with mean u; positive.
        mu: mean of the logarithm of log-normal costs. The default, with sigma, is a fit to 8 576 cloud spot prices per
            unit of capacity, in units of the price two standard deviations above the median.
        sigma: standard deviation of the logarithm of log-normal costs, positive.
        arms: number of arms that a run draws; None for as many as the algorithm wants.

    Raises:
        UsageError: a value outside its range.
    """
    _check("beta", beta, beta > 0, "positive and finite")
    _check("rho", rho, 0 < rho <= 1, "in (0, 1]")
    _check("lam", lam, 0 < lam < 1, "strictly between 0 and 1")
    _check("coupling", coupling, 0 <= coupling <= 1, "in [0, 1]")
    _check("concentration", concentration, concentration > 0, "positive and finite")
    _check("mu", mu, True, "finite")
    _check("sigma", sigma, sigma > 0, "positive and finite")
    for what, given, known in (("prices", prices, _PRICES), ("law", law, _LAWS)):
        if given not in known:
            raise unknown_name(what, str(given), known)
    if coupling and (law != "bernoulli" or prices == "unit"):
        raise UsageError("reservoir: a coupling is for rewards and random costs that are 0 or 1")
    inside = float(np.diff(special.ndtr((np.log([lam, 1.0]) - mu) / sigma))[0])
    if prices == "log-normal" and inside < _INSIDE:
        raise UsageError(
            f"reservoir: a share of {inside:.2g} of the log-normal costs lies in [lam, 1], at least {_INSIDE} must"
        )
    text = f"reservoir:beta={beta:g},rho={rho:g},lam={lam:g}"
    text += "" if prices == "uniform" else f",prices={prices}"
    text += f",mu={mu:g},sigma={sigma:g}" if prices == "log-normal" else ""
    text += "" if law == "bernoulli" else f",law=beta,concentration={concentration:g}"
    text += f",coupling={coupling:g}" if coupling else ""
    text += "" if arms is None else f",arms={arms}"
    numbers = {"beta": beta, "rho": rho, "lam": lam, "mu": mu, "sigma": sigma}
    leaves: dict[str, Any] = {name: jnp.asarray(x, jnp.float32) for name, x in numbers.items()}
    return RatioReservoir(
        **leaves,
        prices=prices,
        concentration=jnp.asarray(concentration, jnp.float32) if law == "beta" else None,
        coupling=jnp.asarray(coupling, jnp.float32) if coupling else None,
        count=0 if arms is None else arm_count("arms", arms),
        name=text,
    )


@varying
def reservoir_from_csv(
    path: str, beta: float | None = None, coupling: float = 0.0, arms: int | None = None
) -> TableReservoir:
    """A reservoir of the rows of a table of expected rewards and costs; rewards and costs of pulls are 0 or 1.

    Args:
        path: a CSV file with columns `reward`, in [0, 1], and `cost`, in (0, 1].
        beta: regularity of the ratios, for algorithms that choose their number of arms by it.
        coupling: as in `reservoir`.
        arms: number of arms that a run draws; None for as many as the algorithm wants.

    Raises:
        UsageError: no such file or columns, a cell out of range (named by line and column), or fewer than two rows.
    """
    table = Table.read(path)
    for name in ("reward", "cost"):
        if not table.has([name]):
            raise UsageError(f"{path}: columns reward and cost are needed, got {', '.join(table.header)}")
    places = [table.place([name]) for name in ("reward", "cost")]
    rows = []
    for line, row in table.rows:
        values = []
        for place, lowest in zip(places, ("0", "above 0"), strict=True):
            text = table.cell(line, row, place)
            inside = is_number(text) and float(text) <= 1 and (float(text) > 0 or (lowest == "0" and float(text) == 0))
            if not inside:
                table.refuse(line, place, f"{text!r} is not a number from {lowest} to 1")
            values.append(float(text))
        rows.append(values)
    if len(rows) < 2:
        raise UsageError(f"{path}: two rows or more are needed, got {len(rows)}")
    if beta is not None:
        _check("beta", beta, beta > 0, "positive and finite")
    _check("coupling", coupling, 0 <= coupling <= 1, "in [0, 1]")
    reward, cost = np.asarray(rows, np.float32).T
    text = f"reservoir-table:path={path}"
    text += "" if beta is None else f",beta={beta:g}"
    text += f",coupling={coupling:g}" if coupling else ""
    text += "" if arms is None else f",arms={arms}"
    return TableReservoir(
        jnp.asarray(reward),
        jnp.asarray(cost),
        beta=beta,
        coupling=jnp.asarray(coupling, jnp.float32) if coupling else None,
        count=0 if arms is None else arm_count("arms", arms),
        name=text,
    )


def _check(name: str, value: float, valid: bool, rule: str) -> None:
    if not (valid and np.isfinite(value)):
        raise UsageError(f"reservoir: {name} must be {rule}, got {value:g}")
