"""jaxbandits: pure exploration in multi-armed bandits, batched with JAX.

import jaxbandits as jb; jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.05), jb.bernoulli([0.7, 0.5, 0.5]), seeds=2000)
"""

from jaxbandits.algorithms import (
    LUCB,
    UCBE,
    Algorithm,
    GapE,
    SequentialHalving,
    SuccessiveElimination,
    SuccessiveRejects,
    UGapEb,
    UGapEc,
    Uniform,
)
from jaxbandits.ask_tell import AskTell
from jaxbandits.axes import axis
from jaxbandits.engine.driver import use_all_cores
from jaxbandits.engine.single import run, trajectory
from jaxbandits.errors import UsageError
from jaxbandits.problems import (
    Problem,
    abm,
    bernoulli,
    beta,
    c_spread,
    empirical,
    empirical_from_csv,
    gabillon,
    gaussian,
    linear,
    log_normal,
    one_sparse,
    pareto,
    polynomial,
    rademacher,
    random_beta,
    random_truncated_normal,
    random_uniform,
    s1,
    s2,
    student_t,
    symmetric_pareto,
    synthetic,
    two_group,
    uniform_means,
    weibull,
)
from jaxbandits.report import plots as plot
from jaxbandits.report.tables import summary
from jaxbandits.sweep import repeat, simulate, sweep

__all__ = [
    "LUCB",
    "UCBE",
    "Algorithm",
    "AskTell",
    "GapE",
    "Problem",
    "SequentialHalving",
    "SuccessiveElimination",
    "SuccessiveRejects",
    "UGapEb",
    "UGapEc",
    "Uniform",
    "UsageError",
    "abm",
    "axis",
    "bernoulli",
    "beta",
    "c_spread",
    "empirical",
    "empirical_from_csv",
    "gabillon",
    "gaussian",
    "linear",
    "log_normal",
    "one_sparse",
    "pareto",
    "plot",
    "polynomial",
    "rademacher",
    "random_beta",
    "random_truncated_normal",
    "random_uniform",
    "repeat",
    "run",
    "s1",
    "s2",
    "simulate",
    "student_t",
    "summary",
    "sweep",
    "symmetric_pareto",
    "synthetic",
    "trajectory",
    "two_group",
    "uniform_means",
    "use_all_cores",
    "weibull",
]
