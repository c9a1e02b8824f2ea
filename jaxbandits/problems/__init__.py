"""Problems: families of rewards, costs, reservoirs, the papers' named instances, and the registry."""

from jaxbandits.problems.registry import REGISTRY
from jaxbandits.registry import face

_FURTHER = {
    "Bernoulli": "families:Bernoulli",
    "Beta": "beta_and_two_point:Beta",
    "Blocks": "joint:Blocks",
    "Costs": "costs:Costs",
    "Empirical": "empirical_arms:Empirical",
    "Exponential": "exponential_arms:Exponential",
    "Gaussian": "families:Gaussian",
    "HeavyTailed": "heavy_tails:HeavyTailed",
    "LogNormal": "log_normal_and_weibull:LogNormal",
    "OneClick": "joint:OneClick",
    "Pareto": "power_tails:Pareto",
    "Poisson": "poisson_arms:Poisson",
    "Problem": "base:Problem",
    "ProblemFamily": "constructors:ProblemFamily",
    "RatioReservoir": "ratio_reservoirs:RatioReservoir",
    "Reservoir": "reservoirs:Reservoir",
    "StudentT": "power_tails:StudentT",
    "SymmetricPareto": "power_tails:SymmetricPareto",
    "TableReservoir": "table_reservoirs:TableReservoir",
    "TwoPoint": "beta_and_two_point:TwoPoint",
    "Weibull": "log_normal_and_weibull:Weibull",
    "estimate_correlation": "correlation:estimate_correlation",
    "register_problem": "base:register_problem",
    "varying": "constructors:varying",
    "with_costs": "costs:with_costs",
    "REGISTRY": "registry:REGISTRY",
}

__getattr__, __dir__, __all__ = face(__name__, _FURTHER, REGISTRY)
