"""Problems: families of rewards, costs, reservoirs, the papers' named instances, and the registry."""

from jaxbandits.problems.registry import REGISTRY
from jaxbandits.registry import face

_FURTHER = {
    "Bernoulli": "families:Bernoulli",
    "Beta": "families:Beta",
    "Blocks": "joint:Blocks",
    "Costs": "costs:Costs",
    "Empirical": "empirical_arms:Empirical",
    "Gaussian": "families:Gaussian",
    "HeavyTailed": "heavy_tails:HeavyTailed",
    "LogNormal": "heavy_tails:LogNormal",
    "OneClick": "joint:OneClick",
    "Pareto": "heavy_tails:Pareto",
    "Problem": "base:Problem",
    "RatioReservoir": "ratio_reservoirs:RatioReservoir",
    "Reservoir": "reservoirs:Reservoir",
    "StudentT": "heavy_tails:StudentT",
    "SymmetricPareto": "heavy_tails:SymmetricPareto",
    "TableReservoir": "table_reservoirs:TableReservoir",
    "TwoPoint": "families:TwoPoint",
    "Weibull": "heavy_tails:Weibull",
    "estimate_correlation": "correlation:estimate_correlation",
    "with_costs": "costs:with_costs",
    "REGISTRY": "registry:REGISTRY",
}

__getattr__, __dir__, __all__ = face(__name__, _FURTHER, REGISTRY)
