"""The commands. Each checks all of its input first, then works, then prints or writes."""

import importlib
import inspect
import json
import textwrap
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import xarray as xr
from cyclopts import Parameter

import jaxbandits as jb
from jaxbandits import algorithms, problems
from jaxbandits.cli import display, inputs, stores
from jaxbandits.cli.inputs import Whole
from jaxbandits.compare import Comparison, Row, clopper_pearson
from jaxbandits.compare import compare as run_comparison
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.grid import expand
from jaxbandits.spec import describe

__all__ = ["compare", "list_", "plot", "reproduce", "simulate", "sweep"]

Settings = Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=True, negative=())]
Means = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
Switch = Annotated[bool, Parameter(negative=())]
_PICTURES = (".png", ".pdf", ".svg")


def list_() -> None:
    """Show the algorithms with their parameters, the problems, the figures and the bundled data."""
    display.say("Algorithms, with the parameters of --set:")
    for name, cls in algorithms.REGISTRY.items():
        _entry(name, cls)
    display.say("\nProblems, for --problem (NAME:first,second or NAME:name=value,...):")
    for name, make in problems.REGISTRY.items():
        _entry(name, make)
    display.say("\nFigures, for reproduce:")
    try:
        figures = _figures()
    except UsageError as error:
        display.say(f"  {error}")
    else:
        for name, function in figures.REGISTRY.items():
            display.say(f"  {name}\n      {_first_line(function)}")
    display.say("\nBundled data:\n  none yet")


def simulate(
    algorithm: str,
    /,
    *,
    problem: str,
    seeds: Whole = 1000,
    settings: Settings = (),
    root_seed: Whole = 0,
    max_pulls: Whole = 10**9,
    json: Switch = False,
    progress: bool | None = None,
) -> None:
    """Run one algorithm on one problem and summarise the runs.

    Args:
        algorithm: its name, see `jaxbandits list`.
        problem: such as bernoulli:0.7,0.5,0.5 or two-group:n=1000,k=100.
        seeds: number of runs.
        settings: the algorithm's parameters, name=value, as many as needed.
        root_seed: seed of all randomness.
        max_pulls: stop a run after this many pulls and count it as stopped early.
        json: print one JSON object instead of a table.
        progress: show a progress bar on stderr; without it, if that is a terminal.
    """
    inputs.start_jax()
    chosen, explored = inputs.algorithm_of(algorithm, settings), inputs.problem_of(problem)
    with display.progress_bar(progress, seeds) as update:
        dataset = jb.simulate(
            chosen,
            explored,
            seeds,
            root_seed=root_seed,
            max_pulls=max_pulls,
            on_progress=lambda state: update(state, seeds),
        )
    statistics = run_statistics(dataset)
    if json:
        display.say(_json(statistics))
    else:
        display.say(f"{algorithm} on {explored.name or problem}, {seeds:,} runs, root seed {root_seed}\n")
        display.say(_statistics_table(statistics, max_pulls))


def run_statistics(dataset: xr.Dataset) -> dict[str, Any]:
    """The numbers of `simulate --json`, for a Dataset without axes; None for what does not apply."""
    pulls = dataset["pulls"].to_numpy()
    runs, failures = len(pulls), int((~dataset["correct"].to_numpy()).sum())

    def mean(name: str) -> float | None:
        value = float(dataset[name].mean(skipna=False)) if name in dataset else np.nan
        return value if np.isfinite(value) else None

    return {
        "runs": runs,
        "mean_pulls": mean("pulls"),
        "sd_pulls": float(pulls.std(ddof=1)) if runs > 1 else None,
        "quantiles": {str(level): float(np.quantile(pulls, level)) for level in (0.1, 0.5, 0.9)},
        "failure_rate": failures / runs,
        "failure_ci": list(clopper_pearson(failures, runs)),
        "mean_cost": mean("cost"),
        "mean_reward": mean("reward"),
        "mean_simple_regret": mean("simple_regret"),
        "mean_aggregate_regret": mean("aggregate_regret"),
        "stopped_early": int((dataset["status"] == 1).sum()),
        "compile_seconds": dataset.attrs["compile_seconds"],
        "seconds": dataset.attrs["seconds"],
        "pulls_per_second": float(pulls.sum()) / max(dataset.attrs["seconds"], 1e-9),
    }


def compare(
    *,
    delta: float,
    means: Means = None,
    problem: str | None = None,
    epsilon: float = 0.0,
    m: Whole = 1,
    budget: Whole | None = None,
    seeds: Whole = 1000,
    root_seed: Whole = 0,
    max_pulls: Whole = 10**9,
    progress: bool | None = None,
) -> None:
    """Run every suitable algorithm on one problem: the table from which to pick one.

    Args:
        delta: allowed probability of error.
        means: means of Bernoulli arms, such as 0.7,0.6,0.5.
        problem: a problem in place of means, see `simulate`.
        epsilon: a mean this far below the m-th best is good enough; 0 asks for the m best arms themselves.
        m: number of arms to find.
        budget: pulls of the algorithms that need a budget; without it, what the best of the others took on average.
        seeds: runs per algorithm.
        root_seed: seed of all randomness.
        max_pulls: stop a run after this many pulls.
        progress: show a progress bar on stderr; without it, if that is a terminal.
    """
    if (means is None) == (problem is None):
        raise UsageError("compare needs --means or --problem, one of them")
    inputs.start_jax()
    explored = inputs.problem_of(f"bernoulli:{means}" if problem is None else problem)
    with display.progress_bar(progress, 0) as update:
        comparison = run_comparison(
            explored,
            delta=delta,
            epsilon=epsilon,
            m=m,
            budget=budget,
            seeds=seeds,
            root_seed=root_seed,
            max_pulls=max_pulls,
            on_progress=update,
        )
    display.say(_comparison_text(comparison))


def sweep(
    specification: Path,
    /,
    *,
    out: Path,
    resume: Switch = False,
    devices: Whole | None = None,
    progress: bool | None = None,
) -> None:
    """Run a grid and write its results to a store.

    Args:
        specification: a TOML file with the tables [algorithm], [problem] and [run].
        out: the store, NAME.nc (NetCDF) or NAME.zarr.
        resume: do nothing, and succeed, if the store is there and complete.
        devices: how many of JAX's devices to use.
        progress: show a progress bar on stderr; without it, if that is a terminal.
    """
    stores.check_writable(out)
    inputs.start_jax()
    algorithm, problem, run = inputs.read_specification(specification)
    keep = run.pop("keep")
    stores.check_keep(keep)
    settings = {name: value for name, value in run.items() if value is not None}
    wanted = describe(algorithm, problem, settings)
    if out.exists():
        there = stores.specification_of(stores.read_store(out))
        if found := stores.difference(there, {**wanted, "run": {**settings, "keep": keep}}):
            raise UsageError(f"{out} was written by another specification: {found}")
        if not resume:
            raise UsageError(f"{out} is there already, complete and of the same specification: --resume accepts it")
        display.say(f"{out} is complete, nothing to do")
        return
    runs = len(expand(algorithm, problem).cells) * run["seeds"]
    with display.progress_bar(progress, runs) as update:
        dataset = jb.sweep(algorithm, problem, **run, devices=devices, on_progress=lambda state: update(state, runs))
    stores.write_store(stores.reduced(dataset.assign_attrs(spec=json.dumps(wanted), keep=keep), keep), out)
    capped = int((dataset["status"] == 1).sum())
    display.say(f"{runs:,} runs, {float(dataset['pulls'].sum()):,.0f} pulls in {dataset.attrs['seconds']:.3g} s: {out}")
    if capped:
        display.say(f"{capped:,} runs were stopped at max_pulls, status 1")


def plot(store: Path, /, *, kind: str, out: Path) -> None:
    """Draw a figure from a store.

    Args:
        store: a store that `sweep` wrote.
        kind: the kind of figure, such as curve or phase.
        out: the picture, NAME.png, NAME.pdf or NAME.svg.
    """
    stores.check_writable(out, _PICTURES)
    kinds = _part("jaxbandits.report.plots").KINDS
    if kind not in kinds:
        raise unknown_name("kind of plot", kind, kinds)
    figure = kinds[kind](stores.read_store(store))
    with stores.replacing(out) as temporary:
        figure.savefig(temporary)
    display.say(str(out))


def reproduce(
    *names: str,
    out: Path,
    scale: Literal["quick", "paper"] = "quick",
) -> None:
    """Reproduce figures of the papers: pictures, numbers and a gallery page.

    Args:
        names: the figures, see `jaxbandits list`; all of them without.
        out: the folder to write to.
        scale: quick (minutes, fewer runs) or paper (the papers' numbers of runs).
    """
    figures = _figures()
    for name in names:
        if name not in figures.REGISTRY:
            raise unknown_name("figure", name, figures.REGISTRY)
    stores.check_folder(out)
    inputs.start_jax()
    out.mkdir(parents=True, exist_ok=True)
    figures.reproduce(list(names) or list(figures.REGISTRY), scale, out)


def _figures() -> Any:
    return _part("jaxbandits.experiments")


def _part(module: str) -> Any:
    """A part that takes long to import, and that a small installation may lack."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise UsageError(f"{module} is not part of this version") from None


def _entry(name: str, thing: Any) -> None:
    parameters = [p for p in inspect.signature(thing).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    shown = [p.name if p.default is p.empty else f"{p.name}={_word(p.default)}" for p in parameters]
    display.say(f"  {name}  {' '.join(shown)}\n{textwrap.fill(_first_line(thing), 100, initial_indent=' ' * 6)}")


def _word(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, allow_nan=False)


def _statistics_table(statistics: dict[str, Any], max_pulls: int) -> str:
    runs, early, quantiles = statistics["runs"], statistics["stopped_early"], statistics["quantiles"]
    failures = round(statistics["failure_rate"] * runs)
    mean = f"{statistics['mean_pulls']:,.1f}"
    if statistics["sd_pulls"] is not None:
        half = 1.96 * statistics["sd_pulls"] / runs**0.5
        ends = display.interval(statistics["mean_pulls"] - half, statistics["mean_pulls"] + half, "{:,.1f}".format)
        mean += f"  {ends} 95%, sd {statistics['sd_pulls']:,.1f}"
    if early:
        mean = f"at least {mean}"
    lines = [
        ("mean pulls", mean),
        ("10%, 50%, 90% of pulls", ", ".join(f"{quantiles[level]:,.0f}" for level in ("0.1", "0.5", "0.9"))),
        (
            "failure rate",
            f"{display.percent(statistics['failure_rate'])}  "
            f"{display.interval(*statistics['failure_ci'], display.percent)} 95%, {failures:,} of {runs:,}",
        ),
        *((name.replace("_", " "), _number(statistics[name])) for name in statistics if name.startswith("mean_")),
        ("stopped early", f"{early:,} of {runs:,}"),
        ("seconds", f"{statistics['seconds']:.3g}, and {statistics['compile_seconds']:.3g} to compile"),
        ("pulls per second", f"{statistics['pulls_per_second']:,.0f}"),
    ]
    lines = [line for line in lines if line[1] and line != ("mean pulls", _number(statistics["mean_pulls"]))]
    text = "\n".join(f"{name:<24}{value}" for name, value in lines)
    if early:
        text += (
            f"\n\n{early:,} runs were stopped at {max_pulls:,} pulls, before they were done: mean and quantiles of the "
            "pulls are lower bounds,\nand these runs are judged by what they recommended then."
        )
    return text


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.6g}"


def _comparison_text(comparison: Comparison) -> str:
    c = comparison
    question = f"the best {c.m} arms" if c.m > 1 else "the best arm"
    aim = f"within epsilon={c.epsilon:g} of {question}" if c.epsilon else f"exactly {question}"
    parts = [f"{c.problem.name}: find {aim}; {c.seeds:,} runs each; intervals are 95%."]
    heading = ["pulls on average", "10% to 90%", "wrong", "interval", "theory", ""]
    parts += ["", f"Fixed confidence, delta={c.delta:g} (theory: pulls exceeded with probability at most delta)"]
    parts.append(display.table([["", *heading], *(_row(row, f"{row.bound or 0:,.0f}") for row in c.fixed_confidence)]))
    if c.lower_bound is not None:
        limit = "no algorithm with this delta needs fewer on average" if c.epsilon == 0 else "as delta tends to 0"
        source = "Garivier and Kaufmann 2016" if c.epsilon == 0 else "Degenne and Koolen 2019"
        parts.append(f"lower bound: {c.lower_bound:,.0f} pulls ({limit}; {source})")
    origin = "" if c.given_budget else f", what {c.fixed_confidence[0].label} took on average"
    parts += ["", f"Fixed budget, {c.budget:,} pulls{origin} (theory: probability of being wrong)"]
    parts.append(
        display.table([["", *heading], *(_row(row, display.percent(row.bound or 0)) for row in c.fixed_budget)])
    )
    for left_out in c.left_out:
        parts.append(f"left out: {left_out}")
    return "\n".join([*parts, "", c.advice()])


def _row(row: Row, bound: str) -> list[str]:
    mean = f"{row.mean_pulls:,.0f}"
    low, high = np.quantile(row.pulls, [0.1, 0.9])
    notes = [row.theorem, "oracle: uses the true gaps" if row.oracle else ""]
    if row.capped:
        notes.append(f"{row.capped:,} runs stopped at max_pulls")
    return [
        row.label,
        f">= {mean}" if row.capped else mean,
        f"{low:,.0f} to {high:,.0f}",
        display.percent(row.failures / len(row.wrong)),
        display.interval(*row.failure_interval, display.percent),
        "-" if row.bound is None else bound,
        "; ".join(filter(None, notes)),
    ]
