"""Pictures of an axis with one value are drawn; of nothing, and of what is not there, there is one line."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection

import jaxbandits as jb
from jaxbandits.report import heatmaps

KINDS = ["curve", "quantiles", "bars", "distribution"]


def rule(**axes):
    return jb.UGapEc(**{"epsilon": 0.3, "delta": 0.1, **axes})


@pytest.fixture(scope="module")
def grids():
    arms, two = jb.bernoulli([0.8, 0.4]), jb.axis([0.3, 0.4])
    return {
        "one": jb.sweep(rule(epsilon=jb.axis([0.3])), arms, seeds=5),
        "two by one": jb.sweep(rule(epsilon=two, delta=jb.axis([0.1])), arms, seeds=5),
        "two by two": jb.sweep(rule(epsilon=two, delta=jb.axis([0.1, 0.2])), arms, seeds=5),
    }


def one_line(call, match):
    with pytest.raises(jb.UsageError, match=match) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("made", [lambda ds: ds, jb.summary], ids=["runs", "summary"])
@pytest.mark.parametrize("kind", ["curve", "quantiles", "bars"])
def test_an_axis_of_one_value_is_drawn(grids, kind, made):
    """With x="epsilon" it was a KeyError, without it there was "no dimension"."""
    draw = getattr(jb.plot, kind)
    for x in (None, "epsilon"):
        (axes,) = draw(made(grids["one"]), x=x).axes
        assert axes.get_xlabel() == "accuracy ε"


def test_the_intervals_of_an_axis_of_one_value_are_lines(grids):
    """A band has no width there, and points without their intervals were drawn."""
    known = jb.summary(grids["two by one"])
    (axes,) = jb.plot.curve(known, x="delta", y="pulls", hue="epsilon").axes
    lines = [one for one in axes.collections if isinstance(one, LineCollection)]
    drawn = [segment[:, 1] for one in lines for segment in one.get_segments()]
    expected = np.stack([known["pulls_low"], known["pulls_high"]], axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(drawn, expected)


def test_the_mean_of_one_run_at_one_value_is_a_point():
    """Its interval has no end, and a line without an end would leave nothing of the picture."""
    ds = jb.sweep(rule(delta=jb.axis([0.1])), jb.bernoulli([0.8, 0.4]), seeds=1)
    (axes,) = jb.plot.curve(ds, x="delta", y="pulls").axes
    low, high = axes.get_ylim()
    assert low < ds["pulls"].item() < high


def test_a_place_of_one_value_is_drawn_too(grids):
    ds = grids["two by one"]
    title = jb.plot.curve(grids["one"]).get_suptitle()
    assert title.startswith("Mean number of pulls of UGapEc is ")
    assert title.endswith(" at ε = 0.3")
    assert len(jb.plot.curve(ds, hue="delta").axes[0].get_lines()) == 1
    assert len(jb.plot.curve(ds, panel="delta").axes) == 1
    assert len(jb.plot.distribution(ds.isel(epsilon=0), hue="delta").axes[0].get_lines()) == 1
    assert len(jb.plot.phase(ds).axes[0].texts) == 2
    assert len(jb.plot.phase(ds, x="delta", y="epsilon").axes[0].texts) == 2


@pytest.mark.slow
def test_the_distribution_of_one_run_is_a_jump():
    """Its line had one point, and the picture was empty."""
    ds = jb.simulate(jb.SuccessiveRejects(budget=20), jb.bernoulli([0.9, 0.4]), seeds=1)
    (line,) = jb.plot.distribution(ds).axes[0].get_lines()
    assert line.get_xydata().tolist() == [[float(ds.pulls[0]), 0.0], [float(ds.pulls[0]), 1.0]]


def test_a_hue_is_not_looked_for_among_single_values(grids):
    assert jb.plot.curve(grids["two by one"]).axes[0].get_legend() is None


@pytest.mark.parametrize("kind", [*KINDS, "phase"])
def test_an_empty_selection_is_one_line(grids, kind):
    empty = grids["two by two"].sel(epsilon=[])
    one_line(lambda: getattr(jb.plot, kind)(empty), "there is nothing to draw: the selection has no value of epsilon")
    if kind != "distribution":
        one_line(lambda: getattr(jb.plot, kind)(jb.summary(empty)), "the selection has no value of epsilon")
    one_line(lambda: getattr(jb.plot, kind)(grids["two by two"].isel(seed=slice(0))), "the Dataset has no runs")


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("kind", [*KINDS, "phase"])
def test_a_metric_without_a_number_is_one_line(grids, kind):
    ds = grids["two by two" if kind == "phase" else "one"]
    nothing = ds.assign(simple_regret=ds.simple_regret * np.nan)
    name = "value" if kind == "phase" else "y"
    one_line(lambda: getattr(jb.plot, kind)(nothing, **{name: "simple_regret"}), "simple_regret is nowhere a finite")


def test_contours_have_labels_where_cells_have_no_numbers(grids, monkeypatch):
    """Labels hid the numbers of the cells."""
    ds = grids["two by two"]
    assert len(jb.plot.phase(ds, contours="steps").axes[0].texts) == len(jb.plot.phase(ds).axes[0].texts) == 4
    monkeypatch.setattr(heatmaps, "_ROOM", (1, 1, 10))
    assert not jb.plot.phase(ds).axes[0].texts
    assert jb.plot.phase(ds, contours="steps").axes[0].texts


def test_contours_and_bounds_without_their_theory_say_how_to_add_it(grids):
    ds = grids["two by two"]
    for call in (
        lambda: jb.plot.phase(ds, contours="h_epsilon"),
        lambda: jb.plot.curve(ds, x="epsilon", bounds=["h_epsilon"]),
    ):
        one_line(call, r"'h_epsilon'.*what theory says is added by jb\.with_theory\(ds, 'h_epsilon'\)")
    told = jb.with_theory(ds, "h_epsilon")
    assert "dashed: complexity" in jb.plot.phase(told, contours="h_epsilon").axes[0].get_xlabel()
    assert "dashed: decisions" in jb.plot.phase(ds, contours="steps").axes[0].get_xlabel()
    one_line(
        lambda: jb.plot.phase(told.isel(delta=[0]), contours="h_epsilon"),
        "contours need at least two values of epsilon and of delta, got 2 and 1",
    )


@pytest.mark.parametrize(("place", "name"), [("x", "epsilonn"), ("x", ["epsilon"]), ("y", ["pulls"]), ("centre", None)])
def test_names_that_are_none_are_one_line(grids, place, name):
    one_line(lambda: jb.plot.curve(grids["two by two"], **{place: name}), "unknown")


def test_a_search_without_a_step_is_one_line():
    one_line(lambda: jb.plot.tuning(None), "this is no history of jb.tune")
