"""The rewards that were told, arm by arm, in double precision."""

import dataclasses
from typing import Self

import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["ToldRewards"]

#: The rewards of an arm that tell how much they vary, and the steps of float32 that a standard deviation must have.
_ENOUGH, _STEPS = 10, 256
#: ln(1 / probability) of rewards that vary by more than they should.
_RARE = np.log(1e9)


@dataclasses.dataclass(frozen=True)
class ToldRewards:
    """Numbers and sums of the rewards told for each arm.

    Attributes:
        pulls: int64 `(K,)`.
        sums: float64 `(K,)`.
        single: int64 `(K,)`, rewards that were told one by one, not as a sum.
        squares: float64 `(K,)`, the sum of their squared deviations from their mean.
        centre: float64 `(K,)`, that mean, before rewards are rounded to float32.
    """

    pulls: np.ndarray
    sums: np.ndarray
    single: np.ndarray
    squares: np.ndarray
    centre: np.ndarray

    @classmethod
    def of_sums(cls, pulls: np.ndarray, sums: np.ndarray) -> Self:
        """Return rewards of which only numbers and sums are known, int64 and float64 `(K,)`."""
        return cls(pulls, sums, np.zeros_like(pulls), np.zeros_like(sums), np.zeros_like(sums))

    @classmethod
    def none(cls, arms: int) -> Self:
        """Return no rewards."""
        return cls.of_sums(np.zeros(arms, np.int64), np.zeros(arms))

    def add(self, arm: int, reward: float, exact: float) -> None:
        """Add one reward, in place; `exact` is the same before it was rounded to float32."""
        self.pulls[arm] += 1
        self.sums[arm] += reward
        self.single[arm] += 1
        off = exact - self.centre[arm]
        self.centre[arm] += off / self.single[arm]
        self.squares[arm] += off * (exact - self.centre[arm])  # Welford (1962)

    def check_resolved(self) -> None:
        """Refuse rewards so far from 0 that float32, in which algorithms compute, loses their differences.

        Raises:
            UsageError: an arm has such rewards, and enough of them to say so.
        """
        mean, spread = self.means, self.spread
        step = np.spacing(np.abs(mean).astype(np.float32)).astype(float)
        coarse = (self.single >= _ENOUGH) & (spread > 0) & (step * _STEPS > spread)
        if coarse.any():
            arm = int(np.argmax(coarse))
            raise UsageError(
                f"the rewards of arm {arm} vary by {spread[arm]:.2g} about {mean[arm]:.6g}, where the step of float32 "
                f"numbers is {step[arm]:.2g}: begin a session with rewards from which a constant is subtracted"
            )

    def exceed(self, sd: float) -> np.ndarray:
        """Return which arms' rewards vary by more than normal ones of this standard deviation, bool `(K,)`.

        Those would seem to with probability 1e-9 (Laurent, Massart 2000, Lemma 1).
        """
        free = np.maximum(self.single - 1, 0)
        return self.squares > sd**2 * (free + 2 * np.sqrt(_RARE * free) + 2 * _RARE)

    def plus(self, arms: np.ndarray, rewards: np.ndarray) -> Self:
        """Return these rewards and more, one of each of these arms, which may repeat; int and float64 `(N,)`."""
        pulls, sums = self.pulls.copy(), self.sums.copy()
        np.add.at(pulls, arms, 1)
        np.add.at(sums, arms, rewards)
        return dataclasses.replace(self, pulls=pulls, sums=sums)

    def copy(self) -> Self:
        """Return the same rewards, to add to."""
        return type(self)(*(x.copy() for x in vars(self).values()))

    def of(self, arms: list[int]) -> Self:
        """Return the rewards of some arms."""
        return type(self)(*(x[arms] for x in vars(self).values()))

    def with_arm(self) -> Self:
        """Return the same rewards, and one more arm without any."""
        return type(self)(*(np.append(x, np.zeros(1, x.dtype)) for x in vars(self).values()))

    @property
    def means(self) -> np.ndarray:
        """Return the means, float64 `(K,)`; nan where there is no reward."""
        return np.divide(self.sums, self.pulls, out=np.full(len(self.pulls), np.nan), where=self.pulls > 0)

    @property
    def spread(self) -> np.ndarray:
        """Return the standard deviations of the rewards told one by one, float64 `(K,)`; 0 for fewer than two."""
        return np.sqrt(self.squares / np.maximum(self.single - 1, 1))

    def to_data(self) -> list[list[float]]:
        """Return the numbers as JSON data."""
        return [x.tolist() for x in vars(self).values()]

    @classmethod
    def of_data(cls, data: list[list[float]], arms: int) -> Self:
        """Return the rewards that `to_data` wrote; a ValueError says that they are of other arms.

        Of older texts, which have fewer lists, numbers and sums are read.
        """
        types = (np.int64, float, np.int64, float, float)
        lists = [np.asarray(x, dtype) for x, dtype in zip(data, types, strict=False)]
        found = cls(*lists) if len(data) == len(types) else cls.of_sums(*lists[:2])
        if {x.shape for x in vars(found).values()} != {(arms,)}:
            raise ValueError("other arms")
        return found
