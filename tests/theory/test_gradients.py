"""Every formula of the theory has right derivatives in all its real arguments, alone, under `jit` and under `vmap`.

What is no formula of real numbers (a report, an optimiser, whole numbers) is named, and a formula that is in neither
table fails the last test.
"""

import inspect
import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

MEANS = np.asarray([0.82, 0.7, 0.55, 0.41, 0.2])
VARIANCES = np.asarray([0.15, 0.2, 0.24, 0.1, 0.05])
SEVERAL = np.asarray([[0.8, 0.5, 0.3], [0.6, 0.45, 0.2]])
SPREADS = np.asarray([[0.1, 0.2, 0.1], [0.2, 0.1, 0.05]])
MANY = np.linspace(0.95, 0.05, 12) ** 1.1
CONSTANTS = theory.PPR_PRACTICAL
PPR = {"epsilon": 0.2, "delta": 0.07, "correlation": 2.3, "constants": CONSTANTS}
TOP = {"means": MANY, "epsilon": 0.07, "delta": 0.06, "k": 4}
OPT = {"pulls": 3e5, "delta": 0.05, "arms": 100.0, "k": 10.0}
FIXED = {"m", "k", "family", "rival", "mask", "name", "multiplicative"}  # whole numbers and words

CASES = {
    "adaptive_top_k_pulls_bound": TOP,
    "adaptive_top_k_pulls_rate": TOP,
    "all_good_pulls_lower_bound": {"means": MEANS, "delta": 0.1, "epsilon": 0.17},
    "all_good_pulls_lower_bound, a share": {
        "means": MEANS, "delta": 0.1, "epsilon": 0.2, "multiplicative": True, "family": "gaussian", "sd": 0.6,
    },
    "bernstein_race_pulls_bound": {"means": MEANS, "epsilon": 0.1, "delta": 0.1, "m": 2, "b": 1.1, "growth": 1.4},
    "best_arm_error_lower_bound": {"means": MEANS, "n": 100.0},
    "best_arm_error_lower_bound_rate": {"means": MEANS, "n": 30.0},
    "best_arm_worst_error_lower_bound": {"n": 2.0, "complexity": 300.0, "arms": 10},
    "best_reward_bracket": {"budget": 30.0, "rho": 0.8},
    "binary_relative_entropy": {"delta": 0.1},
    "budgeted_regret_lower_bound_rate": {"budget": 300.0, "beta": 0.7},
    "c_spread_h_0_rate": {"n": 50.0, "epsilon": 0.05},
    "c_spread_h_t_rate": {"n": 50.0, "epsilon": 0.05},
    "catoni_radius": {"s": 200.0, "delta": 0.1, "p": 1.6, "moment_c": 2.0},
    "characteristic_time": {"means": MEANS, "m": 2, "epsilon": 0.05},
    "characteristic_time, m = 1": {"means": MEANS, "epsilon": 0.05},
    "characteristic_time, sd": {"means": MEANS, "epsilon": 0.05, "family": "gaussian", "sd": np.sqrt(VARIANCES)},
    "characteristic_time, sd, m = 2": {"means": MEANS, "m": 2, "family": "gaussian", "sd": np.sqrt(VARIANCES)},
    "characteristic_time, share": {"means": MEANS, "share": 0.4},
    "chernoff_information": {"p": 0.3, "q": 0.6},
    "clucb_pac_pulls_rate": TOP,
    "empirical_mean_radius": {"s": 50.0, "delta": 0.1, "p": 1.6, "moment_c": 2.0},
    "exp_gap_elimination_pulls_rate": {"means": MEANS, "delta": 0.1},
    "expected_shortfall": {"arms": 30.0, "beta": 0.8, "rho": 1.5},
    "gape_error_bound": {"means": SEVERAL, "n": 2e6, "b": 1.1, "a": 1200.0},
    "gape_h": {"means": SEVERAL, "b": 1.1},
    "gape_h_variance": {"means": SEVERAL, "variances": SPREADS, "b": 1.1},
    "gape_largest_a": {"means": SEVERAL, "n": 800.0, "b": 1.1},
    "gape_variance_error_bound": {"means": SEVERAL, "variances": SPREADS, "n": 5e8, "b": 1.1, "a": 2e4},
    "gape_variance_largest_a": {"means": SEVERAL, "variances": SPREADS, "n": 800.0, "b": 1.1},
    "gaps": {"means": MEANS, "m": 2},
    "glr_threshold": {"t": 1e4, "arms": 10.0, "delta": 0.05},
    "h1": {"means": MEANS, "m": 2},
    "h2": {"means": MEANS, "m": 2},
    "h2_p": {"means": MEANS, "p": 1.6},
    "h_0_epsilon": {"means": MANY, "epsilon": 0.07, "k": 4},
    "h_all_good": {"means": MEANS, "epsilon": 0.17},
    "h_epsilon": {"means": MEANS, "epsilon": 0.1, "m": 2, "b": 1.2},
    "h_epsilon_variance": {"means": MEANS, "variances": VARIANCES, "epsilon": 0.1, "m": 2, "b": 1.2},
    "h_t_epsilon": {"means": MANY, "epsilon": 0.07, "k": 4},
    "hoeffding_race_pulls_bound": {"means": MEANS, "epsilon": 0.1, "delta": 0.1, "m": 2, "b": 1.1, "growth": 1.4},
    "improved_top_k_pulls_rate": TOP,
    "kl_bernoulli": {"p": 0.3, "q": 0.6},
    "kl_exponential": {"p": 0.3, "q": 0.6},
    "kl_gaussian": {"p": 0.3, "q": 0.6, "sd": 0.7},
    "kl_lucb_pulls_bound": {"means": MEANS, "epsilon": 0.05, "delta": 0.1, "m": 2, "k1": 400.0, "alpha": 1.2},
    "kl_poisson": {"p": 0.3, "q": 0.6},
    "lil_ucb_pulls_rate": {"means": MEANS, "delta": 0.1},
    "lower_bound_exponent": {"beta": 0.7},
    "lucb_pulls_bound": {"means": MEANS, "epsilon": 0.1, "delta": 0.1, "m": 2},
    "median_of_means_radius": {"s": 200.0, "delta": 0.1, "p": 1.6, "moment_c": 2.0},
    "one_above_pulls_lower_bound": {"means": MEANS, "delta": 0.1, "threshold": 0.4},
    "one_above_pulls_lower_bound, none": {"means": MEANS, "delta": 0.1, "threshold": 0.9},
    "opt_mai_accept_reject_loss": OPT,
    "opt_mai_pulls_rate": {"n": 100.0, "epsilon": 0.05, "delta": 0.05, "k": 10.0},
    "opt_mai_quartile_loss": OPT,
    "opt_mai_regret_rate": {"n": 100.0, "budget": 3e4, "delta": 0.05, "k": 10.0},
    "ppr_bernstein_cost": {"epsilon": 0.2, "delta": 0.07, "arms": 50.0, "weight": 3.0, "mean_weight": 0.4},
    "ppr_cost_bound": {**PPR, "phi_l": 0.3},
    "ppr_cost_rate": {"epsilon": 0.2, "delta": 0.07, "correlation": 2.3, "weight": 3.0},
    "ppr_crossing_arms": {**PPR, "phi_l": 0.3, "rival": "bernstein", "mean_weight": 0.4},
    "ppr_hoeffding_cost": {"epsilon": 0.2, "delta": 0.07, "arms": 50.0, "weight": 3.0},
    "ppr_large_estimates_bound": {"batches": 9.0, "size": 30.0, "gamma": 0.2, "mean": 2.0, "variance": 1.5},
    "ppr_median_elimination_cost_bound": {"epsilon": 0.2, "delta": 0.07, "arms": 50.5, "weight": 3.3},
    "ppr_median_of_means_bound": {"batches": 9.0, "size": 30.0, "variance": 1.5},
    "ppr_median_of_means_cost": {
        "epsilon": 0.2, "delta": 0.07, "arms": 50.0, "weight": 3.0, "factor": 4.5, "c3": 96.0
    },
    "ppr_round": {"t": 2.0, **PPR},
    "psi_t": {"means": MANY, "epsilon": 0.07, "k": 4},
    "psi_t_epsilon": {"means": MANY, "epsilon": 0.07, "k": 4},
    "pulls_lower_bound": {"means": MEANS, "delta": 0.1, "m": 2, "epsilon": 0.05, "family": "gaussian", "sd": 0.6},
    "rcb_accuracy": {"lam": 0.3},
    "rcb_air_regret_rate": {"budget": 300.0, "beta": 0.7},
    "rcb_i_regret_rate": {"budget": 300.0, "beta": 0.7},
    "rcb_i_regret_rate_for_arms": {"budget": 300.0, "beta": 0.7, "arms": 40.0},
    "regret_exponent": {"beta": 1.7},
    "reservoir_arms_exponent": {"beta": 1.7},
    "sar_error_bound": {"means": MEANS, "n": 9000.0, "m": 2},
    "se_ea_pulls_bound": {"means": MEANS, "delta": 0.1, "p": 1.8, "moment_c": 0.5},
    "se_tea_pulls_bound": {"means": MEANS, "delta": 0.1, "p": 1.8, "moment_b": 0.5},
    "sequential_halving_error_bound": {"means": MEANS, "n": 9000.0},
    "siri_simple_regret_rate": {"budget": 300.0, "beta": 2.7},
    "spread_constant": {"means": MANY},
    "sr_ea_error_bound": {"means": MEANS, "budget": 1e7, "p": 1.9, "moment_c": 0.02},
    "sr_tea_error_bound": {"means": MEANS, "budget": 2e6, "p": 1.9, "moment_b": 0.5, "gap": 0.1},
    "sr_tea_threshold": {"p": 1.8, "moment_b": 0.5, "gap": 0.1},
    "successive_rejects_error_bound": {"means": MEANS, "n": 3000.0},
    "threshold_pulls_lower_bound": {"means": MEANS, "delta": 0.1, "threshold": 0.6, "epsilon": 0.05},
    "top_k_lower_bound_rate": {"n": 50.0, "epsilon": 0.05},
    "truncated_mean_radius": {"s": 50.0, "delta": 0.1, "p": 1.6, "moment_b": 2.0},
    "ucb_air_regret_rate": {"budget": 300.0, "beta": 0.7, "best": 0.9},
    "ucb_e_error_bound": {"means": MEANS, "n": 2e5, "a": 600.0},
    "ucb_e_largest_a": {"means": MEANS, "n": 800.0},
    "ugape_b_error_bound": {"means": MEANS, "n": 2e4, "epsilon": 0.1, "m": 2, "b": 1.1, "a": 8.0},
    "ugape_b_largest_a": {"means": MEANS, "n": 800.0, "epsilon": 0.1, "m": 2, "b": 1.1},
    "ugape_b_variance_error_bound": {
        "means": MEANS, "variances": VARIANCES, "n": 5e4, "epsilon": 0.1, "m": 2, "b": 1.1, "a": 15.0
    },
    "ugape_b_variance_largest_a": {
        "means": MEANS, "variances": VARIANCES, "n": 800.0, "epsilon": 0.1, "m": 2, "b": 1.1
    },
    "ugape_c_pulls_bound": {"means": MEANS, "epsilon": 0.1, "delta": 0.1, "m": 2, "b": 1.1, "c": 0.6},
    "ugape_c_variance_pulls_bound": {
        "means": MEANS, "variances": VARIANCES, "epsilon": 0.1, "delta": 0.1, "m": 2, "b": 1.1
    },
}  # fmt: skip
#: Of the variants of a formula that takes long to compile, and of formulas written alike, one is always tested.
LONG = {
    "adaptive_top_k_pulls_bound",
    "all_good_pulls_lower_bound, a share",
    "characteristic_time",
    "characteristic_time, m = 1",
    "characteristic_time, sd",
    "characteristic_time, sd, m = 2",
    "gape_error_bound",
    "hoeffding_race_pulls_bound",
    "kl_lucb_pulls_bound",
    "one_above_pulls_lower_bound, none",
    "pulls_lower_bound",
}
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in CASES]
#: One of each way to write a formula; what XLA makes of the others is seen by the slow tests.
TYPICAL = {"h_epsilon", "kl_bernoulli", "median_of_means_radius", "ppr_cost_bound", "psi_t", "ugape_c_pulls_bound"}
#: Whole numbers, whose derivative is 0 wherever they have one; a report; an optimiser on the host.
NO_DERIVATIVE = {
    "exchangeable_arms", "median_elimination_pulls", "ppr_conditions", "ppr_constants", "pseudo_stopping_time",
    "rcb_enough_pulls", "reservoir_arms", "rinott_constant",
}  # fmt: skip


def formula_of(name):
    """What a case is of: its name's first word."""
    return getattr(theory, name.partition(",")[0])


def split(name):
    """The real arguments of a case, as float64 arrays, and the others."""
    given = CASES[name]
    real = {
        key: jax.tree.map(lambda x: np.asarray(x, np.float64), value)
        for key, value in given.items()
        if key not in FIXED
    }
    return real, {key: value for key, value in given.items() if key in FIXED}


def scalar(name):
    """A sum of the results with weights of their own."""
    formula, fixed = formula_of(name), split(name)[1]

    def total(real):
        leaves = jax.tree.leaves(formula(**real, **fixed))
        return sum(
            jnp.sum(jnp.asarray(leaf) * np.random.default_rng([place, 3]).uniform(0.5, 1.5, np.shape(leaf)))
            for place, leaf in enumerate(leaves)
        )

    return total


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_those_of_differences(name, x64):
    real, _ = split(name)
    total = scalar(name)
    both = jax.jit(jax.value_and_grad(total))
    _, found = both(real)
    leaves, tree = jax.tree.flatten(real)
    directions = np.random.default_rng(zlib.crc32(name.encode()))
    for place, (leaf, gradient) in enumerate(zip(leaves, jax.tree.leaves(found), strict=True)):
        assert gradient.dtype == jnp.float64
        assert np.isfinite(gradient).all()
        direction = directions.uniform(0.5, 1, leaf.shape)
        width = 1e-6 * np.maximum(np.abs(leaf).max(), 0.01)

        def moved(by, place=place, leaf=leaf, direction=direction):
            new = leaves.copy()
            new[place] = leaf + by * direction
            return float(both(jax.tree.unflatten(tree, new))[0])

        by_differences = (moved(width) - moved(-width)) / (2 * width)
        rounding = 1e-15 * abs(moved(0)) / width
        assert float(np.sum(gradient * direction)) == pytest.approx(by_differences, rel=1e-5, abs=1e-9 + 10 * rounding)
    assert any(np.any(np.asarray(gradient) != 0) for gradient in jax.tree.leaves(found))


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in TYPICAL)) for n in CASES])
def test_vmap_and_jit_give_the_values_of_single_calls(name, x64):
    real, _ = split(name)
    total = scalar(name)
    several = jax.tree.map(lambda x: np.stack([x, x * 1.01, x * 0.99]), real)
    both = jax.value_and_grad(total)
    alone = jax.jit(both)
    each = [alone(jax.tree.map(lambda x, i=i: x[i], several)) for i in range(3)]
    values, gradients = jax.jit(jax.vmap(both))(several)
    np.testing.assert_allclose(values, [value for value, _ in each], rtol=1e-9)
    np.testing.assert_allclose(values[0], float(total(real)), rtol=1e-9)
    for i, (_, gradient) in enumerate(each):
        jax.tree.map(lambda a, b, i=i: np.testing.assert_allclose(a[i], b, rtol=1e-6, atol=1e-12), gradients, gradient)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_answered_in_double_precision(name):
    """As under `jax.enable_x64`, by NumPy's numbers; JAX's arrays in float32, as ever."""
    given, formula = CASES[name], formula_of(name)
    found = formula(**given)
    with jax.enable_x64(True):
        expected = formula(**given)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert isinstance(one, np.ndarray | np.generic | float | int)
        np.testing.assert_array_equal(one, other)
    real, fixed = split(name)
    single = jax.eval_shape(lambda real: formula(**real, **fixed), jax.tree.map(jnp.asarray, real))
    for leaf in jax.tree.leaves(single):
        assert leaf.dtype in (jnp.float32, jnp.int32)


TIES = {
    (5,): np.asarray([0.7, 0.7, 0.7, 0.41, 0.2]),
    (12,): np.full(12, 0.5),
    (2, 3): np.asarray([[0.8, 0.8, 0.3], [0.6, 0.6, 0.6]]),
}
#: Values at the edges of what an argument may be; a case is tried with each that its formula does not refuse.
EDGES = {
    "epsilon": (0.0, 1e-6, 1 - 1e-6, 1.0),
    "variances": (0.0,),
    "n": (1.0, 2.0, 5.0, 6.0, 12.0, 1e30, np.inf),
    "budget": (1.0, 5.0, 6.0, 1e30, np.inf),
    "delta": (1e-30, 0.5, 1 - 1e-6),
    "p": (0.0, 0.6, 1.0, 1.0001, 2.0),
    "q": (0.0, 0.3, 1.0),
    "beta": (1e-3, 1.0, 2.0, 1e3),
    "arms": (1.0, 2.0),
    "phi_l": (1e-3, 0.9),
    "lam": (1e-6, 1 - 1e-6),
    "s": (1.0, 2.0, 1e30),
    "variance": (0.0,),
    "pulls": (1.0,),
    "correlation": (1.0,),
    "best": (0.0, 1.0),
    "t": (1.0, 300.0, 1e4, 1e12),
    "a": (None, 0.0, 1e9),
}


def edges(name):
    """Changes to the arguments of a case: an edge, tied means, both."""
    given = CASES[name]
    alone = [{key: value} for key in given for value in EDGES.get(key, ())]
    if "means" in given:
        tied = [{"means": means} for means in (TIES[given["means"].shape], np.full(given["means"].shape, 0.5))]
        alone += tied + [ties | change for ties in tied for change in alone]
    return alone


@pytest.mark.parametrize("name", NAMES)
def test_no_derivative_is_nan_at_the_edges(name):
    """Infinite where it is so in truth, 0 where a value is infinite or a bound says nothing; in float32."""
    formula, tried, slopes = formula_of(name), 0, {}
    for change in edges(name):
        given = {key: np.full_like(CASES[name][key], x) if key == "variances" else x for key, x in change.items()}
        given = {key: value for key, value in (CASES[name] | given).items() if value is not None}
        fixed = {key: value for key, value in given.items() if key in FIXED}
        real = {key: jax.tree.map(jnp.float32, value) for key, value in given.items() if key not in FIXED}
        try:
            formula(**given)
        except jb.UsageError:
            continue

        def total(real, fixed=fixed):
            return sum(map(jnp.sum, jax.tree.leaves(formula(**real, **fixed))))

        # Compiled once for each choice of what is fixed, not for each edge.
        slope = slopes.setdefault(repr(fixed), jax.jit(jax.grad(total)))
        assert not any(np.isnan(x).any() for x in jax.tree.leaves(slope(real))), change
        tried += 1
    assert tried or not edges(name)


def test_every_formula_is_here():
    formulas = {name for name in theory.__all__ if inspect.isfunction(getattr(theory, name))}
    formulas |= {name for name in theory.__all__ if isinstance(getattr(theory, name), jax.custom_jvp)}
    cases = {name.partition(",")[0] for name in CASES}
    assert formulas == cases | NO_DERIVATIVE
    assert not cases & NO_DERIVATIVE
