"""Every kind of picture: what is in it, and one clear error for what cannot be drawn."""

import io
import itertools
import warnings

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import jaxbandits as jb
from jaxbandits.report import plots
from jaxbandits.report.summaries import summary


def axes_of(picture):
    assert isinstance(picture, Figure)
    picture.canvas.draw()  # lays out and renders every artist
    axes = picture.axes[0]
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert picture.get_suptitle()
    return axes


def labelled_lines(axes):
    return [line for line in axes.get_lines() if not line.get_label().startswith("_")]


def test_kinds_are_the_functions():
    assert set(plots.KINDS) == {
        "curve", "phase", "quantiles", "distribution", "bars", "profile", "ratios", "tuning"
    }  # fmt: skip
    assert set(plots.__all__) == {"KINDS", *plots.KINDS}


def test_curve_draws_a_line_and_a_band_per_hue(grid):
    axes = axes_of(plots.curve(grid))
    assert axes.get_xlabel() == "accuracy ε"
    assert axes.get_ylabel() == "mean pulls"
    assert [line.get_label() for line in labelled_lines(axes)] == ["4", "8"]
    assert len(axes.collections) == 2
    assert axes.get_legend().get_title().get_text() == "number of arms K"
    np.testing.assert_allclose(labelled_lines(axes)[0].get_ydata(), grid["pulls"].mean("seed").isel(n=0))


def test_curve_takes_a_summary_and_any_metric(grid):
    for y in ("failure", "cost", "simple_regret"):
        assert len(labelled_lines(axes_of(plots.curve(summary(grid), x="n", y=y)))) == 3


def test_curve_prefers_a_budget_and_scales_by_the_numbers(make):
    axes = axes_of(plots.curve(make({"eta": [1, 2, 4, 8], "budget": [100, 1000, 10_000]})))
    assert axes.get_xlabel() == "budget (pulls)"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes_of(plots.curve(make({"m": [1, 2, 3]}))).get_xscale() == "linear"


def test_curve_over_words(make):
    axes = axes_of(plots.curve(make({"algorithm": ["UGapEc", "LUCB"]})))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["UGapEc", "LUCB"]


def test_curve_draws_bounds(grid):
    ds = grid.assign(bound=(("epsilon", "n"), np.ones((3, 2))), one=("epsilon", [1.0, 2.0, 3.0]))
    axes = axes_of(plots.curve(ds, bounds=("bound", "one")))
    assert sum(line.is_dashed() for line in axes.get_lines()) == 2  # one that both lines share is drawn once
    ds["bound"][:, 1] = 2.0
    apart = axes_of(plots.curve(ds, bounds=("bound", "one")))
    assert sum(line.is_dashed() for line in apart.get_lines()) == 3
    assert [line.get_label() for line in labelled_lines(axes)] == ["4", "8", "bound", "one"]


def test_curve_marks_runs_stopped_early(grid):
    grid["status"][0, 0, 0] = 1
    markers = [line.get_marker() for line in axes_of(plots.curve(grid)).get_lines()]
    assert "$↑$" in markers


@pytest.fixture
def cut(make):
    """Runs with 1 to 40 pulls, truncated at 30 where epsilon is 0.05; these have larger regrets."""
    ds = make({"epsilon": [0.05, 0.1]})
    ds["pulls"][:] = np.arange(40) + 1
    ds["pulls"][0] = np.minimum(ds["pulls"][0], 30)
    ds["status"][0, 30:] = 1
    return ds


def arrows_of(axes, arrow="↑"):
    return [line.get_xydata().tolist() for line in axes.get_lines() if line.get_marker() == f"${arrow}$"]


def test_metrics_that_do_not_grow_with_the_pulls_are_no_lower_bounds(cut, make):
    """A regret of truncated runs was `≥0.05`, with an arrow up and half of its band."""
    axes = axes_of(plots.curve(cut, y="simple_regret"))
    assert arrows_of(axes) == []
    assert axes.collections[0].get_datalim(axes.transData).y1 == pytest.approx(summary(cut)["simple_regret_high"].max())
    both = make({"epsilon": [0.05, 0.1], "n": [4, 8]})
    both["status"][0, 0, 0] = 1
    for value, count in (("simple_regret", 0), ("pulls", 1)):
        texts = [text.get_text() for text in axes_of(plots.phase(both, value=value)).texts]
        assert sum("≥" in text for text in texts) == count


def test_curve_of_medians_marks_the_open_end_of_its_band(cut):
    """A quarter of the runs were truncated: the band ended at the largest number of pulls, without a mark."""
    ends = summary(cut)["pulls_q90"].values
    assert ends[0] == 30
    assert arrows_of(axes_of(plots.curve(cut, centre="median"))) == [[[0.05, 30]]]
    cut["status"][:] = 0
    assert arrows_of(axes_of(plots.curve(cut, centre="median"))) == []


def test_quantiles_mark_lower_bounds(cut):
    means = summary(cut)["pulls_mean"].values
    axes = axes_of(plots.quantiles(cut))
    assert arrows_of(axes) == [[[0, 30]], [[0, means[0]]]]
    assert "needs at least" in axes.figure.get_suptitle()
    cut["status"][0] = 1  # not even the fastest tenth is known
    cut["pulls"][0] = 30
    assert plots.quantiles(cut.isel(epsilon=[0])).get_suptitle() == "Pulls of the middle 80% of runs"


def test_distribution_ends_at_the_share_of_runs_that_ended(cut):
    """The line rose to 1 at the limit, and the title had the limit as a number that nine in ten runs take at most."""
    axes = axes_of(plots.distribution(cut, hue="epsilon"))
    open_line, whole = labelled_lines(axes)
    assert open_line.get_xydata()[[29, -1]].tolist() == [[30, 0.75]] * 2
    assert whole.get_xydata()[-1].tolist() == [40, 1]
    assert arrows_of(axes, "→") == [[[30, 0.75]]]
    assert axes.get_ylabel() == "share of runs that ended, at or below"
    assert plots.distribution(cut, y="simple_regret").axes[0].get_ylabel() == "share of runs at or below"
    cut["status"][0] = 1
    axes = axes_of(plots.distribution(cut.isel(epsilon=0)))
    assert arrows_of(axes, "→") == axes.get_lines()[-1].get_xydata()[None].tolist() == [[[30, 0]]]


def test_bars_mark_lower_bounds(cut):
    """A whisker was cut at the mean, without a mark."""
    means = summary(cut)["pulls_mean"].values
    assert arrows_of(axes_of(plots.bars(cut, y="pulls"))) == [[[0, means[0]]]]
    assert arrows_of(axes_of(plots.bars(cut, y="simple_regret"))) == []


def test_curve_of_medians_marks_those_that_were_stopped(grid):
    runs = grid.sizes["seed"]
    grid["pulls"][:] = np.arange(runs) + 1.0
    grid["status"][0, 0, runs - runs // 2 :] = 1  # half: the median is a lower bound
    grid["status"][1, 0, runs - runs // 2 + 1 :] = 1
    axes = axes_of(plots.curve(grid, centre="median"))
    assert axes.get_ylabel() == "median pulls"
    assert "Median number of pulls" in axes.figure.get_suptitle()
    assert arrows_of(axes) == [[[0.05, 0.75 * runs]], [[0.1, runs]]]  # of the second the upper end alone
    low, high = axes.collections[0].get_datalim(axes.transData).intervaly
    # At least as much as the longest run, where one was stopped.
    assert (low, high) == pytest.approx((1 + 0.1 * (runs - 1), runs))


def test_curve_of_an_estimate_from_all_runs_speaks_of_no_mean(make):
    known = summary(make({"n": [4, 8, 16]})).drop_vars("pulls_sd").rename(
        pulls_mean="exponent_mean", pulls_low="exponent_low", pulls_high="exponent_high"
    )  # fmt: skip
    known["exponent_mean"].attrs["label"] = "exponent of B"
    assert axes_of(plots.curve(known, y="exponent")).get_ylabel() == "exponent of B"


def test_curve_shades_a_region_and_leaves_far_bounds_out_of_sight(make):
    ds = make({"n": [4, 8, 16]}).assign(bound=("n", [10.0, 1e4, 1e30]))
    ds["pulls"][0] = 1.0  # spans decades
    axes = axes_of(plots.curve(ds, bounds=("bound",), shaded=(4.0, 8.0, "here")))
    assert "here" in [text.get_text() for text in axes.get_legend().get_texts()]
    measured = float(ds["pulls"].mean("seed").max())
    assert axes.get_ylim()[1] == pytest.approx(1e6 * measured)


def test_ticks_stand_at_the_values_only_where_there_is_room(make):
    def ticks(values):
        return axes_of(plots.curve(make({"dof": values}))).get_xticks().tolist()

    assert ticks([1.1, 1.5, 2.0]) == [1.1, 1.5, 2.0]
    assert ticks([1.1, 1.15, 2.0]) != [1.1, 1.15, 2.0]


@pytest.mark.parametrize(
    "budgets", [[20_000, 100_000, 1_000_000, 10_000_000], [100, 1000, 10_000], [5000, 20_000, 50_000]]
)
def test_tick_texts_of_narrow_panels_do_not_touch(make, budgets):
    picture = plots.curve(make({"n": [10, 20, 50], "budget": budgets}), panel="n")
    picture.canvas.draw()
    for axes in picture.axes:
        low, high = axes.get_xlim()
        seen = [t for t in axes.get_xticklabels() if t.get_text() and low <= t.get_position()[0] <= high]
        boxes = [t.get_window_extent() for t in seen]
        assert len(boxes) >= 2
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


@pytest.mark.parametrize("kind", [plots.bars, plots.quantiles])
def test_texts_of_many_values_do_not_touch(make, kind):
    """Those of 200 numbers were a black line."""

    def texts_of(dims):
        picture = kind(make(dims, seeds=3), y="pulls")
        picture.canvas.draw()
        texts = picture.axes[0].get_xticklabels()
        for left, right in itertools.pairwise(text.get_window_extent() for text in texts):
            assert left.x1 < right.x0
        return {int(text.get_position()[0]): (text.get_text(), text.get_rotation()) for text in texts}

    numbers = texts_of({"budget": list(range(1000, 201_000, 1000))})
    assert len(numbers) >= 8
    assert numbers == {place: (f"{1000 * (place + 1):,}", 0.0) for place in numbers}
    names = [f"algorithm-number-{i}" for i in range(25)]
    assert texts_of({"algorithm": names}) == {place: (name, 90.0) for place, name in enumerate(names)}
    assert texts_of({"algorithm": ["one", "two"]}) == {0: ("one", 0.0), 1: ("two", 0.0)}


@pytest.mark.parametrize("style", [None, "paper"])
def test_long_names_leave_room_for_the_picture(make, style):
    """They were cut at the edge of the picture, and the layout was given up with a warning."""
    names = ["LUCB with Hoeffding's radius, as in the paper", "SR", "a rule with a name of many words, " * 9, "UGapEc"]
    picture = plots.bars(make({"algorithm": names}), y="pulls", title="", style=style)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture.savefig(io.BytesIO(), format="png")
    axes = picture.axes[0]
    assert axes.bbox.height > 0.25 * picture.bbox.height
    texts = [text.get_window_extent() for text in axes.get_xticklabels()]
    assert all(text.y0 >= 0 for text in texts)
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(texts))
    assert [text.get_text()[:9] for text in axes.get_xticklabels()] == ["LUCB with", "SR", "a rule wi", "UGapEc"]


def test_curve_marks_a_failure_rate_of_zero_on_a_logarithmic_scale(make):
    ds = make({"budget": [100, 1000, 10_000]}, seeds=1000)
    ds["correct"][0], ds["correct"][1], ds["correct"][2] = False, True, True
    ds["correct"][1, :2] = False
    axes = axes_of(plots.curve(ds, y="failure"))
    assert axes.get_yscale() == "log"
    marked, named = [line for line in axes.get_lines() if line.get_marker() == "v"]
    assert (marked.get_xdata().tolist(), marked.get_ydata().tolist()) == ([10_000], [1 / 1000])
    assert marked.get_markerfacecolor() == "white"
    (whisker,) = axes.collections[-1].get_segments()  # to the upper end of the interval
    assert whisker[:, 1] == pytest.approx([1 / 1000, float(summary(ds)["failure_high"][2])])
    assert axes.get_ylim()[0] < 1 / 1000
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [named.get_label()] == ["< 1/1,000: no error"]


def test_curve_marks_a_mean_of_zero_on_a_logarithmic_scale(make):
    """It was not in the picture, which had a box below the lowest value in its place."""
    ds = make({"n": [4, 8, 16], "budget": [100, 1000, 10_000]})
    ds["simple_regret"][:] = 0.0
    ds["simple_regret"][0, :, 0] = [10.0, 1.0, 0.1]
    axes = axes_of(plots.curve(ds, x="budget", y="simple_regret", hue="n"))
    assert axes.get_yscale() == "log"
    *marked, named = [line for line in axes.get_lines() if line.get_marker() == "v"]
    lowest = ds["simple_regret"].mean("seed").values[0, -1] / 10
    assert [line.get_ydata().tolist() for line in marked] == [pytest.approx([lowest] * 3)] * 2
    assert axes.get_ylim()[0] < lowest
    assert named.get_label() == "0"
    bands = [band.get_paths()[0].get_extents() for band in axes.collections if hasattr(band, "get_paths")]
    assert all(band.y0 >= lowest * (1 - 1e-6) for band in bands)


def test_negative_means_are_drawn_too(make):
    """The scale was that of the positive ones, and the others were not in the picture."""
    ds = make({"budget": [100, 1000, 10_000]}).assign(gain=lambda ds: ds["pulls"] * 0.0)
    ds["gain"][:] = np.asarray([-5.0, 1.0, 100.0])[:, None]
    axes = axes_of(plots.curve(ds, y="gain"))
    assert axes.get_yscale() == "linear"
    assert axes.get_lines()[0].get_ydata().tolist() == [-5.0, 1.0, 100.0]


def test_zeros_of_several_curves_do_not_hide_each_other(make):
    ds = make({"eta": [1, 2, 4], "budget": [100, 1000]}, seeds=1000)
    ds["correct"][:, 0], ds["correct"][:, 1] = False, True
    ds["correct"][0, 1, :5] = False
    axes = axes_of(plots.curve(ds, x="budget", y="failure"))
    marked = [line for line in axes.get_lines() if line.get_marker() == "v" and line.get_xdata().size]
    places = [line.get_transform().transform(line.get_xydata())[0] for line in marked]
    assert len(places) == 2
    assert abs(places[0][0] - places[1][0]) >= 0.05 * axes.figure.dpi
    assert places[0][1] == pytest.approx(places[1][1])


def test_phase_has_a_cell_and_a_number_per_cell(grid):
    grid["status"][2, 1, 0] = 1
    picture = plots.phase(grid, x="n", y="epsilon")
    axes = axes_of(picture)
    assert axes.collections[0].get_array().shape == (3, 2)
    assert len(axes.texts) == 6
    assert sum(text.get_text().startswith("≥") for text in axes.texts) == 1
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("number of arms K", "accuracy ε")
    assert "mean pulls" in picture.axes[1].get_ylabel()
    assert isinstance(plots.phase(grid, value="failure"), Figure)


def test_numbers_of_cells_without_a_colour_are_seen(grid):
    """They were white on white, with a warning of NumPy's."""
    ds = grid.assign(cost=grid["cost"].copy())
    ds["cost"][0, 0], ds["cost"][1, 0] = np.inf, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = axes_of(plots.phase(ds, x="n", y="epsilon", value="cost"))
    inks = {text.get_text(): text.get_color() for text in axes.texts}
    assert len(inks) == 6
    assert inks.pop("∞") == inks.pop("–") == "#222222"
    assert set(inks.values()) == {"white", "black"}


def test_quantiles_that_are_infinite_are_arrows(cut):
    """Matplotlib was given infinite bars, and warned of invalid values."""
    ends = np.where(np.arange(cut.sizes["seed"]) % 4 == 0, np.inf, 2.0)
    axes = axes_of(plots.quantiles(cut.assign(ratio=0 * cut["pulls"] + ends), y="ratio"))
    axes.figure.canvas.draw()
    assert arrows_of(axes) == [[[0, 2], [1, 2]]] * 2  # of the upper ends and of the means


def test_quantiles_have_a_bar_per_cell(grid):
    axes = axes_of(plots.quantiles(grid, x="epsilon"))
    assert len(axes.patches) == 6
    np.testing.assert_allclose(axes.patches[0].get_y(), summary(grid)["pulls_q10"].values[0, 0])
    assert len(labelled_lines(axes)) == 0
    assert len(axes.get_legend().get_texts()) == 2


def test_distribution_has_a_step_per_run(make):
    axes = axes_of(plots.distribution(make({"n": [4, 8, 16]})))
    assert len(labelled_lines(axes)) == 3
    assert len(axes.collections) == 3
    alone = axes_of(plots.distribution(make({}, seeds=1000)))
    assert alone.get_legend() is None
    assert len(alone.get_lines()[0].get_xdata()) <= 400


def test_bars_have_whiskers_groups_and_a_reference(make):
    ds = make({"bar": ["a", "b", "c"]}).assign_coords(method=("bar", ["one", "two", "two"]))
    ds["published"] = ("bar", [0.1, 0.2, 0.3], {"long_name": "as printed"})
    axes = axes_of(plots.bars(ds, group="method", reference="published", title="a title"))
    assert len(axes.patches) == 3
    assert len(axes.collections[0].get_segments()) == 3
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two", "as printed"]


def test_a_picture_shows_itself(make):
    assert plots.curve(make({"n": [4, 8]}))._repr_png_().startswith(b"\x89PNG")


def test_no_global_state_is_touched(grid):
    before = dict(matplotlib.rcParams)
    plots.phase(grid)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda ds: plots.curve(ds, x="epsilo"), "did you mean 'epsilon'"),
        (lambda ds: plots.curve(ds, y="pull"), "did you mean 'pulls'"),
        (lambda ds: plots.curve(ds, bounds=["bound"]), "unknown bound"),
        (lambda ds: plots.curve(ds, centre="medain"), "did you mean 'median'"),
        (lambda ds: plots.curve(ds, y="failure", centre="median"), "no median"),
        (lambda ds: plots.curve(ds, x="n", hue="n"), "two places"),
        (lambda ds: plots.curve(ds.isel(epsilon=0, n=0, drop=True)), "needs a dimension"),
        (lambda ds: plots.curve(ds.isel(epsilon=0, n=0, drop=True), x="n"), "no dimension 'n'"),
        (lambda ds: plots.phase(ds.isel(n=0)), "needs a dimension with several values for y"),
        (lambda ds: plots.phase(ds, x="seed"), "unknown dimension 'seed'"),
        (lambda ds: plots.distribution(ds), "also varies over n"),
        (lambda ds: plots.distribution(summary(ds)), "summary"),
        (lambda ds: plots.distribution(ds, y="failure"), "no distribution"),
        (lambda ds: plots.quantiles(ds, y="failure"), "no quantiles"),
        (lambda ds: plots.curve(ds.assign(at=ds.pulls.expand_dims(arm=3)), y="at"), "at has a number for each arm"),
        (lambda ds: jb.table(ds.assign(at=ds.pulls.expand_dims(arm=3)), value="at"), "at has a number for each arm"),
        (lambda ds: plots.bars(ds), "also varies over"),
        (lambda ds: plots.bars(ds.isel(n=0), reference="published"), "unknown variable"),
        (lambda ds: plots.curve(ds.drop_dims("seed")), "Dataset of runs"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(grid, draw, message):
    with pytest.raises(jb.UsageError, match=message) as raised:
        draw(grid)
    assert "\n" not in str(raised.value)


def test_too_many_hues(make):
    with pytest.raises(jb.UsageError, match="too many"):
        plots.curve(make({"epsilon": list(range(1, 20)), "n": list(range(2, 14))}))
