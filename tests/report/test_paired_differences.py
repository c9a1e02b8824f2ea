"""Paired differences and ratios: small cases by hand, a slow reference, coverage, and what is refused."""

import doctest
import json

import numpy as np
import pytest
import xarray as xr
from scipy import optimize, stats

import jaxbandits as jb
from jaxbandits.report import best_candidates, paired_differences, paired_intervals, seed_numbers, study_tables

PUBLIC = [paired_differences, best_candidates, seed_numbers, study_tables]
INDEPENDENT = json.dumps({"run": {"independent": True}})


def of(pulls, correct=None, status=None, **attrs):
    """Runs of labels "a", "b", …, a row each."""
    pulls = np.asarray(pulls)
    names = ("algorithm", "seed")
    variables = {
        "pulls": (names, pulls),
        "status": (names, np.zeros(pulls.shape, np.int8) if status is None else status),
    }
    if correct is not None:
        variables["correct"] = (names, np.asarray(correct, bool))
    return xr.Dataset(variables, {"algorithm": list("abcdef"[: len(pulls)]), "seed": np.arange(pulls.shape[1])}, attrs)


def alone(pulls, seeds=None, **attrs):
    """Runs of one label."""
    seeds = np.arange(len(pulls)) if seeds is None else seeds
    variables = {"pulls": ("seed", np.asarray(pulls)), "status": ("seed", np.zeros(len(pulls), np.int8))}
    return xr.Dataset(variables, {"seed": seeds}, attrs)


@pytest.mark.parametrize(
    "module",
    [pytest.param(m, marks=[pytest.mark.slow] * (m in (paired_differences, study_tables))) for m in PUBLIC],
    ids=[module.__name__.rpartition(".")[2] for module in PUBLIC],
)
def test_examples_of_docstrings(module):
    done = doctest.testmod(module)
    assert done.attempted >= 4
    assert not done.failed


def test_a_difference_by_hand():
    found = jb.difference(of([[11, 14, 15], [10, 10, 10]]), "pulls", to="b")
    assert found.sizes == {"algorithm": 1}
    assert found["algorithm"].item() == "a"
    # Differences 1, 4, 5: mean 10/3, variance 13/3, t with two degrees of freedom 4.302653.
    half = 4.302652729911275 * np.sqrt(13 / 3 / 3)
    np.testing.assert_allclose(found["difference"], [10 / 3])
    np.testing.assert_allclose(found["low"], [10 / 3 - half])
    np.testing.assert_allclose(found["high"], [10 / 3 + half])
    assert found["runs"].item() == 3
    assert found["left_out"].item() == 0
    assert "left_out" not in found.attrs
    assert "truncated" not in found.attrs


def test_the_other_way_round_changes_the_sign_and_inverts_the_ratio():
    ds = of([[11, 14, 15, 9], [10, 10, 12, 8]], [[1, 0, 1, 1], [1, 1, 0, 1]])
    for value in ("pulls", "failure"):
        one, other = (jb.difference(ds, value, to=to) for to in "ab")
        np.testing.assert_allclose(one["difference"].item(), -other["difference"].item())
        np.testing.assert_allclose(one["low"].item(), -other["high"].item())
        one, other = (jb.ratio(ds, value, to=to) for to in "ab")
        np.testing.assert_allclose(one["ratio"].item(), 1 / other["ratio"].item())
        np.testing.assert_allclose(one["low"].item(), 1 / other["high"].item())


def test_the_first_label_is_subtracted_unless_another_is_named():
    ds = of([[11, 14, 15], [10, 10, 10]])
    xr.testing.assert_identical(jb.difference(ds), jb.difference(ds, "pulls", "algorithm", "a", 0.95))


def test_the_label_that_is_named_is_taken_and_not_one_near_it():
    """A number may be off by rounding, and a whole number next to it is another one."""
    ds = of([[11, 14, 15], [10, 10, 10], [9, 9, 9]]).assign_coords(algorithm=[1_000_000, 1_000_001, 1_000_002])
    for to in (1_000_001, np.int64(1_000_001), 1_000_001.2, np.float32(1_000_001)):
        assert jb.difference(ds, to=to)["algorithm"].values.tolist() == [1_000_000, 1_000_002]
    named = of([[11, 14, 15], [10, 10, 10]])
    assert jb.difference(named, to=named["algorithm"].values[1])["algorithm"].item() == "a"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("compare", [jb.difference, jb.ratio])
def test_both_infinities_are_compared_without_a_warning(compare):
    """NumPy said "invalid value encountered in reduce"."""
    found = compare(of([[np.inf, -np.inf, 3, 5], [1, -np.inf, np.inf, 2], [1, 2, 4, 5]]), to="c")
    assert np.isnan(found[compare.__name__][:2]).all()


def test_infinity_minus_infinity_is_not_known():
    """The other pairs do not say what the mean is; a pair without a value is left out."""
    ds = of([[np.inf, 1, 3, 5], [np.inf, 2, 4, 5]])
    found = jb.difference(ds)
    assert found["runs"].item() == 4
    assert np.isnan([found[name].item() for name in ("difference", "low", "high")]).all()
    best = jb.find_best(ds)
    assert best["among_best"].all()
    assert best["difference"].isnull().all()
    assert jb.difference(of([[np.inf, 1, 3], [2, 2, 2]]), to="b")["difference"].item() == np.inf
    assert jb.difference(of([[np.nan, 1, 3], [np.nan, 2, 2]]))["difference"].item() == 0


def test_failures_by_hand():
    # 10 pairs: 3 with only a wrong, 1 with only b wrong.
    a, b = np.ones(10, bool), np.ones(10, bool)
    a[:3], b[3] = False, False
    found = jb.difference(of(np.ones((2, 10)), [a, b]), "failure", to="b")
    assert found["difference"].item() == pytest.approx(0.2)
    right = jb.difference(of(np.ones((2, 10)), [a, b]), "correct", to="b")
    assert right["difference"].item() == pytest.approx(-0.2)
    assert right["high"].item() == pytest.approx(-found["low"].item())
    for end in (found["low"].item(), found["high"].item()):
        assert score(3, 1, 10, end) == pytest.approx(stats.norm.ppf(0.975) ** 2, rel=1e-6)


def score(b, c, n, d):
    """The square of Tango's statistic, with the likeliest probabilities of a difference d found by search."""

    def loss(q):
        return -(b * np.log(q + d) + c * np.log(q) + (n - b - c) * np.log(1 - 2 * q - d))

    q = optimize.minimize_scalar(loss, bounds=(max(0, -d), (1 - d) / 2), method="bounded", options={"xatol": 1e-12}).x
    return (b - c - n * d) ** 2 / (n * (2 * q + d - d**2))


def test_published_examples_of_paired_proportions():
    # Bentur et al. (2009) and Cavo et al. (2012), in Fagerland, Lydersen, Laake (2014): n11, n12, n21, n22.
    cases = [((1, 1, 7, 12), 0.25, (-0.517, -0.026)), ((59, 6, 16, 80), 65 / 75, (-0.124, -0.005))]
    for (both, first, second, neither), ratio, interval in cases:
        x = np.repeat([1.0, 1.0, 0.0, 0.0], [both, first, second, neither])
        y = np.repeat([1.0, 0.0, 1.0, 0.0], [both, first, second, neither])
        ends = paired_intervals.proportion_difference(x, y, 0.025)[1:]
        np.testing.assert_allclose(ends, interval, atol=5e-4)
        estimate, low, high = paired_intervals.proportion_ratio(x, y, 0.025)
        assert estimate == pytest.approx(ratio)
        assert low < ratio < high


def test_the_score_interval_is_without_0_where_mcnemars_test_rejects():
    b, c = (counts.ravel() for counts in np.meshgrid(np.arange(12), np.arange(12)))
    low, high = paired_intervals.score_interval(b, c, 40.0, 0.025)
    rejects = (b - c) ** 2 > stats.norm.ppf(0.975) ** 2 * (b + c)
    np.testing.assert_array_equal((low > 0) | (high < 0), rejects)
    assert (low <= (b - c) / 40).all()
    assert ((b - c) / 40 <= high).all()
    low, high = paired_intervals.score_interval([40, 0, 0], [0, 40, 0], [40.0, 40.0, np.nan], 0.025)
    assert (high[0], low[1]) == (1, -1)
    assert np.isnan(low[2])


def test_many_cells_agree_with_a_slow_reference():
    rng = np.random.default_rng(0)
    shape = (3, 4, 30)
    ds = xr.Dataset(
        {"pulls": (("epsilon", "algorithm", "seed"), rng.gamma(5, 100, shape) + rng.gamma(2, 300, (1, 1, 30)))},
        {"epsilon": [0.1, 0.2, 0.3], "algorithm": list("abcd"), "seed": np.arange(30)},
    )
    ds["pulls"][0, 1, 3] = np.nan
    found, quotient = jb.difference(ds, to="c", level=0.9), jb.ratio(ds, to="c", level=0.9)
    assert found["difference"].dims == ("epsilon", "algorithm")
    turned = jb.difference(ds.transpose(), to="c", level=0.9)
    assert turned["difference"].dims == ("algorithm", "epsilon")
    np.testing.assert_array_equal(turned["low"], found["low"].transpose())
    for epsilon in ds["epsilon"].values:
        for label in "abd":
            x, y = (ds["pulls"].sel(epsilon=epsilon, algorithm=name).values for name in (label, "c"))
            there = ~np.isnan(x)
            test = stats.ttest_rel(x[there], y[there])
            low, high = test.confidence_interval(0.9)
            one = found.sel(epsilon=epsilon, algorithm=label)
            np.testing.assert_allclose([one["low"], one["high"]], [low, high])
            assert one["runs"] == there.sum()

            def p_value(ratio, x=x[there], y=y[there]):
                return stats.ttest_1samp(x - ratio * y, 0).pvalue - 0.1

            at = x[there].mean() / y[there].mean()
            other = quotient.sel(epsilon=epsilon, algorithm=label)
            np.testing.assert_allclose(other["ratio"], at)
            np.testing.assert_allclose(other["low"], optimize.brentq(p_value, at / 3, at), rtol=1e-7)
            np.testing.assert_allclose(other["high"], optimize.brentq(p_value, at, at * 3), rtol=1e-7)


def test_any_dimension_can_be_compared():
    ds = of([[11, 14, 15], [10, 10, 10]]).rename(algorithm="epsilon").assign_coords(epsilon=np.float32([0.1, 0.2]))
    found = jb.difference(ds, along="epsilon", to=0.1)
    assert found["difference"].item() == pytest.approx(-10 / 3)
    unnamed = jb.difference(ds.drop_vars("epsilon"), along="epsilon", to=1)
    assert unnamed["difference"].item() == pytest.approx(10 / 3)


def test_seeds_without_a_pair_are_left_out_and_named():
    ds = xr.concat(
        [alone([1, 2, 3, 4]), alone([3, 3, 3, 3], [1, 2, 3, 9])], xr.Variable("algorithm", ["a", "b"]), join="outer"
    )
    found = jb.difference(ds, to="b")
    assert found["runs"].item() == 3
    assert found["left_out"].item() == 2
    assert found["difference"].item() == pytest.approx(0)
    assert found.attrs["left_out"].startswith("2 of 5 seeds are left out")
    assert found.attrs["left_out"].endswith("missing: 0, 9")
    assert found["truncated"].item() == 0  # a missing run has no status


def test_each_label_is_paired_with_the_reference_alone():
    ds = of([[1.0, 2, 3, 4], [3, 4, 5, 7], [np.nan, np.nan, 9, 10]])
    found = jb.difference(ds, to="b")
    np.testing.assert_array_equal(found["runs"], [4, 2])


def test_datasets_by_their_labels():
    found = jb.difference({"x": alone([1, 2, 3], root_seed=1), "y": alone([3, 3, 6], root_seed=1)}, to="x")
    assert found["algorithm"].item() == "y"
    assert found["difference"].item() == pytest.approx(2)
    assert found.attrs["root_seed"] == 1


def test_truncated_runs_make_a_bound():
    status = np.int8([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    ds = of([[11, 14, 15], [10, 10, 10], [9, 9, 8]], status=status)
    found, quotient = jb.difference(ds, to="b"), jb.ratio(ds, to="b")
    np.testing.assert_array_equal(found["truncated"], [1, 0])
    assert np.isinf(found["high"].values).tolist() == [True, False]
    assert np.isfinite(found["low"]).all()
    assert np.isinf(quotient["high"].values).tolist() == [True, False]
    assert "1 of 9 runs are truncated" in found.attrs["truncated"]
    back = jb.difference(ds, to="a")
    np.testing.assert_array_equal(back["truncated_to"], [1, 1])
    assert (back["low"] == -np.inf).all()
    assert (jb.ratio(ds, to="a")["low"] == 0).all()
    right = jb.difference(ds.assign(correct=ds["pulls"] > 9), "failure", to="b")
    assert np.isfinite(right["high"]).all()


def test_one_pair_has_no_interval():
    found = jb.difference(of([[3], [5]]), to="b")
    assert found["difference"].item() == -2
    assert np.isnan(found["low"]).all()
    assert np.isnan(jb.ratio(of([[3], [5]]), to="b")["high"]).all()


def test_a_ratio_to_nothing():
    none, some = np.ones(20, bool), np.arange(20) > 2
    ds = of(np.ones((3, 20)), [none, none, some])
    found = jb.ratio(ds, "failure", to="a")
    assert np.isnan(found["ratio"][0])
    assert found["ratio"][1] == np.inf
    np.testing.assert_array_equal(found["high"], np.inf)
    assert found["low"][0] == 0
    assert found["low"][1] > 0.5
    assert jb.ratio(ds, "failure", to="c")["low"].values.tolist() == [0, 0]
    wide = of([[1.0, 2, 3], [-5, 0, 6]])
    assert jb.ratio(wide, to="b")[["low", "high"]].to_array().values.ravel().tolist() == [-np.inf, np.inf]


def correlated(repetitions, seeds):
    """Pulls of two labels with a shared part, skewed, and wrong answers that are often shared; with the true values."""
    rng = np.random.default_rng(1)
    shape = (repetitions, seeds)
    shared = rng.gamma(4, 250, shape)
    pulls = np.stack([shared + rng.gamma(4, 50, shape), 1.2 * shared + rng.gamma(4, 60, shape)], 1)
    hard = rng.uniform(size=shape) < 0.15
    wrong = np.stack([hard & (rng.uniform(size=shape) < p) | (rng.uniform(size=shape) < 0.02) for p in (0.6, 0.8)], 1)
    rates = [0.15 * (p + 0.02 * (1 - p)) + 0.85 * 0.02 for p in (0.6, 0.8)]
    names = ("repetition", "algorithm", "seed")
    ds = xr.Dataset({"pulls": (names, pulls), "correct": (names, ~wrong)}, {"algorithm": ["a", "b"]})
    return ds, {"pulls": (1200.0, 1440.0), "failure": tuple(rates)}


@pytest.mark.parametrize("value", ["pulls", "failure"])
def test_coverage(value):
    # 20,000 repetitions: the estimate of a coverage of 95% varies by 0.15%, so that a false alarm needs 13 of these.
    ds, true = correlated(20_000, 60)
    a, b = true[value]
    for found, truth in ((jb.difference(ds, value, to="b"), a - b), (jb.ratio(ds, value, to="b"), a / b)):
        covered = float(((found["low"] <= truth) & (truth <= found["high"])).mean())
        assert 0.93 < covered < 0.97, (next(iter(found.data_vars)), covered)


@pytest.mark.parametrize(("n", "p", "q"), [(30, 0.2, 0.1), (60, 0.1, 0.02), (60, 0.05, 0.05), (200, 0.03, 0.01)])
def test_exact_coverage_of_a_difference_of_paired_proportions(n, p, q):
    # All tables of discordant pairs with their trinomial probabilities.
    only_first, only_second = (counts.ravel() for counts in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    there = only_first + only_second <= n
    only_first, only_second = only_first[there], only_second[there]
    probability = stats.multinomial.pmf(
        np.stack([only_first, only_second, n - only_first - only_second], -1), n, [p, q, 1 - p - q]
    )
    low, high = paired_intervals.score_interval(only_first, only_second, float(n), 0.025)
    covered = probability[(low <= p - q) & (p - q <= high)].sum()
    assert 0.93 < covered < 0.97


@pytest.mark.slow
def test_coverage_of_real_runs():
    # 400 groups of 50 seeds against the mean of all 20,000 runs: 1e-6 on either side is 20 to 41 misses away from 20.
    problem, parameters = jb.bernoulli([0.9, 0.5]), {"epsilon": 0.1, "delta": 0.2}
    runs = {
        "ugapec": jb.simulate(jb.UGapEc(**parameters), problem, seeds=20_000),
        "lucb": jb.simulate(jb.LUCB(**parameters), problem, seeds=20_000),
    }
    true = jb.difference(runs, to="lucb")["difference"].item()
    names = ("algorithm", "group", "seed")
    pulls = np.stack([one["pulls"].values.reshape(400, 50) for one in runs.values()])
    found = jb.difference(xr.Dataset({"pulls": (names, pulls)}, {"algorithm": list(runs)}), to="lucb")
    covered = int(((found["low"] <= true) & (true <= found["high"])).sum())
    assert 356 <= covered <= 397, covered


@pytest.mark.slow
def test_skewed_differences_need_more_pairs():
    # Five standard errors (below 1e-6) of 4000 and of 400 repetitions, from the coverage at another root seed.
    problem, kept = jb.bernoulli([0.85, 0.55, 0.4]), {}
    for epsilon in (0.12, 0.122):
        rule = jb.LUCB(epsilon=epsilon, delta=0.1)
        parts = [jb.simulate(rule, problem, seeds=100_000, root_seed=key).pulls.values for key in range(11, 15)]
        kept[epsilon] = np.concatenate(parts)
    true = float(np.mean(kept[0.122] - kept[0.12]))
    names = ("algorithm", "group", "seed")
    for seeds, expected, errors in ((100, 0.908, 0.023), (1000, 0.9525, 0.053)):
        pulls = np.stack([one.reshape(-1, seeds) for one in kept.values()])
        found = jb.difference(xr.Dataset({"pulls": (names, pulls)}, {"algorithm": ["a", "b"]}))
        covered = float(((found["low"] <= true) & (true <= found["high"])).mean())
        assert abs(covered - expected) < errors, (seeds, covered)


@pytest.mark.slow
def test_coverage_of_failures_of_real_runs():
    # As above: failures of 100 seeds each, which differ by 0.05 and are paired.
    problem = jb.bernoulli([0.6, 0.5, 0.4])
    budgets = {"few": 15, "more": 30}
    wrong = [~jb.simulate(jb.Uniform(budget=budget), problem, seeds=40_000).correct for budget in budgets.values()]
    true = float(wrong[1].mean() - wrong[0].mean())
    names = ("algorithm", "group", "seed")
    correct = 1 - np.stack([one.values.reshape(400, 100) for one in wrong]).astype(int)
    ds = xr.Dataset({"pulls": (names, correct), "correct": (names, correct == 1)}, {"algorithm": list(budgets)})
    found = jb.difference(ds, "failure", to="few")
    covered = int(((found["low"] <= true) & (true <= found["high"])).sum())
    assert 356 <= covered <= 397, covered


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ds: jb.difference(ds, "pull"), "unknown value 'pull'; did you mean 'pulls'"),
        (lambda ds: jb.difference(ds, "failure"), "unknown value 'failure'"),
        (lambda ds: jb.difference(ds.assign(at=ds.pulls.expand_dims(arm=2)), "at"), "at has a number for each arm"),
        (lambda ds: jb.difference(ds, along="algoritm"), "unknown dimension 'algoritm'; did you mean 'algorithm'"),
        (lambda ds: jb.difference(ds, to="lucp"), "unknown value of algorithm 'lucp'; did you mean 'lucb'"),
        (lambda ds: jb.ratio(ds, to=1), "unknown value of algorithm '1'"),
        (lambda ds: jb.difference(ds.isel(algorithm=[0])), r"at least two values of it, got 1: \['lucb'\]"),
        (lambda ds: jb.difference(ds.isel(algorithm=0)), "no dimension 'algorithm': nothing varies"),
        (lambda ds: jb.difference(ds, level=1.0), "level must lie strictly between 0 and 1, got 1"),
        (lambda ds: jb.difference(ds["pulls"]), "a Dataset of runs is needed"),
        (lambda ds: jb.difference(ds.isel(seed=[])), "has no runs"),
        (lambda ds: jb.difference(ds.isel(algorithm=[0, 0])), "must differ from each other, got 'lucb' twice"),
        (lambda ds: jb.difference(ds.assign_attrs(spec=INDEPENDENT)), "independent=True"),
        (lambda ds: jb.difference(ds.assign_attrs(jaxbandits_version="1")), "not paired: the attributes have no root"),
        (lambda ds: jb.difference(ds.assign_coords(root_seed=("algorithm", [0, 1]))), "root seeds differ along"),
        (lambda ds: jb.difference({"a": alone([1], root_seed=0), "b": alone([1], root_seed=1)}), "got a: 0, b: 1"),
        (lambda ds: jb.difference({"a": alone([1, 2]), "b": ds.rename(algorithm="n")}), "the same dimensions"),
        (lambda ds: jb.difference(ds, ds), "two Datasets are compared by their labels: give"),
        (lambda ds: jb.difference(ds, ["pulls"]), "unknown value of type list: it must be a text"),
        (lambda ds: jb.ratio(ds, along=np.zeros(2)), "unknown along of type ndarray: it must be a text"),
        (lambda ds: jb.difference({}), "Datasets of runs by their labels are needed, got none"),
        (lambda ds: jb.difference({"a": alone([1, 2]), "b": "runs"}), "a Dataset of runs is needed"),
        (lambda ds: jb.difference({"a": alone([1, 2])}), "at least two values of it, got 1"),
        (lambda ds: jb.difference(ds.rename(algorithm="low"), along="low"), "'low' is a dimension, and a variable of"),
        (lambda ds: jb.ratio(ds.rename(algorithm="ratio"), along="ratio"), "'ratio' is a dimension"),
        (lambda ds: jb.difference(ds.expand_dims(truncated=[0.1, 0.2])), "'truncated' is a dimension"),
        (lambda ds: jb.difference({"a": ds, "b": ds}), "must not have the dimension 'algorithm' already"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(change, message):
    ds = of([[11, 14, 15], [10, 10, 10]]).assign_coords(algorithm=["lucb", "ugape-c"])
    with pytest.raises(jb.UsageError, match=message) as error:
        change(ds)
    assert "\n" not in str(error.value)
