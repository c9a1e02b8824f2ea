"""The characteristic time of normal arms of different variances with epsilon > 0: the least over all right answers.

A right answer is a set of m arms whose worst mean is at most epsilon below the best mean left out. With equal variances
the m best arms have the least time. With others an arm of small variance may be told from the rest sooner. The costs of
an answer are those of an instance with epsilon = 0, in which its means are larger by epsilon.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.errors import UsageError

__all__ = ["least_time", "right_answers"]

#: The number of answers that are compared at most, and the numbers that are held for a step of the comparison.
_MOST_ANSWERS, _AT_A_TIME = 20_000, 2**18

Solver = Callable[[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


def right_answers(m: int, means: Any, epsilon: Any, mask: Any = None) -> np.ndarray:
    """Return the answers that are right on an instance at least, bool `(A, K)`; all of them where means are traced.

    Some may be there twice.

    Args:
        m: number of arms of an answer.
        means: `(K, …)`.
        epsilon: `()` or `(…)`.
        mask: bool `(K, …)`, false for padded arms; None for none.

    Raises:
        UsageError: there are too many.
    """
    count, found = len(means), set[tuple[int, ...]]()
    if any(isinstance(each, jax.core.Tracer) for each in (means, epsilon, mask)):
        found.update(_few(m, count, [((), range(count))]))
    else:
        flat = np.where(True if mask is None else mask, np.asarray(means), -np.inf).reshape(count, -1)
        allowed = np.broadcast_to(np.asarray(epsilon), np.shape(means)[1:]).reshape(-1)
        for mu, slack in zip(flat.T, allowed, strict=True):
            order = np.argsort(-mu, kind="stable")
            # By the best arm that is left out, at place p: those before it are in, and some within epsilon below.
            choices = [(order[:p], order[p + 1 :][mu[order[p + 1 :]] >= mu[order[p]] - slack]) for p in range(m + 1)]
            found.update(_few(m, count, choices))
    answers = sorted(found)
    # Some twice, so that few numbers of answers are compiled.
    members = np.zeros((2 ** (len(answers) - 1).bit_length(), count), bool)
    for row, answer in zip(members, itertools.cycle(answers), strict=False):
        row[list(answer)] = True
    return members


def _few(m: int, arms: int, choices: Iterable[tuple[Any, Any]]) -> Iterable[tuple[int, ...]]:
    """Return sets of m arms: all of the first, and some of the second, of each pair."""
    choices = list(choices)
    number = sum(math.comb(len(some), m - len(all_of)) for all_of, some in choices)
    if number > _MOST_ANSWERS:
        raise UsageError(
            f"with epsilon > 0 and different sd, {number:,} answers of m={m} of {arms} arms may be right, and "
            f"{_MOST_ANSWERS:,} at most are compared: take a smaller epsilon, or one sd for all arms"
        )
    return (
        tuple(sorted(map(int, (*all_of, *chosen))))
        for all_of, some in choices
        for chosen in itertools.combinations(some, m - len(all_of))
    )


def least_time(
    answers: jax.Array, means: jax.Array, epsilon: jax.Array, mask: jax.Array | None, solve: Solver
) -> tuple[jax.Array, jax.Array]:
    """Return the least characteristic time of a right answer, `(…)`, and its proportions, `(K, …)`.

    Args:
        answers: bool `(A, K)`, of m arms each; those that are wrong count for nothing.
        means: `(K, …)`.
        epsilon: `()` or `(…)`.
        mask: bool `(K, …)`, false for padded arms; None for none.
        solve: of means and an answer, bool `(K, …)`, which has the m largest ones: T* and w* with epsilon = 0.
    """
    there = jnp.ones(means.shape, bool) if mask is None else mask

    def of_answer(answer: jax.Array) -> tuple[jax.Array, jax.Array]:
        inside = jnp.broadcast_to(answer.reshape(-1, *(1 for _ in means.shape[1:])), means.shape)
        raised = jnp.where(inside, means + epsilon, means)
        worst = jnp.min(jnp.where(inside, raised, jnp.inf), axis=0)
        best_other = jnp.max(jnp.where(inside | ~there, -jnp.inf, raised), axis=0)
        right = (worst > best_other) & jnp.all(there | ~inside, axis=0)
        # A wrong answer is solved with other means, so that all of it is finite.
        time, weights = solve(jnp.where(right, raised, jnp.where(inside, 1.0, 0.0)), inside)
        return jnp.where(right, time, jnp.inf), weights

    times, weights = lax.map(of_answer, answers, batch_size=max(1, _AT_A_TIME // means.size))
    best = jnp.argmin(times, axis=0)
    time = jnp.take_along_axis(times, best[None], axis=0)[0]
    return time, jnp.take_along_axis(weights, best[None, None], axis=0)[0]
