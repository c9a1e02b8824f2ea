"""Estimators of the mean of each arm from rewards that come one at a time, also where tails are heavy.

All have one form, so that any elimination scheme can use any of them. A reward adds its term to the sum of a slot, and
estimates are made when all arms have the same number of rewards::

    slot(arm, number, arms) -> int32 (…)         the sum that an arm's reward of this number (from 1) adds to
    term(reward, number) -> float32 (…)          what it adds
    estimates(sums, number) -> float32 (K, …)    from `slots` sums per arm, `(slots K, …)`

Fields are numbers of a run, shape `(…)`; arms first, runs last.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.compensated_sums import CompensatedSum, Sums
from jaxbandits.arrays.numerics import exp, fast_max, fast_min, log, no_fma
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.compilers.xla_cpu import materialize

__all__ = [
    "MOST_BATCHES",
    "Catoni",
    "EmpiricalMean",
    "MeanEstimator",
    "MedianOfMeans",
    "TruncatedMean",
]

#: Batches of a median of means: enough for errors of 4e-11, since k batches err with probability exp(-k/8).
MOST_BATCHES = 192
# Rewards of an arm that Catoni's estimator reads together; a power of two.
_BLOCK = 64


class MeanEstimator:
    """The form of an estimator, see the module's text; here, a sum of terms per arm over the number of rewards."""

    #: Sums per arm.
    slots: ClassVar[int] = 1
    #: Whether the arm's own sum gives its estimate, so that it can be followed from reward to reward.
    running: ClassVar[bool] = True

    def slot(self, arm: jax.Array, number: jax.Array, count: int) -> jax.Array:
        """Return which of the `slots` x `count` sums a reward adds to."""
        del number, count
        return arm

    def term(self, reward: jax.Array, number: jax.Array) -> jax.Array:
        """Return what a reward adds."""
        del number
        return reward

    def estimates(self, sums: Sums, number: jax.Array) -> jax.Array:
        """Return estimated means after `number` rewards of every arm, at least 1."""
        return sums.high / number.astype(jnp.float32)


@pytree
@dataclasses.dataclass(frozen=True)
class EmpiricalMean(MeanEstimator):
    """The plain average."""


@pytree
@dataclasses.dataclass(frozen=True)
class TruncatedMean(MeanEstimator):
    """The average, with the i-th reward of an arm counted as 0 where its size is above b_i = cut i^power.

    Yu et al. (2018), section 3.1, with power 1/p; a fixed threshold has power 0.
    """

    log_cut: jax.Array  # float32 (…)
    power: jax.Array  # float32 (…)

    def term(self, reward: jax.Array, number: jax.Array) -> jax.Array:
        """Return the reward, or 0."""
        threshold = exp(self.log_cut + no_fma(self.power * log(number)))  # b_i, i the reward's own number
        return jnp.where(jnp.abs(reward) <= threshold, reward, 0)


@pytree
@dataclasses.dataclass(frozen=True)
class MedianOfMeans(MeanEstimator):
    """The median of the means of `batches` batches; rewards join them in turn, so sizes differ by at most one.

    Bubeck, Cesa-Bianchi, Lugosi (2013), "Bandits with heavy tails", IEEE Trans. Inf. Theory 59, section 2.2.
    """

    batches: jax.Array  # int32 (…), in [1, slots]
    slots: int = dataclasses.field(default=MOST_BATCHES, metadata={"static": True})  # type: ignore[misc]

    running: ClassVar[bool] = False

    def slot(self, arm: jax.Array, number: jax.Array, count: int) -> jax.Array:
        """Return the sum of the reward's batch: batches first, then arms."""
        return (number - 1) % self.batches * count + arm

    def estimates(self, sums: Sums, number: jax.Array) -> jax.Array:
        """Return the median over the batches that have rewards; of an even number, the mean of the two middle ones."""
        means = sums.high.reshape(self.slots, -1, *sums.high.shape[1:])  # batch, arm, run
        batch = arms.index(self.slots, means.shape[1:])
        size = number // self.batches + (batch < number % self.batches)
        used = fast_min(self.batches, number)
        # Empty batches are below all others.
        means = jnp.where(batch < used, means / fast_max(size, jnp.int32(1)).astype(jnp.float32), -jnp.inf)
        used = jnp.broadcast_to(used, means.shape[1:])
        low = ranking.kth_largest(means, used // 2 + 1)
        above = means > low
        two = (used % 2 == 0) & (arms.total(above.astype(jnp.int32)) == used // 2)  # else both middle ones are `low`
        high = arms.smallest(jnp.where(above, means, jnp.inf))
        return low + (jnp.where(two, high, low) - low) / 2


@pytree
@dataclasses.dataclass(frozen=True)
class Catoni(MeanEstimator):
    """Catoni's M-estimator for a central moment of order p in (1, 2]: the root y of sum_i psi(alpha (X_i - y)) = 0.

    psi(x) = sign(x) ln(1 + |x| + |x|^p / p) is the widest choice between -ln(1 - x + |x|^p/p) and ln(1 + x + |x|^p/p).
    Catoni (2012), "Challenging the empirical mean and empirical variance", Ann. Inst. H. Poincaré 48, for p = 2; Chen,
    Jin, Li, Xu (2021), "A generalized Catoni's M-estimator under finite alpha-th moment assumption", EJS 15, for p < 2.

    With |x + h|^p <= |h|^p + p |h|^(p-1) sign(h) x + 2^(2-p) |x|^p (von Bahr, Esseen 1965), E exp sum psi is at most
    exp(n (alpha h + alpha^p (2^(2-p) C + |h|^p) / p)), h = mean - y. So y is within the smallest root r of r = level /
    (n alpha) + alpha^(p-1) (2^(2-p) C + r^p) / p on each side with probability 1 - exp(-level).

    Every estimate reads all rewards again, since alpha falls with n.
    """

    level: jax.Array  # float32 (…): ln(1 / probability of an error on one side)
    log_c: jax.Array  # float32 (…): ln C
    p: jax.Array  # float32 (…)
    last: Any = None  # float32 (K, …): latest estimates, the start for the next root

    running: ClassVar[bool] = False

    def estimates(self, sums: Sums, number: jax.Array) -> jax.Array:
        """Return the latest estimates."""
        del sums, number
        return self.last

    @property
    def fewest(self) -> jax.Array:
        """Return the number of rewards from which on there is a radius, float32 `(…)`: level p^2 / (p - 1)^2."""
        ratio = self.p / (self.p - 1)
        return self.level * ratio * ratio

    def log_alpha(self, number: jax.Array) -> jax.Array:
        """Return ln alpha, with alpha^p = p level / ((p - 1) n C 2^(2-p)).

        It minimises the radius without its term in r^p.
        """
        spread = log(number) + self.log_c + no_fma((2 - self.p) * jnp.float32(np.log(2.0)))
        return (log(self.fewest * (self.p - 1) / self.p) - spread) / self.p

    def radius(self, number: jax.Array) -> jax.Array:
        """Return r, float32 `(…)`; infinite for fewer rewards than `fewest`."""
        p, n = self.p, number.astype(jnp.float32)
        least = self.level * p / ((p - 1) * n)  # alpha r = least + (alpha r)^p / p

        def newton(_: jax.Array | int, u: jax.Array) -> jax.Array:
            power = exp(no_fma((p - 1) * log(fast_max(u, jnp.float32(1e-30)))))
            return u + (least + u * power / p - u) / fast_max(1 - power, jnp.float32(1e-6))

        u = lax.fori_loop(0, 30, newton, least)
        return jnp.where(n >= self.fewest, u * exp(-self.log_alpha(number)), jnp.inf)

    def looked(self, rewards: Callable[[jax.Array], jax.Array], number: jax.Array, wanted: jax.Array) -> "Catoni":
        """Return the estimator with the estimates of `number` rewards.

        Args:
            rewards: the rewards of pulls, int32 from 0 of shape `(P, 1, …)`, of every arm, `(P, K, …)`.
            number: int32 `(…)`.
            wanted: bool `(K, …)`: the arms whose estimates matter.
        """
        alpha = exp(self.log_alpha(number))
        n = number.astype(jnp.float32)
        precision = 1e-4 * self.radius(number)
        start = jnp.where(wanted, self.last, 0)

        def pass_over(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            estimates, moving = carry
            last = jnp.max(jnp.where(moving, number, 0))

            def add(carry: tuple[jax.Array, _Sums]) -> tuple[jax.Array, _Sums]:
                pull, sums = carry
                pulls = pull + jnp.arange(_BLOCK, dtype=jnp.int32)
                pulls = pulls.reshape(-1, *(1,) * estimates.ndim)

                def scaled(pulls: jax.Array) -> jax.Array:
                    drawn = rewards(pulls).astype(jnp.float32)  # pull, arm, run
                    return no_fma(alpha * (drawn - estimates))

                def added(x: jax.Array) -> tuple[jax.Array, ...]:
                    return tuple(_folded(jnp.where(pulls < number, y, 0)) for y in self._influence(x))

                value, slope = materialize(added, materialize(scaled, pulls))
                return pull + _BLOCK, _Sums(sums.value.plus(value), sums.slope + slope)

            zero = jnp.zeros_like(estimates)
            start = _Sums(CompensatedSum.of(zero), zero)
            _, sums = lax.while_loop(lambda carry: carry[0] < last, add, (jnp.int32(0), start))
            # Products with a reciprocal: XLA makes them of divisions by a scalar, but not of those by an array. The
            # slope of psi is between 0 and 2, so a step with slope 1 always comes nearer to the root. Newton's step
            # does near it, and much faster.
            step = sums.value.high * (1 / (n * alpha))
            newton = sums.value.high / (fast_max(sums.slope, n / 2) * alpha)
            scaled_newton = jnp.abs(alpha * newton)
            near = scaled_newton < 0.2
            step = jnp.where(near, newton, step)
            new = jnp.where(moving & wanted, estimates + step, estimates)
            # What remains after Newton's step: |psi'(x) - 1| is at most 2 |x|^(p-1) near 0.
            power = exp(no_fma((self.p - 1) * log(fast_max(scaled_newton, jnp.float32(1e-30)))))
            left = jnp.where(near, jnp.abs(step) * power, jnp.abs(step))
            moved = wanted & (jnp.abs(step) > 2**-23 * jnp.abs(new))  # else float32 has no nearer number
            far = arms.largest(jnp.where(moved, left, 0)) > precision
            return new, moving & far

        everyone = jnp.ones(number.shape, bool)
        estimates, _ = lax.while_loop(lambda carry: jnp.any(carry[1]), pass_over, (start, everyone))
        return dataclasses.replace(self, last=jnp.where(wanted, estimates, self.last))

    def _influence(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return psi and its slope, elementwise."""
        size = fast_max(jnp.abs(x), jnp.float32(1e-30))
        power = exp(no_fma(self.p * log(size)))
        inner = 1 + size + no_fma(power * (1 / self.p))
        value = log(inner)
        return jnp.where(x < 0, -value, value), (1 + power / size) / inner


class _Sums(NamedTuple):
    value: CompensatedSum
    slope: jax.Array


def _folded(x: jax.Array) -> jax.Array:
    """Return the sum over the first axis, a power of two, in an order that no compiler changes."""
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        x = x[:half] + x[half:]
    return x[0]
