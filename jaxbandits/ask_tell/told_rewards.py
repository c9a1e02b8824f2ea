"""The rewards that were told, arm by arm, in double precision."""

import dataclasses
from typing import Self

import numpy as np

__all__ = ["ToldRewards"]


@dataclasses.dataclass(frozen=True)
class ToldRewards:
    """Numbers and sums of the rewards told for each arm.

    Attributes:
        pulls: int64 `(K,)`.
        sums: float64 `(K,)`.
        squares: float64 `(K,)`, sums of the squared rewards.
    """

    pulls: np.ndarray
    sums: np.ndarray
    squares: np.ndarray

    @classmethod
    def none(cls, arms: int) -> Self:
        """Return no rewards."""
        return cls(np.zeros(arms, np.int64), np.zeros(arms), np.zeros(arms))

    def add(self, arm: int, reward: float) -> None:
        """Add one reward, in place."""
        self.pulls[arm] += 1
        self.sums[arm] += reward
        self.squares[arm] += reward * reward

    @property
    def means(self) -> np.ndarray:
        """Return the means, float64 `(K,)`; nan where there is no reward."""
        return np.divide(self.sums, self.pulls, out=np.full(len(self.pulls), np.nan), where=self.pulls > 0)

    def to_data(self) -> list[list[float]]:
        """Return the numbers as JSON data."""
        return [self.pulls.tolist(), self.sums.tolist(), self.squares.tolist()]

    @classmethod
    def of_data(cls, data: list[list[float]], arms: int) -> Self:
        """Return the rewards that `to_data` wrote.

        Raises:
            ValueError: another number of arms.
        """
        found = cls(*(np.asarray(x, dtype) for x, dtype in zip(data, (np.int64, float, float), strict=True)))
        if {x.shape for x in vars(found).values()} != {(arms,)}:
            raise ValueError("other arms")
        return found
