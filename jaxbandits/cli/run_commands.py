"""The commands that run algorithms. Each checks all of its input first, then works, then prints or writes."""

import json as json_text
import math
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import jaxbandits as jb
from jaxbandits.cli import display, files, inputs, result_text
from jaxbandits.cli.inputs import Switch, Whole
from jaxbandits.comparison.compared_rows import Row
from jaxbandits.comparison.comparison_text import finished, show
from jaxbandits.comparison.result import Comparison
from jaxbandits.errors import UsageError
from jaxbandits.report.formatting import runs

__all__ = ["compare", "simulate"]

#: Seconds after which `compare` reports its advice so far, once.
_PRELIMINARY_SECONDS = 15
Settings = Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=True, negative=())]
Means = Annotated[str | None, Parameter(allow_leading_hyphen=True)]


def simulate(
    algorithm: str,
    /,
    *,
    problem: str,
    seeds: Whole = 1000,
    settings: Settings = (),
    root_seed: Whole = 0,
    max_pulls: Whole | None = None,
    costs: str | None = None,
    batch: Whole | None = None,
    delay: str | None = None,
    json: Switch = False,
    progress: bool | None = None,
) -> None:
    """Run one algorithm on one problem and summarise the runs.

    Args:
        algorithm: its name, see `jaxbandits list`.
        problem: such as bernoulli:0.7,0.5,0.5, gaussian:means=0.7,0.5,sd=2 or two-group:n=1000,k=100.
        seeds: number of runs.
        settings: the algorithm's parameters, name=value, repeatable; one value for each arm: name=3,1,1.
        root_seed: seed of all randomness.
        max_pulls: stop a run before the pull or batch that passes it and count it as truncated; 1e9 if not given,
            and no limit for algorithms that draw sums.
        costs: what a pull costs, "reward" or prices such as 1,2,0.5; the problem's own if not given, usually one unit.
        batch: pulls that start at once, before any of their rewards is known; 1 if only a delay is given.
        delay: how many pulls a reward takes: 10, geometric:10 or uniform:0,20.
        json: print one JSON object instead of a table.
        progress: show a progress bar on stderr; by default, if that is a terminal.
    """
    chosen = inputs.algorithm_of(algorithm, settings)  # before JAX starts, which may take seconds
    inputs.start_jax()
    explored = inputs.problem_of(problem, costs)
    with display.progress_bar(progress) as update:
        dataset = jb.simulate(
            chosen,
            explored,
            seeds,
            root_seed=root_seed,
            max_pulls=max_pulls,
            batch=batch,
            delay=None if delay is None else inputs.value_of(delay),
            on_progress=lambda state: update(state, seeds),
        )
    if json:
        display.print_result(json_text.dumps(result_text.run_statistics(dataset), allow_nan=False))
    else:
        display.print_result(f"{algorithm} on {explored.name or problem}, {runs(seeds)}, root seed {root_seed}\n")
        if told := result_text.settled(chosen, explored) + result_text.moments(chosen, explored):
            display.print_result(told)
        display.print_result(result_text.statistics(dataset))


def compare(
    *,
    delta: float | None = None,
    means: Means = None,
    problem: str | None = None,
    epsilon: float = 0.0,
    m: Whole = 1,
    threshold: Annotated[float | None, Parameter(allow_leading_hyphen=True)] = None,
    all_within: float | None = None,
    multiplicative: Switch = False,
    one_above: Annotated[float | None, Parameter(allow_leading_hyphen=True)] = None,
    budget: Whole | None = None,
    seeds: Whole = 1000,
    root_seed: Whole = 0,
    max_pulls: Whole | None = None,
    store: Path | None = None,
    plot: Path | None = None,
    json: Switch = False,
    progress: bool | None = None,
) -> None:
    """Run every suitable algorithm on one problem: the table from which to pick one.

    Args:
        delta: allowed probability of error; without it only the algorithms that spend the budget are compared.
        means: means of Bernoulli arms, such as 0.7,0.6,0.5.
        problem: a problem in place of means, see `simulate`.
        epsilon: a mean this far below the m-th best is good enough; 0 requires the m best arms themselves.
        m: number of arms to find.
        threshold: find all arms whose mean is at least this, in place of the m best.
        all_within: find all arms whose mean is at most this far below the best.
        multiplicative: --all-within is a share of the best mean.
        one_above: find one arm whose mean is at least this, or that there is none.
        budget: pulls of the algorithms that need a budget; by default, the average of the best of the others.
        seeds: runs per algorithm.
        root_seed: seed of all randomness.
        max_pulls: stop a run after this many pulls. By default a row gets some seconds: 3e9 / (seeds * (arms + 12))
            pulls a run. It gets up to five times that where this allows 4 times the pulls of the best.
        store: a folder for the runs, so that an interrupted comparison goes on where it was.
        plot: draw into this file how often each algorithm is right, against its pulls or evaluations.
        json: print one JSON object instead of tables.
        progress: report each finished row on stderr, and show a progress bar if that is a terminal; no progress is
            quiet.
    """
    if (means is None) == (problem is None):
        raise UsageError("compare needs --means or --problem, one of them")
    if plot is not None:
        files.check_writable(plot, files.PICTURES, "--plot")
    inputs.start_jax()
    explored = inputs.problem_of(f"bernoulli:{means}" if problem is None else problem)
    last: Comparison | None = None
    due = time.monotonic() + _PRELIMINARY_SECONDS

    def report(row: Row, found: Comparison) -> None:
        nonlocal last, due
        last = found
        if progress is not False:
            display.print_status(finished(row))
            if found.missing and time.monotonic() > due:
                display.print_status(found.advice())
                due = math.inf

    def print_all(found: Comparison) -> None:
        display.print_result(json_text.dumps(found.as_dict()) if json else show(found, display.width()))

    try:
        with display.progress_bar(progress) as update:
            found = jb.compare(
                explored,
                delta=delta,
                epsilon=epsilon,
                m=m,
                threshold=threshold,
                all_within=all_within,
                multiplicative=multiplicative,
                one_above=one_above,
                budget=budget,
                seeds=seeds,
                root_seed=root_seed,
                max_pulls=max_pulls,
                store=store,
                on_row=report,
                on_progress=update,
            )
    except KeyboardInterrupt as interrupt:
        if last is not None:
            print_all(last)
            said = f"{interrupt}" or "interrupted"
            raise KeyboardInterrupt(f"{said}, {len(last.missing)} rows are missing") from None
        raise
    except UsageError:  # of one row: the finished ones are not lost
        if last is not None:
            print_all(last)
        raise
    print_all(found)
    if plot is not None:
        found.plot().savefig(plot)
