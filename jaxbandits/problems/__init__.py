"""Problems: families of rewards, costs, reservoirs, the papers' named instances, and the registry."""

from jaxbandits.lazy_registry import face
from jaxbandits.problems.registry import REGISTRY

_FURTHER = {
    "Bernoulli": "distributions.bernoulli_and_normal:Bernoulli",
    "Beta": "distributions.beta_and_two_point:Beta",
    "Blocks": "tables.joint_pulls:Blocks",
    "Categorical": "distributions.categorical_arms:Categorical",
    "Costs": "pull_costs:Costs",
    "CorrelatedGaussian": "distributions.correlated_normal:CorrelatedGaussian",
    "Empirical": "tables.empirical_laws:Empirical",
    "Exponential": "distributions.exponential_arms:Exponential",
    "Gaussian": "distributions.bernoulli_and_normal:Gaussian",
    "GaussianMixture": "distributions.mixture_arms:GaussianMixture",
    "HeavyTailed": "distributions.unbounded:HeavyTailed",
    "LogNormal": "distributions.log_normal_and_weibull:LogNormal",
    "Matrix": "tables.finite_arms:Matrix",
    "NegativeBinomial": "distributions.negative_binomial_arms:NegativeBinomial",
    "OneClick": "tables.joint_pulls:OneClick",
    "Pareto": "distributions.power_tailed:Pareto",
    "Poisson": "distributions.poisson_arms:Poisson",
    "Problem": "base:Problem",
    "ProblemFamily": "constructors:ProblemFamily",
    "RatioReservoir": "reservoirs.ratio_reservoirs:RatioReservoir",
    "Reservoir": "reservoirs.reservoir_laws:Reservoir",
    "StudentT": "distributions.power_tailed:StudentT",
    "SymmetricPareto": "distributions.power_tailed:SymmetricPareto",
    "TableReservoir": "reservoirs.table_reservoirs:TableReservoir",
    "TwoPoint": "distributions.beta_and_two_point:TwoPoint",
    "UnequalEmpirical": "tables.empirical_laws:UnequalEmpirical",
    "Weibull": "distributions.log_normal_and_weibull:Weibull",
    "estimate_correlation": "correlation:estimate_correlation",
    "register_problem": "base:register_problem",
    "varying": "constructors:varying",
    "synthetic_scores": "tables.score_matrix:synthetic_scores",
    "with_costs": "pull_costs:with_costs",
    "REGISTRY": "registry:REGISTRY",
}

__getattr__, __dir__, __all__ = face(__name__, _FURTHER, REGISTRY)
