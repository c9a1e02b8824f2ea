"""The pulls that a rule requests at once: which of them were handed out, and which rewards were told."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Self

import numpy as np
from jax.typing import ArrayLike

from jaxbandits.errors import UsageError

__all__ = ["OpenRequests", "Request"]

#: Requests in a chunk: a change copies those of one chunk, and the list of the chunks.
_CHUNK = 256


class Request(NamedTuple):
    """One request: the first pulls, a step's, a round's or a batch's; it is never changed in place.

    Attributes:
        arms: the arms to pull, in this order, int `(P,)`.
        counts: pulls of each, int `(P,)`, at least 1.
        handed: pulls of each that were handed out, told ones included, int `(P,)`.
        told: rewards of each that were told, int `(P,)`.
        sums: sums of these rewards, float64 `(P,)`.
        absorbed: how many of the first entries the rule has seen already, in a round.
    """

    arms: np.ndarray
    counts: np.ndarray
    handed: np.ndarray
    told: np.ndarray
    sums: np.ndarray
    absorbed: int = 0

    @classmethod
    def of(cls, asked: ArrayLike, counts: ArrayLike, arms: int, who: str) -> Self:
        """Return the pulls that an algorithm requests, none handed out.

        Args:
            asked: arms, int `(P,)`.
            counts: pulls of each, int `(P,)`; 0 for none.
            arms: the number of arms K.
            who: the algorithm's name, for messages.

        Raises:
            UsageError: an arm outside [0, K).
        """
        pulled = np.asarray(counts) > 0
        wanted, counts = np.asarray(asked)[pulled], np.asarray(counts)[pulled]
        if np.any(outside := (wanted < 0) | (wanted >= arms)):
            raise UsageError(f"{who} requests arm {wanted[outside][0]}: arms are numbered from 0 to {arms - 1}")
        return cls(wanted, counts, np.zeros_like(counts), np.zeros_like(counts), np.zeros(len(counts)))

    @property
    def next_entry(self) -> int | None:
        """Return the first entry with a pull to hand out; None if all are handed out."""
        left = np.flatnonzero(self.handed < self.counts)
        return int(left[0]) if len(left) else None

    @property
    def complete(self) -> bool:
        """Return whether all rewards have been told."""
        return bool(np.all(self.told == self.counts))

    def with_handed(self, entry: int, more: int = 1) -> "Request":
        """Return the request with one more pull of an entry handed out, or taken back with -1."""
        return self._replace(handed=_added(self.handed, entry, more))

    def with_reward(self, entry: int, reward: float) -> "Request":
        """Return the request with one more reward of an entry."""
        return self._replace(told=_added(self.told, entry, 1), sums=_added(self.sums, entry, reward))


class ByNumber(Mapping[int, Request]):
    """Requests by their numbers, in order; a further one has the largest number. Methods return others.

    They are kept in chunks: with 10^5 pulls in flight, a copy of all requests would take longer than a rule's step.
    """

    def __init__(self, chunks: Mapping[int, Mapping[int, Request]] | None = None) -> None:
        """Take chunks by number // 256, none of them empty; None for no request."""
        self._chunks = chunks or {}

    def __getitem__(self, number: int) -> Request:
        """Return the request with a number."""
        return self._chunks[number // _CHUNK][number]

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers in order."""
        for chunk in self._chunks.values():
            yield from chunk

    def __len__(self) -> int:
        """Return the number of requests."""
        return sum(map(len, self._chunks.values()))

    def plus(self, number: int, request: Request) -> "ByNumber":
        """Return the requests with a further one, or with one that has changed."""
        place = number // _CHUNK
        return ByNumber({**self._chunks, place: {**self._chunks.get(place, {}), number: request}})

    def minus(self, number: int) -> "ByNumber":
        """Return the requests without one."""
        place, chunks = number // _CHUNK, dict(self._chunks)
        if left := {other: request for other, request in chunks[place].items() if other != number}:
            chunks[place] = left
        else:
            del chunks[place]
        return ByNumber(chunks)


@dataclasses.dataclass(frozen=True)
class OpenRequests:
    """The open requests, and what a next pull needs to know of all of them; methods return others.

    Attributes:
        by_number: the requests by their numbers, in order.
        unasked: the numbers of those with a pull to hand out.
        pulls: int64 `(K,)`, the pulls of each arm that they ask for.
    """

    by_number: ByNumber
    unasked: frozenset[int]
    pulls: np.ndarray

    @classmethod
    def of(cls, requests: Mapping[int, Request], arms: int) -> "OpenRequests":
        """Return requests by their numbers, of a number of arms."""
        found = cls(ByNumber(), frozenset(), np.zeros(arms, np.int64))
        for number, request in requests.items():
            found = found.with_request(number, request)
        return found

    @property
    def next_pull(self) -> tuple[int, int] | None:
        """Return the number of a request and its entry to hand out next; None if all are handed out."""
        if not self.unasked:
            return None
        number = min(self.unasked)
        entry = self.by_number[number].next_entry
        assert entry is not None
        return number, entry

    def with_request(self, number: int, request: Request) -> "OpenRequests":
        """Return the requests with a further one, or with one that has changed: its arms and counts stay."""
        unasked = self.unasked - {number} if request.next_entry is None else self.unasked | {number}
        pulls = self.pulls if number in self.by_number else self.pulls + self._pulls_of(request)
        return OpenRequests(self.by_number.plus(number, request), unasked, pulls)

    def without(self, number: int) -> "OpenRequests":
        """Return the requests without one."""
        pulls = self.pulls - self._pulls_of(self.by_number[number])
        return OpenRequests(self.by_number.minus(number), self.unasked - {number}, pulls)

    def _pulls_of(self, request: Request) -> np.ndarray:
        found = np.zeros_like(self.pulls)
        np.add.at(found, request.arms, request.counts)
        return found


def _added(x: np.ndarray, entry: int, more: float) -> np.ndarray:
    x = x.copy()
    x[entry] += more
    return x
