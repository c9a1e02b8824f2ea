"""Pictures of studies: facets, repeated cells, bounds of one's own, profiles, and ratios to the best rule."""

import itertools
import json

import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.report import plots
from jaxbandits.report.repeated_cells import count_distinct, has_axis, repeats

SURE = ["lucb", "ttucb", "slow", "wrong"]
RULES = [*SURE, "rejects"]
DELTAS, BUDGETS = [0.1, 0.01], [100, 400, 1600]
PROBLEMS = ["far", "close", "a stair"]
SEEDS = 50


def study(rules=RULES, problems=PROBLEMS, deltas=DELTAS, budgets=BUDGETS, seeds=SEEDS):
    """A study as a sweep returns it; `rejects` has a budget and no delta, the others a delta and no budget."""
    rng = np.random.default_rng(0)
    dims = ("algorithm", "problem", "delta", "budget", "seed")
    shape = (len(rules), len(problems), len(deltas), len(budgets), seeds)
    hard = 100.0 * np.arange(1, len(problems) + 1)[:, None, None, None]
    pulls, correct = np.zeros(shape, np.int64), np.ones(shape, bool)
    for i, rule in enumerate(rules):
        if rule.startswith("rejects"):
            pulls[i] = np.asarray(budgets)[:, None]
            wrong = rng.random((len(problems), 1, len(budgets), seeds)) < 30 / np.asarray(budgets)[:, None]
        else:
            levels = np.log(1 / np.asarray(deltas))[:, None, None]
            noise = rng.gamma(20, 1 / 20, (len(problems), len(deltas), 1, seeds))
            pulls[i] = hard * levels * noise * {"slow": 4, "lucb": 2}.get(rule, 1 + 0.1 * (i % 3))
            wrong = np.broadcast_to(rule == "wrong", (*pulls[i].shape[:-2], 1, seeds)) & (np.arange(seeds) % 2 == 0)
        correct[i] = ~wrong
    status = np.zeros(shape, np.int8)
    if "slow" in rules:  # one truncated run, on one problem
        status[rules.index("slow"), 0, 0, :, 0] = 1
    own = {rule: {"budget": {"axis": budgets}} if rule[:3] == "rej" else {"delta": {"axis": deltas}} for rule in rules}
    tables = [{"name": rule, "label": rule, **axes} for rule, axes in own.items()]
    spec = {"algorithm": tables, "problem": [{"name": "b", "label": one} for one in problems], "run": {"seeds": seeds}}
    return xr.Dataset(
        {
            "pulls": (dims, pulls),
            "correct": (dims, correct),
            "simple_regret": (dims, np.where(correct, 0.0, 0.1)),
            "status": (dims, status),
        },
        {"algorithm": rules, "problem": problems, "delta": deltas, "budget": budgets, "seed": np.arange(seeds)},
        {"spec": json.dumps(spec), "root_seed": 0},
    )


@pytest.fixture
def ds():
    return study()


def drawn(picture):
    assert isinstance(picture, Figure)
    picture.draw_without_rendering()
    return picture.axes


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def legend(picture):
    shown = picture.legends[0] if picture.legends else picture.axes[0].get_legend()
    return [text.get_text() for text in shown.get_texts()]


def test_which_axes_belong_to_what(ds):
    assert has_axis(ds, "delta").sel(problem="far").values.tolist() == [True] * 4 + [False]
    assert has_axis(ds, "budget").sel(problem="far").values.tolist() == [False] * 4 + [True]
    assert has_axis(ds.drop_attrs(), "budget").all()  # nothing is known
    assert has_axis(ds.assign_coords(algorithm=list("abcde")), "budget").all()
    alone = ds.sel(algorithm="rejects")
    assert not has_axis(alone, "delta").any()
    found = repeats(ds["pulls"].isel(seed=0), ["algorithm", "problem", "delta", "budget"], ds.attrs)
    assert int((~found).sum()) == len(PROBLEMS) * (len(SURE) * len(DELTAS) + len(BUDGETS))


@pytest.mark.slow
def test_a_sweep_says_which_cells_it_repeats():
    rules = [jb.LUCB(epsilon=0.2, delta=jb.axis([0.2, 0.1])), jb.SuccessiveRejects(budget=jb.axis([20, 40, 60]))]
    problems = {"two": jb.bernoulli([0.9, 0.4]), "stair": jb.linear(n=jb.axis([2, 3]))}
    swept = jb.sweep(rules, problems, seeds=4, max_pulls=30)
    found = repeats(swept["pulls"], [str(name) for name in swept["pulls"].dims if name != "seed"], swept.attrs)
    distinct = (1 + 2) * (2 + 3)  # problems with their sizes, times rules with their parameters
    assert int((~found).sum()) == distinct
    stopped = (swept["status"] > 0).sum("seed")
    assert int(stopped.sum()) > 0
    said = f"{int(stopped.where(~found, 0).sum())} of {4 * distinct} runs were truncated"
    assert jb.summary(swept).attrs["censored"].startswith(said)
    assert (
        f"{int(stopped.where(~found, 0).sum())} of {4 * distinct} runs" in jb.table(swept, best=None).splitlines()[-1]
    )


def test_the_count_of_distinct_cells(ds):
    assert count_distinct((ds["status"] > 0).sum("seed"), ds.attrs) == 1
    assert jb.summary(ds).attrs["censored"].startswith(f"1 of {33 * SEEDS} runs were truncated")


def test_curves_have_a_panel_for_each_problem(ds):
    picture = plots.curve(ds.sel(budget=400))
    panels = drawn(picture)
    assert [axes.get_title() for axes in panels] == PROBLEMS
    assert legend(picture) == RULES
    for axes, problem in zip(panels, PROBLEMS, strict=True):
        assert axes.get_xscale() == "log"
        for rule, line in lines_of(axes).items():
            mean = ds["pulls"].sel(budget=400, problem=problem, algorithm=rule).values.mean(-1)
            shown = np.asarray(line.get_ydata(), float)
            np.testing.assert_allclose(shown[np.isfinite(shown)], mean[np.isfinite(shown)])
            np.testing.assert_allclose(line.get_xdata(), DELTAS)


def test_repeated_cells_are_a_flat_line_with_one_mark(ds):
    for axes in drawn(plots.curve(ds.sel(budget=400))):
        marks = {rule: int(np.sum(line.get_markevery())) for rule, line in lines_of(axes).items()}
        assert marks.pop("rejects") == 1
        assert set(marks.values()) <= {1, 2}  # a truncated run has an arrow in place of its mark
        flat = lines_of(axes)["rejects"].get_ydata()
        assert len(set(np.asarray(flat).tolist())) == 1


def test_axes_that_all_rules_lack_need_no_place(ds):
    picture = plots.curve(ds.sel(algorithm=["rejects"]), y="failure")
    (axes, *_) = drawn(picture)
    assert axes.get_xlabel() == "budget (pulls)"
    rate = 1 - ds["correct"].sel(algorithm="rejects", problem="far").isel(delta=0).values.mean(-1)
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), rate)
    with pytest.raises(jb.UsageError, match="also varies over budget"):
        plots.curve(ds, x="delta")


def test_rules_without_the_metric_are_named(ds):
    ds["regret"] = ds["simple_regret"].where(ds["algorithm"] == "rejects")
    picture = plots.curve(ds.isel(delta=0), y="regret", x="budget")
    assert legend(picture) == ["rejects", f"no regret: {', '.join(SURE)}"] or legend(picture)[0] == "rejects"
    joined = " ".join(" ".join(legend(picture)).split())
    assert f"no regret: {', '.join(SURE)}" in joined


def test_many_rules_and_problems_are_distinguished():
    rules, problems = [f"a rule {i}" for i in range(12)], [f"b{i}" for i in range(6)]
    picture = plots.curve(study(rules, problems).isel(budget=0))
    panels = drawn(picture)
    assert len(panels) == 6
    assert picture.axes[0].get_subplotspec().get_gridspec().ncols == 3
    looks = {
        (to_hex(one.get_color()), one.get_marker(), to_hex(one.get_markerfacecolor())) for one in panels[0].get_lines()
    }
    assert len(looks) == 12
    with pytest.raises(jb.UsageError, match="15 values of algorithm are too many to distinguish: choose at most 14"):
        plots.curve(study([f"a{i}" for i in range(15)], ["b"]).isel(budget=0))
    with pytest.raises(jb.UsageError, match="13 values of problem are too many for one picture"):
        plots.curve(study(["a", "b"], [f"b{i}" for i in range(13)]).isel(budget=0))


def boxes(picture):
    """The places of titles, labels, ticks and legends."""
    picture.draw_without_rendering()
    texts = [picture._suptitle, *([picture._supxlabel] if picture._supxlabel else []), *picture.legends]
    for axes in picture.axes:
        texts += [axes.title, axes.xaxis.label, axes.yaxis.label]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            shown = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            texts += [tick.label1 for tick in shown if tick.label1.get_visible()]
    shown = [text for text in texts if not hasattr(text, "get_text") or text.get_text()]
    return [text.get_window_extent() for text in shown if text.get_visible()]


@pytest.mark.parametrize("style", [None, "paper"])
@pytest.mark.parametrize("kind", ["curve", "profile", "ratios", "phase"])
def test_nothing_overlaps(kind, style):
    rules = ["successive elimination", *[f"rule-{i}" for i in range(10)], "rejects"]
    problems = ["bernoulli means=0.9,0.5,0.4,0.35", "bernoulli means=0.7,0.6,0.5", *[f"b{i}" for i in range(4)]]
    ds = study(rules, problems, [0.1, 0.01, 0.001], seeds=10).isel(budget=1)
    if kind == "phase":
        ds = ds.isel(problem=0, algorithm=slice(3)).rename(algorithm="allowed failure probability of a rule")
    picture = plots.KINDS[kind](ds, style=style)
    found = boxes(picture)
    assert len(found) > 6
    for one, other in itertools.combinations(found, 2):
        over = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(over) <= 1.0, (one, other)
    whole = picture.bbox
    assert all(box.x0 >= -1 and box.x1 <= whole.x1 + 1 and box.y0 >= -1 and box.y1 <= whole.y1 + 1 for box in found)


def test_many_long_names_are_below_the_axes():
    """Beside the axes they left a strip of these, and ended below the picture."""
    rules = [f"a rule with a name that is long, of number {i}" for i in range(14)]
    picture = plots.curve(study(rules, PROBLEMS[:1], [0.1, 0.01], seeds=10).isel(problem=0, budget=1), x="delta")
    boxes(picture)
    (axes,), (names,) = picture.axes, picture.legends
    assert axes.bbox.height > 0.5 * picture.bbox.height
    box = names.get_window_extent()
    assert len(names.get_texts()) == 14
    assert box.y0 >= -1
    assert box.y1 < axes.bbox.y0


def dashed(axes):
    return [line for line in axes.get_lines() if line.is_dashed()]


def test_bounds_of_ones_own(ds):
    ds = ds.sel(budget=400)
    hard = xr.DataArray([10.0, 20.0, 30.0], {"problem": PROBLEMS}, ["problem"])
    own = {"a rate": lambda delta: 50 * np.log(1 / delta), "a line": 40.0, "two": [5.0, 6.0], "by problem": hard}
    picture = plots.curve(ds, bounds=own)
    for i, axes in enumerate(drawn(picture)):
        rate, line, two, each = (one.get_ydata() for one in dashed(axes))
        np.testing.assert_allclose(rate, 50 * np.log(1 / np.asarray(DELTAS)))
        assert (line.tolist(), two.tolist(), each.tolist()) == ([40.0] * 2, [5.0, 6.0], [hard.values[i]] * 2)
    assert legend(picture)[-4:] == list(own)
    back = plots.curve(ds, bounds={"by problem": hard[::-1]})  # by name, in any order
    assert [dashed(axes)[0].get_ydata()[0] for axes in drawn(back)] == [10.0, 20.0, 30.0]


def test_a_bound_that_rules_share_is_drawn_once(ds):
    values = np.full((5, 3, 2), np.nan)
    values[:2], values[2:4] = 10.0, 20.0
    ds["lower"] = ("algorithm", "problem", "delta"), values, {"long_name": "a bound"}
    picture = plots.curve(ds.sel(budget=400), bounds="lower")
    for axes in drawn(picture):
        first, second = dashed(axes)
        assert (first.get_ydata()[0], second.get_ydata()[0]) == (10.0, 20.0)
        assert {to_hex(first.get_color()), to_hex(second.get_color())} == {"#5a5a5a"}
    assert {"a bound: lucb, ttucb", "a bound: slow, wrong"} <= set(legend(picture))
    values[:4] = 10.0
    alone = plots.curve(ds.sel(budget=400).assign(lower=ds["lower"].copy(data=values)), bounds="lower")
    assert "a bound" in legend(alone)
    assert len(dashed(drawn(alone)[0])) == 1


def test_a_line_of_the_legend_has_its_own_dashes_in_all_panels(ds):
    """Where rules are left out on a problem, others shared a bound there, with the dashes of another line."""
    values = np.full((5, 3, 2), np.nan)
    values[:2], values[2:4] = 10.0, 20.0
    values[1, 2] = 20.0
    ds["lower"] = ("algorithm", "problem", "delta"), values, {"long_name": "a bound"}
    looks = {}
    for axes in drawn(plots.curve(ds.sel(budget=400), bounds="lower")):
        for line in dashed(axes):
            looks.setdefault(line.get_label(), set()).add(str(line._dash_pattern))
    assert len(looks) == 4
    assert len(set.union(*looks.values())) == 4
    assert all(len(patterns) == 1 for patterns in looks.values())


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"mine": "lowr"}, "unknown bound 'lowr'"),
        ({"mine": [1.0, 2.0, 3.0]}, "bound 'mine' must be one number, or 2 along delta, got an array of shape"),
        ({"mine": lambda delta: "no"}, "bound 'mine' must be numbers"),
        ({"mine": xr.DataArray([1.0], dims=["n"])}, "dimensions that the picture lacks: n"),
    ],
)
def test_bounds_that_do_not_fit(ds, bounds, message):
    with pytest.raises(jb.UsageError, match=message) as raised:
        plots.curve(ds.sel(budget=400), bounds=bounds)
    assert "\n" not in str(raised.value)


def ratios_by_hand(ds, rules):
    """Ratios (rules, problems, deltas) by numpy alone: infinite for a rule that does not solve."""
    mean = ds["pulls"].values.mean(-1)
    solves = (ds["status"].values == 0).all(-1) & (np.asarray(rules) != "wrong")[:, None, None]
    times = np.where(solves, mean, np.inf)
    return times / times.min(axis=0)


def test_a_profile_is_dolan_and_more_s(ds):
    picture = plots.profile(ds)  # along the budget all rules with a delta repeat their runs
    (axes,) = drawn(picture)
    by_hand = ratios_by_hand(ds.sel(algorithm=SURE).isel(budget=0), SURE).reshape(4, -1)
    assert by_hand.shape == (4, 6)
    for row, rule in zip(by_hand, SURE, strict=True):
        solved = int(np.isfinite(row).sum())
        line = next(one for one in axes.get_lines() if one.get_label() == f"{rule}: {solved} of 6")
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        for tau in (1.0, 1.05, 1.2, 1.9, 2.1, 3.9, float(x[-1])):
            assert y[np.searchsorted(x, tau, side="right") - 1] == pytest.approx(np.mean(row <= tau)), (rule, tau)
    assert "wrong: 0 of 6" in legend(picture)
    assert "slow: 5 of 6" in legend(picture)
    assert " ".join(legend(picture)[-1].split()) == "left out, without a delta: rejects"


def test_a_failure_probability_for_all_rules(ds):
    picture = plots.profile(ds.isel(delta=0), delta=0.5)
    assert "wrong: 9 of 9" in legend(picture)  # fails in half of its runs: not above 0.5
    assert [text.split(":")[0] for text in legend(picture)] == RULES
    given = plots.profile(ds.sel(algorithm=["rejects"]), delta=0.1)
    rate = ds["correct"].sel(algorithm="rejects").isel(delta=0).sum("seed").values
    assert legend(given) == [f"rejects: {int((jb_low(SEEDS - rate) <= 0.1).sum())} of 9"]


def jb_low(errors):
    from scipy.stats import beta

    return np.where(errors == 0, 0.0, beta.ppf(0.025, np.maximum(errors, 1), SEEDS - errors + 1))


@pytest.mark.slow
def test_zipped_parameters_have_their_delta():
    together = jb.zip_axes("accuracy", epsilon=[0.4, 0.3], delta=[0.3, 0.2])
    swept = jb.sweep([jb.LUCB(**together), jb.UGapEc(**together)], jb.bernoulli([0.9, 0.2]), seeds=5)
    assert legend(plots.profile(swept)) == ["lucb: 2 of 2", "ugape-c: 2 of 2"]


def cells_of(axes, rows, columns):
    found = {(int(text.get_position()[1]), int(text.get_position()[0])): text for text in axes.texts}
    return [[found[row, column] for column in range(columns)] for row in range(rows)]


def test_ratios_are_numpy_s_and_bold_is_hsu_s(ds):
    ds = ds.isel(budget=0)
    picture = plots.ratios(ds)
    panels = drawn(picture)
    assert [axes.get_title() for axes in panels] == [f"allowed failure probability δ = {delta}" for delta in DELTAS]
    by_hand = ratios_by_hand(ds.sel(algorithm=SURE), SURE)
    for k, axes in enumerate(panels):
        shown = cells_of(axes, 5, 3)
        for i, rule in enumerate(SURE[:3]):
            for j in range(3):
                text = shown[i][j].get_text()
                if rule == "slow" and j == k == 0:
                    assert text.startswith("≥")
                    continue
                assert float(text) == pytest.approx(by_hand[i, j, k], rel=0.05)
                assert (text == "1") == (by_hand[i, j, k] == 1)
        assert [cell.get_text() for cell in shown[3]] == ["×"] * 3
        assert [cell.get_text() for cell in shown[4]] == ["–"] * 3
        for j in range(1, 3):
            best = jb.find_best(ds.sel(algorithm=SURE[:3]).isel(delta=k, problem=j), "pulls").among_best.values
            assert [cell[j].get_fontweight() == "bold" for cell in shown[:3]] == best.tolist()
    note = " ".join(picture._supxlabel.get_text().split())
    assert note.startswith("mean pulls, times the best rule's; bold: cannot be distinguished from the best (95%)")
    assert "×: fails more often than allowed; ≥: runs were truncated; –: no delta to be judged by" in note


def test_ratios_of_failures_and_of_summaries(ds):
    two = ds.sel(algorithm=["lucb", "rejects"]).isel(delta=0, budget=0)
    (axes,) = drawn(plots.ratios(jb.summary(two), value="failure"))
    shown = cells_of(axes, 2, 3)
    assert [cell.get_text() for cell in shown[0]] == ["1"] * 3
    assert [cell.get_text() for cell in shown[1]] == ["∞"] * 3
    assert all(cell.get_fontweight() == "normal" for row in shown for cell in row)  # a summary does not tell


def test_pictures_of_studies_are_drawn_into_given_axes(ds):
    ds = ds.isel(budget=0)
    figure = Figure(figsize=(9, 8))
    top, bottom = figure.subplots(2, 2)
    assert plots.profile(ds, ax=top[0]) is figure
    assert plots.ratios(ds, ax=bottom) is figure
    assert len(figure.axes) == 4
    assert not figure.legends
    assert figure._supxlabel is None
    assert "bold" in bottom[1].get_xlabel()
    figure.canvas.draw()
    below = bottom[1].xaxis.label.get_window_extent()  # in lines, and not beside the axes
    assert bottom[1].bbox.x0 - 1 < below.x0 < below.x1 < bottom[1].bbox.x1 + 1


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda ds: plots.profile(ds, hue="algoritm"), "did you mean 'algorithm'"),
        (lambda ds: plots.profile(ds, y="pull"), "did you mean 'pulls'"),
        (lambda ds: plots.profile(ds, delta=1.5), "delta must lie strictly between 0 and 1, got 1.5"),
        (lambda ds: plots.profile(ds, y="failure"), "the best failure rate is 0 in 18 of 18 cells"),
        (
            lambda ds: plots.profile(ds.sel(algorithm=["rejects"])),
            "no rule has a delta .* draw 'failure', not 'pulls'$",
        ),
        (lambda ds: plots.profile(ds.sel(algorithm=["wrong"])), "no rule solves one of the 6 cells"),
        (lambda ds: plots.ratios(ds), "also varies over"),
        (lambda ds: plots.ratios(ds.isel(budget=0), y="rule"), "unknown dimension 'rule'"),
        (lambda ds: plots.ratios(ds.isel(budget=0).sel(algorithm=["wrong"])), "nothing to draw"),
        (lambda ds: plots.profile(ds.drop_vars("correct")), "the runs have no 'correct'"),
        (lambda ds: plots.profile(ds.assign(reward=ds.pulls), y="reward"), "draw regret, not reward"),
    ],
)
def test_what_cannot_be_drawn_of_a_study(ds, draw, message):
    with pytest.raises(jb.UsageError, match=message) as raised:
        draw(ds)
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rules = [jb.LUCB(epsilon=0.2, delta=jb.axis([0.2, 0.1])), jb.TTUCB(delta=jb.axis([0.2, 0.1]))]
    problems = {"two": jb.bernoulli([0.9, 0.4]), "three": jb.bernoulli([0.9, 0.4, 0.3])}
    jb.sweep(rules, problems, seeds=5).to_netcdf("study.nc")
    for command in (
        ["--kind", "curve", "--panel", "problem", "--x", "delta", "--bounds", "lower-bound", "--out", "a.png"],
        ["--kind", "profile", "--delta", "0.3", "--out", "b.pdf"],
        ["--kind", "ratios", "--panel", "delta", "--out", "c.svg"],
    ):
        assert main(["plot", "study.nc", *command]) == 0, capsys.readouterr().err
        assert (tmp_path / command[-1]).stat().st_size > 1000
    assert main(["plot", "study.nc", "--kind", "phase", "--panel", "delta", "--out", "d.png"]) == 2
    assert "a phase takes no --panel" in capsys.readouterr().err


def test_a_winner_is_named_with_the_cells_in_which_others_may_be_as_good():
    """Of two rules with the same runs, the first in the list had the smallest mean pulls in all cells."""
    problems = {"x": jb.bernoulli([0.9, 0.5, 0.4]), "y": jb.bernoulli([0.9, 0.6])}
    rule = jb.UGapEc(epsilon=0.1, delta=0.1)
    twins = jb.sweep({"a": rule, "b": rule}, problems, seeds=8)
    others = jb.sweep({"a": rule, "b": jb.UniformGLR(delta=0.1)}, problems, seeds=30)
    for draw in (plots.ratios, plots.profile):
        for ds in (twins, jb.summary(twins)):
            said = draw(ds).get_suptitle().replace("\n", " ")
            assert said == "a has the smallest mean pulls in all 2 cells; others may be as good in 2"
        assert draw(others).get_suptitle() == "b has the smallest mean pulls in all 2 cells"
