"""The command that makes a table of a store for other programs."""

import importlib.util
from pathlib import Path
from typing import Any, Literal

import xarray as xr

from jaxbandits.cli import display, files, inputs
from jaxbandits.cli.inputs import Names, Selection, Switch
from jaxbandits.errors import UsageError
from jaxbandits.report.repeated_cells import has_axis, repeats
from jaxbandits.report.study_tables import table
from jaxbandits.report.summaries import PER_ARM, is_moments, is_summary, summary
from jaxbandits.status import NOT_RUN
from jaxbandits.storage.arrays_on_disk import replacing
from jaxbandits.storage.consolidate import read_store

__all__ = ["export"]

Format = Literal["csv", "parquet", "latex"]
_ENDINGS: dict[Format, str] = {"csv": ".csv", "parquet": ".parquet", "latex": ".tex"}


def export(
    store: Path,
    /,
    *,
    to: Format | None = None,
    out: Path,
    rows: Names = (),
    columns: Names = (),
    value: Names = (),
    level: float = 0.95,
    runs: Switch = False,
    sel: Selection = (),
) -> None:
    """Write a table of a store: a row for each cell of the grid, or a table for a paper.

    Args:
        store: a store that `sweep` wrote.
        to: csv or parquet (numbers that are not rounded), or latex (means and intervals, the best in bold); without,
            what the ending of the file says.
        out: the file, NAME.csv, NAME.parquet or NAME.tex.
        rows: of latex, the dimensions that label the rows; all others without.
        columns: of latex, the dimensions that label the columns.
        value: metrics, such as pulls and failure; without, all of csv and parquet, and these two of latex.
        level: level of the intervals.
        runs: of csv and parquet, a row for each run in place of each cell.
        sel: dimension=value, may be repeated: export only what was run there.
    """
    to = to or next((name for name, ending in _ENDINGS.items() if ending == out.suffix), None)
    files.check_writable(out, tuple(_ENDINGS.values()) if to is None else (_ENDINGS[to],))
    assert to is not None
    if to == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise UsageError("--to parquet needs the package pyarrow: pip install pyarrow")
    if to == "latex" and runs:
        raise UsageError("--runs has no place in latex: --to csv or parquet")
    if to != "latex" and (rows or columns):
        raise UsageError(f"--{'rows' if rows else 'columns'} has no place in {to}: it has a row for each cell")
    if runs and value:
        raise UsageError("--value has no place with --runs: it has all of each run")
    dataset = inputs.selected(read_store(files.with_name(store)), sel)
    made = _runs(dataset) if runs else _table(dataset, to, rows, columns, value, level)
    with replacing(out) as temporary:
        if to == "latex":
            temporary.write_text(f"{made}\n", encoding="utf-8")
        elif to == "csv":
            made.to_csv(temporary, index=False, encoding="utf-8")
        else:
            made.to_parquet(temporary, engine="pyarrow", index=False)
    display.print_result(str(out))


def _table(ds: xr.Dataset, to: str, rows: Names, columns: Names, value: Names, level: float) -> Any:
    known = ds if is_summary(ds) else summary(ds, level)
    there = [str(name).removesuffix("_mean") for name in known.data_vars if str(name).endswith("_mean")]
    there += ["failure"] if "failure" in known else []
    if to != "latex":
        return table(known, value=value or there, format="frame", level=level)
    usual = [name for name in ("pulls", "failure") if name in there]
    source = ds if not is_moments(ds) else known
    return table(source, rows or None, columns, value or usual, format="latex", level=level)


def _runs(ds: xr.Dataset) -> Any:
    """Return a DataFrame with a row for each run, without what is of single arms.

    Along an axis that its algorithm and problem lack a run repeats: it has one row, without a value of that axis.
    """
    if "seed" not in ds.dims:
        raise UsageError("--runs needs a store that keeps its runs, and this one keeps sums of them")
    runs = ds.drop_dims(PER_ARM, errors="ignore")
    names = [str(name) for name in runs["status"].dims if name != "seed"]
    own = {f"own {name}": has_axis(ds, name) for name in names}
    added = {**own, "repeats another": repeats(ds, names)}
    rows = runs.assign(added).to_dataframe().reset_index()
    for name, of in zip(names, own, strict=True):
        if not rows[of].all():
            rows[name] = rows[name].astype(object).where(rows[of], None)
    made = rows["status"] != NOT_RUN  # a study may leave out an algorithm on a problem
    return rows.loc[made & ~rows["repeats another"], [name for name in rows.columns if name not in added]]
