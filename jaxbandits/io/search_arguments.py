"""The arguments of a search, which its history holds as JSON."""

import json
from typing import Any

import xarray as xr

from jaxbandits.errors import UsageError

__all__ = ["MEANS", "arguments_of_search"]

#: What a step measures; each has a standard error, and a slope in each parameter.
MEANS = ("objective", "error")
_OF_STEPS = ("multiplier", *MEANS, *(f"{mean}_se" for mean in MEANS))
_OF_PARAMETERS = ("value", "point", *(f"{mean}_slope{end}" for mean in MEANS for end in ("", "_se")))
_DIMENSIONS = {
    **{name: {"step"} for name in ("step", *_OF_STEPS)},
    **{name: {"step", "parameter"} for name in _OF_PARAMETERS},
}


def arguments_of_search(history: object) -> dict[str, Any]:
    """Return the arguments of the call of `jb.tune` that made a history, or a part of one.

    Raises:
        UsageError: anything else; a history that lacks a variable, a dimension or its attributes.
    """
    if isinstance(history, xr.Dataset):
        try:
            spec: dict[str, Any] = json.loads(history.attrs["spec"])
            whole = all(set(history[name].dims) == dims for name, dims in _DIMENSIONS.items())
            if whole and {"objective", "error_at_most"} <= spec.keys():
                return spec
        except (KeyError, TypeError, ValueError, AttributeError):
            pass
    raise UsageError("this is no history of jb.tune: a Dataset of steps and parameters, with its attributes")
