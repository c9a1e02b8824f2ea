"""Draw the papers' figures and phase diagrams: `reproduce` runs them and writes a gallery page.

To add a figure: write a module like `jaxbandits/papers/phases/pulls_and_complexity.py` in its paper's folder, and give
`REGISTRY` one line. The module has

- `Size` and `SIZES`: how much to run, by scale;
- `show(bench, size)`, which runs with `bench.sweep` or `bench.call` and draws with `bench.exhibit`;
- if it takes a user's tables, `read_table(path)`, and `show(bench, size, tables)` with what that returned, by path.
"""

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.papers.bench import Bench, Stage
from jaxbandits.report.gallery import write_gallery

__all__ = ["CORE", "REGISTRY", "SCALES", "Paper", "Stage", "load_figure", "reproduce"]

#: The five papers that the package implements first; `reproduce --first` draws one figure of each.
CORE = ("ugape", "heavy-tailed", "top-k", "pay-per-reward", "budgeted")
#: How much to run: `quick` in about a minute a paper on two cores, `paper` with the papers' numbers of runs.
SCALES = ("quick", "paper")


class Paper(NamedTuple):
    """A paper, or a subject of our own, and its figures."""

    title: str  #: a heading of the gallery
    about: str  #: what the figures show, in one line
    figures: tuple[str, ...]  #: modules of this room, in the gallery's order


#: By the names of the command line.
REGISTRY: dict[str, Paper] = {
    "ugape": Paper(
        "Gabillon, Ghavamzadeh, Lazaric (2012): best arm identification, fixed budget and fixed confidence",
        "Sample complexity against epsilon, K and m; a phase diagram; error against budget.",
        (
            "ugape.stopping_pulls",
            "ugape.theorem_parameter",
        ),
    ),
    "gape": Paper(
        "Gabillon, Ghavamzadeh, Lazaric, Bubeck (2011): multi-bandit best arm identification",
        "Failure probabilities of uniform sampling, UCB-E per bandit, GapE and its versions beside the published bars.",
        ("gape.published_bars",),
    ),
    "heavy-tailed": Paper(
        "Yu, Shao, Lyu, King (2018): pure exploration with heavy-tailed payoffs",
        "Pulls against delta, error against the budget, both against the heaviness of the tails; and daily returns.",
        (
            "heavy_tailed.pulls_over_delta",
            "heavy_tailed.error_over_budgets",
            "heavy_tailed.moment_orders",
            "heavy_tailed.tails_and_pulls",
            "heavy_tailed.tails_and_errors",
            "heavy_tailed.resampled_returns",
        ),
    ),
    "top-k": Paper(
        "Chen, Chen, Zhang, Zhou (2017): adaptive multiple-arm identification",
        "Failure probability against the budget and over K, pulls against the accuracy, regrets beside published ones.",
        (
            "top_k.failure_over_budgets",
            "top_k.printed_constants",
            "top_k.arms_returned",
            "top_k.pulls_over_accuracy",
            "top_k.opt_mai_regrets",
            "top_k.sar_errors",
        ),
    ),
    "pay-per-reward": Paper(
        "Sabato (2019): epsilon-best-arm identification in pay-per-reward bandits",
        "Cost against the number of arms, the accuracy, V and W, unbounded arms, and how safe the constants are.",
        (
            "pay_per_reward.number_of_arms",
            "pay_per_reward.headline_clicks",
            "pay_per_reward.click_tables",
            "pay_per_reward.accuracy_and_correlation",
            "pay_per_reward.sum_of_means",
            "pay_per_reward.infinitely_many_means",
            "pay_per_reward.smaller_constants",
        ),
    ),
    "budgeted": Paper(
        "Li, Xia (2017): infinitely many-armed bandits with budget constraints",
        "Regret against B and its exponents, numbers of arms, rivals, the smallest cost, spot prices, identification.",
        (
            "budgeted.growth_with_budget",
            "budgeted.arms_drawn",
            "budgeted.baselines",
            "budgeted.smallest_cost",
            "budgeted.spot_prices",
            "budgeted.price_tables",
            "budgeted.best_arm_of_reservoir",
        ),
    ),
    "frontier": Paper(
        "The frontier of fixed confidence and fixed budget, beside bounds and published numbers: ours",
        "Pulls until rules stop over delta; errors over budgets, and beside published ones.",
        (
            "frontier.allowed_error",
            "frontier.audibert_experiments",
            "frontier.karnin_setups",
        ),
    ),
    "phases": Paper(
        "Phase diagrams, next to theory: ours",
        "UGapEc's pulls over epsilon and K; RCB-I's regret over the budget and the regularity.",
        (
            "phases.pulls_and_complexity",
            "phases.regret_and_rate",
        ),
    ),
    "differentiable": Paper(
        "Derivatives, tuning and hard instances: ours",
        "Gradients beside differences, tuned algorithms beside their defaults, and instances that an adversary found.",
        (
            "differentiable.gradient_checks",
            "differentiable.tuned_parameters",
            "differentiable.harder_instances",
        ),
    ),
}


def load_figure(line: str) -> Any:
    """Import a figure's module, by its line of the registry."""
    return importlib.import_module(f"{__name__}.{line}")


def reproduce(
    names: Sequence[str],
    scale: str,
    out: Path,
    on_progress: Callable[[Stage], None] | None = None,
    tables: Mapping[str, Sequence[str]] | None = None,
    *,
    first: bool = False,
) -> Path:
    """Run figures and write their pictures, numbers and a gallery page into a folder.

    Args:
        names: keys of `REGISTRY`; none for all, or for `CORE` where `first` holds.
        scale: `quick` or `paper`.
        out: the folder; made if it is not there.
        on_progress: called now and then with what is being run.
        tables: CSV files by paper, for those that take a user's own tables.
        first: whether to draw the first figure of each only.

    Returns:
        The path of the gallery's `index.html`.

    Raises:
        UsageError: an unknown name or scale, a table without a place or that cannot be read, or a folder that cannot
            be made; before anything is run.
    """
    chosen = list(dict.fromkeys(names)) or list(CORE if first else REGISTRY)
    for name in chosen:
        if name not in REGISTRY:
            raise unknown_name("paper", name, REGISTRY)
    if scale not in SCALES:
        raise unknown_name("scale", scale, SCALES)
    given = _read_tables(chosen, tables or {})
    out = Path(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror}") from None
    began = time.perf_counter()
    figures = {name: REGISTRY[name].figures[: 1 if first else None] for name in chosen}
    bench = Bench(out, scale, sum(map(len, figures.values())), on_progress)
    groups = []
    for name in chosen:
        before = len(bench.exhibits)
        for line in figures[name]:
            bench.begin(line)
            figure = load_figure(line)
            own = (given.get(name, {}),) if hasattr(figure, "read_table") else ()
            figure.show(bench, figure.SIZES[scale], *own)
        groups.append((REGISTRY[name].title, bench.exhibits[before:]))
    files = [f" --table {name}={Path(path).name}" for name, paths in given.items() for path in paths]
    which = f"{' '.join(chosen)}{' --first' if first else ''}{''.join(files)}"
    command = f"jaxbandits reproduce {which} --scale {scale} --out {out.name}"
    return write_gallery(out, groups, command, time.perf_counter() - began)


def _read_tables(chosen: Sequence[str], tables: Mapping[str, Sequence[str]]) -> dict[str, dict[str, object]]:
    """Read a user's tables, by paper and path."""
    given = {}
    for name, paths in tables.items():
        if name not in chosen:
            raise UsageError(f"a table must be for one of the chosen figures, {', '.join(chosen)}, got {name}")
        if (reader := _find_reader(name)) is None:
            takers = ", ".join(key for key in REGISTRY if _find_reader(key) is not None)
            raise UsageError(f"{name} takes no table: {takers} do")
        given[name] = {path: reader(path) for path in paths}
    return given


def _find_reader(name: str) -> Callable[[str], object] | None:
    """Return what reads a paper's tables; None where no figure takes any."""
    readers = (getattr(load_figure(line), "read_table", None) for line in REGISTRY[name].figures)
    return next((reader for reader in readers if reader is not None), None)
