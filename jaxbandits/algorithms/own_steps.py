"""The protocol of an algorithm that draws its own rewards, step by step; for what `protocol.py` has no place for.

It is slower than a rule of `jb.algorithm`, and compiled for each number of arms. It is a frozen dataclass of its
hyperparameters with `@jb.pytree` above it, and four pure methods::

    init(problem, key)                -> state   may pull
    step(problem, key, state)         -> state   one decision and its pulls
    done(state)                       -> bool ()
    recommend(state)                  -> bool (K,): the returned arms
    exhausted(state)                  -> bool (), optional: the run cannot go on, and ends with status 1

`key` is the run's key, the same at every step; the state, a pytree of arrays whose shapes and types stay, carries at
least `pulls`, int32 `(K,)`. What else is to be known, its attribute `traits` says, a `jb.Traits`: `criterion`, by
which its answers are judged, a name or a function of problem and answer, and the `tolerance` of it; `answers`, how many
arms an answer has, 1 unless it says so. Nothing is taken from the names of its fields. Anything with these
methods runs in the engine, which looks at it once (`jaxbandits/engine/border.py`) and maps over the runs
(`jaxbandits/transform`), so that each run has the same bits alone and in any batch; a run
that makes 10 000 steps without a pull ends with status 2. A step that pulls an arm outside [0, K), as far as it calls
`problem.reward` outside loops and branches of its own, or whose `pulls` fall, ends the call with a `UsageError`.
`jax.tree_util.register_dataclass` serves, too.
"""

from typing import Any, Protocol

import jax

from jaxbandits.problems.base import Problem

__all__ = ["Algorithm", "State"]

State = Any


class Algorithm(Protocol):
    """What the engine asks of an algorithm; see the module's text.

    Example:
        >>> isinstance(jb.LUCB(epsilon=0.1, delta=0.1).traits, jb.Traits)
        True
    """

    def init(self, problem: Problem, key: jax.Array) -> State:
        """The state before the first decision; may pull."""

    def step(self, problem: Problem, key: jax.Array, state: State) -> State:
        """One decision and its pulls."""

    def done(self, state: State) -> jax.Array:
        """Whether the run has ended, bool `()`."""

    def recommend(self, state: State) -> jax.Array:
        """Mask of the returned arms, bool `(K,)`."""
