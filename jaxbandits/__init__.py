"""jaxbandits: pure exploration in multi-armed bandits, batched with JAX.

import jaxbandits as jb; jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.05), jb.bernoulli([0.7, 0.5, 0.5]), seeds=2000)
"""

import importlib.metadata
import logging
from typing import Any

from jaxbandits.algorithms.registry import REGISTRY as _ALGORITHMS
from jaxbandits.lazy_registry import face
from jaxbandits.problems.registry import REGISTRY as _PROBLEMS

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent, unless the caller sets logging up

#: Public names beside the registries' algorithms and problems.
_FURTHER = {
    "Arms": "algorithms.protocol:Arms",
    "Batches": "algorithms.protocol:Batches",
    "algorithm": "algorithms.protocol:algorithm",
    "parameter": "algorithms.parameters:parameter",
    "AskTell": "ask_tell.session:AskTell",
    "Axis": "axes:Axis",
    "Metric": "engine.metric:Metric",
    "Problem": "problems.base:Problem",
    "Question": "algorithms.structured.question:Question",
    "Progress": "engine.driver:Progress",
    "problems": "problems",
    "gradients": "gradients",
    "merge": "sweeps.merging:merge",
    "Traits": "algorithms.traits:Traits",
    "UsageError": "errors:UsageError",
    "adversary": "tuning.adversarial:adversary",
    "axis": "axes:axis",
    "Comparison": "comparison.result:Comparison",
    "compare": "comparison.run_rows:compare",
    "compact": "storage.compaction:compact",
    "difference": "report.paired_differences:difference",
    "estimate_correlation": "problems.correlation:estimate_correlation",
    "find_best": "report.best_candidates:find_best",
    "CountPlan": "counts.count_plan:CountPlan",
    "plan": "counts.from_counts:plan",
    "plot": "report.plots",
    "pytree": "arrays.pytrees:pytree",
    "ratio": "report.paired_differences:ratio",
    "repeat": "sweeps.rerun:repeat",
    "run": "engine.single_runs:run",
    "seeds_needed": "report.seed_numbers:seeds_needed",
    "simulate": "sweeps.run:simulate",
    "summary": "report.summaries:summary",
    "sweep": "sweeps.run:sweep",
    "table": "report.study_tables:table",
    "theory": "theory",
    "trajectory": "engine.single_runs:trajectory",
    "tune": "tuning.search:tune",
    "use_all_cores": "engine.devices:use_all_cores",
    "with_costs": "problems.pull_costs:with_costs",
    "with_theory": "comparison.theory_overlay:with_theory",
    "zip_axes": "axes:zip_axes",
}

#: Names that are gone, and what is in their place.
_GONE = {"Algorithm": "an algorithm is a class with jb.algorithm above it, help(jaxbandits.algorithms.protocol)"}

_named, __dir__, __all__ = face(__name__, _FURTHER, _ALGORITHMS, _PROBLEMS)


def __getattr__(name: str) -> Any:
    """Return what a public name stands for, or the version of the installed package."""
    if name in _GONE:
        raise AttributeError(f"there is no {__name__}.{name} any more: {_GONE[name]}")
    return importlib.metadata.version(__name__) if name == "__version__" else _named(name)
