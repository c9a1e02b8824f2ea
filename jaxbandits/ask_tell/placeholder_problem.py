"""A placeholder for the problem of a live experiment, which is unknown."""

import dataclasses
from typing import ClassVar, NoReturn, Self

import jax
from jax.typing import ArrayLike

from jaxbandits.arrays.on_host import with_copies
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem, register_problem

__all__ = ["LiveProblem"]


@register_problem
@dataclasses.dataclass(frozen=True)
class LiveProblem(Problem):
    """The knowledge of an algorithm when a live experiment begins: the first rewards and their range."""

    first: jax.Array  # float32 (K, P): rewards of the initial pulls
    b: jax.Array  # float32 ()
    parameters: ClassVar[tuple[str, ...]] = ("first", "b")

    @property
    def mean(self) -> NoReturn:
        """Raise a UsageError: means are unknown."""
        self._unknown("means")

    @property
    def variance(self) -> NoReturn:
        """Raise a UsageError: variances are unknown."""
        self._unknown("variances")

    @property
    def reward_range(self) -> jax.Array:
        """Return the range that the user gave."""
        return self.b

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> NoReturn:
        """Raise a UsageError: rewards are not drawn."""
        del words, parameters
        raise UsageError("the rewards of a live experiment come from tell()")

    def reward(self, key: jax.Array, arm: ArrayLike, pull: ArrayLike) -> NoReturn:
        """Raise a UsageError: earlier rewards are not kept."""
        del key, arm, pull
        raise UsageError(f"{self.name} reads all earlier rewards again, which a live experiment does not keep")

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """Return the rewards told for one initial pull of every arm."""
        del key
        return self.first[:, pull]

    def padded(self, count: int) -> Self:
        """Return the knowledge of `count` arms; the added ones have the first arm's rewards."""
        return dataclasses.replace(self, first=with_copies(self.first, count - self.arms))

    def _unknown(self, what: str) -> NoReturn:
        raise UsageError(
            f"{self.name} computes its exploration parameter from the true {what}, which are unknown in a live "
            "experiment: give a=…, or adaptive=True where the algorithm has it"
        )
