"""Coordinates for tuning: each parameter on a line without ends, on which a unit means the same everywhere."""

import dataclasses
import math
from collections.abc import Sequence

from jaxbandits.algorithms.parameters import axes_of, is_whole
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.checks import is_number, shown
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.gradients.softened_policies import Softened

__all__ = ["Coordinate", "check_without_axes", "coordinates"]

#: The largest logarithm that is taken of a distance; that of the largest float64 is 709.8.
_MOST = 709.0


@dataclasses.dataclass(frozen=True)
class Coordinate:
    """A parameter in (low, high) as a point of a line.

    Between two ends the point is the logit of the place between them. Above one end it is the logarithm of the distance
    from it, so that a step is a share of it. Without ends it is in units of the start.
    """

    parameter: str
    start: float
    low: float = -math.inf
    high: float = math.inf

    def point(self, value: float) -> float:
        """Return the point of a value."""
        if self.low == -math.inf:
            return value / self._unit
        if self.high == math.inf:
            return math.log(value - self.low)
        return math.log((value - self.low) / (self.high - value))

    def value(self, point: float) -> float:
        """Return the value at a point."""
        if self.low == -math.inf:
            return point * self._unit
        if self.high == math.inf:
            return self.low + math.exp(min(point, _MOST))
        return self.low + (self.high - self.low) / (1 + math.exp(min(-point, _MOST)))

    def reaches(self, point: float, width: float) -> bool:
        """Return whether the values on both sides of a point differ, and lie between the ends."""
        return self.low < self.value(point - width) < self.value(point + width) < self.high

    @property
    def _unit(self) -> float:
        return abs(self.start) or 1.0


#: The ends of each rule's range.
_ENDS = {
    "probability": (0.0, 1.0),
    "error probability": (0.0, 1.0),
    "positive": (0.0, math.inf),
    "not negative": (0.0, math.inf),
    "above one": (1.0, math.inf),
    "at least one": (1.0, math.inf),
    "": (-math.inf, math.inf),
}


def check_without_axes(where: str, known: Rule) -> None:
    """Check that an algorithm, or one to compare with, is a single one; `where` begins the message.

    Raises:
        UsageError: axes, over which objectives would be averaged.
    """
    if axes := axes_of(known):
        raise UsageError(f"{where}tuning needs one algorithm: {', '.join(axes)} must be one value, not an axis")


def coordinates(known: Rule, wrt: Sequence[str]) -> list[Coordinate]:
    """Return the parameters of an algorithm that are tuned, from where they start.

    Raises:
        UsageError: no parameter, or one that is not there, has no value yet, is an integer or a choice, or starts at an
            end of its range.
    """
    names = [wrt] if isinstance(wrt, str) else list(wrt) if isinstance(wrt, list | tuple) else []
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise UsageError(f"tuning needs names of parameters, each once, got {shown(wrt)}")
    if isinstance(known, Softened):
        raise UsageError(f"a softened policy is not tuned: give the algorithm itself, {known.policy!r}")
    return [_coordinate(known, name) for name in names]


def _coordinate(known: Rule, name: str) -> Coordinate:
    fields = {field.name: field for field in dataclasses.fields(known)}
    if name not in fields:
        raise unknown_name(f"parameter of {type(known).__name__}", name, fields)
    start, rule = getattr(known, name), fields[name].metadata.get("rule", "")
    if rule not in _ENDS or is_whole(fields[name]) or (isinstance(start, bool | str | int) and not is_number(start)):
        raise UsageError(f"{type(known).__name__} has no derivative in {name}, which is an integer or a choice")
    if not is_number(start):
        raise UsageError(f"tuning needs one value of {name} to start from, {type(known).__name__} has {_said(start)}")
    low, high = _ENDS[rule]
    if not low < float(start) < high:
        raise UsageError(f"tuning moves {name} by shares of its distance from {low:g}: start it elsewhere, got {start}")
    return Coordinate(name, float(start), low, high)


def _said(value: object) -> str:
    return "none" if value is None else repr(value)
