"""The arguments of a search, which its history holds as JSON."""

import json
from typing import Any

import xarray as xr

from jaxbandits.errors import UsageError

__all__ = ["arguments_of_search"]

_MEANS = ("objective", "error")
_OF_STEPS = {"step", "multiplier", *_MEANS, *(f"{mean}_se" for mean in _MEANS)}
_OF_PARAMETERS = {"value", "point", *(f"{mean}_slope{end}" for mean in _MEANS for end in ("", "_se"))}


def arguments_of_search(history: object) -> dict[str, Any]:
    """Return the arguments of the call of `jb.tune` that made a history, or a part of one.

    Raises:
        UsageError: anything else; a history that lacks a variable, a dimension or its attributes.
    """
    if isinstance(history, xr.Dataset):
        try:
            spec: dict[str, Any] = json.loads(history.attrs["spec"])
            whole = {"objective", "error_at_most"} <= spec.keys()
            whole &= all(set(history[name].dims) == {"step"} for name in _OF_STEPS)
            if whole and all(set(history[name].dims) == {"step", "parameter"} for name in _OF_PARAMETERS):
                return spec
        except (KeyError, TypeError, ValueError, AttributeError):
            pass
    raise UsageError("this is no history of jb.tune: a Dataset of steps and parameters, with its attributes")
