"""Pictures in axes, with settings, and in the style of the user's own."""

import io

import matplotlib as mpl
import numpy as np
import pytest
from cycler import cycler
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import jaxbandits as jb
from jaxbandits.report import plots
from jaxbandits.report.style import Picture

SINGLE = ["curve", "phase", "quantiles", "distribution", "bars"]


@pytest.fixture
def history():
    rule, problems = jb.UCBE(budget=20, a=2.0), [jb.bernoulli([0.9, 0.4])] * 4
    return jb.tune(rule, problems, "error", wrt=["a"], steps=2, instances=1, seeds=20, held_out=2).history


def draw(kind, grid, **options):
    one = {"distribution": grid.isel(n=0), "bars": grid.isel(n=0)}
    return plots.KINDS[kind](one.get(kind, grid), **options)


@pytest.mark.parametrize("kind", SINGLE)
def test_given_axes_are_drawn_into_and_nothing_beside_them(kind, grid):
    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    right.plot([1, 2], [3, 4])
    before = figure.get_size_inches().tolist(), left.get_position().bounds, right.get_xlim(), len(right.get_children())
    assert draw(kind, grid, ax=left) is figure
    figure.savefig(io.BytesIO())
    after = figure.get_size_inches().tolist(), left.get_position().bounds, right.get_xlim(), len(right.get_children())
    assert after == before
    assert figure.axes == [left, right]
    assert not figure.get_suptitle()
    assert not figure.legends
    assert left.get_title()
    assert left.get_xlabel()
    assert left.get_ylabel()


def test_several_axes_are_given_one_a_panel(grid, history):
    figure = Figure()
    panels = figure.subplots(1, 2)
    assert plots.curve(grid, panel="n", ax=panels) is figure
    assert [axes.get_title() for axes in panels] == ["number of arms K = 4", "number of arms K = 8"]
    plots.curve(grid, panel="n", ax=panels, title="mine")
    assert panels[0].get_title() == "mine\nnumber of arms K = 4"
    top, bottom = Figure().subplots(2)
    assert plots.tuning(history, ax=(top, bottom), title="a search") is top.figure
    assert (top.get_title(), bottom.get_title()) == ("a search", "")
    with pytest.raises(jb.UsageError, match="ax must be 2 of matplotlib's Axes, one a panel, got Axes"):
        plots.curve(grid, panel="n", ax=panels[0])
    with pytest.raises(jb.UsageError, match="got Figure"):
        plots.curve(grid, ax=figure)
    for projection in ("polar", "3d"):
        with pytest.raises(jb.UsageError, match=f"^ax must have two straight axes, got {projection} ones$"):
            plots.curve(grid, ax=Figure().add_subplot(projection=projection))


def test_whiskers_are_seen_on_a_dark_background(grid):
    with mpl.rc_context({"text.color": "white", "axes.facecolor": "black"}):
        whiskers = draw("bars", grid).axes[0].collections[0]
    assert to_hex(whiskers.get_color()[0]) == "#ffffff"


@pytest.mark.parametrize("kind", SINGLE)
def test_sizes_of_texts_may_be_words(kind, grid):
    """`xtick.labelsize` of "small" was a TypeError where there are several panels."""
    options = {"panel": "n"} if kind == "curve" else {}
    with mpl.rc_context(dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "axes.labelsize"), "small")):
        picture = draw(kind, grid, **options)
    assert picture.axes[0].get_xticklabels()[0].get_fontsize() == pytest.approx(0.833 * mpl.rcParams["font.size"])


@pytest.mark.parametrize("kind", SINGLE)
def test_settings_of_the_user_win(kind, grid):
    theirs = {
        "figure.figsize": (7.0, 3.0), "figure.dpi": 90, "font.size": 20.0, "figure.facecolor": "black",
        "axes.prop_cycle": cycler(color=["#112233", "#445566", "#778899"]), "lines.marker": "*", "lines.linewidth": 7.0,
        "image.cmap": "magma",
    }  # fmt: skip
    with mpl.rc_context(theirs):
        picture = draw(kind, grid)
    axes = picture.axes[0]
    assert picture.get_size_inches().tolist() == [7.0, 3.0]
    assert picture.dpi == 90
    assert to_hex(picture.get_facecolor()) == "#000000"
    assert axes.xaxis.label.get_fontsize() == 20.0
    assert axes.get_xticklabels()[0].get_fontsize() == pytest.approx(20 * 11 / 12)
    if kind == "phase":
        assert axes.collections[0].get_cmap().name == "magma"
    elif kind in ("curve", "distribution"):
        line = axes.get_lines()[0]
        assert (to_hex(line.get_color()), line.get_linewidth()) == ("#112233", 7.0)
        assert kind == "distribution" or line.get_marker() == "*"
    else:
        assert to_hex(axes.patches[0].get_facecolor()) == "#112233"


def test_markers_of_the_user_s_cycle(grid):
    with mpl.rc_context({"axes.prop_cycle": cycler(color=["r", "g"]) + cycler(marker=["x", "h"])}):
        lines = plots.curve(grid).axes[0].get_lines()
    assert [line.get_marker() for line in lines] == ["x", "h"]


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[pytest.mark.slow] * (k != "curve")) for k in SINGLE])
def test_a_column_of_a_paper(kind, grid):
    before = dict(mpl.rcParams)
    picture = draw(kind, grid, style="paper")
    assert dict(mpl.rcParams) == before
    assert picture.get_figwidth() == 3.25
    assert picture.axes[0].xaxis.label.get_fontsize() == 8.0
    for form, kind_42 in (("pdf", b"/CIDFontType2"), ("ps", b"FontType 42")):
        file = io.BytesIO()
        picture.savefig(file, format=form)
        assert kind_42 in file.getvalue()
        assert b"/Type3" not in file.getvalue()
    assert dict(mpl.rcParams) == before
    assert draw(kind, grid, style="paper", width=5.0).get_figwidth() == 5.0
    with mpl.rc_context({"figure.figsize": (2.5, 2.5), "font.size": 6.0}):
        small = draw(kind, grid, style="paper")
    assert (small.get_figwidth(), small.axes[0].xaxis.label.get_fontsize()) == (2.5, 6.0)


def test_texts_of_a_paper_lie_in_the_picture(grid):
    for kind in SINGLE:
        picture = draw(kind, grid, style="paper", title="a title")
        picture.savefig(io.BytesIO())  # lays it out
        whole = picture.bbox
        for axes in picture.axes:
            box = axes.get_tightbbox()
            assert box.x0 >= whole.x0 - 1
            assert box.x1 <= whole.x1 + 1


def test_widths_and_styles_that_are_none_are_one_line(grid):
    for options, message in [
        ({"style": "papper"}, "unknown style 'papper'.*did you mean 'paper'"),
        ({"width": 0.0}, "width must be a positive number of inches, got 0.0"),
        ({"width": np.nan}, "width must be a positive number"),
        ({"width": "3"}, "width must be a number, got '3'"),
        ({"style": ["paper"]}, "unknown style of type list: it must be a text"),
        ({"x": grid}, "unknown x of type Dataset"),
        ({"title": 3}, "unknown title of type int"),
        ({"width": 3.0, "ax": Figure().subplots()}, "width is that of a new picture"),
    ]:
        with pytest.raises(jb.UsageError, match=message):
            plots.curve(grid, **options)


def test_without_settings_nothing_has_changed(grid):
    picture = plots.curve(grid)
    assert isinstance(picture, Picture)
    assert picture.get_size_inches().tolist() == [9.0, 5.2]
    assert picture.dpi == 200
    assert [line.get_marker() for line in picture.axes[0].get_lines()] == ["o", "s"]
