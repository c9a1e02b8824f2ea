"""Likelihood ratio tests under a way of sampling that looks at pulls and rewards only: both are found in one loop."""

import abc
import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.glr_stopped import GLRState, GLRStopped
from jaxbandits.algorithms.bases.protocol import State
from jaxbandits.arrays.written_out import found_together

__all__ = ["Candidates", "CandidatesFirst"]

#: Arms that may be pulled next, int32 `(…)` each.
Candidates = tuple[jax.Array, ...]


@dataclasses.dataclass(frozen=True)
class CandidatesFirst(GLRStopped):
    """A rule of which a few arms that may be pulled next follow from pulls and rewards, whatever else it keeps."""

    @abc.abstractmethod
    def candidates(self, state: GLRState) -> Candidates:
        """They, by their numbers."""

    def tested(self, state: GLRState) -> tuple[GLRState, Candidates]:
        """The state with its test, and the candidates."""
        if state.parted is not None:
            state, _ = super().tested(state)

        def found(algorithm: "CandidatesFirst", state: GLRState) -> Candidates:
            over = algorithm.exceeds(state, algorithm.standing(state))
            return (over.astype(jnp.int32), *algorithm.candidates(state))

        # Without what a rule keeps besides: accounts of all pairs would pass for arms.
        known = GLRState(**state.of_the_test())
        over, *arms = found_together(found, state.order.shape[0], self, known)
        return dataclasses.replace(state, over=over > 0), tuple(arms)

    @abc.abstractmethod
    def decided(self, state: State, seen: Candidates, live: jax.Array | bool) -> State:
        """The state with the arm to pull next, one of the candidates; arguments as for `GLRStopped`."""
