"""How many seeds are needed: the interval at that number has the wanted width, at one seed less it has not."""

import numpy as np
import pytest
import xarray as xr
from scipy import special, stats

import jaxbandits as jb
from jaxbandits.report.intervals import clopper_pearson
from jaxbandits.report.paired_intervals import score_interval


@pytest.fixture
def runs():
    rng = np.random.default_rng(0)
    names = ("algorithm", "seed")
    pulls = rng.gamma(4, 25, 40) + rng.gamma(4, 5, (2, 40))
    correct = np.stack([np.arange(40) >= 4, np.arange(40) >= 1])
    variables = {"pulls": (names, pulls), "correct": (names, correct), "status": (names, np.zeros((2, 40), np.int8))}
    return xr.Dataset(variables, {"algorithm": ["a", "b"]})


def t_half_width(sd, n):
    return stats.t.ppf(0.975, n - 1) * sd / np.sqrt(n)


@pytest.mark.parametrize("half_width", [0.5, 3.0, 20.0, 1000.0])
def test_of_a_mean(runs, half_width):
    found = jb.seeds_needed(runs, "pulls", half_width)
    for label, n in zip("ab", found.values, strict=True):
        sd = runs["pulls"].sel(algorithm=label).values.std(ddof=1)
        assert t_half_width(sd, n) <= half_width
        assert n == 2 or t_half_width(sd, n - 1) > half_width


def test_of_a_paired_difference(runs):
    found = jb.seeds_needed(runs, "pulls", 0.5, along="algorithm", to="b")
    assert found["algorithm"].values.tolist() == ["a"]
    sd = (runs["pulls"][0] - runs["pulls"][1]).values.std(ddof=1)
    n = found.item()
    assert t_half_width(sd, n) <= 0.5 < t_half_width(sd, n - 1)
    assert n < 0.5 * jb.seeds_needed(runs, "pulls", 0.5)[0]


def test_of_a_failure_rate(runs):
    n = jb.seeds_needed(runs, "failure", 0.02)[0].item()
    rate = 5 / 42  # one error and one success more
    ends = [special.betaincinv(rate * n + one, n - rate * n + 1 - one, p) for one, p in ((0, 0.025), (1, 0.975))]
    assert (ends[1] - ends[0]) / 2 <= 0.02
    low, high = clopper_pearson(round(rate * n), n)
    assert (high - low) / 2 == pytest.approx(0.02, rel=0.01)


def test_of_a_difference_of_failure_rates(runs):
    n = jb.seeds_needed(runs, "failure", 0.05, along="algorithm", to="b").item()
    p, q = 3.5 / 42, 0.5 / 42

    def half(n):
        low, high = score_interval(p * n, q * n, float(n), 0.025)
        return (high - low) / 2

    assert half(n) <= 0.05 < half(n - 1)


def test_no_error_yet_is_no_promise(runs):
    none = runs.assign(correct=runs["correct"] | True)
    assert (jb.seeds_needed(none, "failure", 0.001) > 10_000).all()


def test_the_number_is_what_it_takes(runs):
    # At the number of seeds, new runs have intervals of that half width, up to the spread of a standard deviation.
    n = int(jb.seeds_needed(runs, "pulls", 2.0)[0].item())
    rng = np.random.default_rng(1)
    more = xr.Dataset({"pulls": ("seed", rng.choice(runs["pulls"][0].values, n))})
    found = jb.summary(more)
    assert (found["pulls_high"] - found["pulls_mean"]).item() == pytest.approx(2.0, rel=0.15)


def test_where_there_is_no_number(runs):
    runs["status"][0, 0] = 1
    assert jb.seeds_needed(runs, "pulls", 1.0)[0] == np.inf
    assert np.isfinite(jb.seeds_needed(runs, "pulls", 1.0)[1])
    assert jb.seeds_needed(runs, "pulls", 1.0, along="algorithm", to="b").item() == np.inf
    assert np.isfinite(jb.seeds_needed(runs, "failure", 0.01)).all()
    for value in ("pulls", "failure"):
        assert np.isnan(jb.seeds_needed(runs.isel(seed=[1]), value, 1.0)).all()
        assert np.isnan(jb.seeds_needed(runs.isel(seed=[1]), value, 1.0, "algorithm", "b")).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"half_width": 0}, "half_width must be positive and finite, got 0"),
        ({"half_width": np.nan}, "half_width must be positive and finite"),
        ({"half_width": "small"}, "half_width must be a number"),
        ({"half_width": 1, "to": "a"}, "give the dimension as along"),
        ({"half_width": 1, "along": "algorithm", "to": "c"}, "unknown value of algorithm 'c'"),
        ({"half_width": 1, "level": 1.5}, "level must lie strictly between 0 and 1"),
    ],
)
def test_bad_input_is_refused_in_one_line(runs, arguments, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.seeds_needed(runs, "pulls", **arguments)
    assert "\n" not in str(error.value)


def test_labelled_runs_are_compared(runs):
    """Without `along` it said that a Dataset is needed."""
    labelled = {"a": runs.isel(algorithm=0, drop=True), "b": runs.isel(algorithm=1, drop=True)}
    with pytest.raises(jb.UsageError, match='name the dimension of the labels, along="algorithm"'):
        jb.seeds_needed(labelled, "pulls", 1.0)
    assert jb.seeds_needed(labelled, "pulls", 1.0, along="algorithm").item() > 1
