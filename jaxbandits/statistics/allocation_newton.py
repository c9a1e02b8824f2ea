"""The iterations behind `optimal_proportions`: rounds of Newton's method on all arms at once.

They maximise over w the least cost of `closest_alternative` over the other arms. With w scaled so that every cost is 1,
arm a needs w_a(w_1), and the sum w_1 + sum of w_a(w_1) is T*. Its derivative vanishes where F = sum of d(mu_1,
lambda_a) / d(mu_a, lambda_a + epsilon) = 1 (Garivier and Kaufmann 2016, Theorem 5 for epsilon = 0). A term of F is -d
w_a / d w_1. In a top-two algorithm the leader's share of the pulls is given: sum of x_a = (1 - share) / share replaces
F = 1. Where units of weight have prices, every term is multiplied by that of its arm.

Instead of nested bisections, all arms and w_1 move at once. A round evaluates each pair at its current split, which may
belong to a different w_1 for each pair. It replaces each term of F by the function c^2 / (w - p)^2 with the same value
and slope there; for normal rewards that is the term itself. It solves F = 1 by Newton's method on F^(-1/2), which is
concave in w. Then it moves every arm to that w by a similar function fitted to w_a. This is Newton's method on all
unknowns: the number of right digits doubles.

float32 or float64; shapes as in `closest_alternative`. Differentiable in means, epsilon and odds, by the implicit
function theorem.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.numerics import fast_max, fast_min, no_fma
from jaxbandits.statistics.closest_alternative import Alternative, Pairs, alternative, moved
from jaxbandits.statistics.exponential_families import Family

__all__ = ["Task", "Unknowns", "solved"]

# The limit of one step: the optimum may lie at the end of a range, where F changes like a logarithm of w.
_FAR = 20.0
_SQUARINGS = 6  # of 1 + x / 64, for exp(x)
# How far rounding may put a w outside its brackets.
_SLACK = 1e-3
_WIDEN = 16.0


class Task(NamedTuple):
    """The problem to solve, of pairs that differ."""

    pairs: Pairs
    rivals: jax.Array  # bool (K, …): arms that are not the best, nor padded
    odds: jax.Array | None  # (…), (1 - share) / share; None where the share of the best arm is free
    price: jax.Array | None = None  # (K, …), what a unit of weight costs beside one of the best arm; None for the same


class Unknowns(NamedTuple):
    """The unknowns: the splits, and the weight of the best arm."""

    z: jax.Array  # (K, …), see `closest_alternative`
    w: jax.Array  # (…), 1 / (y - y_0): y the cost by pull of the best arm, y_0 its value without pulls of others


class _Terms(NamedTuple):
    """The terms of F, each around its own w; all `(K, …)`, meaningful for rivals only."""

    own: jax.Array  # that w
    value: jax.Array  # the term of F there
    slope: jax.Array  # minus its derivative
    pole: jax.Array  # p
    width: jax.Array  # c
    beyond: jax.Array  # w_a goes to infinity at this w
    speed: jax.Array  # w_a is proportional to this over w - beyond
    at: Alternative


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def solved(family: Family, rounds: int, task: Task, start: jax.Array) -> Unknowns:
    """Return the unknowns after the given number of rounds from the splits `start`, `(K, …)`."""
    w = jnp.zeros_like(task.pairs.best)
    guarded = task.pairs.epsilon is not None and task.odds is None

    def go_on(i: jax.Array | int, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        z, w, *brackets = state
        terms = _terms(family, task, z)
        new = _nearer(task, terms, _nearer(task, terms, w))
        if guarded:
            brackets = _brackets(task, terms, *brackets)
            new = jnp.where(i > 0, _guarded(task, terms, w, new, *brackets), new)
        return _moved(family, task, terms, z, new), new, *brackets

    # A loop, since unrolled code compiles slowly.
    brackets = (w, jnp.full_like(w, jnp.inf)) if guarded else ()
    z, w, *_ = lax.fori_loop(0, rounds, go_on, (start, w, *brackets))
    return Unknowns(z, w)


@solved.defjvp
def _solved_jvp(
    family: Family, rounds: int, primals: tuple[Task, jax.Array], tangents: tuple[Task, jax.Array]
) -> tuple[Unknowns, Unknowns]:
    task, start = primals
    found = solved(family, rounds, task, start)

    def again(pairs: Pairs, odds: jax.Array | None, price: jax.Array | None) -> Unknowns:
        asked = Task(pairs, task.rivals, odds, price)
        terms = _terms(family, asked, found.z)
        w = _nearer(asked, terms, found.w)
        return Unknowns(_moved(family, asked, terms, found.z, w), w)

    # A round is Newton's method. At its fixed point, its slopes in the unknowns are 0, and those in the task remain.
    values, slopes = ((x.pairs, x.odds, x.price) for x in (task, tangents[0]))
    return found, jax.jvp(again, values, slopes)[1]


def _terms(family: Family, task: Task, z: jax.Array) -> _Terms:
    pairs, rivals = task.pairs, task.rivals
    at = alternative(family, pairs, z)
    gain = at.of_best
    if pairs.epsilon is not None:
        gain = fast_max(gain - family.divergence_by(pairs.best, -pairs.least_move(family)), jnp.finfo(z.dtype).tiny)
    others = no_fma(at.ratio * at.of_other)
    cost = at.of_best + others
    above = gain + others
    own, value = 1 / above, at.of_best / at.of_other
    portion = others / above
    # With s the move of the best arm, d x / d s = x growth, d cost / d s = d(mu_a, .) d x / d s and x other_slope =
    # best_slope: 2 value over the slope of the term.
    distance = no_fma(2 * ((portion * (at.of_best / cost)) * (at.of_other / above)) * (at.growth / at.other_slope))
    beyond, speed = no_fma(own * (gain / above)), at.ratio * (portion / above)
    value = _paid(task, value)
    free = task.odds is None
    pole, width = (own - distance, no_fma(jnp.sqrt(value) * distance)) if free else (beyond, _paid(task, speed))
    return _Terms(
        own=own,
        value=jnp.where(rivals, value, 0),
        slope=jnp.where(rivals, 2 * value / distance, 0),
        pole=jnp.where(rivals, pole, 0),
        width=jnp.where(rivals, width, 0),
        beyond=beyond,
        speed=speed,
        at=at,
    )


def _paid(task: Task, x: jax.Array) -> jax.Array:
    """Multiply by the prices, if there are any."""
    return x if task.price is None else no_fma(x * task.price)


def _nearer(task: Task, terms: _Terms, w: jax.Array) -> jax.Array:
    """Return w after a step of Newton's method to where the terms add up to 1, or the ratios to the odds."""
    # A term alone reaches the goal there, and the method approaches from below.
    alone = terms.width if task.odds is None else no_fma(terms.width * (1 / task.odds))
    w = fast_max(w, lax.stop_gradient(jnp.max(terms.pole + alone, axis=0)))
    inverse = 1 / (w - terms.pole)
    part = terms.width * inverse
    if task.odds is None:
        part = part * part
    value, slope = jnp.sum(part, axis=0), jnp.sum(part * inverse, axis=0)
    root = jnp.sqrt(value) if task.odds is None else value / task.odds
    return w + no_fma((value / slope) * (root - 1))


def _moved(family: Family, task: Task, terms: _Terms, z: jax.Array, w: jax.Array) -> jax.Array:
    """Return the splits at w."""
    ahead = w - terms.beyond
    factor = jnp.where(ahead > 0, terms.speed / (ahead * terms.at.ratio), jnp.inf)
    z = moved(z, factor, terms.at.stretch)
    if task.pairs.epsilon is None:
        return z
    # Where the range ends, an x of 0 may be right; smaller ones cannot be distinguished from it.
    least = float(jnp.finfo(z.dtype).eps) ** 2
    return fast_max(z, jnp.where(task.pairs.least_move(family) > 0, least, 0.0))


def _brackets(task: Task, terms: _Terms, low: jax.Array, high: jax.Array) -> list[jax.Array]:
    """Return narrower brackets of w: F falls with w.

    The sum of terms is at most F at the smallest of their w.
    """
    found = jnp.sum(terms.value, axis=0)
    least = jnp.min(jnp.where(task.rivals, terms.own, jnp.inf), axis=0)
    most = jnp.max(jnp.where(task.rivals, terms.own, 0.0), axis=0)
    return [fast_max(low, jnp.where(found >= 1, least, 0.0)), fast_min(high, jnp.where(found <= 1, most, jnp.inf))]


def _guarded(task: Task, terms: _Terms, w: jax.Array, new: jax.Array, low: jax.Array, high: jax.Array) -> jax.Array:
    """Return the new w, or a safer one.

    Where F falls more slowly than 1 / w, the step is on a logarithmic scale. A w outside the brackets is moved between
    them.
    """
    value = terms.value + no_fma(terms.slope * (terms.own - w))
    ratios = jnp.where(task.rivals, _paid(task, terms.at.ratio), 0)
    sums = [jnp.sum(x, axis=0) for x in (value, terms.slope, ratios)]
    power = w * (sums[1] / sums[0])  # F is like w to minus this
    change = (sums[0] - 1) / power  # 1 / F is linear in log w
    factor = 1 + fast_min(jnp.abs(change), _FAR) / 2.0**_SQUARINGS
    for _ in range(_SQUARINGS):
        factor = factor * factor
    slow = (sums[0] > 0) & (power < 1)
    new = jnp.where(slow, jnp.where(change > 0, w * factor, w / factor), new)
    inside = (new >= low * (1 - _SLACK)) & (new <= high * (1 + _SLACK))
    between = jnp.sqrt(low) * jnp.sqrt(high)
    between = jnp.where(low > 0, jnp.where(high < jnp.inf, between, low * _WIDEN), high / _WIDEN)
    # With a best mean near the lower end, w = 0 is nearly right; smaller shares cannot be distinguished from 0.
    return fast_max(jnp.where(inside, new, between), (w * sums[2]) * float(jnp.finfo(w.dtype).eps))
