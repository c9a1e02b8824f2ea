"""Pulls that an algorithm requests at once, and that a session returns one by one."""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
from jax.typing import ArrayLike

from jaxbandits.errors import UsageError

__all__ = ["Requests"]


class Requests(NamedTuple):
    """The requested pulls, and the rewards told so far.

    Attributes:
        arms: the arms to pull, in this order.
        counts: pulls of each.
        sums: sums of the rewards told for the first of these arms, in double precision until all are told.
        told: number of rewards told.
    """

    arms: list[int]
    counts: list[int]
    sums: list[float]
    told: int = 0

    @classmethod
    def of(cls, asked: ArrayLike, counts: ArrayLike, arms: int, who: str) -> Self:
        """Return the pulls that an algorithm requests, without a reward.

        Args:
            asked: arms, int `(P,)`.
            counts: pulls of each, int `(P,)`; 0 for none.
            arms: the number of arms K.
            who: the algorithm's name, for messages.

        Raises:
            UsageError: an arm outside [0, K).
        """
        pulled = np.asarray(counts) > 0
        wanted = np.asarray(asked)[pulled]
        if np.any(outside := (wanted < 0) | (wanted >= arms)):
            raise UsageError(f"{who} requests arm {wanted[outside][0]}: arms are numbered from 0 to {arms - 1}")
        return cls(wanted.tolist(), np.asarray(counts)[pulled].tolist(), [])

    @property
    def place(self) -> int:
        """Return the index in `arms` of the next one to pull."""
        return int(np.searchsorted(np.cumsum(self.counts), self.told, side="right"))

    @property
    def next_arm(self) -> int:
        """Return the next arm to pull."""
        return self.arms[self.place]

    @property
    def complete(self) -> bool:
        """Return whether all rewards have been told."""
        return self.told == sum(self.counts)

    def with_reward(self, reward: float) -> "Requests":
        """Return the requests with one more reward, of the next arm."""
        place = self.place
        sums = [*self.sums[:place], sum(self.sums[place:], reward)]
        return self._replace(sums=sums, told=self.told + 1)

    def means(self) -> Iterator[float]:
        """Yield the mean of the told rewards of each arm.

        Raises:
            ValueError: an impossible number of sums or of rewards.
        """
        counts = np.asarray(self.counts, np.int64)
        if len(self.arms) != len(counts) or self.told >= max(counts.sum(), 1):
            raise ValueError("other pulls than were requested")
        rewards = np.clip(self.told - (np.cumsum(counts) - counts), 0, counts)
        for total, number in zip(self.sums, rewards[rewards > 0], strict=True):
            yield total / number
