"""Every experiment, tiny: pictures, numbers and a page in a folder that has nothing to do with the checkout."""

import csv
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits import experiments, theory
from jaxbandits.experiments import (
    budgeted,
    budgeted_algorithms,
    budgeted_arms,
    budgeted_common,
    budgeted_growth,
    budgeted_identification,
    differentiable,
    differentiable_adversary,
    differentiable_slopes,
    differentiable_tuning,
    frontier,
    frontier_budget,
    frontier_confidence,
    gape,
    heavy_tailed,
    heavy_tailed_phase,
    pay_per_reward,
    pay_per_reward_arms,
    pay_per_reward_constants,
    pay_per_reward_scale,
    phases,
    reproduce,
    top_k,
    top_k_accuracy,
    top_k_budget,
    top_k_published,
    ugape,
    ugape_budget,
    ugape_confidence,
)
from jaxbandits.experiments.runs import top_k_accuracy as top_k_accuracy_runs
from jaxbandits.experiments.runs import top_k_budget as top_k_budget_runs


def rows(file):
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def check(exhibits, out):
    for shown in exhibits:
        assert shown.picture.parent == out
        assert shown.picture.read_bytes().startswith(b"\x89PNG")
        assert shown.alt
        assert shown.runs > 0
        for row in rows(shown.numbers):
            low, high = float(row["failure_low"]), float(row["failure_high"])
            assert low <= float(row["failure"]) <= high


@pytest.mark.slow
def test_ugape(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    confidence = ugape_confidence.Size((0.2, 0.4), (6, 8), (1, 2), seeds=5, at_epsilon=0.4, at_arms=8)
    budget = ugape_budget.Size((100, 200), seeds=20, watched=4, at=200)
    stages = []
    shown = ugape.run(tmp_path, on_progress=stages.append, confidence=confidence, budget=budget)
    check(shown, tmp_path)
    assert [e.name for e in shown] == ["ugape-epsilon", "ugape-arms", "ugape-m", "ugape-phase", "ugape-budget"]
    assert {stage.number for stage in stages} == set(range(1, stages[0].sweeps + 1))
    for row in rows(tmp_path / "ugape-phase.csv"):
        assert float(row["lower_bound"]) < float(row["pulls_mean"]) < float(row["upper_bound"])


@pytest.mark.slow
def test_frontier(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stages = []
    confidence = frontier_confidence.Size(seeds=20, arms=(3, 4), deltas=(0.1, 1e-3))
    budget = frontier_budget.Size(seeds=50, budgets=(300, 600))
    shown = frontier.run(tmp_path, on_progress=stages.append, confidence=confidence, budget=budget)
    check(shown, tmp_path)
    names = ["frontier-confidence", "frontier-budget-1-2-6-7", "frontier-budget-3-4-5", "frontier-karnin"]
    assert [e.name for e in shown] == names
    assert {stage.number for stage in stages} == set(range(1, stages[0].sweeps + 1))
    for row in rows(tmp_path / "frontier-confidence.csv"):
        assert float(row["ratio"]) > 1
        assert float(row["failure_low"]) <= float(row["delta"])
    assert len(rows(tmp_path / "frontier-karnin.csv")) == 18


@pytest.mark.slow
def test_phases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stages = []
    shown = phases.run(tmp_path, on_progress=stages.append, size=phases.Size(values=11, seeds=2))
    check(shown, tmp_path)
    assert {stage.number for stage in stages} == {1, 2}
    assert len(rows(tmp_path / "phases-ugape.csv")) == len(rows(tmp_path / "phases-rcb-i.csv")) == 121
    for row in rows(tmp_path / "phases-rcb-i.csv"):
        rate = theory.rcb_i_regret_rate(float(row["budget"]), float(row["beta"]))
        assert float(row["rate"]) == pytest.approx(float(rate), rel=1e-4)


@pytest.mark.slow
def test_gape_through_reproduce(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(gape.SIZES, "quick", gape.Size(seeds=200))
    kept = {1: {"uniform", "uniform + UCB-E", "A-GapE"}, 2: {"GapE-V", "A-GapE-V"}}  # every method takes a compilation
    fewer = {problem: {m: bars for m, bars in gape.GAPE[problem].items() if m in kept[problem]} for problem in kept}
    monkeypatch.setattr(gape, "GAPE", fewer)
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
def test_heavy_tailed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    size = heavy_tailed.Size(
        deltas=(0.05, 0.1), stopped_seeds=4, budgets=(100, 400), budget_seeds=400, tuned_at=400,
        return_budgets=(100, 300), return_seeds=50,
    )  # fmt: skip
    phase = heavy_tailed_phase.Size(
        orders=(1.9, 2.0), order_pulls=150_000, dofs=(1.1, 1.75, 3.0), dof_pulls=10_000, seeds=3,
        budget=400, budget_seeds=400,
    )  # fmt: skip
    stages = []
    shown = heavy_tailed.run(tmp_path, on_progress=stages.append, size=size, phase=phase)
    check(shown, tmp_path)
    assert len(shown) == 8
    assert {stage.number for stage in stages} == set(range(1, stages[0].sweeps + 1))
    for name in ("s1-delta", "s2-delta"):
        for row in rows(tmp_path / f"heavy-tailed-{name}.csv"):
            assert row["bound"] in ("", "nan") or float(row["pulls_mean"]) < float(row["bound"])
    tails = {(row["estimator"], float(row["dof"])): row for row in rows(tmp_path / "heavy-tailed-tails-pulls.csv")}
    assert len(tails) == 4 * 3
    for estimator in ("EA", "TEA", "MoM", "Catoni"):
        assert [float(tails[estimator, dof]["p"]) for dof in phase.dofs] == pytest.approx([1.08, 1.6, 2.0])
        assert [tails[estimator, dof]["censored"] for dof in (1.1, 3.0)] == ["3", "0"]
    # The radii ask for 2 * 8,400 pulls with TEA and many more with EA: their moments are those of the cell's law.
    assert (tails["EA", 1.75]["censored"], tails["TEA", 1.75]["censored"]) == ("3", "0")


@pytest.mark.parametrize(("dof", "excess"), [(1.25, 4.0), (1.5, 2.0), (2.0, 1.5), (3.0, 1.01)])
def test_the_order_told_is_near_that_with_the_fewest_pulls(dof, excess):
    best = min(2.0, 0.99 * dof)
    tried = [*np.linspace(1 + 0.5 * (best - 1), best, 15), heavy_tailed_phase.order_for(dof)]
    problem = jb.student_t([5.0, -5.0], dof)
    raw, central = (np.asarray([problem.moments(p, central=kind).max() for p in tried]) for kind in (False, True))
    means = np.asarray([5.0, *[-5.0] * 9])[:, None]
    truncated = theory.se_tea_pulls_bound(means, 0.05, np.asarray(tried), raw)
    empirical = theory.se_ea_pulls_bound(means, 0.05, np.asarray(tried), central)
    assert truncated[-1] <= 1.15 * truncated.min()
    assert empirical[-1] <= excess * empirical.min()


@pytest.mark.slow
def test_top_k(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Few arms: the printed values of 1000 are not compared here.
    for module in (top_k_budget, top_k_budget_runs, top_k_accuracy, top_k_accuracy_runs):
        monkeypatch.setattr(module, "ARMS", 20)
        monkeypatch.setattr(module, "KS", (4, 10))
    size = top_k.Size(
        budget=top_k_budget.Size(seeds=20, slow_seeds=4, budgets=(400, 4000), printed_budgets=(400, 20_000), ks=(2, 5)),
        accuracy=top_k_accuracy.Size(seeds=4, epsilons=(0.1, 0.3)),
        published=top_k_published.Size(runs=20, one_by_one=False, sar_runs=20, problems=("RTE workers",)),
    )
    stages = []
    shown = top_k.run(tmp_path, on_progress=stages.append, size=size)
    assert [e.name for e in shown if "figure" in e.name] == [f"top-k-figure-{i}" for i in (1, 2, 3, 4)]
    check([e for e in shown if "published" not in e.name], tmp_path)
    assert {stage.number for stage in stages} == set(range(1, stages[0].sweeps + 1))
    for row in rows(tmp_path / "top-k-accuracy.csv"):
        assert float(row["h_t"]) <= float(row["h_0"]) <= float(row["pulls_mean"])
        assert row["algorithm"] != "AdaptiveTopK" or float(row["pulls_mean"]) < float(row["bound"])
    for row in rows(tmp_path / "top-k-published-workers.csv"):
        if row["algorithm"] == "OptMAI, β = .8":  # 20 runs of a regret near .025, within a factor of two
            assert 0.4 < float(row["aggregate_regret_mean"]) / float(row["published"]) < 2.5


@pytest.mark.slow
def test_pay_per_reward(tmp_path):
    size = pay_per_reward.Size(
        arms=pay_per_reward_arms.Size(runs=((20, 20), (60, 10)), every=False),
        scale=pay_per_reward_scale.Size(
            seeds=4, epsilons=(0.2, 0.4), correlations=(1, 100, 1000), weights=(0.5, 2), exponents=(8.0,), ratios=(0.5,)
        ),
        constants=pay_per_reward_constants.Size(seeds=20, steps=6),
    )
    table = tmp_path / "table.csv"
    table.write_text("impressions,clicks\n" + "100,3\n" * 10 + "50,9\n", encoding="utf-8")
    stages = []
    shown = pay_per_reward.run(tmp_path, on_progress=stages.append, size=size, tables=[str(table)])
    check(shown, tmp_path)
    assert {stage.number for stage in stages} == set(range(1, stages[0].sweeps + 1))
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
def test_budgeted(tmp_path):
    size = budgeted.Size(
        growth=budgeted_growth.Size(
            groups=(((1,), 8), ((0.5,), 6)), budgets=(50, 100, 200, 400), further=(), shown=(0.5, 1)
        ),
        arms=budgeted_arms.Size(runs=((256, 8),), betas=(0.5, 1), multipliers=(1 / 4, 1, 4), arms=(4, 16)),
        algorithms=budgeted_algorithms.Size(
            seeds=8, budgets=(100, 200), betas=(1,), thompson_most=100, every=False, lams=(0.1, 0.5),
            lam_budgets=(100, 200),
        ),
        identification=budgeted_identification.Size(
            runs=((1, (1000, 1800)),), seeds=100, slow_seeds=4, slow_most=1000, every=False
        ),
    )  # fmt: skip
    table = tmp_path / "offers.csv"
    table.write_text("reward,cost\n" + "0.2,0.5\n" * 10 + "0.4,0.5\n", encoding="utf-8")
    stages = []
    shown = budgeted.run(tmp_path, on_progress=stages.append, size=size, tables=[str(table)])
    assert {stage.number for stage in stages} == set(range(1, stages[0].sweeps + 1))
    parts = ["regret", "exponents", "arms", "algorithms", "lambda", "prices", "offers", "identification"]
    assert [e.name for e in shown] == [f"budgeted-{part}" for part in parts]
    for exhibit in shown:
        assert exhibit.picture.read_bytes().startswith(b"\x89PNG")
        assert exhibit.alt
        assert exhibit.runs > 0
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


def test_tables_of_budgeted_are_read_before_anything_runs(tmp_path):
    with pytest.raises(jb.UsageError, match="cannot read"):
        budgeted.run(tmp_path, tables=[str(tmp_path / "nothing.csv")])
    assert not list(tmp_path.iterdir())


def test_the_exponent_of_exact_powers_and_its_interval():
    budget = np.asarray([10.0, 100.0, 1000.0])
    scale = np.asarray([1.0, 2.0, 3.0, 6.0])[:, None]  # every run has the same exponent, whatever its factor
    regret = xr.Dataset({"regret": (("seed", "budget"), scale * budget**0.7)}, {"budget": budget})
    found = budgeted_common.exponent(regret)
    for part in ("mean", "low", "high"):
        assert float(found[f"exponent_{part}"]) == pytest.approx(0.7, abs=1e-12)
    # Two runs, two budgets a factor of e apart: the slope is ln(mean_2 / mean_1), and a run adds r_2 / mean_2 -
    # r_1 / mean_1 to it, here -0.5 and 0.5 about their mean; the t quantile with one degree of freedom is 12.706.
    two = xr.Dataset({"regret": (("seed", "budget"), [[3.0, 4.0], [1.0, 4.0]])}, {"budget": [1.0, np.e]})
    found = budgeted_common.exponent(two)
    assert float(found["exponent_mean"]) == pytest.approx(np.log(2))
    half = 12.7062 * 0.5  # standard deviation 0.5 sqrt(2), over sqrt(2)
    assert float(found["exponent_high"] - found["exponent_mean"]) == pytest.approx(half, rel=1e-4)
    nothing = xr.Dataset({"regret": (("seed", "budget"), [[-3.0, 4.0], [1.0, 4.0]])}, {"budget": [1.0, np.e]})
    assert np.isnan(budgeted_common.exponent(nothing)["exponent_mean"])


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


def test_the_registry_has_the_scales():
    assert set(experiments.REGISTRY) == {
        "ugape",
        "gape",
        "heavy-tailed",
        "top-k",
        "pay-per-reward",
        "budgeted",
        "frontier",
        "phases",
        "differentiable",
    }
    for module in (
        budgeted,
        differentiable_adversary,
        differentiable_slopes,
        differentiable_tuning,
        frontier_budget,
        frontier_confidence,
        gape,
        heavy_tailed,
        heavy_tailed_phase,
        pay_per_reward,
        top_k,
        ugape_budget,
        ugape_confidence,
    ):
        assert set(module.SIZES) == set(experiments.SCALES)


@pytest.mark.slow
def test_differentiable(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    size = differentiable.Size(
        differentiable_slopes.Size(points=2, seeds=100),
        differentiable_tuning.Size(steps=2, seeds=2, held_out=4, held_out_seeds=4),
        differentiable_adversary.Size(steps=2, seeds=100, judged=100),
    )
    stages = []
    shown = differentiable.run(tmp_path, on_progress=stages.append, size=size)
    assert len(shown) == 7
    assert {stage.number for stage in stages} == set(range(1, stages[0].sweeps + 1))
    for one in shown:
        assert one.picture.read_bytes().startswith(b"\x89PNG")
        assert one.runs > 0
        assert one.seconds > 0
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
