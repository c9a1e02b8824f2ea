"""Gradients in several parameters at once: one after the other, in one Dataset."""

import functools
from collections.abc import Callable
from typing import TypeVar

import xarray as xr

from jaxbandits.algorithms.parameters import axes_of
from jaxbandits.checks import shown
from jaxbandits.engine.binding import accept
from jaxbandits.errors import UsageError
from jaxbandits.report.one_cell import with_one_row

__all__ = ["takes_several"]

E = TypeVar("E", bound=Callable[..., xr.Dataset])
#: Variables of a gradient, whose names an axis of the algorithm may not have.
_TAKEN = ("value", "value_se", "gradient", "gradient_se", "gradient_runs", "outcomes")


def takes_several(estimate: E) -> E:
    """Decorate an estimate of a gradient in one parameter, so that it takes a list of them.

    Args:
        estimate: a function of metric, algorithm, problem, the parameter `wrt` and options.

    Returns:
        The same function. With a list as `wrt` the Dataset has `gradient_NAME`, `gradient_NAME_se` and
        `gradient_NAME_runs` for each name, in which dots become `_`; their attributes say how each was estimated.
    """

    @functools.wraps(estimate)
    def of_each(
        metric: object, algorithm: object, problem: object, wrt: object = "mean", **options: object
    ) -> xr.Dataset:
        names = [wrt] if isinstance(wrt, str) else list(wrt) if isinstance(wrt, list | tuple) else []
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise UsageError(f"wrt must be the name of a parameter, or a list of different names, got {shown(wrt)}")
        for field, values in axes_of(accept(algorithm)).items():
            if (taken := values.name or field) in _TAKEN:
                raise UsageError(f"an axis cannot be called {taken!r}, as gradients are: rename it, axis(…, name=…)")
        if isinstance(wrt, str):
            return with_one_row(estimate(metric, algorithm, problem, wrt, **options))
        return _together({name: estimate(metric, algorithm, problem, name, **options) for name in names})

    return of_each  # type: ignore[return-value]


def _together(found: dict[str, xr.Dataset]) -> xr.Dataset:
    """Return one Dataset of gradients whose runs have the same seeds, and so the same value."""
    first, own = next(iter(found.values())), {}
    for name, one in found.items():
        about = {key: one.attrs[key] for key in ("wrt", "estimator", "width") if key in one.attrs}
        for part in ("gradient", "gradient_se", "gradient_runs"):
            variable = part.replace("gradient", f"gradient_{name.replace('.', '_')}")
            own[variable] = one[part].assign_attrs({**one[part].attrs, **about})
    about_all = {key: value for key, value in first.attrs.items() if key not in ("estimator", "width")}
    shared = first.drop_vars(["gradient", "gradient_se", "gradient_runs"]).drop_attrs(deep=False)
    return with_one_row(shared.assign(own).assign_attrs({**about_all, "wrt": ", ".join(found)}))
