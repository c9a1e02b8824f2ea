"""Theory of pure exploration: complexities of problems, upper bounds of algorithms, lower bounds for all."""

from jaxbandits.theory.baseline_bounds import (
    gape_error_bound,
    gape_largest_a,
    gape_variance_error_bound,
    gape_variance_largest_a,
    lucb_pulls_bound,
    successive_rejects_error_bound,
    ucb_e_error_bound,
    ucb_e_largest_a,
)
from jaxbandits.theory.bounds import (
    ugape_b_error_bound,
    ugape_b_largest_a,
    ugape_b_variance_error_bound,
    ugape_b_variance_largest_a,
    ugape_c_pulls_bound,
    ugape_c_variance_pulls_bound,
)
from jaxbandits.theory.complexity import gape_h, gape_h_variance, gaps, h1, h2, h_epsilon, h_epsilon_variance
from jaxbandits.theory.divergences import binary_relative_entropy, kl_bernoulli, kl_gaussian
from jaxbandits.theory.heavy_tails import (
    catoni_radius,
    empirical_mean_radius,
    h2_p,
    median_of_means_radius,
    se_ea_pulls_bound,
    se_tea_pulls_bound,
    sr_ea_error_bound,
    sr_tea_error_bound,
    sr_tea_threshold,
    truncated_mean_radius,
)
from jaxbandits.theory.lower_bounds import characteristic_time, pulls_lower_bound

__all__ = [
    "binary_relative_entropy",
    "catoni_radius",
    "characteristic_time",
    "empirical_mean_radius",
    "gape_error_bound",
    "gape_h",
    "gape_h_variance",
    "gape_largest_a",
    "gape_variance_error_bound",
    "gape_variance_largest_a",
    "gaps",
    "h1",
    "h2",
    "h2_p",
    "h_epsilon",
    "h_epsilon_variance",
    "kl_bernoulli",
    "kl_gaussian",
    "lucb_pulls_bound",
    "median_of_means_radius",
    "pulls_lower_bound",
    "se_ea_pulls_bound",
    "se_tea_pulls_bound",
    "sr_ea_error_bound",
    "sr_tea_error_bound",
    "sr_tea_threshold",
    "successive_rejects_error_bound",
    "truncated_mean_radius",
    "ucb_e_error_bound",
    "ucb_e_largest_a",
    "ugape_b_error_bound",
    "ugape_b_largest_a",
    "ugape_b_variance_error_bound",
    "ugape_b_variance_largest_a",
    "ugape_c_pulls_bound",
    "ugape_c_variance_pulls_bound",
]
