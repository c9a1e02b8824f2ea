"""Every paper's figures, tiny: pictures, numbers and a page in a folder that has nothing to do with the checkout."""

import csv
import pathlib
import sys
import types
import xml.etree.ElementTree as ElementTree

import jax
import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.papers import REGISTRY, load_figure, reproduce
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.budgeted.regret_exponents import fit_exponent
from jaxbandits.papers.gape import published_bars
from jaxbandits.papers.heavy_tailed.tails_and_pulls import choose_order
from jaxbandits.papers.top_k import chen_data_sets
from jaxbandits.papers.ugape import theorem_parameter


@pytest.fixture
def draw(tmp_path, monkeypatch):
    """Runs a paper with sizes in place of the quick ones, by module; what it draws, into the test's folder."""

    def run(name, sizes, tables=()):
        for module, size in sizes.items():
            figure = load_figure(f"{name.replace('-', '_')}.{module}")
            monkeypatch.setitem(figure.SIZES, "quick", figure.Size(**size))
        stages = []
        reproduce([name], "quick", tmp_path, stages.append, {name: tables} if tables else None)
        assert list(dict.fromkeys(stage.figure for stage in stages)) == list(REGISTRY[name].figures)
        assert {stage.number for stage in stages} == set(range(1, stages[0].figures + 1))
        shown = [stage.finished for stage in stages if stage.finished is not None]
        for one in shown:
            assert one.picture.parent == tmp_path
            assert one.picture.read_bytes().startswith(b"\x89PNG")
            assert one.alt.endswith(f"{one.finding}.")
            assert one.runs > 0
            assert one.seconds > 0
        return shown

    monkeypatch.chdir(tmp_path)
    return run


def rows(file):
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def check_failures(exhibits):
    for shown in exhibits:
        for row in rows(shown.numbers):
            low, high = float(row["failure_low"]), float(row["failure_high"])
            assert low <= float(row["failure"]) <= high


@pytest.mark.slow
def test_ugape(draw, tmp_path):
    sizes = {
        "stopping_pulls": {
            "epsilons": (0.2, 0.4),
            "arms": (6, 8),
            "returned": (1, 2),
            "seeds": 5,
            "at_epsilon": 0.4,
            "at_arms": 8,
        },
        "theorem_parameter": {"budgets": (100, 200), "seeds": 20, "watched": 4, "at": 200},
    }
    shown = draw("ugape", sizes)
    check_failures(shown)
    assert [e.name for e in shown] == ["ugape-epsilon", "ugape-arms", "ugape-m", "ugape-phase", "ugape-budget"]
    for row in rows(tmp_path / "ugape-phase.csv"):
        assert float(row["lower_bound"]) < float(row["pulls_mean"]) < float(row["upper_bound"])


@pytest.mark.slow
def test_ugape_watches_what_its_runs_return():
    size = theorem_parameter.Size(budgets=(60,), seeds=1, watched=3, at=60)
    found = theorem_parameter._watch_choices(size)
    problem, algorithm = jb.abm(1), jb.UGapEb(budget=60)
    for seed in range(3):
        key = jax.random.fold_in(jax.random.key(0), seed)
        states = jb.trajectory(algorithm, problem, key, 40)
        when = int(found["chosen"][seed]) - problem.arms
        assert float(states.own.worst[when]) == float(states.own.worst[-1])
        assert when == 0 or float(states.own.worst[when - 1]) > float(states.own.worst[-1])
        (arm,) = np.flatnonzero(jb.run(algorithm, problem, key).answer)
        assert float(found["arm_pulls"][seed]) == int(states.pulls[when, arm])
        assert float(found["arm_mean"][seed]) == pytest.approx(float(states.mean[when, arm]))


@pytest.mark.slow
def test_frontier(draw, tmp_path):
    sizes = {
        "allowed_error": {"seeds": 20, "arms": (3, 4), "deltas": (0.1, 1e-3)},
        "audibert_experiments": {"seeds": 50, "budgets": (300, 600)},
        "karnin_setups": {"seeds": 50},
    }
    shown = draw("frontier", sizes)
    check_failures(shown)
    names = ["frontier-confidence", "frontier-budget-1-2-6-7", "frontier-budget-3-4-5", "frontier-karnin"]
    assert [e.name for e in shown] == names
    for row in rows(tmp_path / "frontier-confidence.csv"):
        assert float(row["ratio"]) > 1
        assert float(row["failure_low"]) <= float(row["delta"])
    assert len(rows(tmp_path / "frontier-karnin.csv")) == 18


@pytest.mark.slow
def test_phases(draw, tmp_path):
    size = {"values": 11, "seeds": 2}
    check_failures(draw("phases", {"pulls_and_complexity": size, "regret_and_rate": size}))
    assert len(rows(tmp_path / "phases-ugape.csv")) == len(rows(tmp_path / "phases-rcb-i.csv")) == 121
    for row in rows(tmp_path / "phases-rcb-i.csv"):
        rate = theory.rcb_i_regret_rate(float(row["budget"]), float(row["beta"]))
        assert float(row["rate"]) == pytest.approx(float(rate), rel=1e-4)


@pytest.mark.slow
def test_gape_through_reproduce(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(published_bars.SIZES, "quick", published_bars.Size(seeds=200))
    kept = {1: {"uniform", "uniform + UCB-E", "A-GapE"}, 2: {"GapE-V", "A-GapE-V"}}  # every method takes a compilation
    fewer = {
        problem: {m: bars for m, bars in published_bars.PUBLISHED[problem].items() if m in kept[problem]}
        for problem in kept
    }
    monkeypatch.setattr(published_bars, "PUBLISHED", fewer)
    page = reproduce(["gape"], "quick", tmp_path / "new" / "gallery")
    root = ElementTree.fromstring(page.read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n"))
    images = [image.get("src") for image in root.iter("img")]
    assert images == ["gape-problem-1.png", "gape-problem-2.png"]
    assert all((page.parent / image).exists() for image in images)
    numbers = rows(page.parent / "gape-problem-1.csv")
    assert len(numbers) == 9
    for row in numbers:
        assert float(row["difference"]) == pytest.approx(float(row["failure"]) - float(row["published"]), abs=1e-6)
        # Five standard deviations of 200 runs, and what the labels of the adaptive version differ by.
        assert abs(float(row["difference"])) < 5 * (0.25 * 0.75 / 200) ** 0.5 + 0.04
        assert bool(row["failure_at_twice_eta"]) == row["method"].startswith("A-")


@pytest.mark.slow
def test_heavy_tailed(draw, tmp_path):
    dofs = (1.1, 1.75, 3.0)
    sizes = {
        "pulls_over_delta": {"deltas": (0.05, 0.1), "seeds": 4},
        "error_over_budgets": {"budgets": (100, 400), "seeds": 400, "tuned_at": 400},
        "moment_orders": {"orders": (1.9, 2.0), "max_pulls": 150_000, "seeds": 3},
        "tails_and_pulls": {"dofs": dofs, "max_pulls": 10_000, "seeds": 3},
        "tails_and_errors": {"dofs": dofs, "budget": 400, "seeds": 400},
        "resampled_returns": {"budgets": (100, 300), "seeds": 50},
    }
    shown = draw("heavy-tailed", sizes)
    check_failures(shown)
    assert len(shown) == 8
    for name in ("s1-delta", "s2-delta"):
        for row in rows(tmp_path / f"heavy-tailed-{name}.csv"):
            assert row["bound"] in ("", "nan") or float(row["pulls_mean"]) < float(row["bound"])
    tails = {(row["estimator"], float(row["dof"])): row for row in rows(tmp_path / "heavy-tailed-tails-pulls.csv")}
    assert len(tails) == 4 * 3
    for estimator in ("EA", "TEA", "MoM", "Catoni"):
        assert [float(tails[estimator, dof]["p"]) for dof in dofs] == pytest.approx([1.08, 1.6, 2.0])
        assert [tails[estimator, dof]["censored"] for dof in (1.1, 3.0)] == ["3", "0"]
    # The radii ask for 2 * 8,400 pulls with TEA and many more with EA: their moments are those of the cell's law.
    assert (tails["EA", 1.75]["censored"], tails["TEA", 1.75]["censored"]) == ("3", "0")


@pytest.mark.parametrize(("dof", "excess"), [(1.25, 4.0), (1.5, 2.0), (2.0, 1.5), (3.0, 1.01)])
def test_the_order_told_is_near_that_with_the_fewest_pulls(dof, excess):
    best = min(2.0, 0.99 * dof)
    tried = [*np.linspace(1 + 0.5 * (best - 1), best, 15), choose_order(dof)]
    problem = jb.student_t([5.0, -5.0], dof)
    raw, central = (np.asarray([problem.moments(p, central=kind).max() for p in tried]) for kind in (False, True))
    means = np.asarray([5.0, *[-5.0] * 9])[:, None]
    truncated = theory.se_tea_pulls_bound(means, 0.05, np.asarray(tried), raw)
    empirical = theory.se_ea_pulls_bound(means, 0.05, np.asarray(tried), central)
    assert truncated[-1] <= 1.15 * truncated.min()
    assert empirical[-1] <= excess * empirical.min()


@pytest.mark.slow
def test_top_k(draw, tmp_path, monkeypatch):
    # Few arms: the printed values of 1000 are not compared here.
    monkeypatch.setattr(chen_data_sets, "ARMS", 20)
    monkeypatch.setattr(chen_data_sets, "KS", (4, 10))
    sizes = {
        "failure_over_budgets": {"seeds": 20, "slow_seeds": 4, "budgets": (400, 4000)},
        "printed_constants": {"seeds": 20, "budgets": (400, 20_000)},
        "arms_returned": {"seeds": 20, "budgets": (400, 4000), "ks": (2, 5)},
        "pulls_over_accuracy": {"seeds": 4, "epsilons": (0.1, 0.3), "arms": 20, "ks": (4, 10)},
        "opt_mai_regrets": {"runs": 20, "one_by_one": False, "problems": ("RTE workers",)},
        "sar_errors": {"runs": 20},
    }
    shown = draw("top-k", sizes)
    assert [e.name for e in shown if "figure" in e.name] == [f"top-k-figure-{i}" for i in (1, 2, 3, 4)]
    check_failures([e for e in shown if "published" not in e.name])
    for row in rows(tmp_path / "top-k-accuracy.csv"):
        assert float(row["h_t"]) <= float(row["h_0"]) <= float(row["pulls_mean"])
        assert row["algorithm"] != "AdaptiveTopK" or float(row["pulls_mean"]) < float(row["bound"])
    for row in rows(tmp_path / "top-k-published-workers.csv"):
        if row["algorithm"] == "OptMAI, β = 0.8":  # 20 runs of a regret near 0.025, within a factor of two
            assert 0.4 < float(row["aggregate_regret_mean"]) / float(row["published"]) < 2.5


@pytest.mark.slow
def test_pay_per_reward(draw, tmp_path):
    sizes = {
        "number_of_arms": {"runs": ((20, 20), (60, 10)), "every": False},
        "headline_clicks": {"runs": ((20, 20), (60, 10))},
        "click_tables": {"seeds": 20},
        "accuracy_and_correlation": {"seeds": 4, "epsilons": (0.2, 0.4), "correlations": (1, 100, 1000)},
        "sum_of_means": {"seeds": 4, "weights": (0.5, 2)},
        "infinitely_many_means": {"seeds": 4, "exponents": (8.0,), "ratios": (0.5,)},
        "smaller_constants": {"seeds": 20, "steps": 6},
    }
    table = tmp_path / "table.csv"
    table.write_text("impressions,clicks\n" + "100,3\n" * 10 + "50,9\n", encoding="utf-8")
    check_failures(draw("pay-per-reward", sizes, [str(table)]))
    cost = {
        (r["algorithm"], r["weights"], r["k"]): float(r["cost_mean"])
        for r in rows(tmp_path / "pay-per-reward-arms.csv")
    }
    for (algorithm, weights, k), value in cost.items():
        if algorithm == "Bernstein race":  # tens of times less
            assert value < cost["MAB-PPR, practical", weights, k] / 3
    failures = {
        (r["constant"], float(r["share"])): float(r["failure"]) for r in rows(tmp_path / "pay-per-reward-constants.csv")
    }
    assert failures["C_3", 1.0] < 0.3 < failures["C_3", min(share for _, share in failures)]  # 0 and .7; 20 runs each


@pytest.mark.slow
def test_budgeted(draw, tmp_path):
    sizes = {
        "growth_with_budget": {
            "groups": (((1,), 8), ((0.5,), 6)),
            "budgets": (50, 100, 200, 400),
            "further": (),
            "shown": (0.5, 1),
        },
        "arms_drawn": {"runs": ((256, 8),), "betas": (0.5, 1), "multipliers": (1 / 4, 1, 4), "arms": (4, 16)},
        "baselines": {"seeds": 8, "budgets": (100, 200), "betas": (1,), "thompson_most": 100, "every": False},
        "smallest_cost": {"seeds": 8, "lams": (0.1, 0.5), "budgets": (100, 200), "every": False},
        "spot_prices": {"seeds": 8, "budgets": (100, 200)},
        "price_tables": {"seeds": 8, "budgets": (100, 200)},
        "best_arm_of_reservoir": {
            "runs": ((1, (1000, 1800)),),
            "seeds": 100,
            "slow_seeds": 4,
            "slow_most": 1000,
            "every": False,
        },
    }
    table = tmp_path / "offers.csv"
    table.write_text("reward,cost\n" + "0.2,0.5\n" * 10 + "0.4,0.5\n", encoding="utf-8")
    shown = draw("budgeted", sizes, [str(table)])
    parts = ["regret", "exponents", "arms", "algorithms", "lambda", "prices", "offers", "identification"]
    assert [e.name for e in shown] == [f"budgeted-{part}" for part in parts]
    regrets = {(float(r["beta"]), float(r["budget"])): r for r in rows(tmp_path / "budgeted-regret.csv")}
    assert len(regrets) == 2 * 4
    for (beta, budget), row in regrets.items():
        assert float(row["regret_low"]) < float(row["regret_mean"]) < min(budget, float(row["regret_high"]))
        assert row["runs"] == ("6" if beta == 0.5 else "8")
        if budget == 400:  # the rate is drawn through the last point
            assert float(row["rate"]) == pytest.approx(float(row["regret_mean"]), rel=1e-4)
    for row in rows(tmp_path / "budgeted-exponents.csv"):
        assert float(row["least"]) <= float(row["promised"]) < float(row["promised_with_logs"])
    arms = {(float(r["beta"]), float(r["multiplier"])): float(r["arms"]) for r in rows(tmp_path / "budgeted-arms.csv")}
    assert arms == {(0.5, 1): 4, (0.5, 4): 16, (1, 0.25): 4, (1, 1): 16}  # and none of one arm or of 64
    thompson = [r for r in rows(tmp_path / "budgeted-algorithms.csv") if r["algorithm"] == "Thompson sampling"]
    assert [float(r["budget"]) for r in thompson] == [100]
    for row in rows(tmp_path / "budgeted-identification.csv"):  # means are 0.5 at most
        assert float(row["floor"]) < 0.5 * 2 / 6
        assert float(row["simple_regret_mean"]) < 0.25


@pytest.mark.parametrize("name", ["heavy-tailed", "pay-per-reward", "budgeted"])
def test_tables_are_read_before_anything_runs(name, tmp_path):
    with pytest.raises(jb.UsageError, match="cannot read"):
        reproduce(["gape", name], "quick", tmp_path / "out", tables={name: [str(tmp_path / "nothing.csv")]})
    assert not list(tmp_path.iterdir())


def test_the_exponent_of_exact_powers_and_its_interval():
    budget = np.asarray([10.0, 100.0, 1000.0])
    scale = np.asarray([1.0, 2.0, 3.0, 6.0])[:, None]  # every run has the same exponent, whatever its factor
    regret = xr.Dataset({"regret": (("seed", "budget"), scale * budget**0.7)}, {"budget": budget})
    found = fit_exponent(regret)
    for part in ("mean", "low", "high"):
        assert float(found[f"exponent_{part}"]) == pytest.approx(0.7, abs=1e-12)
    # Two runs, two budgets a factor of e apart: the slope is ln(mean_2 / mean_1), and a run adds r_2 / mean_2 -
    # r_1 / mean_1 to it, here -0.5 and 0.5 about their mean; the t quantile with one degree of freedom is 12.706.
    two = xr.Dataset({"regret": (("seed", "budget"), [[3.0, 4.0], [1.0, 4.0]])}, {"budget": [1.0, np.e]})
    found = fit_exponent(two)
    assert float(found["exponent_mean"]) == pytest.approx(np.log(2))
    half = 12.7062 * 0.5  # standard deviation 0.5 sqrt(2), over sqrt(2)
    assert float(found["exponent_high"] - found["exponent_mean"]) == pytest.approx(half, rel=1e-4)
    nothing = xr.Dataset({"regret": (("seed", "budget"), [[-3.0, 4.0], [1.0, 4.0]])}, {"budget": [1.0, np.e]})
    assert np.isnan(fit_exponent(nothing)["exponent_mean"])


def test_names_and_scales_are_checked_before_anything_runs(tmp_path):
    with pytest.raises(jb.UsageError, match="did you mean 'gape'"):
        reproduce(["gap"], "quick", tmp_path / "out")
    with pytest.raises(jb.UsageError, match="unknown scale"):
        reproduce(["gape"], "fast", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(jb.UsageError, match="cannot write"):
        reproduce(["gape"], "quick", file / "out")


def test_the_command_line_has_the_papers():
    assert list(REGISTRY) == [
        "ugape", "gape", "heavy-tailed", "top-k", "pay-per-reward", "budgeted", "frontier", "phases", "differentiable",
    ]  # fmt: skip


FIGURE = '''
"""Compare nothing."""

from typing import NamedTuple

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.report import plots, tables


class Size(NamedTuple):
    seeds: int


SIZES = {"quick": Size(seeds=20), "paper": Size(seeds=40)}


def show(bench: Bench, size: Size) -> None:
    algorithms = {"uniform": jb.Uniform(budget=60), "halving": jb.SequentialHalving(budget=60)}
    runs = bench.sweep_each(algorithms, jb.bernoulli([0.7, 0.5, 0.4]), size.seeds)
    stats = stack_summaries("algorithm", runs)
    picture, numbers = plots.bars(stats, x="algorithm"), tables.frame(stats, ["runs", "failure"])
    texts = {"finding": "Some err", "drawn": "Errors.", "settings": "Three arms.", "alt": "Bars."}
    bench.exhibit("mine", picture, numbers, runs.values(), "One note.", "Another.", **texts)
    bench.call(jb.simulate, algorithms["uniform"], jb.bernoulli([0.7, 0.5, 0.4]), 20)
    bench.exhibit("mine-too", picture, numbers, 20, share=0.5, **texts)
'''


def test_a_figure_takes_one_module_and_one_line(tmp_path, monkeypatch):
    module = types.ModuleType("jaxbandits.papers.phases.mine")
    exec(FIGURE, vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(REGISTRY, "phases", REGISTRY["phases"]._replace(figures=("phases.mine",)))
    stages = []
    page = reproduce(["phases"], "quick", tmp_path / "out", stages.append).read_text(encoding="utf-8")
    for part in (REGISTRY["phases"].title, "Some err", "One note.", "Another.", "Bars. Some err.", "mine-too.csv"):
        assert part in page
    assert {(stage.figure, stage.number, stage.figures) for stage in stages} == {("phases.mine", 1, 1)}
    doing = dict.fromkeys(stage.doing for stage in stages)
    assert list(doing) == ["Uniform", "SequentialHalving", "drawing", "simulate"]
    first, second = (stage.finished for stage in stages if stage.finished is not None)
    assert (first.runs, second.runs) == (40, 10)
    assert (first.notes, second.notes) == (("One note.", "Another."), ())
    assert min(first.seconds, second.seconds) > 0
    assert len(rows(tmp_path / "out" / "mine.csv")) == 2


def test_figures_share_results_once():
    bench, asked = Bench(pathlib.Path(), "quick"), []

    def run(bench, size):
        asked.append(size)
        return [size]

    assert bench.run_once(run, 1) is bench.run_once(run, 1)
    assert bench.run_once(run, 2) == [2]
    assert asked == [1, 2]


@pytest.mark.slow
def test_differentiable(draw, tmp_path):
    sizes = {
        "gradient_checks": {"points": 2, "seeds": 100},
        "tuned_parameters": {"steps": 2, "seeds": 2, "held_out": 4, "held_out_seeds": 4},
        "harder_instances": {"steps": 2, "seeds": 100, "judged": 100},
    }
    assert len(draw("differentiable", sizes)) == 7
    slopes = rows(tmp_path / "differentiable-slopes.csv")
    assert len(slopes) == 8
    for row in slopes:
        error = np.hypot(float(row["gradient_se"]), float(row["difference_se"]))
        assert abs(float(row["gradient"]) - float(row["difference"])) < 6 * error + 0.1 * abs(float(row["gradient"]))
    for row in rows(tmp_path / "differentiable-mab-ppr.csv"):
        assert float(row["error_low"]) <= float(row["error"]) <= float(row["error_high"])
    hard = rows(tmp_path / "differentiable-adversary.csv")
    complexities = {row["complexity"] for row in hard}
    assert max(map(float, complexities)) < 1.001 * min(map(float, complexities))
