"""The options `batch` and `delay` of a sweep, which may be axes: pulls in flight on a simulated platform."""

from typing import Any, NamedTuple

from jaxbandits.axes import Axis
from jaxbandits.checks import whole
from jaxbandits.engine.flights import MOST_IN_FLIGHT, Flight, flight_of
from jaxbandits.errors import about
from jaxbandits.io.axis_values import value_of, written

__all__ = ["NOTHING_IN_FLIGHT", "FlightOptions", "flight_options"]


class FlightOptions(NamedTuple):
    """The options as the user gave them, or their axes; neither where no pulls are in flight."""

    batch: Any = None
    delay: Any = None

    @property
    def axes(self) -> dict[str, Axis]:
        """Return the axes by option."""
        return {name: value for name, value in self._asdict().items() if isinstance(value, Axis)}

    @property
    def settings(self) -> dict[str, Any]:
        """Return the options as plain data."""
        return {name: written(value) for name, value in self._asdict().items() if value is not None}

    def at(self, values: dict[str, Any]) -> Flight | None:
        """Return the pulls in flight at values of the axes; None for none.

        Raises:
            UsageError: values that cannot be used.
        """
        one = self._replace(**values)
        if one == (None, None):
            return None
        with about("run", "batch"):
            batch = whole("batch", 1 if one.batch is None else one.batch, 1, MOST_IN_FLIGHT)
        with about("run", "delay"):
            return flight_of(batch, 0 if one.delay is None else one.delay)

    def chosen(self, places: dict[str, list[int]]) -> "FlightOptions":
        """Return the options with the values of the axes at these indices, by dimension."""
        return self._replace(**{name: axis.at(places[axis.name or name]) for name, axis in self.axes.items()})


NOTHING_IN_FLIGHT = FlightOptions()


def flight_options(batch: Any, delay: Any) -> FlightOptions:
    """Return the options that a user or a specification gave.

    Raises:
        UsageError: a table that is not an axis, or an axis with values that cannot be used.
    """
    options = FlightOptions(value_of(batch), value_of(delay))
    for name, axis in options.axes.items():
        for value in axis.values:
            FlightOptions(**{name: value}).at({})
    return options
