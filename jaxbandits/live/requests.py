"""Pulls that an algorithm asks for at once, which a session asks for one by one."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["Requests"]


class Requests(NamedTuple):
    """What was asked for, and the rewards told of it so far.

    Attributes:
        arms: the arms to pull, in this order.
        counts: pulls of each.
        sums: of the rewards told for the first of these arms, in double precision until all are there.
        told: how many rewards these are.
    """

    arms: list[int]
    counts: list[int]
    sums: list[float]
    told: int = 0

    @classmethod
    def of(cls, asked: Any, counts: Any, arms: int, who: str) -> Self:
        """Return what an algorithm asks for, without a reward.

        Args:
            asked: arms, int `(P,)`.
            counts: pulls of each, int `(P,)`; 0 for none.
            arms: the number of arms K.
            who: the algorithm, as a sentence names it.

        Raises:
            UsageError: an arm outside [0, K).
        """
        pulled = np.asarray(counts) > 0
        wanted = np.asarray(asked)[pulled]
        if np.any(outside := (wanted < 0) | (wanted >= arms)):
            raise UsageError(f"{who} asks for arm {wanted[outside][0]}: arms are numbered from 0 to {arms - 1}")
        return cls(wanted.tolist(), np.asarray(counts)[pulled].tolist(), [])

    @property
    def place(self) -> int:
        """The place in `arms` of the next one to pull."""
        return int(np.searchsorted(np.cumsum(self.counts), self.told, side="right"))

    @property
    def next_arm(self) -> int:
        """That arm."""
        return self.arms[self.place]

    @property
    def complete(self) -> bool:
        """Whether all rewards are there."""
        return self.told == sum(self.counts)

    def with_reward(self, reward: float) -> "Requests":
        """The same with one more reward, of the next arm."""
        place = self.place
        sums = [*self.sums[:place], sum(self.sums[place:], reward)]
        return self._replace(sums=sums, told=self.told + 1)

    def means(self) -> Iterator[float]:
        """The mean reward told of each arm.

        Raises:
            ValueError: as many sums, or rewards, as cannot be.
        """
        counts = np.asarray(self.counts, np.int64)
        if len(self.arms) != len(counts) or self.told >= max(counts.sum(), 1):
            raise ValueError("other pulls than were asked for")
        rewards = np.clip(self.told - (np.cumsum(counts) - counts), 0, counts)
        for total, number in zip(self.sums, rewards[rewards > 0], strict=True):
            yield total / number
