"""Opt-BBAI: Tri-BBAI whose last stage eliminates arms, so that it errs with probability at most delta.

Jin, Yang, Tang, Xiao, Xu (2024), "Optimal batched best arm identification", NeurIPS 37, Algorithm 2.
"""

from typing import NamedTuple, Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio import glr_families as words
from jaxbandits.algorithms.likelihood_ratio.batched_stages import BATCHES, BatchedStages
from jaxbandits.algorithms.parameters import Numeric, parameter, reaches
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.problems.base import Problem

__all__ = ["OptBBAI"]


class _State(NamedTuple):
    batch: jax.Array  # int32 (): batches so far
    left: jax.Array  # int32 (K,): the round in which an arm left; 0 for S_r
    checks: jax.Array  # int32 (K,): l_j, j that round
    before: jax.Array  # float32 (K,): B_j
    spent: jax.Array  # float32 (): B_r, pulls of the rounds so far, without checks
    answer: jax.Array  # int32 ()
    ended: jax.Array  # bool ()


@algorithm
class OptBBAI(BatchedStages):
    """Tri-BBAI's first three batches and test; if the test fails, rounds that eliminate arms until one is left.

    Round r of stage IV has eps_r = 2^-r / 4, in units of b, and delta_r = delta / (4 K r^2). It pulls every remaining
    arm (8 / eps_r^2) log(2 / delta_r) times. Arms whose mean of these rewards is more than eps_r below the best one
    leave.

    Arms that left in round j are checked: if the best arm was among them, later rounds cannot find it. A check is due
    if B_r gamma_j 2^l_j > B_j, B_r being the pulls of rounds 1 to r. First gamma_j = delta_j and l_j = 0. A check
    squares gamma_j, adds 1 to l_j, and pulls these arms (32 / eps_j^2) log(2 / gamma_j) times, in the batch of the next
    round. If the mean of one is above that round's best one less eps_j / 4, the run ends with the best of those.

    The answer is right with probability at least 1 - delta, for rewards in [0, b] and (b/2)-sub-Gaussian ones. The test
    errs with probability at most delta / 2. By Hoeffding's inequality, all means of rounds are within eps_r / 4 of the
    truth, and those of checks within eps_j / 8, except with probability delta (pi^2 / 24 + 1/30). Then the best arm
    stays. And an arm that left is eps_j / 2 below it, so that no check finds it.

    Larger constants are not needed for this proof. The paper has 32 for 8, delta / (40 pi^2 K r^2) and eps_j / 2, with
    a batch for every check. The authors' program has 1/20 in place of 32, and checks arms that are still there. It
    follows a description and this program, and was not checked against the paper.

    `steps` counts the batches: 3, and one for each round. A round costs many pulls, so the test should mostly pass. The
    default l2 is the authors' and too small for that: on their ten coins (0.5, and 0.2 to 0.344) with delta = 1e-6 it
    takes 96,000 pulls in 3.98 batches, and with l2 = 1000 19,000 in 3.08. Track-and-Stop takes 4,100 pulls there. With
    two equally good best arms a run ends only where counts end.

    Attributes:
        delta: allowed probability of error, in (0, 1).
        threshold: as for `TriBBAI`.
        family: as for `TriBBAI`.
        b: as for `UniformGLR`.
        shift: as for `TriBBAI`.
        alpha: as for `TriBBAI`.
        l1: as for `TriBBAI`.
        l2: as for `TriBBAI`.
        scale: factor of the pulls of stage IV, positive; the guarantee is for 1 and more.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family, rewards without a range.

    Example:
        >>> ds = jb.simulate(jb.OptBBAI(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    scale: Numeric = parameter("positive", default=1.0)
    traits = Traits(
        setting="fixed confidence, one arm, in about three batches",
        source="Jin, Yang, Tang, Xiao, Xu 2024",
    )

    @property
    def proved(self) -> bool:
        """Whether the threshold is proved, and stage IV has all its pulls."""
        return self.threshold != words.HEURISTIC and reaches(self.scale, 1)

    def resolved(self, problem: Problem) -> Self:
        """Fill in the problem's family and the threshold.

        Raises:
            UsageError: the family does not allow the problem's rewards, or they have no range.
        """
        Rule.resolved(self, problem)
        return super().resolved(problem)

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        del key
        none, zero, nothing = jnp.zeros(len(arms), jnp.int32), jnp.int32(0), jnp.zeros(len(arms), jnp.float32)
        return _State(zero, none, none, nothing, jnp.float32(0), zero, jnp.bool_(False))

    def request(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the pulls of the next batch."""
        del key
        in_round = jnp.where(state.left == 0, self._pulls(8, state.batch - BATCHES + 1, 0, arms), 0)
        # log(1 / gamma_j) = 2^l_j log(1 / delta_j)
        gamma = jnp.left_shift(1, state.checks) * self._level(state.left, arms)
        grown = jnp.log(state.spent / state.before) + state.checks * jnp.log(2.0)
        due = (state.left > 0) & (grown > gamma)
        checked = jnp.where(due, self._pulls(32, state.left, state.checks + 1, arms), 0)
        return jnp.where(state.batch < BATCHES, self.first_pulls(state.batch, arms), in_round + checked)

    def absorb(self, state: _State, arms: Arms, counts: jax.Array, sums: jax.Array) -> _State:
        """Return the state after a batch."""
        batch, mean, active = state.batch + 1, sums / jnp.maximum(counts, 1), state.left == 0
        number, b = batch - BATCHES, self.range_of(arms)  # r, in stage IV
        best = jnp.max(jnp.where(active, mean, -jnp.inf))
        leaves = active & (number > 0) & (mean < best - _epsilon(number) * b)
        missed = ~active & (counts > 0) & (mean > best - _epsilon(state.left) * b / 4)
        left = jnp.where(leaves, number, state.left)
        spent = state.spent + jnp.where(number > 0, jnp.sum(jnp.where(active, counts, 0)), 0)
        best_of_round = jnp.argmax(jnp.where(jnp.where(jnp.any(missed), missed, left == 0), mean, -jnp.inf))
        return _State(
            batch=batch,
            left=left,
            checks=state.checks + (~active & (counts > 0)),
            before=jnp.where(leaves, spent, state.before),
            spent=spent,
            answer=jnp.where(number > 0, best_of_round, jnp.argmax(arms.mean)),
            ended=jnp.any(missed) | (jnp.sum(left == 0) == 1) | ((number == 0) & self.passes(arms)),
        )

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether the best-looking arm has passed the test, one arm is left, or a check has found another."""
        del arms
        return state.ended

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the arm that a check has found, or the best-looking one of those that are left."""
        del arms
        return state.answer

    def _level(self, number: jax.Array, arms: Arms) -> jax.Array:
        """Return log(1 / delta_r), float32; delta_r = delta / (4 K r^2)."""
        return jnp.log(4.0 * arms.count) + 2 * jnp.log(jnp.maximum(number, 1)) - log_of(self.delta)

    def _pulls(self, factor: int, number: jax.Array, squares: jax.Array | int, arms: Arms) -> jax.Array:
        """Return (factor / eps_r^2) log(2 / gamma), int32; gamma is delta_r, squared `squares` times."""
        level = jnp.log(2.0) + jnp.left_shift(1, squares) * self._level(number, arms)
        return as_count(self.scale * factor / _epsilon(number) ** 2 * level)


def _epsilon(number: jax.Array) -> jax.Array:
    """Return eps_r = 2^-r / 4, exactly."""
    return 0.25 / jnp.left_shift(1, jnp.clip(number, 0, 30))
