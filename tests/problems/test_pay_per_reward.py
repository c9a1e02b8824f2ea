"""Problems that pay per reward, and heads of infinitely many arms."""

import numpy as np
import pytest
from scipy import special

import jaxbandits as jb
from jaxbandits.engine.binding import accept
from jaxbandits.problems.instances.ppr_instances import UNSEEN
from jaxbandits.sweeps.spec import describe, parse_problem


def test_weights():
    np.testing.assert_allclose(jb.ppr("one-good", k=5, w=1.5).mean, [0.5] + [0.25] * 4)
    np.testing.assert_allclose(jb.ppr("flat", k=5, w=1.5).mean, [0.3] * 5)
    power = np.asarray(jb.ppr("power", k=50, w=2.0).mean, np.float64)
    np.testing.assert_allclose(power * np.arange(1, 51), np.full(50, power[0]), rtol=1e-6)
    assert power.sum() == pytest.approx(2)
    for pulls, v in (("independent", 1), ("one-click", 1), ("blocks", 7)):
        problem = jb.ppr("power", k=50, w=0.9, pulls=pulls, block=4)
        np.testing.assert_allclose(problem.mean, power * 0.45, rtol=1e-6)
        assert (problem.correlation, problem.costs.price) == (v, None)


@pytest.mark.parametrize(
    "problem",
    [
        jb.ppr("power", k=30, w=1 / 3),
        jb.ppr("one-good", k=7, w=1.0, pulls="one-click"),
        jb.ppr("flat", k=7, w=2.0, pulls="blocks", block=3),
        jb.ppr_unbounded("geometric", w=0.3, ratio=0.7),
        jb.ppr_unbounded(exponent=5, first_pulls=2e4),
        jb.with_costs(jb.ppr("flat", k=3, w=1.0), [1.0, 0.1, 0.0], random=True),
        jb.with_costs(jb.bernoulli([0.5, 0.4], name="pprivate"), "reward"),
        jb.with_costs(jb.one_click([0.5, 0.3]), 2.0),
        jb.blocks([0.5, 0.3, 0.1], 2),
    ],
    ids=lambda problem: problem.name,
)
def test_a_problem_is_rebuilt_from_its_spec(problem):
    from jaxbandits.sweeps.spec import build

    _, again, _ = build(describe(accept(jb.Uniform(budget=99)), problem, {}))
    np.testing.assert_array_equal(again.mean, problem.mean)
    assert type(again) is type(problem)
    assert again.correlation == problem.correlation
    assert getattr(again, "beyond", None) == getattr(problem, "beyond", None)
    assert (again.costs is None) == (problem.costs is None)
    if problem.costs is not None:
        assert again.costs.random == problem.costs.random
        assert (again.costs.price is None) == (problem.costs.price is None)
        if problem.costs.price is not None:
            np.testing.assert_array_equal(again.costs.price, problem.costs.price)


def test_what_lies_beyond_the_head():
    zipf = jb.ppr_unbounded(exponent=4, w=0.8)
    tail = special.zeta(4, zipf.arms + 1) / special.zeta(4)
    assert zipf.beyond == pytest.approx(0.8 * tail, rel=1e-9)
    assert float(np.sum(np.asarray(zipf.mean, np.float64))) + zipf.beyond == pytest.approx(0.8, rel=1e-6)
    geometric = jb.ppr_unbounded("geometric", w=2.0, ratio=0.9)
    index = np.arange(geometric.arms + 1, geometric.arms + 2000)
    assert geometric.beyond == pytest.approx(2 * np.sum(0.1 / 0.9 * 0.9**index), rel=1e-9)
    np.testing.assert_allclose(geometric.mean[:3], [0.2, 0.18, 0.162], rtol=1e-6)
    for problem in (zipf, geometric):
        assert problem.beyond * 1e5 <= UNSEEN
        assert jb.MABPPR(epsilon=0.2, delta=0.1).resolved(problem).unseen(problem) < UNSEEN


@pytest.mark.slow
def test_a_result_says_what_it_did_not_see():
    data = jb.simulate(jb.MABPPR(epsilon=0.5, delta=0.1), jb.ppr_unbounded("geometric", first_pulls=3000), seeds=20)
    assert 0 < data.attrs["unseen"] < UNSEEN
    assert (data.status == 0).all()
    assert bool(data.correct.all())
    again = jb.repeat(data)
    np.testing.assert_array_equal(again.cost, data.cost)


BAD = [
    (lambda: jb.ppr("one-god"), "did you mean 'one-good'"),
    (lambda: jb.ppr("flat", pulls="oneclick"), "did you mean 'one-click'"),
    (lambda: jb.ppr("flat", k=1), "k must be a whole number from 2 to 8,388,608"),
    (lambda: jb.ppr("flat", k=2, w=2.5), "mean of 1.25: at most 1"),
    (lambda: jb.ppr("one-good", w=0.4), "at least 1/2"),
    (lambda: jb.ppr("flat", w=float("nan")), "positive and finite"),
    (lambda: jb.ppr("flat", w=2.0, pulls="one-click"), "at most 1, not 2"),
    (lambda: jb.ppr("flat", pulls="blocks", block=float("nan")), "size of a block"),
    (lambda: jb.ppr_unbounded("zip"), "did you mean 'zipf'"),
    (lambda: jb.ppr_unbounded(exponent=1.0), "exponent must be .*, or the sum of the means diverges"),
    (lambda: jb.ppr_unbounded(exponent=float("nan")), "diverges"),
    (lambda: jb.ppr_unbounded(exponent=1.5), "lighter tail, or smaller first_pulls"),
    (lambda: jb.ppr_unbounded("geometric", ratio=1.0), "ratio must lie strictly between 0 and 1"),
    (lambda: jb.ppr_unbounded("geometric", ratio=0.1, w=2.0), "first mean is 1.8, above 1"),
    (lambda: jb.ppr_unbounded(w=-1.0), "positive and finite, got -1"),
    (lambda: parse_problem("ppr-unbounded:geometric,ratio=2"), "ratio must lie strictly between 0 and 1"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input(make, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
