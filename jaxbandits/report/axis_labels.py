"""What dimensions and metrics are called in pictures; a meaning is declared, never guessed from a name."""

import json
from typing import Any

import xarray as xr

from jaxbandits.io.spec_axes import tables_of
from jaxbandits.report.summaries import GROWING

__all__ = ["declared", "label", "mean_label", "symbol"]

#: Dimensions and metrics of every Dataset.
_OF_EVERY_RUN = {
    "checkpoint": "pulls",
    "pulls": "pulls",
    "cost": "cost",
    "steps": "decisions",
    "failure": "failure rate",
    "simple_regret": "simple regret",
    "aggregate_regret": "aggregate regret",
    "algorithm": "algorithm",
}
#: Parameters of the package's own algorithms and problems; those with one name and several meanings have none here.
_OF_THE_PACKAGE = {
    "algorithm": {
        "epsilon": "accuracy ε",
        "delta": "allowed failure probability δ",
        "m": "arms to return m",
        "k": "arms to return k",
        "p": "order of the moment p",
        "budget": "budget (pulls)",
        "eta": "exploration η",
        "a": "exploration a",
        "correlation": "correlation V",
    },
    "problem": {
        "n": "number of arms K",
        "k": "number of good arms k",
        "dof": "degrees of freedom ν",
        "beta": "regularity β",
    },
}
_GREEK = {"epsilon": "ε", "delta": "δ", "eta": "η", "beta": "β"}


def label(ds: xr.Dataset, name: str) -> str:
    """Return the label of a dimension or a metric: its own attribute, its declared meaning, or its bare name."""
    if name in ds.coords and "long_name" in ds[name].attrs:
        return str(ds[name].attrs["long_name"])
    if f"{name}_mean" in ds and "label" in ds[f"{name}_mean"].attrs:  # a summary's, in other units
        return str(ds[f"{name}_mean"].attrs["label"])
    return _OF_EVERY_RUN.get(name) or declared(ds, name) or _of_metric(ds, name) or name.replace("_", " ")


def _of_metric(ds: xr.Dataset, name: str) -> str | None:
    """Return the long name of a user's metric, with its unit; None where it has neither, or is the package's own."""
    found = next((ds[one].attrs for one in (name, f"{name}_mean") if one in ds.data_vars), {})
    if name in GROWING or name == "regret" or "long_name" not in found:
        return None
    unit = f" ({found['units']})" if found.get("units") else ""
    return f"{found['long_name']}{unit}"


def mean_label(ds: xr.Dataset, name: str) -> str:
    """Return the label of the mean of a metric, or of the failure rate."""
    return label(ds, name) if name == "failure" else f"mean {label(ds, name)}"


def declared(ds: xr.Dataset, name: str) -> str | None:
    """Return the meaning of a parameter of the package's own algorithms or problems.

    Args:
        ds: runs or their summary, with the specification of what was run.
        name: a dimension.

    Returns:
        None if a user's own algorithm or problem has the parameter, if it has several meanings, or if nothing is known.
    """
    try:
        tables = list(tables_of(json.loads(ds.attrs["spec"])))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    found = {
        None if "cannot_be_repeated" in table else _OF_THE_PACKAGE[kind].get(field) if field == name else None
        for (kind, _), table in tables
        for field in _fields_along(table, name)
    }
    return found.pop() if len(found) == 1 else None


def _fields_along(table: dict[str, Any], name: str) -> list[str]:
    """Return the fields of an algorithm or a problem that vary along a dimension."""
    axes = {field: value for field, value in table.items() if isinstance(value, dict) and "axis" in value}
    return [field for field, value in axes.items() if (value.get("name") or field) == name]


def symbol(ds: xr.Dataset, name: str) -> str:
    """Return the name of a dimension in running text: its letter where it has one."""
    if name == "checkpoint":
        return "pulls"
    letter = (declared(ds, name) or "").rpartition(" ")[2]
    return letter if len(letter) == 1 else _GREEK.get(name, name)
