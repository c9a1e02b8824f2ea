"""The rule of numerics (head of `jaxbandits/arrays/numerics.py`), held by reading the code."""

import ast
import math
from pathlib import Path

import pytest

import jaxbandits

PACKAGE = Path(jaxbandits.__file__).parent
#: Every module is held to the rule, but for these folders, none of whose numbers a decision of a run hangs on.
ELSEWHERE = {
    "algorithms": "of one run, mapped: `jaxbandits/transform` applies the rule",
    "cli": "on the host, before and after the runs",
    "papers": "what figures are made of, before and after the runs",
    "counts": "of counts so far, before simulated runs and after them",
    "io": "on the host: text and files",
    "report": "on the host, after the runs",
    "storage": "on the host, after the runs: float64 and whole numbers",
    "theory": "numbers of means, without runs; what runs need of it they take before the first pull",
    "tuning": "between runs",
}
EXTREMES = {"maximum", "minimum", "clip", "fmax", "fmin"}
FUNCTIONS = {"log", "log1p", "log2", "log10", "logaddexp", "exp", "exp2", "expm1", "power", "float_power", "pow"}
REDUCTIONS = {
    "sum", "mean", "prod", "std", "var", "median", "cumsum", "cumprod", "argmax", "argmin", "sort", "argsort", "dot",
    "matmul", "einsum", "top_k", "reduce_sum",
}  # fmt: skip
#: What takes keys apart and together, and draws nothing.
KEYS = {"key", "key_data", "key_impl", "wrap_key_data"}

PRODUCT = "product in a sum"
WHOLE, HOST = "of whole numbers", "on the host, before the runs"
#: What is asked after the runs, of which no decision hangs: the score of gradients.
AFTER = {"log_density"}
OF_USERS = "of one run, mapped as an algorithm of a user's own: `jaxbandits/transform` applies the rule"
#: Modules of what such rules are made of.
OF_RULES = {
    "statistics/allocation_special_cases.py", "statistics/allocation_newton.py", "statistics/closest_alternative.py",
    "statistics/exponential_families.py", "statistics/glr_boundaries.py", "statistics/optimal_proportions.py",
    "statistics/glr.py", "statistics/posterior_tilts.py", "statistics/posteriors.py",
    "statistics/glr_unknown_variance.py", "statistics/betting.py",
    "statistics/serfling_radii.py",
}  # fmt: skip
AFTERWARDS = "after the runs"
NOT_A_NUMBER = "NaN stays NaN, as a user's program may have it"
#: (file, function, what) -> why it may stand there; "*" for all functions of a file.
EXCEPTIONS = {
    ("engine/elimination_rule.py", "after_look", "cumsum"): WHOLE,
    ("arrays/arms.py", "_by_mask", PRODUCT): HOST,
    ("arrays/arms.py", "_flat", PRODUCT): WHOLE,
    ("arrays/arms.py", "index", PRODUCT): HOST,
    ("arrays/arms.py", "", "sum"): WHOLE,
    ("engine/on_chip/pallas_rules.py", "_reduce_sum", "sum"): WHOLE,
    ("engine/on_chip/pallas_rules.py", "_row", "sum"): "of which all words but one are zero",
    ("arrays/arms.py", "total_of_counts", PRODUCT): "by a power of two: exact",
    ("arrays/uint64.py", "product", PRODUCT): WHOLE,
    ("arrays/uint64.py", "times", PRODUCT): WHOLE,
    ("ask_tell/live_estimates.py", "*", PRODUCT): "what a session shows; no decision hangs on it",
    ("ask_tell/live_estimates.py", "*", "log"): "what a session shows; no decision hangs on it",
    ("ask_tell/live_estimates.py", "*", "log1p"): "what a session shows; no decision hangs on it",
    ("comparison/equal_reading.py", "read_equally", PRODUCT): HOST,
    ("engine/memory_limits.py", "check_memory", PRODUCT): HOST,
    ("engine/job_queue.py", "deal", PRODUCT): HOST,
    ("engine/finite_populations.py", "stop_of_block", PRODUCT): WHOLE,
    ("engine/rule_batches.py", "told_sums", "sum"): WHOLE,
    ("engine/rule_calls.py", "longer", PRODUCT): HOST,
    ("random/arm_orders.py", "draw", PRODUCT): WHOLE,
    ("transform/branches.py", "made_for_all", "argmax"): WHOLE,
    ("transform/control_flow.py", "_of_live_runs", "argmax"): WHOLE,
    ("engine/reached_arms.py", "decisions", "sum"): WHOLE,
    ("engine/rule_calls.py", "needed", "maximum"): OF_USERS,
    ("engine/jobs.py", "load", "cumsum"): WHOLE,
    ("engine/jobs.py", "load", "sum"): WHOLE,
    ("engine/rows.py", "write", "cumsum"): WHOLE,
    ("engine/rule_calls.py", "_arguments", PRODUCT): HOST,
    ("engine/lanes.py", "run_chunk", "sum"): "pulls of all lanes, for the display of progress",
    ("engine/lanes.py", "one_round", "sum"): "the same, of the first pulls",
    ("engine/declared_properties.py", "*", PRODUCT): HOST,
    ("gradients/differences.py", "*", PRODUCT): "on the host, before and after the runs",
    ("gradients/likelihood_ratio.py", "*", PRODUCT): AFTERWARDS,
    ("gradients/measures.py", "*", "maximum"): AFTERWARDS,
    ("gradients/measures.py", "*", "mean"): AFTERWARDS,
    ("gradients/measures.py", "*", "sort"): AFTERWARDS,
    ("gradients/measures.py", "*", "sum"): AFTERWARDS,
    ("gradients/rare_outcomes.py", "*", PRODUCT): AFTERWARDS,
    ("gradients/reward_scores.py", "of_block", "jax.random.fold_in"): AFTERWARDS,
    ("gradients/reward_scores.py", "of_block", "sum"): AFTERWARDS,
    ("gradients/softened_policies.py", "*", "argmax"): OF_USERS,
    ("gradients/softened_policies.py", "*", "jax.random.gumbel"): OF_USERS,
    ("gradients/softened_policies.py", "*", PRODUCT): OF_USERS,
    ("problems/instances/crowd_workers.py", "workers_from_csv", PRODUCT): HOST,
    ("problems/tables/empirical_laws.py", "mean", "mean"): HOST,
    ("problems/tables/empirical_laws.py", "variance", "var"): HOST,
    ("problems/tables/empirical_laws.py", "_averaged", "sum"): HOST,
    ("problems/tables/empirical_laws.py", "_row", PRODUCT): WHOLE,
    ("problems/tables/empirical_laws.py", "_entry", PRODUCT): WHOLE,
    ("problems/tables/finite_arms.py", "_entry", PRODUCT): WHOLE,
    ("problems/tables/score_matrix.py", "synthetic_scores", PRODUCT): HOST,
    ("problems/instances/paper_instances.py", "*", PRODUCT): HOST,
    ("problems/instances/paper_instances.py", "random_uniform", "jax.random.uniform"): HOST,
    ("problems/instances/karnin_instances.py", "karnin", PRODUCT): HOST,
    ("problems/distributions/log_normal_and_weibull.py", "mean", "exp"): HOST,
    ("problems/distributions/log_normal_and_weibull.py", "variance", "expm1"): HOST,
    ("problems/distributions/log_normal_and_weibull.py", "_moment", PRODUCT): HOST,
    ("problems/distributions/power_tailed.py", "_pieces", PRODUCT): HOST,
    ("problems/distributions/log_normal_and_weibull.py", "_pieces", PRODUCT): HOST,
    ("problems/instances/top_k_instances.py", "*", PRODUCT): HOST,
    ("problems/instances/top_k_instances.py", "_drawn", "jax.random.uniform"): HOST,
    # A quantile is a whole number: a last bit of what it is found by changes one count in some 10^7, and what is drawn
    # alone and in batches is compared in tests of its own (tests/random/test_binomial.py).
    ("random/binomial_draws.py", "*", PRODUCT): "a whole number is found by it",
    ("random/binomial_draws.py", "*", "exp"): "a whole number is found by it",
    ("random/binomial_draws.py", "*", "expm1"): "a whole number is found by it",
    ("random/binomial_draws.py", "*", "log1p"): "a whole number is found by it",
    ("random/gamma_draws.py", "words_of", PRODUCT): WHOLE,
    ("random/arm_orders.py", "_sorted_places", "sort"): WHOLE,
    ("random/item_orders.py", "item_order", "sort"): WHOLE,
    ("random/item_orders.py", "sorted_last", "sort"): "by whole numbers",
    ("random/tie_breaking.py", "reshuffle", PRODUCT): WHOLE,
    ("random/tie_breaking.py", "_arm", PRODUCT): WHOLE,
    ("statistics/robust_means.py", "slot", PRODUCT): WHOLE,
    ("sweeps/dry_run.py", "bytes_of_runs", PRODUCT): HOST,
    ("sweeps/lane_schedule.py", "*", PRODUCT): HOST,
    ("sweeps/time_limit.py", "seconds_of", PRODUCT): HOST,
    ("sweeps/success.py", "judge_means", PRODUCT): AFTERWARDS,
    ("sweeps/metrics.py", "reward_regret", PRODUCT): AFTERWARDS,
    ("transform/functions.py", "*", "clip"): NOT_A_NUMBER,
    ("transform/indexing.py", "*", "clip"): WHOLE,
    ("transform/growing_numbers.py", "number_by_count", PRODUCT): WHOLE,
    ("transform/ranges.py", "*", PRODUCT): HOST,
    ("transform/reductions.py", "add", PRODUCT): WHOLE,
}


def is_power_of_two(node):
    if isinstance(node, ast.Call) and len(node.args) == 1:  # jnp.float32(…), -(…)
        node = node.args[0]
    try:
        value = abs(float(eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})))
    except Exception:
        return False
    return value > 0 and math.frexp(value)[0] == 0.5


def product_in_a_sum(node):
    """Whether a product that may be inexact is added to something, or something is taken from it."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)):
        return False
    for side in (node.left, node.right):
        term = side.operand if isinstance(side, ast.UnaryOp) else side
        product = isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult)
        if product and not (is_power_of_two(term.left) or is_power_of_two(term.right)):
            return True
    return False


def findings(source):
    """(function, what, line) of everything in a module that the rule forbids."""
    found = []

    def look(node, function):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if owner in ("jnp", "lax", "jax.numpy", "jax.lax") and node.attr in EXTREMES | FUNCTIONS | REDUCTIONS:
                found.append((function, node.attr, node.lineno))
            if owner == "jax.random" and node.attr not in KEYS:
                found.append((function, f"jax.random.{node.attr}", node.lineno))
        if product_in_a_sum(node):
            found.append((function, PRODUCT, node.lineno))
        for child in ast.iter_child_nodes(node):
            look(child, function)

    look(ast.parse(source), "")
    return found


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("jnp.maximum(a, b)", "maximum"),
        ("jnp.log(a)", "log"),
        ("jnp.sum(a)", "sum"),
        ("jax.random.uniform(key)", "jax.random.uniform"),
        ("a * b + c", PRODUCT),
        ("c - 3 * b", PRODUCT),
    ],
)
def test_what_the_rule_forbids_is_found(source, what):
    assert [found for _, found, _ in findings(source)] == [what]


@pytest.mark.parametrize("source", ["rounded(a * b) + c", "2 * b + c", "c - a * 0.5", "larger(a, b)", "log(a)"])
def test_what_the_rule_allows_is_not(source):
    assert not findings(source)


def breaches(package):
    """Where a package's modules break the rule; and the exceptions and folders that some module needs."""
    broken, used = [], set()
    for path in sorted(package.rglob("*.py")):
        name, source = path.relative_to(package).as_posix(), path.read_text()
        for function, what, line in () if name in OF_RULES else findings(source):
            allowed = (name.partition("/")[0], (name, function, what), (name, "*", what))
            place = next((p for p in allowed if p in ELSEWHERE or p in EXCEPTIONS), None)
            used.add(place)
            if place is None and function not in AFTER:
                broken.append(f"{name}:{line} {function}: {what}")
    return broken, used


def test_the_rule_holds():
    broken, used = breaches(PACKAGE)
    assert not broken, "\n".join(broken)
    assert not (stale := (set(EXCEPTIONS) | set(ELSEWHERE)) - used), stale


@pytest.mark.parametrize("name", ["problems/new_arms.py", "new_room/module.py", "new_module.py"])
def test_a_new_module_is_held_to_the_rule_without_another_line(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("def sample(words, mean):\n    return -mean * jnp.log(words[0])")
    assert breaches(tmp_path)[0] == [f"{name}:2 sample: log"]
