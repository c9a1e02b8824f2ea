"""Reservoirs of beta-regular ratios, the setting of Li and Xia (2017)."""

import dataclasses
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import exp, log, no_fma
from jaxbandits.checks import POSITIVE, UNIT, Rule, as_single, number
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.problems.argument_checks import arm_count
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.pull_costs import SMALLEST_PRICE
from jaxbandits.problems.reservoirs.reservoir_laws import Arms, Reservoir, register_reservoir
from jaxbandits.random import streams
from jaxbandits.random.threefry import block, fine_uniform, normal, threefry2x32, uniform

__all__ = ["RatioReservoir", "reservoir"]

_PRICES = ("uniform", "log-normal", "unit")
_LAWS = ("bernoulli", "beta")
#: Smallest share of log-normal costs in [lambda, 1], so that rejection ends.
_INSIDE = 0.05


@register_reservoir
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

    Example:
        >>> isinstance(jb.reservoir(beta=1), jb.problems.RatioReservoir)
        True
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
        """Return beta as it was before rounding to float32, so that B^(1/2) is a whole number where it should be."""
        rounded_value = np.float32(self.beta)
        simple = float(Fraction(float(rounded_value)).limit_denominator(1000))
        return simple if np.float32(simple) == rounded_value else float(str(rounded_value))

    @property
    def best(self) -> jax.Array:
        """Return rho*."""
        return jnp.asarray(self.rho)

    @property
    def smallest_cost(self) -> float:
        """Return lambda, or 1."""
        return 1.0 if self.prices == "unit" else float(self.lam)

    @property
    def unit_costs(self) -> bool:
        """Return whether the prices are `unit`."""
        return self.prices == "unit"

    def draw(self, key: jax.Array) -> Arms:
        """Draw ratios by inversion, and costs independent of them."""
        arm = arms.index(self.count, key.shape)
        words = block(key, jnp.uint32(streams.ARMS), arm, rolled=True)
        # U keeps its bits down to 2^-64: the best arms have the smallest U.
        shortfall = self.rho * exp(log(fine_uniform(words)) * (1 / self.beta))
        ratio = self.rho - no_fma(shortfall)
        if self.prices == "unit":
            return Arms(shortfall, ratio, None)
        if self.prices == "uniform":
            word = block(key, jnp.uint32(streams.PRICES), arm, rolled=True)[0]
            cost = self.lam + no_fma((1 - self.lam) * uniform(word))
        else:
            cost = self._log_normal(key, arm)
        return Arms(shortfall, no_fma(ratio * cost), cost)

    def _log_normal(self, key: jax.Array, arm: jax.Array) -> jax.Array:
        """Draw log-normal costs within [lambda, 1] by rejection."""
        own = block(key, jnp.uint32(streams.PRICES), arm, rolled=True)
        shape = own[0].shape

        def attempt(carry: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
            number, found, cost = carry
            words = threefry2x32(*own, number, jnp.uint32(0))
            drawn = exp(self.mu + no_fma(self.sigma * normal(words)))
            inside = (drawn >= self.lam) & (drawn <= 1)
            return number + jnp.uint32(1), found | inside, jnp.where(inside & ~found, drawn, cost)

        start = (jnp.uint32(0), jnp.zeros(shape, bool), jnp.zeros(shape, jnp.float32))
        # `reservoir` ensures that at least one draw of twenty is inside.
        return lax.while_loop(lambda c: ~jnp.all(c[1]) & (c[0] < 2**11), attempt, start)[2]


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
    """Return infinitely many arms with beta-regular ratios of mean reward to mean cost (Li and Xia 2017, eq. 1).

    The ratio is rho (1 - U^(1/beta)): P(ratio > rho - e) = (e / rho)^beta. The expected cost u_c is independent of it,
    and the expected reward is ratio times u_c. Every run draws its own arms.

    Args:
        beta: regularity, positive: how rare good arms are.
        rho: rho*, the best ratio, in (0, 1].
        lam: lambda in [2^-31, 1), the smallest expected cost.
        prices: law of the expected costs: `uniform` on [lambda, 1]; `log-normal` within [lambda, 1]; `unit`, every
            pull costs one. With `unit` the means are rho Beta(1, beta), as in Wang et al. 2008 and Carpentier and
            Valko 2015.
        law: law of rewards and costs about their means: `bernoulli`, 0 or 1, or `beta`.
        coupling: in [0, 1], with `bernoulli`: how often cost and reward of a pull come from one uniform number.
        concentration: s of `beta`, Beta(s u, s (1 - u)) with mean u; positive.
        mu: mean of the logarithm of log-normal costs. The defaults of mu and sigma are a fit to 8 576 cloud spot
            prices per unit of capacity, in units of the price two standard deviations above the median.
        sigma: standard deviation of the logarithm of log-normal costs, positive.
        arms: number of arms that a run draws; None to let the algorithm choose it.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> jb.reservoir(beta=1, arms=8).arms
        8
    """
    number("reservoir: beta", beta, POSITIVE)
    number("reservoir: rho", rho, Rule("must lie in (0, 1]", lambda x: (x > 0) & (x <= 1)))
    number("reservoir: lam", lam, Rule("must be at least 2^-31 and below 1", lambda x: (x >= SMALLEST_PRICE) & (x < 1)))
    number("reservoir: coupling", coupling, UNIT)
    number("reservoir: concentration", concentration, POSITIVE)
    number("reservoir: mu", mu)
    number("reservoir: sigma", sigma, POSITIVE)
    numbers = {"beta": beta, "rho": rho, "lam": lam, "mu": mu, "sigma": sigma}
    for what, value in (numbers | {"coupling": coupling, "concentration": concentration}).items():
        as_single(f"reservoir: {what}", float(value))
    for what, given, known in (("prices", prices, _PRICES), ("law", law, _LAWS)):
        if given not in known:
            raise unknown_name(what, str(given), known)
    if coupling and (law != "bernoulli" or prices == "unit"):
        raise UsageError("reservoir: a coupling is for rewards and random costs that are 0 or 1")
    inside = float(np.diff(scipy.special.ndtr((np.log([lam, 1.0]) - mu) / sigma))[0])
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
    leaves: dict[str, Any] = {name: jnp.asarray(x, jnp.float32) for name, x in numbers.items()}
    return RatioReservoir(
        **leaves,
        prices=prices,
        concentration=jnp.asarray(concentration, jnp.float32) if law == "beta" else None,
        coupling=jnp.asarray(coupling, jnp.float32) if coupling else None,
        count=0 if arms is None else arm_count("arms", arms),
        name=text,
    )
