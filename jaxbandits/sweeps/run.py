"""From a grid to jobs to a Dataset: `sweep`, and `simulate` for one cell or a few."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from jaxbandits.axes import Axis
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.driver import Progress
from jaxbandits.engine.metric import Metric
from jaxbandits.engine.program import Placement
from jaxbandits.errors import UsageError, warn
from jaxbandits.report.one_cell import with_one_row
from jaxbandits.storage.store_files import check_keep, path_of
from jaxbandits.sweeps.checked_cells import not_run_text
from jaxbandits.sweeps.plan import make_plan
from jaxbandits.sweeps.plan_runs import make_runs
from jaxbandits.sweeps.results import Results
from jaxbandits.sweeps.stored import part_of, results_in, run_stored
from jaxbandits.sweeps.stored_runs import Listeners
from jaxbandits.sweeps.time_limit import TimeLimit, seconds_of
from jaxbandits.transform import traced_once

__all__ = ["simulate", "sweep"]


@own_settings()
@traced_once()
def sweep(
    algorithm: Any,
    problem: Any,
    seeds: int = 1000,
    *,
    first_seed: int = 0,
    root_seed: int = 0,
    max_pulls: int | None = None,
    checkpoints: Sequence[float] | None = None,
    independent: bool = False,
    devices: int | None = None,
    lanes: int | None = None,
    chunk: int | None = None,
    on_chip: bool = False,
    metrics: Mapping[str, Callable[..., Any] | Metric] | None = None,
    batch: int | Axis | None = None,
    delay: int | str | Axis | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    store: str | Path | None = None,
    keep: str | None = None,
    part: tuple[int, int] | None = None,
    max_time: float | str | None = None,
) -> xr.Dataset:
    """Run every cell of a grid with the same seeds and return a labelled Dataset.

    Fields of the algorithm and arguments of the problem made with `jb.axis` span the grid; everything numeric in it
    shares one compilation. Seed `s` sees the same reward table in every cell (common random numbers), so differences
    between cells are paired.

    A list of algorithms or of problems makes a dimension, `algorithm` or `problem`. An axis belongs to the algorithms
    and problems that have it. The others repeat their runs along it, which are made once, and are one sample only.
    Numbers of arms may differ: masks of arms are false beyond those of the problem, and `arms` in their attributes says
    how many it has. Of two lists, a pair that does not fit, such as KL-LUCB and normal arms, is left out.

    Args:
        algorithm: a built-in algorithm, or one of your own, of a class that `jb.algorithm` made. It is judged by the
            criterion and the tolerance that its `jb.Traits` declare. For several, a list, or a mapping from names of
            your own; in a list they have the names of the command line, with the parameters that differ where two
            have one.
        problem: a problem, or a constructor's result with axes among its arguments; or several, as for `algorithm`.
        seeds: runs per cell, at least 1.
        first_seed: the first of the seeds: runs `first_seed` … `first_seed + seeds - 1` are made; `jb.merge` merges
            them with others.
        root_seed: seed of the root key, in [0, 2^64) (of JAX's own keys, below 2^32); run `s` has the key
            `fold_in(key(root_seed), s)`.
        max_pulls: most pulls of a run. A run is truncated before the step or batch that would pass it, with status 1
            and its recommendation at that moment. A limit below the first pulls is refused. None for 10^9, or for no
            limit where a built-in algorithm draws sums, whose time does not depend on their length; of several
            algorithms each has its own.
        checkpoints: increasing numbers of pulls at which each run is also recorded, in its first state with at least as
            many; for algorithms that need not know their budget. A rule that pulls two arms a step may have one pull
            more there, which `pulls` says. Where a budget of cost is spent they are smaller budgets.
        independent: give every cell its own reward tables. They depend on its values only, so that a cell's runs are
            the same alone and in every grid.
        devices: number of devices to use; None for all that JAX sees.
        lanes: runs at a time per device; changes speed, never results.
        chunk: steps between checks of the lanes; changes speed, never results.
        on_chip: make a block of steps one function, which keeps the state of its lanes on the chip. It is compiled on
            CPU by LLVM (`pip install "jaxbandits[llvm]"`), on GPU by Triton, on TPU by Mosaic. The runs are the same.
            docs/speed.md and docs/accelerators.md have the speeds. What these compilers do not support runs without
            it, and a warning says so.
        metrics: further metrics of every run, functions of problem, state and returned arms, or `jb.Metric`, by the
            names of the Dataset's variables. A grid over numbers of arms is then not padded.
        batch: how many pulls start at once, on a platform of which this is a simulation: all are chosen before any of
            their rewards is known. It may be an axis. If only a delay is given, 1.
        delay: how many further pulls the platform makes before the reward of a pull arrives: a whole number, or a law,
            `"geometric:10"` (of that mean) or `"uniform:0,20"`; it may be an axis. 0 if only a batch is given. Rules
            select by what they were told, and each pull in flight counts as one that gave the present mean of its arm.
            They end, and answer, by what they were told. Rules that ask for many pulls at once wait for the last
            reward. A store keeps its values of both.
        on_progress: called now and then with the runs and pulls done so far.
        store: NAME.zarr (or NAME.nc): runs are stored there block by block as they end. Stored runs are not made
            again, even after an interruption. More seeds, values of the axes, and algorithms or problems of a list may
            be added later, with the same code: a method, metric or helper of yours that was edited since is refused by
            name. The Dataset is read from the store when it is used. Of several processes of `jax.distributed` each
            makes its share.
        keep: what a store keeps: "runs" (the default), "summary", the result of `jaxbandits.summary`, or "moments",
            means and variances. The latter two take no more memory or disk for more runs. They are of all runs that the
            store has, also where a call asks for fewer.
        part: (1, 8) for the first of eight parts: an independent process that makes these runs only, in one store with
            the others. The last one to end makes the arrays; until then an empty Dataset is returned.
        max_time: of a sweep with a store, how long the call may take: seconds, or a text such as "3:50:00" (hours) or
            "50:00" (minutes). Before it is over, completed runs are committed, and an empty Dataset is returned whose
            attribute `missing` says what is left. The same call makes the rest.

    Returns:
        A Dataset. Its dimensions are `algorithm` and `problem` where lists are given, one per axis, `checkpoint` where
        requested, `seed`, and `arm` (`bandit`, `arm` for several bandits).

        Its variables are `pulls`, `cost`, `recommended`, `correct`, `simple_regret`, `aggregate_regret`, `steps` and
        `status`. A status is 0 for a finished run, and 1 for one truncated by `max_pulls`, or because the next
        counts would pass 2^31. It is 2 after 10 000 steps without a pull, possible for a user's own algorithm
        only. `joint_pulls` is there where sets of arms are pulled at once. `evaluations`, the cells that were read, is
        there on a score matrix; a run is also truncated, with status 1, after many pulls of known candidates. `paid`,
        the cost that was drawn, is there where pulls have costs and it is known. `reward` is collected within a
        budget of cost, and `regret` is the best ratio times the budget minus that reward; of several algorithms, NaN
        for those without such a budget.
        With `batch` or `delay`, `pulls` are those made, also in flight when the run ended, `told` the rewards that
        arrived, and `elapsed` the time, in pulls that the platform could have made. `waits`, of rules that ask for
        many pulls at once, is how often a run waited for all its rewards.
        Of a pair that was left out, `status` is -1, and all other variables are NaN, so that counts and truth
        values are numbers with fractions. A warning names it, as does `not_run` in the attributes.

    Raises:
        UsageError: any input that cannot be run, before anything runs, or a store of another specification. During the
            runs: a user's own algorithm pulls an arm that does not exist, or requests a negative number of pulls.
        OSError: the store cannot be written; what has been committed is kept.
        KeyboardInterrupt: interrupted by Ctrl-C, SIGTERM or SIGUSR1; the first time, completed runs are committed to
            the store. Handlers of your own are not replaced.

    Example:
        >>> ds = jb.sweep(jb.Uniform(budget=jb.axis([10, 20])), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> ds.pulls.mean("seed").values.tolist()
        [10.0, 20.0]
        >>> study = [jb.Uniform(budget=jb.axis([10, 20])), jb.LUCB(epsilon=0.1, delta=0.1)]
        >>> ds = jb.sweep(study, {"far": jb.bernoulli([0.9, 0.4]), "near": jb.bernoulli([0.9, 0.8])}, seeds=10)
        >>> {name: ds.sizes[name] for name in ("algorithm", "problem", "budget")}
        {'algorithm': 2, 'problem': 2, 'budget': 2}
    """
    limit = None if max_time is None else TimeLimit(seconds_of(max_time))
    plan = make_plan(
        algorithm, problem, seeds, first_seed=first_seed, root_seed=root_seed, max_pulls=max_pulls,
        checkpoints=checkpoints, independent=independent, metrics=metrics, batch=batch, delay=delay,
    )  # fmt: skip
    if plan.not_run:
        warn(not_run_text(plan.not_run))
    placement = Placement(devices, lanes, chunk, on_chip)
    if store is not None:
        path, share = path_of(store), part_of(part)
        of_arms = [name for name in metrics or () if plan.layout.variables[name].per_arm]
        if keep == "summary" and of_arms:
            names = ", ".join(of_arms)
            warn(f'keep="summary" keeps no metric with a number for each arm, {names}: keep="moments" has its mean')
        report = None if on_progress is None else lambda progress, _: on_progress(progress)
        outcome = run_stored(plan, path, check_keep(keep or "runs"), share, placement, Listeners(report), limit)
        if outcome.out_of_time or outcome.there < outcome.wanted:
            why = "since the time was over" if outcome.out_of_time else "of other parts"
            return xr.Dataset(attrs=plan.attrs | {"missing": f"{outcome.wanted - outcome.there} runs, {why}"})
        return with_one_row(results_in(path, plan))  # a summary or moments of one cell have no dimension
    for name, given in (("part", part), ("keep", keep), ("max_time", max_time)):
        if given is not None:
            raise UsageError(f"{name}=… is for sweeps with a store=…")
    results = Results(plan.layout, plan.first)
    made = set(plan.distinct)
    everything = [seeds if place in made else [] for place, seeds in enumerate(plan.all_seeds(plan.cells))]
    spent = make_runs(plan, everything, placement, results.add, on_progress)
    times = {"compile_seconds": round(spent.compile_seconds, 4), "seconds": round(spent.seconds, 4)}
    return results.dataset().assign_attrs(plan.attrs | times)


def simulate(
    algorithm: Any,
    problem: Any,
    seeds: int = 1000,
    *,
    first_seed: int = 0,
    root_seed: int = 0,
    max_pulls: int | None = None,
    checkpoints: Sequence[float] | None = None,
    independent: bool = False,
    devices: int | None = None,
    lanes: int | None = None,
    chunk: int | None = None,
    on_chip: bool = False,
    metrics: Mapping[str, Callable[..., Any] | Metric] | None = None,
    batch: int | Axis | None = None,
    delay: int | str | Axis | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    store: str | Path | None = None,
    keep: str | None = None,
    part: tuple[int, int] | None = None,
    max_time: float | str | None = None,
) -> xr.Dataset:
    """Run one algorithm on one problem: `sweep` under a name for a single cell; arguments as in `sweep`.

    Example:
        >>> ds = jb.simulate(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> int(ds.pulls.max())
        20
    """
    return sweep(
        algorithm, problem, seeds, first_seed=first_seed, root_seed=root_seed, max_pulls=max_pulls,
        checkpoints=checkpoints, independent=independent, devices=devices, lanes=lanes, chunk=chunk, on_chip=on_chip,
        metrics=metrics, batch=batch, delay=delay, on_progress=on_progress, store=store, keep=keep, part=part,
        max_time=max_time,
    )  # fmt: skip
