"""The constants of MAB-PPR, and the free numbers of its theorem's proof.

Sabato 2019, "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS.
`pay_per_reward_conditions.py` says for which constants the theorem holds.
"""

import dataclasses

from jax.typing import ArrayLike

from jaxbandits.arrays.pytrees import pytree
from jaxbandits.checks import AT_LEAST_ONE, INSIDE_UNIT, POSITIVE, shown
from jaxbandits.errors import UsageError
from jaxbandits.theory._checks import check

__all__ = [
    "PPR_PRACTICAL",
    "PPRConstants",
    "PPRProof",
    "check_class",
    "check_constants",
]

# Rules of the constants; the others are positive.
_RULES = {"n_final": AT_LEAST_ONE, "rho": INSIDE_UNIT, "theta": INSIDE_UNIT}


@pytree
@dataclasses.dataclass(frozen=True)
class PPRConstants:
    """The universal constants of MAB-PPR (Algorithm 1).

    In round t, with eps_t = (1 - rho) rho^(t-1) epsilon / 2 and delta_t = delta 2^-t, every remaining arm is pulled

    - q1 l_t times, q1 = cq log(cq_prime / delta_t), l_t = c1 max(1/eps_t^2, V/eps_t), to order the arms;
    - q2 l2 times, q2 = factor log(12 / delta_t), l2 = c2 V/epsilon, to choose how many at the bottom are
      removed: those that hold the share theta of the estimated weight;
    - or, once n_final arms or fewer are left, q3 l3 times, q3 = factor log(n_final / delta_t), l3 = c3/epsilon^2.

    Attributes:
        cq: C_q, batches of the ordering, positive.
        cq_prime: C'_q, number inside its logarithm, positive.
        c1: C_1, size of a batch of the ordering, positive.
        c2: C_2, size of a batch of the choice, positive.
        c3: C_3, size of a batch of the final round, positive.
        n_final: N_final, arms with which the final round starts, at least 1.
        rho: factor of eps_t from round to round, in (0, 1).
        theta: share of the weight that is removed, in (0, 1).
        factor: number of batches per unit of logarithm in q2 and q3; 9/2 in the paper.

    Example:
        >>> jb.theory.PPR_PRACTICAL.n_final
        8.0
    """

    cq: ArrayLike
    cq_prime: ArrayLike
    c1: ArrayLike
    c2: ArrayLike
    c3: ArrayLike
    n_final: ArrayLike
    rho: ArrayLike
    theta: ArrayLike
    factor: ArrayLike = 4.5


@pytree
@dataclasses.dataclass(frozen=True)
class PPRProof:
    """The free numbers in the proof of Theorem 3.1; with them a set of constants is valid or not.

    Attributes:
        phi_u: phi_U, share of the weight of the bad arms that look as good as the best one, at most (event E1).
        phi_m: phi_M, share of the weight of the arms that the round is meant to remove.
        phi_l: phi_L < phi_M, share of the weight that a round removes at least (event E2).
        alpha1: share of the batches in which bad arms may look good, in (1 - phi_U/2, 1) (Lemma 5.2).
        alpha3: probability that a bad arm looks good in one batch, in (0, alpha2 (1 - alpha1)) (Lemma 5.2).
        nu: share of the weight that marks the arms which Lemma 5.7 counts, in (0, phi_M - phi_L) (Lemma 5.3).
        r: R, relative error of the estimated sums, in (0, 1 - phi_U) (Lemma 5.4).

    Example:
        >>> jb.theory.ppr_constants(0.1, 0.1).proof.nu > 0
        True
    """

    phi_u: ArrayLike
    phi_m: ArrayLike
    phi_l: ArrayLike
    alpha1: ArrayLike
    alpha3: ArrayLike
    nu: ArrayLike
    r: ArrayLike


def check_class(name: str, value: object, of: type) -> None:
    """Check that an argument is of a class."""
    if not isinstance(value, of):
        raise UsageError(f"{name} must be {of.__name__}, got {shown(value)}")


def check_constants(constants: PPRConstants) -> None:
    """Check that these are constants of MAB-PPR, and that each has a value in its range."""
    check_class("constants", constants, PPRConstants)
    for field in dataclasses.fields(constants):
        check(field.name, getattr(constants, field.name), _RULES.get(field.name, POSITIVE))


#: Constants of a practical size. No theorem covers them: see `ppr_conditions`.
PPR_PRACTICAL = PPRConstants(
    cq=1.0, cq_prime=8.0, c1=0.125, c2=8.0, c3=8.0, n_final=8.0, rho=0.9, theta=0.4, factor=1.0
)
