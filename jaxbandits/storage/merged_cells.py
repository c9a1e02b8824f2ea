"""The cells of a grid that several compatible sweeps form."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.io.spec_axes import KINDS, axes_that_apply, tables_of
from jaxbandits.storage.layout import Layout
from jaxbandits.users_code.records import CODE, change

__all__ = ["merge_cells"]


def merge_cells(
    values: dict[str, list[Any]], layouts: Sequence[Layout], specs: Sequence[dict[str, Any]], names: str
) -> Iterator[str]:
    """Yield the hashes of the cells of the grid that several layouts form; "" of those without runs.

    Args:
        values: the values of its dimensions, by name.
        layouts: the layouts; one may lack a dimension that belongs to the algorithms or problems of another.
        specs: their specifications.
        names: what they are called in messages.

    Raises:
        UsageError: a cell that none of them has; or two cells with the same values, and with different code.
    """
    own: Callable[[dict[str, Any]], list[str]] = list
    if any(isinstance(spec[kind], list) for spec in specs for kind in KINDS):
        own = axes_that_apply(specs)
        _refuse_other_code(layouts, specs)

    def key(cell: dict[str, Any]) -> tuple[Any, ...]:
        return tuple((name, cell[name]) for name in own(cell))

    known: dict[tuple[Any, ...], str] = {}
    for layout in layouts:
        for cell, found in _cells_in(layout):
            known[key(cell)] = found or known.get(key(cell), "")  # a version that leaves a pair out keeps its runs
    for place in itertools.product(*values.values()):
        cell = dict(zip(values, place, strict=True))
        if key(cell) not in known:
            where = ", ".join(f"{name} = {cell[name]}" for name in own(cell))
            raise UsageError(f"{names} leave a gap at {where}: give all values of the axes")
        yield known[key(cell)]


def _cells_in(layout: Layout) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the cells of a layout, a value by dimension each, and their hashes."""
    axes = [np.asarray(values).tolist() for values in layout.dimensions.values()]
    for place, found in zip(itertools.product(*axes), layout.cells, strict=True):
        yield dict(zip(layout.dimensions, place, strict=True)), found


def _refuse_other_code(layouts: Sequence[Layout], specs: Sequence[dict[str, Any]]) -> None:
    """Refuse cells of one hash whose tables record different code: hashes distinguish values, and not methods."""
    seen: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for layout, spec in zip(layouts, specs, strict=True):
        tables = dict(tables_of(spec))
        if not any(CODE in table for table in tables.values()):
            continue
        for cell, found in _cells_in(layout):
            for kind in KINDS if found else ():
                here = tables[kind, cell[kind] if isinstance(spec[kind], list) else None]
                others = seen.setdefault((kind, found), [])
                if any(other is here for other in others):
                    continue
                for there in others:
                    if different := change(there.get(CODE, {}), here.get(CODE, {})):
                        names = [repr(table.get("label", kind)) for table in (here, there)]
                        raise UsageError(f"{names[0]} has the values of {names[1]}, and other code: {different}")
                others.append(here)
