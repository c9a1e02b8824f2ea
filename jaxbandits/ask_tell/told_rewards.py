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
    """

    pulls: np.ndarray
    sums: np.ndarray

    @classmethod
    def none(cls, arms: int) -> Self:
        """Return no rewards."""
        return cls(np.zeros(arms, np.int64), np.zeros(arms))

    def add(self, arm: int, reward: float) -> None:
        """Add one reward, in place."""
        self.pulls[arm] += 1
        self.sums[arm] += reward

    def plus(self, arms: np.ndarray, rewards: np.ndarray) -> Self:
        """Return these rewards and more, one of each of these arms, which may repeat; int and float64 `(N,)`."""
        pulls, sums = self.pulls.copy(), self.sums.copy()
        np.add.at(pulls, arms, 1)
        np.add.at(sums, arms, rewards)
        return type(self)(pulls, sums)

    def copy(self) -> Self:
        """Return the same rewards, to add to."""
        return type(self)(self.pulls.copy(), self.sums.copy())

    def of(self, arms: list[int]) -> Self:
        """Return the rewards of some arms."""
        return type(self)(self.pulls[arms], self.sums[arms])

    def with_arm(self) -> Self:
        """Return the same rewards, and one more arm without any."""
        return type(self)(np.append(self.pulls, 0), np.append(self.sums, 0.0))

    @property
    def means(self) -> np.ndarray:
        """Return the means, float64 `(K,)`; nan where there is no reward."""
        return np.divide(self.sums, self.pulls, out=np.full(len(self.pulls), np.nan), where=self.pulls > 0)

    def to_data(self) -> list[list[float]]:
        """Return the numbers as JSON data."""
        return [self.pulls.tolist(), self.sums.tolist()]

    @classmethod
    def of_data(cls, data: list[list[float]], arms: int) -> Self:
        """Return the rewards that `to_data` wrote; a ValueError says that they are of other arms."""
        found = cls(*(np.asarray(x, dtype) for x, dtype in zip(data, (np.int64, float), strict=True)))
        if {x.shape for x in vars(found).values()} != {(arms,)}:
            raise ValueError("other arms")
        return found
