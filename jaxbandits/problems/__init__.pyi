"""Written by `python tests/test_generated.py` from the registries."""

from jaxbandits.problems.base import Problem as Problem
from jaxbandits.problems.base import register_problem as register_problem
from jaxbandits.problems.constructors import ProblemFamily as ProblemFamily
from jaxbandits.problems.constructors import varying as varying
from jaxbandits.problems.correlation import estimate_correlation as estimate_correlation
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli as Bernoulli
from jaxbandits.problems.distributions.bernoulli_and_normal import Gaussian as Gaussian
from jaxbandits.problems.distributions.bernoulli_and_normal import bernoulli as bernoulli
from jaxbandits.problems.distributions.bernoulli_and_normal import gaussian as gaussian
from jaxbandits.problems.distributions.beta_and_two_point import Beta as Beta
from jaxbandits.problems.distributions.beta_and_two_point import TwoPoint as TwoPoint
from jaxbandits.problems.distributions.beta_and_two_point import beta as beta
from jaxbandits.problems.distributions.beta_and_two_point import rademacher as rademacher
from jaxbandits.problems.distributions.categorical_arms import Categorical as Categorical
from jaxbandits.problems.distributions.categorical_arms import categorical as categorical
from jaxbandits.problems.distributions.correlated_normal import CorrelatedGaussian as CorrelatedGaussian
from jaxbandits.problems.distributions.correlated_normal import correlated_gaussian as correlated_gaussian
from jaxbandits.problems.distributions.exponential_arms import Exponential as Exponential
from jaxbandits.problems.distributions.exponential_arms import exponential as exponential
from jaxbandits.problems.distributions.log_normal_and_weibull import LogNormal as LogNormal
from jaxbandits.problems.distributions.log_normal_and_weibull import Weibull as Weibull
from jaxbandits.problems.distributions.mixture_arms import GaussianMixture as GaussianMixture
from jaxbandits.problems.distributions.mixture_arms import gaussian_mixture as gaussian_mixture
from jaxbandits.problems.distributions.negative_binomial_arms import NegativeBinomial as NegativeBinomial
from jaxbandits.problems.distributions.negative_binomial_arms import negative_binomial as negative_binomial
from jaxbandits.problems.distributions.poisson_arms import Poisson as Poisson
from jaxbandits.problems.distributions.poisson_arms import poisson as poisson
from jaxbandits.problems.distributions.power_tailed import Pareto as Pareto
from jaxbandits.problems.distributions.power_tailed import StudentT as StudentT
from jaxbandits.problems.distributions.power_tailed import SymmetricPareto as SymmetricPareto
from jaxbandits.problems.distributions.unbounded import HeavyTailed as HeavyTailed
from jaxbandits.problems.instances.crowd_workers import rte_workers as rte_workers
from jaxbandits.problems.instances.crowd_workers import workers_from_csv as workers_from_csv
from jaxbandits.problems.instances.heavy_instances import log_normal as log_normal
from jaxbandits.problems.instances.heavy_instances import pareto as pareto
from jaxbandits.problems.instances.heavy_instances import s1 as s1
from jaxbandits.problems.instances.heavy_instances import s2 as s2
from jaxbandits.problems.instances.heavy_instances import student_t as student_t
from jaxbandits.problems.instances.heavy_instances import symmetric_pareto as symmetric_pareto
from jaxbandits.problems.instances.heavy_instances import weibull as weibull
from jaxbandits.problems.instances.karnin_instances import karnin as karnin
from jaxbandits.problems.instances.paper_instances import abm as abm
from jaxbandits.problems.instances.paper_instances import gabillon as gabillon
from jaxbandits.problems.instances.paper_instances import linear as linear
from jaxbandits.problems.instances.paper_instances import one_sparse as one_sparse
from jaxbandits.problems.instances.paper_instances import polynomial as polynomial
from jaxbandits.problems.instances.paper_instances import random_uniform as random_uniform
from jaxbandits.problems.instances.ppr_instances import click_rates as click_rates
from jaxbandits.problems.instances.ppr_instances import ppr as ppr
from jaxbandits.problems.instances.ppr_instances import ppr_unbounded as ppr_unbounded
from jaxbandits.problems.instances.top_k_instances import c_spread as c_spread
from jaxbandits.problems.instances.top_k_instances import random_beta as random_beta
from jaxbandits.problems.instances.top_k_instances import random_truncated_normal as random_truncated_normal
from jaxbandits.problems.instances.top_k_instances import synthetic as synthetic
from jaxbandits.problems.instances.top_k_instances import two_group as two_group
from jaxbandits.problems.instances.top_k_instances import uniform_means as uniform_means
from jaxbandits.problems.pull_costs import Costs as Costs
from jaxbandits.problems.pull_costs import with_costs as with_costs
from jaxbandits.problems.registry import REGISTRY as REGISTRY
from jaxbandits.problems.reservoirs.ratio_reservoirs import RatioReservoir as RatioReservoir
from jaxbandits.problems.reservoirs.ratio_reservoirs import reservoir as reservoir
from jaxbandits.problems.reservoirs.reservoir_laws import Reservoir as Reservoir
from jaxbandits.problems.reservoirs.table_reservoirs import TableReservoir as TableReservoir
from jaxbandits.problems.reservoirs.table_reservoirs import reservoir_from_csv as reservoir_from_csv
from jaxbandits.problems.tables.empirical_arms import Empirical as Empirical
from jaxbandits.problems.tables.empirical_arms import empirical as empirical
from jaxbandits.problems.tables.empirical_arms import empirical_from_csv as empirical_from_csv
from jaxbandits.problems.tables.empirical_arms import empirical_from_data as empirical_from_data
from jaxbandits.problems.tables.finite_arms import Matrix as Matrix
from jaxbandits.problems.tables.joint_pulls import Blocks as Blocks
from jaxbandits.problems.tables.joint_pulls import OneClick as OneClick
from jaxbandits.problems.tables.joint_pulls import blocks as blocks
from jaxbandits.problems.tables.joint_pulls import one_click as one_click
from jaxbandits.problems.tables.score_matrix import matrix as matrix
from jaxbandits.problems.tables.score_matrix import synthetic_scores as synthetic_scores

__all__ = [
    "REGISTRY",
    "Bernoulli",
    "Beta",
    "Blocks",
    "Categorical",
    "CorrelatedGaussian",
    "Costs",
    "Empirical",
    "Exponential",
    "Gaussian",
    "GaussianMixture",
    "HeavyTailed",
    "LogNormal",
    "Matrix",
    "NegativeBinomial",
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
    "categorical",
    "click_rates",
    "correlated_gaussian",
    "empirical",
    "empirical_from_csv",
    "empirical_from_data",
    "estimate_correlation",
    "exponential",
    "gabillon",
    "gaussian",
    "gaussian_mixture",
    "karnin",
    "linear",
    "log_normal",
    "matrix",
    "negative_binomial",
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
    "synthetic_scores",
    "two_group",
    "uniform_means",
    "varying",
    "weibull",
    "with_costs",
    "workers_from_csv",
]
