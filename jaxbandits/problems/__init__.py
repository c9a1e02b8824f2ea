"""Problems: reward families, the papers' named instances, and the registry that the command line reads.

To add one: write its constructor in `instances.py` (or a family in `families.py`), then add it here.
"""

from collections.abc import Callable
from typing import Any

from jaxbandits.problems.base import Problem
from jaxbandits.problems.correlation import estimate_correlation
from jaxbandits.problems.costs import Costs, with_costs
from jaxbandits.problems.crowd_workers import rte_workers, workers_from_csv
from jaxbandits.problems.empirical import Empirical, empirical, empirical_from_csv, empirical_from_data
from jaxbandits.problems.families import (
    Bernoulli,
    Beta,
    Gaussian,
    TwoPoint,
    bernoulli,
    beta,
    gaussian,
    rademacher,
)
from jaxbandits.problems.heavy_instances import log_normal, pareto, s1, s2, student_t, symmetric_pareto, weibull
from jaxbandits.problems.heavy_tails import HeavyTailed, LogNormal, Pareto, StudentT, SymmetricPareto, Weibull
from jaxbandits.problems.instances import abm, gabillon, linear, one_sparse, polynomial, random_uniform
from jaxbandits.problems.joint import Blocks, OneClick, blocks, one_click
from jaxbandits.problems.pay_per_reward import click_rates, ppr, ppr_unbounded
from jaxbandits.problems.ratio_reservoirs import RatioReservoir, reservoir
from jaxbandits.problems.reservoirs import Reservoir
from jaxbandits.problems.table_reservoirs import TableReservoir, reservoir_from_csv
from jaxbandits.problems.top_k_instances import (
    c_spread,
    random_beta,
    random_truncated_normal,
    synthetic,
    two_group,
    uniform_means,
)

__all__ = [
    "REGISTRY",
    "Bernoulli",
    "Beta",
    "Blocks",
    "Costs",
    "Empirical",
    "Gaussian",
    "HeavyTailed",
    "LogNormal",
    "OneClick",
    "Pareto",
    "Problem",
    "RatioReservoir",
    "Reservoir",
    "StudentT",
    "SymmetricPareto",
    "TableReservoir",
    "TwoPoint",
    "Weibull",
    "abm",
    "bernoulli",
    "beta",
    "blocks",
    "c_spread",
    "click_rates",
    "empirical",
    "empirical_from_csv",
    "empirical_from_data",
    "estimate_correlation",
    "gabillon",
    "gaussian",
    "linear",
    "log_normal",
    "one_click",
    "one_sparse",
    "pareto",
    "polynomial",
    "ppr",
    "ppr_unbounded",
    "rademacher",
    "random_beta",
    "random_truncated_normal",
    "random_uniform",
    "reservoir",
    "reservoir_from_csv",
    "rte_workers",
    "s1",
    "s2",
    "student_t",
    "symmetric_pareto",
    "synthetic",
    "two_group",
    "uniform_means",
    "weibull",
    "with_costs",
    "workers_from_csv",
]

#: Names on the command line and in sweep specifications.
REGISTRY: dict[str, Callable[..., Any]] = {
    "bernoulli": bernoulli,
    "gaussian": gaussian,
    "beta": beta,
    "rademacher": rademacher,
    "student-t": student_t,
    "pareto": pareto,
    "symmetric-pareto": symmetric_pareto,
    "log-normal": log_normal,
    "weibull": weibull,
    "s1": s1,
    "s2": s2,
    "abm": abm,
    "gabillon": gabillon,
    "one-sparse": one_sparse,
    "linear": linear,
    "polynomial": polynomial,
    "random-uniform": random_uniform,
    "two-group": two_group,
    "uniform": uniform_means,
    "synthetic": synthetic,
    "random-truncated-normal": random_truncated_normal,
    "random-beta": random_beta,
    "c-spread": c_spread,
    "rte-workers": rte_workers,
    "workers": workers_from_csv,
    "one-click": one_click,
    "blocks": blocks,
    "ppr": ppr,
    "ppr-unbounded": ppr_unbounded,
    "clicks": click_rates,
    "reservoir": reservoir,
    "reservoir-table": reservoir_from_csv,
    "empirical": empirical,
    "csv": empirical_from_csv,
    "data": empirical_from_data,
}
