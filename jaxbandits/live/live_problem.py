"""What stands for the problem where nobody knows it."""

import dataclasses
from typing import ClassVar, NoReturn

import jax
from jax.typing import ArrayLike

from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem, register_problem

__all__ = ["LiveProblem"]


@register_problem
@dataclasses.dataclass(frozen=True)
class LiveProblem(Problem):
    """What an algorithm may know of a live experiment when it begins: the first rewards and their range."""

    first: jax.Array  # float32 (K, P): rewards of the initial pulls
    b: jax.Array  # float32 ()
    parameters: ClassVar[tuple[str, ...]] = ("first", "b")

    @property
    def mean(self) -> NoReturn:
        """Not known."""
        self._unknown("means")

    @property
    def variance(self) -> NoReturn:
        """Not known."""
        self._unknown("variances")

    @property
    def reward_range(self) -> jax.Array:
        """What the user promised."""
        return self.b

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> NoReturn:
        """Nothing is drawn."""
        del words, parameters
        raise UsageError("the rewards of a live experiment come from tell()")

    def reward(self, key: jax.Array, arm: ArrayLike, pull: ArrayLike) -> NoReturn:
        """No reward is kept."""
        del key, arm, pull
        raise UsageError(f"{self.name} looks at all earlier rewards again, which a live experiment does not keep")

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """The rewards told for one initial pull of every arm."""
        del key
        return self.first[:, pull]

    def _unknown(self, what: str) -> NoReturn:
        raise UsageError(
            f"{self.name} computes its exploration parameter from the true {what}, which a live experiment does not "
            "know: give a=…, or adaptive=True where the algorithm has it"
        )
