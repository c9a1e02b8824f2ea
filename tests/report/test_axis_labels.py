"""Labels have a meaning where it is declared, and numbers along an axis one format and one baseline."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg

import jaxbandits as jb
from jaxbandits.papers.bench import stack_summaries
from jaxbandits.report import formatting, plots
from jaxbandits.report.axis_labels import label, symbol

ARMS = jb.bernoulli([0.9, 0.4])


@jb.algorithm
class Greedy:
    """Its epsilon is a probability, and its n no number of arms."""

    epsilon: float
    n: int

    def select(self, arms, key):
        del key
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.n

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


@pytest.fixture(scope="module")
def own():
    return jb.sweep(Greedy(epsilon=jb.axis([0.1, 0.2]), n=jb.axis([4, 8])), ARMS, seeds=4)


def test_a_users_own_parameter_has_its_bare_name(own):
    """It was "accuracy ε" and "number of arms K", guessed from the names."""
    picture = plots.curve(own, x="n", y="failure", hue="epsilon")
    (axes,) = picture.axes
    assert axes.get_xlabel() == "n"
    assert axes.get_legend().get_title().get_text() == "epsilon"
    assert "K" not in picture.get_suptitle()
    assert [label(jb.summary(own), name) for name in ("epsilon", "n")] == ["epsilon", "n"]


@pytest.mark.slow
def test_the_packages_parameters_have_their_meaning():
    ds = jb.sweep(jb.UGapEc(epsilon=jb.axis([0.3, 0.4]), delta=0.1), jb.one_sparse(n=jb.axis([2, 3])), seeds=4)
    for known in (ds, jb.summary(ds), stack_summaries("rule", {"a": ds, "b": ds})):
        assert [label(known, name) for name in ("epsilon", "n")] == ["accuracy ε", "number of arms K"]
    assert [symbol(ds, name) for name in ("epsilon", "n", "other")] == ["ε", "K", "other"]
    assert label(ds.drop_attrs(), "epsilon") == "epsilon"  # nothing is known


@pytest.mark.slow
def test_one_own_rule_beside_the_packages_has_no_meaning():
    shared = jb.axis([0.3, 0.4])
    ds = jb.sweep([jb.UGapEc(epsilon=shared, delta=0.1), Greedy(epsilon=shared, n=4)], ARMS, seeds=4)
    assert label(ds, "epsilon") == "epsilon"
    zipped = jb.zip_axes("delta", epsilon=[0.3, 0.4], delta=[0.1, 0.2])
    assert label(jb.sweep(jb.UGapEc(**zipped), ARMS, seeds=4), "delta") == "delta"


def seen(axis):
    """The labels of the ticks in sight."""
    axis.axes.figure.draw_without_rendering()
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


def test_an_axis_has_one_format(make):
    """There was 100,000,000 beside 1e+10."""
    ds = make({"dof": [1.1, 1.5, 2.0, 3.0]})
    ds["pulls"] = ds["pulls"] * xr.DataArray([10**9, 10**6, 1000, 100], dims="dof")
    (axes,) = plots.curve(ds, y="pulls").axes
    assert len(seen(axes.yaxis)) > 2
    assert all(one.get_text().startswith("$10^") for one in seen(axes.yaxis))
    few = make({"dof": [1.1, 1.5, 2.0, 3.0]})
    few["pulls"] = few["pulls"] * xr.DataArray([1000, 100, 10, 1], dims="dof")
    (axes,) = plots.curve(few, y="pulls").axes
    assert not any("$" in one.get_text() for one in seen(axes.yaxis))


def test_powers_of_ten():
    numbers = [1e8, 2e-5, 2.5e9, 1.0, 0.0]
    shown = ["$10^{8}$", r"$2\cdot10^{-5}$", r"$2.5\cdot10^{9}$", "$10^{0}$", "0"]
    assert [formatting.power(number) for number in numbers] == shown


def test_bars_that_could_not_be_seen_are_dots_on_a_logarithmic_axis(make):
    """Two of four bars had no height in a picture of costs between 200 and 100,000."""
    ds = make({"algorithm": list("abcd")})
    ds["pulls"] = ds["pulls"] * xr.DataArray([1000, 500, 2, 1], dims="algorithm")
    (axes,) = plots.bars(ds, y="pulls").axes
    assert axes.get_yscale() == "log"
    assert not axes.patches
    (line,) = axes.get_lines()
    np.testing.assert_allclose(line.get_ydata(), ds["pulls"].mean("seed"))
    (axes,) = plots.bars(make({"algorithm": list("abcd")}), y="pulls").axes
    assert (axes.get_yscale(), len(axes.patches)) == ("linear", 4)


@pytest.mark.slow
def test_names_of_columns_have_one_baseline():
    """Without a letter that rises above the others, `man` sat higher than `lid`."""
    problems = {"lid": ARMS, "man": jb.bernoulli([0.9, 0.4, 0.4])}
    ds = jb.sweep([jb.LUCB(epsilon=0.3, delta=0.1), jb.UGapEc(epsilon=0.3, delta=0.1)], problems, seeds=4)
    picture = plots.ratios(ds)
    FigureCanvasAgg(picture).draw()
    ink = np.asarray(picture.canvas.buffer_rgba())[::-1, :, :3].min(-1) < 128
    lowest = []
    for text in picture.axes[0].get_xticklabels():
        box = text.get_window_extent()
        rows = ink[int(box.y0) - 1 : int(box.y1) + 1, int(box.x0) : int(box.x1) + 1].any(1)
        lowest.append(int(box.y0) - 1 + int(np.argmax(rows)))
    assert abs(lowest[0] - lowest[1]) <= 1


def test_numbers_below_neighbouring_axes_have_a_gap(make):
    """The last number of a panel nearly touched the first of the next."""
    picture = plots.curve(make({"delta": [0.001, 0.01, 0.1], "n": [2, 3, 4]}), x="delta", panel="n")
    boxes = [[one.get_window_extent() for one in seen(axes.xaxis)] for axes in picture.axes]
    for left, right in itertools.pairwise(boxes):
        height = left[-1].height
        assert min(box.x0 for box in right) - max(box.x1 for box in left) > 0.8 * height


def test_a_word_above_a_narrow_panel_is_not_broken(make):
    """There was "means = one-g" above "ood"."""
    ds = make({"k": [2, 3], "weights": ["one-good", "power", "flat"]})
    picture = plots.curve(ds, x="k", panel="weights", width=5.0)
    assert [axes.get_title() for axes in picture.axes] == ["one-good", "power", "flat"]
    wide = plots.curve(ds, x="k", panel="weights")
    assert [axes.get_title() for axes in wide.axes] == ["weights = one-good", "weights = power", "weights = flat"]


def test_a_metric_is_called_by_its_long_name_and_unit():
    """Pictures had the bare name of the variable."""
    wait = jb.Metric(lambda problem, state, returned: state.time * 1.5, long_name="waiting time", unit="ms")
    ds = jb.sweep(jb.SequentialHalving(budget=jb.axis([20, 80])), jb.bernoulli([0.6, 0.5]), 10, metrics={"wait": wait})
    for found in (ds, jb.summary(ds)):
        (axes,) = plots.curve(found, y="wait").axes
        assert axes.get_ylabel() == "mean waiting time (ms)"
        assert axes.figure.get_suptitle().startswith("Mean waiting time (ms) of SequentialHalving grows from 30 to 120")
