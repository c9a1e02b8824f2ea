"""Written by `python tests/test_generated.py` from the registries."""

from jaxbandits.problems.base import Problem as Problem
from jaxbandits.problems.base import register_problem as register_problem
from jaxbandits.problems.beta_and_two_point import Beta as Beta
from jaxbandits.problems.beta_and_two_point import TwoPoint as TwoPoint
from jaxbandits.problems.beta_and_two_point import beta as beta
from jaxbandits.problems.beta_and_two_point import rademacher as rademacher
from jaxbandits.problems.constructors import ProblemFamily as ProblemFamily
from jaxbandits.problems.constructors import varying as varying
from jaxbandits.problems.correlation import estimate_correlation as estimate_correlation
from jaxbandits.problems.costs import Costs as Costs
from jaxbandits.problems.costs import with_costs as with_costs
from jaxbandits.problems.crowd_workers import rte_workers as rte_workers
from jaxbandits.problems.crowd_workers import workers_from_csv as workers_from_csv
from jaxbandits.problems.empirical_arms import Empirical as Empirical
from jaxbandits.problems.empirical_arms import empirical as empirical
from jaxbandits.problems.empirical_arms import empirical_from_csv as empirical_from_csv
from jaxbandits.problems.empirical_arms import empirical_from_data as empirical_from_data
from jaxbandits.problems.exponential_arms import Exponential as Exponential
from jaxbandits.problems.exponential_arms import exponential as exponential
from jaxbandits.problems.families import Bernoulli as Bernoulli
from jaxbandits.problems.families import Gaussian as Gaussian
from jaxbandits.problems.families import bernoulli as bernoulli
from jaxbandits.problems.families import gaussian as gaussian
from jaxbandits.problems.heavy_instances import log_normal as log_normal
from jaxbandits.problems.heavy_instances import pareto as pareto
from jaxbandits.problems.heavy_instances import s1 as s1
from jaxbandits.problems.heavy_instances import s2 as s2
from jaxbandits.problems.heavy_instances import student_t as student_t
from jaxbandits.problems.heavy_instances import symmetric_pareto as symmetric_pareto
from jaxbandits.problems.heavy_instances import weibull as weibull
from jaxbandits.problems.heavy_tails import HeavyTailed as HeavyTailed
from jaxbandits.problems.instances import abm as abm
from jaxbandits.problems.instances import gabillon as gabillon
from jaxbandits.problems.instances import linear as linear
from jaxbandits.problems.instances import one_sparse as one_sparse
from jaxbandits.problems.instances import polynomial as polynomial
from jaxbandits.problems.instances import random_uniform as random_uniform
from jaxbandits.problems.joint import Blocks as Blocks
from jaxbandits.problems.joint import OneClick as OneClick
from jaxbandits.problems.joint import blocks as blocks
from jaxbandits.problems.joint import one_click as one_click
from jaxbandits.problems.karnin_instances import karnin as karnin
from jaxbandits.problems.log_normal_and_weibull import LogNormal as LogNormal
from jaxbandits.problems.log_normal_and_weibull import Weibull as Weibull
from jaxbandits.problems.pay_per_reward import click_rates as click_rates
from jaxbandits.problems.pay_per_reward import ppr as ppr
from jaxbandits.problems.pay_per_reward import ppr_unbounded as ppr_unbounded
from jaxbandits.problems.poisson_arms import Poisson as Poisson
from jaxbandits.problems.poisson_arms import poisson as poisson
from jaxbandits.problems.power_tails import Pareto as Pareto
from jaxbandits.problems.power_tails import StudentT as StudentT
from jaxbandits.problems.power_tails import SymmetricPareto as SymmetricPareto
from jaxbandits.problems.ratio_reservoirs import RatioReservoir as RatioReservoir
from jaxbandits.problems.ratio_reservoirs import reservoir as reservoir
from jaxbandits.problems.registry import REGISTRY as REGISTRY
from jaxbandits.problems.reservoirs import Reservoir as Reservoir
from jaxbandits.problems.table_reservoirs import TableReservoir as TableReservoir
from jaxbandits.problems.table_reservoirs import reservoir_from_csv as reservoir_from_csv
from jaxbandits.problems.top_k_instances import c_spread as c_spread
from jaxbandits.problems.top_k_instances import random_beta as random_beta
from jaxbandits.problems.top_k_instances import random_truncated_normal as random_truncated_normal
from jaxbandits.problems.top_k_instances import synthetic as synthetic
from jaxbandits.problems.top_k_instances import two_group as two_group
from jaxbandits.problems.top_k_instances import uniform_means as uniform_means

__all__ = [
    "REGISTRY",
    "Bernoulli",
    "Beta",
    "Blocks",
    "Costs",
    "Empirical",
    "Exponential",
    "Gaussian",
    "HeavyTailed",
    "LogNormal",
    "OneClick",
    "Pareto",
    "Poisson",
    "Problem",
    "ProblemFamily",
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
    "exponential",
    "gabillon",
    "gaussian",
    "karnin",
    "linear",
    "log_normal",
    "one_click",
    "one_sparse",
    "pareto",
    "poisson",
    "polynomial",
    "ppr",
    "ppr_unbounded",
    "rademacher",
    "random_beta",
    "random_truncated_normal",
    "random_uniform",
    "register_problem",
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
    "varying",
    "weibull",
    "with_costs",
    "workers_from_csv",
]
