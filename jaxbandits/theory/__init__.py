"""Theory of pure exploration: complexities of problems, upper bounds of algorithms, lower bounds for all.

Formulas take Python's numbers, NumPy's arrays or JAX's. Python's numbers and float64 arrays of NumPy are computed in
float64, and results are NumPy's numbers. JAX's arrays, and traced values, are computed in JAX's default floating type
(`_precision` has the reason). All are differentiable in their real arguments.

Means are `(K, …)`, arms first, and numbers `()` or `(…)`: means of shape `(K,)` and 50 values of epsilon give 50
results.
"""

import inspect

from jaxbandits.theory import several_bandits
from jaxbandits.theory._axes_of_runs import arms_then_runs
from jaxbandits.theory._precision import in_given_precision
from jaxbandits.theory.answer_sets import (
    all_good_pulls_lower_bound,
    h_all_good,
    one_above_pulls_lower_bound,
    threshold_pulls_lower_bound,
)
from jaxbandits.theory.baseline_bounds import (
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
from jaxbandits.theory.budget_lower_bounds import (
    best_arm_error_lower_bound,
    best_arm_error_lower_bound_rate,
    best_arm_worst_error_lower_bound,
)
from jaxbandits.theory.budgeted import (
    budgeted_regret_lower_bound_rate,
    lower_bound_exponent,
    rcb_air_regret_rate,
    rcb_i_regret_rate,
    rcb_i_regret_rate_for_arms,
    regret_exponent,
    reservoir_arms,
    reservoir_arms_exponent,
)
from jaxbandits.theory.budgeted_proof import (
    EXPLORATION_WINDOW_START,
    best_reward_bracket,
    pseudo_stopping_time,
    rcb_accuracy,
    rcb_enough_pulls,
)
from jaxbandits.theory.complexity import gaps, h1, h2, h_epsilon, h_epsilon_variance
from jaxbandits.theory.divergences import (
    binary_relative_entropy,
    kl_bernoulli,
    kl_exponential,
    kl_gaussian,
    kl_poisson,
)
from jaxbandits.theory.elimination_bounds import (
    exp_gap_elimination_pulls_rate,
    lil_ucb_pulls_rate,
    median_elimination_pulls,
    sar_error_bound,
    sequential_halving_error_bound,
)
from jaxbandits.theory.glr_thresholds import glr_threshold
from jaxbandits.theory.heavy_tails import (
    catoni_radius,
    empirical_mean_radius,
    median_of_means_radius,
    truncated_mean_radius,
)
from jaxbandits.theory.heavy_tails_bounds import (
    h2_p,
    se_ea_pulls_bound,
    se_tea_pulls_bound,
    sr_ea_error_bound,
    sr_tea_error_bound,
    sr_tea_threshold,
)
from jaxbandits.theory.indifference_zone import rinott_constant
from jaxbandits.theory.infinite_arms import expected_shortfall, siri_simple_regret_rate, ucb_air_regret_rate
from jaxbandits.theory.kl_lucb_bounds import chernoff_information, kl_lucb_pulls_bound
from jaxbandits.theory.lower_bounds import characteristic_time, pulls_lower_bound
from jaxbandits.theory.opt_mai_bounds import (
    opt_mai_accept_reject_loss,
    opt_mai_pulls_rate,
    opt_mai_quartile_loss,
    opt_mai_regret_rate,
)
from jaxbandits.theory.pay_per_reward.pay_per_reward_baselines import (
    ppr_bernstein_cost,
    ppr_hoeffding_cost,
    ppr_median_elimination_cost_bound,
    ppr_median_of_means_cost,
)
from jaxbandits.theory.pay_per_reward.pay_per_reward_bounds import (
    PPRRound,
    ppr_cost_bound,
    ppr_cost_rate,
    ppr_crossing_arms,
    ppr_round,
)
from jaxbandits.theory.pay_per_reward.pay_per_reward_conditions import PPRCondition, PPRConditions, ppr_conditions
from jaxbandits.theory.pay_per_reward.pay_per_reward_constants import PPR_PRACTICAL, PPRConstants, PPRProof
from jaxbandits.theory.pay_per_reward.pay_per_reward_lemmas import ppr_large_estimates_bound, ppr_median_of_means_bound
from jaxbandits.theory.pay_per_reward.pay_per_reward_optimum import PPROptimum, ppr_constants
from jaxbandits.theory.race_bounds import bernstein_race_pulls_bound, hoeffding_race_pulls_bound
from jaxbandits.theory.several_bandits import (
    gape_error_bound,
    gape_h,
    gape_h_variance,
    gape_largest_a,
    gape_variance_error_bound,
    gape_variance_largest_a,
)
from jaxbandits.theory.spread_arms import c_spread_h_0_rate, c_spread_h_t_rate, spread_constant
from jaxbandits.theory.top_k import (
    exchangeable_arms,
    h_0_epsilon,
    h_t_epsilon,
    psi_t,
    psi_t_epsilon,
)
from jaxbandits.theory.top_k_bounds import (
    adaptive_top_k_pulls_bound,
    adaptive_top_k_pulls_rate,
    clucb_pac_pulls_rate,
    improved_top_k_pulls_rate,
    top_k_lower_bound_rate,
)

__all__ = [
    "EXPLORATION_WINDOW_START", "PPR_PRACTICAL", "PPRCondition", "PPRConditions", "PPRConstants", "PPROptimum",
    "PPRProof", "PPRRound", "adaptive_top_k_pulls_bound", "adaptive_top_k_pulls_rate", "all_good_pulls_lower_bound",
    "bernstein_race_pulls_bound", "best_arm_error_lower_bound", "best_arm_error_lower_bound_rate",
    "best_arm_worst_error_lower_bound", "best_reward_bracket", "binary_relative_entropy",
    "budgeted_regret_lower_bound_rate", "c_spread_h_0_rate", "c_spread_h_t_rate", "catoni_radius",
    "characteristic_time", "chernoff_information", "clucb_pac_pulls_rate", "empirical_mean_radius", "exchangeable_arms",
    "exp_gap_elimination_pulls_rate", "expected_shortfall", "gape_error_bound", "gape_h", "gape_h_variance",
    "gape_largest_a", "gape_variance_error_bound", "gape_variance_largest_a", "gaps", "glr_threshold", "h1", "h2",
    "h2_p", "h_0_epsilon", "h_all_good", "h_epsilon", "h_epsilon_variance", "h_t_epsilon", "hoeffding_race_pulls_bound",
    "improved_top_k_pulls_rate", "kl_bernoulli", "kl_exponential", "kl_gaussian", "kl_lucb_pulls_bound", "kl_poisson",
    "lil_ucb_pulls_rate", "lower_bound_exponent", "lucb_pulls_bound", "median_elimination_pulls",
    "median_of_means_radius", "one_above_pulls_lower_bound", "opt_mai_accept_reject_loss", "opt_mai_pulls_rate",
    "opt_mai_quartile_loss", "opt_mai_regret_rate", "ppr_bernstein_cost", "ppr_conditions", "ppr_constants",
    "ppr_cost_bound", "ppr_cost_rate", "ppr_crossing_arms", "ppr_hoeffding_cost", "ppr_large_estimates_bound",
    "ppr_median_elimination_cost_bound", "ppr_median_of_means_bound", "ppr_median_of_means_cost", "ppr_round",
    "pseudo_stopping_time", "psi_t", "psi_t_epsilon", "pulls_lower_bound", "rcb_accuracy", "rcb_air_regret_rate",
    "rcb_enough_pulls", "rcb_i_regret_rate", "rcb_i_regret_rate_for_arms", "regret_exponent", "reservoir_arms",
    "reservoir_arms_exponent", "rinott_constant", "sar_error_bound", "se_ea_pulls_bound", "se_tea_pulls_bound",
    "sequential_halving_error_bound", "siri_simple_regret_rate", "spread_constant", "sr_ea_error_bound",
    "sr_tea_error_bound", "sr_tea_threshold", "successive_rejects_error_bound", "threshold_pulls_lower_bound",
    "top_k_lower_bound_rate", "truncated_mean_radius", "ucb_air_regret_rate", "ucb_e_error_bound", "ucb_e_largest_a",
    "ugape_b_error_bound", "ugape_b_largest_a", "ugape_b_variance_error_bound", "ugape_b_variance_largest_a",
    "ugape_c_pulls_bound", "ugape_c_variance_pulls_bound",
]  # fmt: skip

for _name in __all__:
    if inspect.isfunction(globals()[_name]):
        # Means of several bandits are `(bandits, arms, …)`; their formulas look at the shapes themselves.
        if _name not in several_bandits.__all__:
            globals()[_name] = arms_then_runs(globals()[_name])
        globals()[_name] = in_given_precision(globals()[_name])
