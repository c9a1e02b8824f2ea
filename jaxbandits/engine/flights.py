"""A simulated platform: how many pulls start at once, and how long their rewards take.

The delay of a pull is a whole number of pulls, or has a law:

* `10`: every reward takes ten pulls;
* `"geometric:10"`: ten on average, as if each further pull brought the reward with the same probability. The law is cut
  at twenty times the mean and one, which one reward in 5 10^8 would pass;
* `"uniform:0,20"`: each whole number from 0 to 20 is equally likely.

The delay of a pull is a function of the run's key and the number of the pull, as its reward is one of the run's key,
the arm and how often the arm was pulled.
"""

import dataclasses
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.arms import index, largest
from jaxbandits.arrays.numerics import fast_min, log
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.uint64 import UInt64
from jaxbandits.checks import NOT_NEGATIVE, is_number, number, shown, whole
from jaxbandits.compilers.xla_cpu import barrier
from jaxbandits.errors import UsageError
from jaxbandits.random.streams import DELAYS
from jaxbandits.random.threefry import KeyWords, block, open_uniform, uniform

__all__ = ["MOST_IN_FLIGHT", "Flight", "Journey", "flight_of", "stack_flights"]

#: Pulls that may be in flight: a run keeps each of them.
MOST_IN_FLIGHT = 2**16
#: Where a geometric law is cut, in means.
_CUT = 20


class Journey(NamedTuple):
    """What runs on a platform report beside their pulls."""

    told: UInt64  # (…): rewards that arrived before the run ended
    elapsed: UInt64  # (…): the time of the run, in pulls that the platform could have made
    waits: jax.Array | None = None  # int32 (…): times that the run waited for all its rewards; None of single pulls


@pytree
@dataclasses.dataclass(frozen=True)
class Flight:
    """The pulls of a platform: their number in a batch, and the law of their delays.

    Attributes:
        batch: int32 `(…)`: pulls that are chosen before any of their rewards is known.
        least: int32 `(…)`: the smallest delay, in pulls.
        most: int32 `(…)`: the largest.
        scale: float32 `(…)`: -1 / ln(1 - p) of a geometric law; 0 of others.
        law: `fixed`, `geometric` or `uniform`.
        slots: selections that may be in flight.
    """

    batch: jax.Array
    least: jax.Array
    most: jax.Array
    scale: jax.Array
    law: str = dataclasses.field(metadata={"static": True})
    slots: int = dataclasses.field(metadata={"static": True})

    @property
    def in_order(self) -> bool:
        """Return whether rewards arrive in the order in which they were asked for."""
        return self.law == "fixed"

    @property
    def overlaps(self) -> bool:
        """Return whether a pull may be selected while others are in flight; for one cell."""
        return self.slots > 2

    def delay(self, words: tuple[jax.Array, jax.Array], pull: jax.Array, *, rolled: bool = False) -> jax.Array:
        """Return how many pulls the rewards of some pulls take, int32 in the shape of `pull`.

        Args:
            words: the words of the runs' keys, uint32 `(…)` each.
            pull: int32 `(…)` or `(N, …)`: the number of each pull in its run, from 0.
            rolled: as in `block`.
        """
        if self.law == "fixed":
            return jnp.broadcast_to(self.least, pull.shape)
        word = barrier(block(KeyWords(*words), jnp.uint32(DELAYS), pull, rolled=rolled)[0])
        if self.law == "geometric":
            drawn = (-log(open_uniform(word)) * self.scale).astype(jnp.int32)
        else:
            drawn = (uniform(word) * (self.most - self.least + 1).astype(jnp.float32)).astype(jnp.int32)
        return fast_min(self.least + drawn, self.most)

    def first_arrivals(self, words: tuple[jax.Array, jax.Array], pulls: jax.Array, most: int) -> jax.Array:
        """Return the time by which the rewards of all first pulls have arrived, in pulls; int32 `(…)`.

        Args:
            words: the words of the runs' keys, uint32 `(…)` each.
            pulls: int32 `(…)`, the number of first pulls.
            most: the largest number of them.
        """
        numbers = jnp.broadcast_to(index(most, pulls.shape), (most, *pulls.shape))
        made = (numbers // self.batch + 1) * self.batch
        arrival = made + self.delay(words, numbers, rolled=True)
        return largest(jnp.where(numbers < pulls, arrival, 0))


def flight_of(batch: int, delay: object) -> Flight:
    """Return the pulls in flight of a platform, from the options `batch`, a whole number from 1, and `delay`.

    Raises:
        UsageError: a delay of another form, or too many pulls in flight.
    """
    law, values = _law(delay)
    scale = 0.0
    if law == "geometric":
        mean = number("the mean of a geometric delay", values[0], NOT_NEGATIVE)
        scale = 1 / math.log1p(1 / mean) if mean > 0 else 0.0
        least, most = 0, math.ceil(_CUT * (mean + 1)) if mean > 0 else 0
    else:
        named = "a delay" if law == "fixed" else "a limit of uniform delays"
        least, most = (whole(named, value, 0) for value in (values[0], values[-1]))
        if least > most:
            raise UsageError(f"uniform delays go from the smaller number to the larger, got {least} and {most}")
    slots = 2 * batch + most  # one more than a run ever uses
    if slots > MOST_IN_FLIGHT:
        raise UsageError(
            f"batch={batch} and delay={shown(delay)} may have {slots:,} pulls in flight, more than {MOST_IN_FLIGHT:,}"
        )
    sizes = (np.int32(batch), np.int32(least), np.int32(most), np.float32(scale))
    return Flight(*sizes, law=law, slots=slots)  # type: ignore[arg-type]


def stack_flights(flights: list[Flight]) -> Flight:
    """Return the flights of C cells with one law as one, leaves `(C,)`, with room for the most pulls of any."""
    room = 1 << (max(flight.slots for flight in flights) - 1).bit_length()  # a power of two: few programs
    alike = [dataclasses.replace(flight, slots=room) for flight in flights]
    stacked: Flight = jax.tree.map(lambda *leaves: np.stack(leaves), *alike)
    return stacked


def _law(delay: object) -> tuple[str, list[float]]:
    """Return the name of a law and its numbers."""
    if is_number(delay):
        return "fixed", [delay]  # type: ignore[list-item]
    if isinstance(delay, str):
        name, _, rest = delay.partition(":")
        try:
            values = [float(text) for text in rest.split(",")]
        except ValueError:
            values = []
        if len(values) == {"geometric": 1, "uniform": 2}.get(name.strip()):
            return name.strip(), values
    raise UsageError(f"a delay is a number of pulls, geometric:MEAN or uniform:LEAST,MOST, got {shown(delay)}")
