"""The papers' figures and phase diagrams: `reproduce` runs them and writes a gallery page.

To add one: write a module with a function like `gape.run`, then add it to `REGISTRY` and its paper to `PAPERS`.
"""

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.experiments import (
    budgeted,
    differentiable,
    frontier,
    gape,
    heavy_tailed,
    pay_per_reward,
    phases,
    top_k,
    ugape,
)
from jaxbandits.experiments.bench import Stage
from jaxbandits.report.gallery import Exhibit, write_gallery

__all__ = ["REGISTRY", "SCALES", "Stage", "reproduce"]

#: How much to run: `quick` in about a minute an experiment on two cores, `paper` with the papers' numbers of runs.
SCALES = ("quick", "paper")

#: Names on the command line. Each takes the folder, the scale and a progress callback, and returns what it wrote.
REGISTRY: dict[str, Callable[..., list[Exhibit]]] = {
    "ugape": ugape.run,
    "gape": gape.run,
    "heavy-tailed": heavy_tailed.run,
    "top-k": top_k.run,
    "pay-per-reward": pay_per_reward.run,
    "budgeted": budgeted.run,
    "frontier": frontier.run,
    "phases": phases.run,
    "differentiable": differentiable.run,
}

#: The paper that each is about: a heading of the gallery.
PAPERS = {
    "ugape": "Gabillon, Ghavamzadeh, Lazaric (2012): best arm identification, fixed budget and fixed confidence",
    "gape": "Gabillon, Ghavamzadeh, Lazaric, Bubeck (2011): multi-bandit best arm identification",
    "heavy-tailed": "Yu, Shao, Lyu, King (2018): pure exploration with heavy-tailed payoffs",
    "top-k": "Chen, Chen, Zhang, Zhou (2017): adaptive multiple-arm identification",
    "pay-per-reward": "Sabato (2019): epsilon-best-arm identification in pay-per-reward bandits",
    "budgeted": "Li, Xia (2017): infinitely many-armed bandits with budget constraints",
    "frontier": "The frontier of fixed confidence and fixed budget, beside bounds and published numbers: ours",
    "phases": "Phase diagrams, next to theory: ours",
    "differentiable": "Derivatives, tuning and hard instances: ours",
}


def reproduce(
    names: Sequence[str],
    scale: str,
    out: Path,
    on_progress: Callable[[Stage], None] | None = None,
    tables: Mapping[str, Sequence[str]] | None = None,
) -> Path:
    """Run experiments and write their figures, numbers and a gallery page into a folder.

    Args:
        names: keys of `REGISTRY`; none for all.
        scale: `quick` or `paper`.
        out: the folder; made if it is not there.
        on_progress: called now and then with what is being run.
        tables: CSV files by experiment, for those that take a user's own tables.

    Returns:
        The path of the gallery's `index.html`.

    Raises:
        UsageError: an unknown name or scale, a table for an experiment that takes none, or a folder that cannot be
            made; before anything is run.
    """
    chosen = list(dict.fromkeys(names)) or list(REGISTRY)
    for name in chosen:
        if name not in REGISTRY:
            raise unknown_name("experiment", name, REGISTRY)
    for name in tables or {}:
        if name not in chosen:
            raise UsageError(f"a table for {name}, which is not among the figures: {', '.join(chosen)}")
        if "tables" not in inspect.signature(REGISTRY[name]).parameters:
            takers = [key for key, run in REGISTRY.items() if "tables" in inspect.signature(run).parameters]
            raise UsageError(f"{name} takes no table: {', '.join(takers)} do")
    if scale not in SCALES:
        raise unknown_name("scale", scale, SCALES)
    out = Path(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror}") from None
    began = time.perf_counter()
    groups = []
    for name in chosen:
        own = {"tables": list(tables[name])} if tables and name in tables else {}
        groups.append((PAPERS[name], REGISTRY[name](out, scale, on_progress, **own)))
    given = [f" --table {name}={Path(path).name}" for name, paths in (tables or {}).items() for path in paths]
    command = f"jaxbandits reproduce {' '.join(chosen)}{''.join(given)} --scale {scale} --out {out.name}"
    return write_gallery(out, groups, command, time.perf_counter() - began)
