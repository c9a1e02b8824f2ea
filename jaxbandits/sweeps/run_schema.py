"""The [run] table of a specification.

Importing pydantic takes a while, so this module is imported where a table is read.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator

from jaxbandits import checks
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.errors import UsageError
from jaxbandits.io.schemas import Table, as_checked
from jaxbandits.sweeps.stored import check_keep
from jaxbandits.sweeps.time_limit import seconds_of

__all__ = ["RunTable"]


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"independent is true or false, got {checks.shown(value)}")
    return value


def _points(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise UsageError(f"checkpoints are a list of numbers of pulls, got {checks.shown(value)}")
    return [checks.number("a checkpoint", point) for point in value]


class RunTable(Table):
    """The options of `jaxbandits.sweep` that a specification may set."""

    seeds: Annotated[int, as_checked(checks.whole, 1, MAX_COUNT)] = 1000
    first_seed: Annotated[int, as_checked(checks.whole, 0, MAX_COUNT)] = 0
    root_seed: Annotated[int, as_checked(checks.seed)] = 0
    max_pulls: Annotated[int, as_checked(checks.whole, 1, MAX_COUNT)] | None = None
    independent: Annotated[bool, BeforeValidator(_switch)] = False
    checkpoints: Annotated[list[float], BeforeValidator(_points)] | None = None
    batch: Any = None
    delay: Any = None
    keep: Annotated[str, BeforeValidator(check_keep)] = "runs"
    max_time: Annotated[float, BeforeValidator(seconds_of)] | None = None
