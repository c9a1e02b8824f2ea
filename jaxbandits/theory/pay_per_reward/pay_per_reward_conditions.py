"""The conditions of MAB-PPR's theorem on its constants, all in one place.

Sabato 2019, "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS. The paper shows that
there are constants with which its Theorem 3.1 holds and names none; the conditions are spread over its proofs.
"""

import dataclasses
import math
from collections.abc import Iterator
from typing import NamedTuple

import jax

from jaxbandits.theory.pay_per_reward.pay_per_reward_constants import PPRConstants, PPRProof, check_class

__all__ = [
    "PPRCondition",
    "PPRConditions",
    "ppr_conditions",
]

# Powers of 2 between which the common factor of `ppr_conditions` is searched, and how often that range is halved.
_LARGEST_POWER = 200.0
_HALVINGS = 60
# A share of the room between the smallest phi_L that rho allows and phi_M: rho > sqrt(1 - phi_L) is strict.
_ABOVE = 1e-6
# Numbers at the end of a range stay inside when the range is computed the other way round.
_ROUNDING = 1e-12
# The conditions that the best proof numbers do not meet by themselves.
_OPEN = {
    "0 < phi_U",
    "phi_L < phi_M",
    "R < 1",
    "alpha3 < alpha2 (1 - alpha1)",
    "Cq >= 1/(2 (1 - alpha1 - alpha3/alpha2)^2)",
    "Cq' >= 8/(phi_M - phi_L)",
    "nu < phi_M - phi_L",
    "C1 >= 6/alpha^2",
}


class PPRCondition(NamedTuple):
    """One inequality, left >= right (left > right if strict).

    Attributes:
        name: as in the paper: "C1 >= 8/alpha3", "phi_L < phi_M".
        left: the larger side.
        right: the smaller side; infinite where the proof numbers leave it without a value.
        strict: whether equality is not enough.

    Example:
        >>> jb.theory.ppr_conditions(jb.theory.PPR_PRACTICAL).conditions[0].holds
        True
    """

    name: str
    left: float
    right: float
    strict: bool = False

    @property
    def slack(self) -> float:
        """Return what can be taken from the larger side; negative: what is missing."""
        return self.left - self.right

    @property
    def holds(self) -> bool:
        """Return whether the inequality is true."""
        return self.left > self.right if self.strict else self.left >= self.right


@dataclasses.dataclass(frozen=True)
class PPRConditions:
    """The conditions of Theorem 3.1 on a set of constants; printed, one line that names the broken ones.

    Attributes:
        conditions: all of them, in the order of the proof.
        proof: the proof's free numbers at which they were evaluated.

    Example:
        >>> conditions = jb.theory.ppr_conditions(jb.theory.PPR_PRACTICAL)
        >>> len(conditions.conditions) > 0
        True
    """

    conditions: tuple[PPRCondition, ...]
    proof: PPRProof

    @property
    def slack(self) -> dict[str, float]:
        """Return the slack by name; positive where the condition holds."""
        return {condition.name: condition.slack for condition in self.conditions}

    @property
    def broken(self) -> tuple[str, ...]:
        """Return the names of the conditions that do not hold."""
        return tuple(condition.name for condition in self.conditions if not condition.holds)

    @property
    def valid(self) -> bool:
        """Return whether Theorem 3.1 covers the constants."""
        return not self.broken

    def __str__(self) -> str:
        if self.valid:
            return f"Theorem 3.1 holds: all {len(self.conditions)} conditions are met"
        failed = (condition for condition in self.conditions if not condition.holds)
        parts = (f"{c.name} ({c.left:.4g} against {c.right:.4g})" for c in failed)
        return f"Theorem 3.1 does not hold: broken {', '.join(parts)}"


def ppr_conditions(constants: PPRConstants, proof: PPRProof | None = None) -> PPRConditions:
    """Evaluate every condition under which Sabato's Theorem 3.1 holds.

    Without proof numbers, those most favourable to the constants are found. Consider the common factor by which C_q,
    C'_q, C_1, C_2 and N_final must be multiplied to meet the conditions that depend on proof numbers. The favourable
    ones make it smallest. A factor of 1 is enough exactly if the constants are valid. If they are not, the constants
    whose conditions are named as broken are too small together. Raising one of them may be enough.

    Args:
        constants: concrete numbers.
        proof: concrete numbers; the most favourable ones if None.

    Example:
        >>> type(jb.theory.ppr_conditions(jb.theory.PPR_PRACTICAL)).__name__
        'PPRConditions'
    """
    check_class("constants", constants, PPRConstants)
    if proof is None:
        proof = _favourable(constants)
    check_class("proof", proof, PPRProof)
    return PPRConditions(tuple(_conditions(constants, proof)), proof)


def _conditions(constants: PPRConstants, proof: PPRProof) -> Iterator[PPRCondition]:
    # `jax.tree.leaves` returns them in the order of the fields.
    cq, cq_prime, c1, c2, c3, n_final, rho, theta, factor = (float(x) for x in jax.tree.leaves(constants))
    phi_u, phi_m, phi_l, alpha1, alpha3, nu, r = (float(x) for x in jax.tree.leaves(proof))
    beta = phi_m - phi_l
    alpha = (beta - nu) / (2 * math.sqrt(beta)) if beta > 0 else 0.0
    alpha2 = 1 - (1 - phi_u / 2) * _inverse(alpha1)
    less = alpha3 * _inverse(alpha2)

    # The shares of a round and the theorem itself (section 5 and Theorem 5.6).
    yield PPRCondition("0 < phi_U", phi_u, 0.0, strict=True)
    yield PPRCondition("0 < phi_L", phi_l, 0.0, strict=True)
    yield PPRCondition("phi_L < phi_M", phi_m, phi_l, strict=True)
    yield PPRCondition("phi_M < 1 - phi_U", 1 - phi_u, phi_m, strict=True)
    yield PPRCondition("rho > sqrt(1 - phi_L)", rho, math.sqrt(max(1 - phi_l, 0.0)), strict=True)
    yield PPRCondition("rho < 1", 1.0, rho, strict=True)
    yield PPRCondition("C3 >= 96", c3, 96.0)
    yield PPRCondition("factor >= 9/2", factor, 4.5)
    # The best arm looks good, and few bad ones do (Lemma 5.2).
    yield PPRCondition("C1 >= 24", c1, 24.0)
    yield PPRCondition("Cq' >= 8", cq_prime, 8.0)
    yield PPRCondition("alpha1 > 1 - phi_U/2", alpha1, 1 - phi_u / 2, strict=True)
    yield PPRCondition("0 < alpha3", alpha3, 0.0, strict=True)
    yield PPRCondition("alpha3 < alpha2 (1 - alpha1)", alpha2 * (1 - alpha1), alpha3, strict=True)
    yield PPRCondition("C1 >= 8/alpha3", c1, 8 * _inverse(alpha3))
    yield PPRCondition("Cq >= 1/(2 (1 - alpha1 - alpha3/alpha2)^2)", cq, _inverse(1 - alpha1 - less) ** 2 / 2)
    # Enough weight is at the bottom, or few arms are left (Lemma 5.3). Cq >= 18 implies its Cq >= 9/2.
    yield PPRCondition("Cq >= 18", cq, 18.0)
    yield PPRCondition("Cq' >= 8/(phi_M - phi_L)", cq_prime, 8 * _inverse(beta))
    yield PPRCondition("0 < nu", nu, 0.0, strict=True)
    yield PPRCondition("nu < phi_M - phi_L", beta, nu, strict=True)
    yield PPRCondition("C1 >= 6/alpha^2", c1, 6 * _inverse(alpha) ** 2)
    least = 4 * _inverse(nu) * (1 + math.sqrt(24 * _inverse(c1)))
    yield PPRCondition("N_final >= (4/nu) (1 + sqrt(24/C1))", n_final, least)
    # The share that is removed (Lemma 5.4). R < 1 makes C2 >= 48, which Lemma 5.1 needs.
    yield PPRCondition("0 < R", r, 0.0, strict=True)
    yield PPRCondition("R < 1", 1.0, r, strict=True)
    yield PPRCondition("C2 >= 48/R^2", c2, 48 * _inverse(r) ** 2)
    removed = (phi_m + r * math.sqrt(max(phi_m, 0.0))) * _inverse(1 - r)
    yield PPRCondition("theta >= (phi_M + R sqrt(phi_M))/(1 - R)", theta, removed)
    yield PPRCondition("theta <= (1 - phi_U - R)/(1 + R)", (1 - phi_u - r) / (1 + r), theta)


def _favourable(constants: PPRConstants) -> PPRProof:
    """Return the proof numbers that make the common factor of `ppr_conditions` smallest."""
    low, high = -_LARGEST_POWER, _LARGEST_POWER
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        scaled = _scaled(constants, 2.0**middle)
        enough = all(c.holds for c in _conditions(scaled, _best_proof(scaled)) if c.name in _OPEN)
        low, high = (low, middle) if enough else (middle, high)
    return _best_proof(_scaled(constants, 2.0**high))


def _scaled(constants: PPRConstants, factor: float) -> PPRConstants:
    names = ("cq", "cq_prime", "c1", "c2", "n_final")
    return dataclasses.replace(constants, **{name: float(getattr(constants, name)) * factor for name in names})


def _best_proof(constants: PPRConstants) -> PPRProof:
    """Return proof numbers that are valid for the constants if any are.

    Each but alpha1 is best at an end of its range: R as small as C2 allows, then phi_M and phi_U as large as theta
    allows, phi_L as small as rho allows, nu as small as N_final allows, alpha3 as small as C1 allows. With a = 1 -
    phi_U/2, alpha1 + alpha3/alpha2 is smallest at alpha1 = a + sqrt(a alpha3): (sqrt(a) + sqrt(alpha3))^2. The
    inequalities `_OPEN` remain, and larger constants only help them.
    """
    _, _, c1, c2, _, n_final, rho, theta, _ = (float(x) for x in jax.tree.leaves(constants))
    rho, theta = (min(max(x, 0.0), 1.0) for x in (rho, theta))
    r = min(math.sqrt(48 * _inverse(c2)), 1.0)
    root = (math.sqrt(r**2 + 4 * theta * (1 - r)) - r) / 2  # of phi_M + R sqrt(phi_M) = theta (1 - R)
    phi_m = root**2 * (1 - _ROUNDING)
    phi_u = 1 - r - theta * (1 + r) - _ROUNDING
    least = 1 - rho**2
    # Where rho is too small for any R, the other conditions should still have values.
    phi_l = least + _ABOVE * abs(phi_m - least) if least < theta else phi_m / 2
    nu = 4 * _inverse(n_final) * (1 + math.sqrt(24 * _inverse(c1)))
    alpha3 = 8 * _inverse(c1)
    share = 1 - phi_u / 2
    return PPRProof(phi_u, phi_m, phi_l, share + math.sqrt(share * alpha3), alpha3, nu, r)


def _inverse(x: float) -> float:
    """Return 1/x, infinite for an x that is not positive."""
    return 1 / x if x > 0 else math.inf
