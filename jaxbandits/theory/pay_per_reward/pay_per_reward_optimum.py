"""The cheapest constants with which MAB-PPR is proven right."""

import dataclasses
import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxbandits.checks import AT_LEAST_ONE, INSIDE_UNIT, number, whole
from jaxbandits.theory.pay_per_reward.pay_per_reward_bounds import ppr_cost_bound
from jaxbandits.theory.pay_per_reward.pay_per_reward_constants import PPRConstants, PPRProof

__all__ = ["PPROptimum", "ppr_constants"]

# N_final > 4/nu > 4/phi_M > 4; and the largest N_final searched, which int32 and float32 hold.
_FEWEST = 5
_MOST = 10**9
# Relative distance to the conditions' limits: they hold after rounding, in single precision too.
_SLACK = 1e-4
# Where the search starts, near the optimum for epsilon = 0.1, and how far it may go: logarithm of N_final, then logits
# of phi_M, phi_U, the logarithm of the spare part of C1, and the logit of rho.
_START = (16.0, 0.0, 4.0, 1.0, -0.7)
_WIDEST = 15.0


class PPROptimum(NamedTuple):
    """Valid constants, and the proof numbers that make them valid; Python floats.

    Example:
        >>> found = jb.theory.ppr_constants(0.1, 0.1)
        >>> type(found.constants).__name__
        'PPRConstants'
    """

    constants: PPRConstants
    proof: PPRProof


def ppr_constants(epsilon: float, delta: float, correlation: float = 1.0, n_final_max: int | None = None) -> PPROptimum:
    """Return the valid constants of MAB-PPR with the smallest `ppr_cost_bound`, and proof numbers that make them valid.

    The paper names no constants. The cheapest cost about 1e8 W log(1/delta)/epsilon^2 and have an N_final of 10^7 or
    more, on which the cost hardly depends: fewer arms than that go straight to the final round. With `n_final_max`
    rounds happen, and cost more. They are found by quasi-Newton descent along the gradient of the bound, in double
    precision. The result is deterministic, and cached for the next call.

    Args:
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        correlation: V, at least 1.
        n_final_max: largest N_final allowed, in [5, 10^9]; 10^9 if None. Up to 4, no constants are valid.

    Returns:
        Constants and proof numbers; the cost is within 0.1% of the smallest.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> found = jb.theory.ppr_constants(0.1, 0.1)
        >>> found.constants.cq > 0
        True
    """
    epsilon, delta = number("epsilon", epsilon, INSIDE_UNIT), number("delta", delta, INSIDE_UNIT)
    correlation = number("V", correlation, AT_LEAST_ONE)
    most = _MOST if n_final_max is None else whole("n_final_max", n_final_max, _FEWEST, _MOST)
    # They are valid for every delta; for those below the smallest normal number they are the cheapest for that number.
    return _cheapest(epsilon, max(delta, float(np.finfo(np.float64).tiny)), correlation, most)


@functools.lru_cache(maxsize=256)
def _cheapest(epsilon: float, delta: float, correlation: float, most: int) -> PPROptimum:
    # Imported here, so that importing the package does not wait for it.
    from scipy import optimize  # type: ignore[import-untyped,unused-ignore]

    with jax.ensure_compile_time_eval(), jax.enable_x64(True):

        def value_and_slope(z: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, slope = _log_cost(z, epsilon, delta, correlation)
            return float(value), np.asarray(slope)

        start = (min(_START[0], math.log(most)), *_START[1:])
        bounds = [(math.log(_FEWEST), math.log(most))] + [(-_WIDEST, _WIDEST)] * (len(start) - 1)
        options = {"ftol": 1e-13, "gtol": 1e-9, "maxiter": 1000}
        found = optimize.minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        constants, proof = jax.tree.map(float, _valid(jnp.asarray(found.x), _SLACK))
    # A whole number: the next one also meets the condition that the found logarithm meets.
    n_final = float(min(math.ceil(constants.n_final * (1 - 1e-9)), most))
    return PPROptimum(dataclasses.replace(constants, n_final=n_final), proof)


@jax.jit
@jax.value_and_grad
def _log_cost(z: jax.Array, epsilon: jax.Array, delta: jax.Array, correlation: jax.Array) -> jax.Array:
    constants, proof = _valid(z, 0.0)
    return jnp.log(ppr_cost_bound(epsilon, delta, correlation, constants, proof.phi_l))


@jax.jit
def _valid(z: jax.Array, slack: float) -> tuple[PPRConstants, PPRProof]:
    """Return constants that meet every condition of `ppr_conditions`, from any five numbers.

    Numbers that the cost does not trade against others are at the end of their ranges. R solves the equation of Lemma
    5.4, alpha3 = 8/C1, alpha1 as in `ppr_conditions` without proof numbers, nu from N_final, phi_L as large as C1 >=
    6/alpha^2 allows.

    Args:
        z: logarithm of N_final (above log 4), logits of phi_M, phi_U, logarithm of the spare part of C1, logit of rho.
        slack: share of themselves by which the constants exceed their limits.
    """
    n_final = jnp.exp(z[0])
    at_phi_m, at_phi_u, at_rho = (jax.nn.sigmoid(z[i]) for i in (1, 2, 4))
    phi_m = 4 / n_final + (1 - 4 / n_final) * at_phi_m
    phi_u = (1 - phi_m) * at_phi_u
    root = jnp.sqrt(phi_m)
    # (phi_M + R sqrt(phi_M))/(1 - R) = (1 - phi_U - R)/(1 + R) is (1 - root) R^2 - b R + room = 0.
    room = (1 - phi_m) * jax.nn.sigmoid(-z[2])  # 1 - phi_U - phi_M
    b = root + phi_m + 2 - phi_u
    r = 2 * room / (b + jnp.sqrt(b**2 - 4 * (1 - root) * room))
    theta = (1 - phi_u - r) / (1 + r)
    r = r * (1 - slack)
    share = 1 - phi_u / 2
    # C1: some alpha1 must exist, sqrt(share) + sqrt(8/C1) < 1, and, with g = sqrt(6/C1) and nu = (4/N_final)(1 + 2g),
    # some phi_L > 0 with alpha = (beta - nu)/(2 sqrt(beta)) >= g: the smallest beta is (g + sqrt(g^2 + nu))^2 < phi_M.
    largest_g = (phi_m - 4 / n_final) / (2 * root + 8 / n_final)
    least = jnp.maximum(8 / (1 - jnp.sqrt(share)) ** 2, 6 / largest_g**2)
    c1 = least * (1 + jnp.exp(z[3]))
    g = jnp.sqrt(6 / c1)
    nu = 4 / n_final * (1 + 2 * g)
    beta = (g + jnp.sqrt(g**2 + nu)) ** 2
    phi_l = phi_m - beta
    alpha3 = 8 / c1
    spare = 1 - (jnp.sqrt(share) + jnp.sqrt(alpha3)) ** 2  # 1 - alpha1 - alpha3/alpha2
    least_rho = jnp.sqrt(1 - phi_l)
    constants = PPRConstants(
        cq=jnp.maximum(18.0, 0.5 / spare**2) * (1 + slack),
        cq_prime=8 / beta * (1 + slack),
        c1=c1 * (1 + slack),
        c2=48 / r**2 * (1 + slack),
        c3=jnp.asarray(96.0),
        n_final=n_final,
        rho=least_rho + (1 - least_rho) * at_rho,
        theta=theta,
        factor=jnp.asarray(4.5),
    )
    return constants, PPRProof(phi_u, phi_m, phi_l, share + jnp.sqrt(share * alpha3), alpha3, nu, r)
