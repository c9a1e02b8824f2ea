"""Heavy-tailed families: their moments by quadrature, their draws by their laws and by what decides: the tails."""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

import jaxbandits as jb
from jaxbandits.random.threefry import fine_uniform, turn_cosine

LEVEL = 1e-8  # of every p-value below, of a fixed seed
FAMILIES = {
    "student-t": (jb.student_t([0.5, -2.0], [3.0, 1.6], [1.0, 0.4]), [stats.t(3, 0.5), stats.t(1.6, -2.0, 0.4)]),
    "student-t, many": (jb.student_t([0.0, 1.0], 1e6), [stats.t(1e6), stats.t(1e6, 1)]),
    "pareto": (jb.pareto([2.0, 0.3], [2.5, 1.2]), [stats.pareto(2.5, scale=1.2), stats.pareto(1.2, scale=0.05)]),
    "log-normal": (jb.log_normal([0.0, -1.0], [1.0, 0.3]), [stats.lognorm(1.0), stats.lognorm(0.3, scale=np.exp(-1))]),
    "weibull": (jb.weibull([1.0, 2.0], [0.5, 1.5]), [stats.weibull_min(0.5), stats.weibull_min(1.5, scale=2)]),
}
#: Whose moments are found as another's are.
SAME = ("student-t, many", "log-normal")
every_family = pytest.mark.parametrize("name", FAMILIES)


def draws(problem, count, seed=0):
    keys = jax.random.split(jax.random.key(seed), count)
    wide = jax.tree.map(lambda leaf: leaf[:, None], problem)
    return np.asarray(jax.jit(lambda keys: wide.rewards(keys, 3))(keys), np.float64)


@every_family
def test_draws_have_the_law(name):
    problem, laws = FAMILIES[name]
    for sample, law in zip(draws(problem, 100_000), laws, strict=True):
        assert stats.kstest(sample, law.cdf).pvalue > LEVEL


def test_symmetric_pareto_draws():
    sample = draws(jb.symmetric_pareto([1.0, 0.0], 1.5, 0.5), 100_000)[0] - 1
    assert stats.kstest(np.abs(sample), stats.pareto(1.5, scale=0.5).cdf).pvalue > LEVEL
    assert stats.binomtest(int((sample > 0).sum()), sample.size).pvalue > LEVEL


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SAME)) for n in FAMILIES])
def test_moments_are_those_of_scipy(name):
    problem, laws = FAMILIES[name]
    for p in (1.1, 1.5, 2.0):
        for central in (False, True):
            found = problem.moments(p, central=central)
            for value, law, tail, mean in zip(found, laws, problem.tail_index, problem.mean, strict=True):
                if p >= tail:
                    assert value == np.inf
                    continue
                center = float(mean) if central else 0.0

                def tail_integral(w, law=law, center=center, p=p):
                    below = law.ppf(np.exp(-w) / 2)
                    return np.exp(-w) / 2 * (abs(law.isf(np.exp(-w) / 2) - center) ** p + abs(below - center) ** p)

                edges = [0, 1, 5, 20, 80, 300]
                pieces = [integrate.quad(tail_integral, a, b, limit=400, epsabs=0, epsrel=1e-10)[0] for a, b in
                          itertools.pairwise(edges)]  # fmt: skip
                assert value == pytest.approx(sum(pieces), rel=2e-6), (p, central)


@pytest.mark.parametrize("p", [1.5, 2.0])
@pytest.mark.parametrize("tail", [2.5, 120.0, 5000.0])
def test_central_moments_of_pareto_rewards_of_any_size(tail, p):
    """By mpmath; powers of the rewards to the tail overflowed."""
    found = jb.pareto([1000.0, 1.0, 0.001], tail).moments(p, central=True)
    with mpmath.workdps(30):
        middle = 1 / (1 - 1 / mpmath.mpf(tail))  # in units of the least value
        spread = middle / tail
        ends = [1, middle, *(middle + spread * 2**k for k in range(8)), 10, mpmath.inf]
        law = mpmath.quad(lambda x: abs(x - middle) ** p * tail * x ** (-tail - 1), sorted(ends))
        exact = [float(law * (mpmath.mpf(float(mean)) / middle) ** p) for mean in np.float32([1000.0, 1.0, 0.001])]
    np.testing.assert_allclose(found, exact, rtol=1e-7)


def test_moments_known_exactly():
    problem = jb.s1()
    assert problem.moments(2, central=False)[0] == 7  # B of Table 2
    np.testing.assert_allclose(problem.moments(2, central=True), 3, rtol=1e-14)  # C
    assert jb.s2().mean.tolist()[0] == 2


def test_raw_moments_of_student_t_are_finite_and_smooth_in_the_degrees_of_freedom():
    dofs = np.linspace(2.05, 6.0, 80)
    found = np.asarray([jb.student_t([2.0, 0.0], dof, 0.3).moments(1.7, central=False)[0] for dof in dofs])
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) < 0)  # lighter tails
    assert np.abs(np.diff(np.log(found), 2)).max() < 0.005


def test_variances():
    assert np.isinf(jb.student_t([0.0, 1.0], 2.0).variance).all()
    np.testing.assert_allclose(jb.pareto([2.0, 1.0], 3.0).variance, [4 / 3, 1 / 3], rtol=1e-6)
    np.testing.assert_allclose(jb.weibull([1.0, 2.0], 1.0).variance, [1, 4], rtol=1e-5)


def test_variances_of_weibull_rewards_of_any_shape():
    """By mpmath; those of large shapes, as a difference of float32 numbers, were 0 or below."""
    shapes = np.float32([0.3, 2.0, 9.9, 10.1, 30.0, 1000.0, 1e5])
    with mpmath.workdps(50):
        first, second = ([mpmath.gamma(1 + n / mpmath.mpf(float(shape))) for shape in shapes] for n in (1, 2))
        exact = [float(4 * (two - one**2)) for one, two in zip(first, second, strict=True)]
    np.testing.assert_allclose(jb.weibull([2.0] * 7, shapes).variance, exact, rtol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: jb.pareto([1.0, 1.0], 1.2), lambda: jb.student_t([0.0, 0.0], 1.2)])
def test_tails_carry_what_they_should(make):
    """Truncated first moments at index 1.2: a uniform that stops at 2^-24 would lose the last of these altogether."""
    problem = make()
    count, level = 4_000_000, 1e-7
    sample = np.abs(draws(problem, count, seed=5)).reshape(-1)
    if isinstance(problem, jb.problems.Pareto):
        exceed = lambda x: (1 / 6 / x) ** 1.2  # noqa: E731
    else:
        exceed = lambda x: 2 * stats.t.sf(x, 1.2)  # noqa: E731
    for x in (10.0, 1e3, 1e5):
        assert stats.binomtest(int((sample > x).sum()), sample.size, float(exceed(x))).pvalue > level
        mean, _ = integrate.quad(lambda y: exceed(np.exp(y)) * np.exp(y), -40, np.log(x), limit=400)
        mean -= x * exceed(x) - min(1 / 6, x) * 0
        inside = np.where(sample <= x, sample, 0)
        lowest = 1 / 6 if isinstance(problem, jb.problems.Pareto) else 0.0
        if lowest:  # below its least value the chance of exceeding is 1, not the formula
            part, _ = integrate.quad(lambda y: (exceed(np.exp(y)) - 1) * np.exp(y), -40, np.log(lowest), limit=400)
            mean -= part
        assert abs(inside.mean() - mean) < 6 * inside.std() / np.sqrt(sample.size)


def test_fine_uniforms_reach_far_below_a_word():
    words = (jnp.zeros(100_000, jnp.uint32), jnp.arange(100_000, dtype=jnp.uint32))
    tiny = np.asarray(fine_uniform(words), np.float64) * 2.0**32
    assert stats.kstest(tiny, stats.uniform.cdf).pvalue > LEVEL


def test_cosine_of_a_turn():
    word = np.linspace(0, 2**32 - 1, 1_000_001).astype(np.uint32)
    found = np.asarray(jax.jit(turn_cosine)(word), np.float64)
    np.testing.assert_allclose(found, np.cos(2 * np.pi * word.astype(np.float64) / 2**32), atol=2e-7)


def heavy():
    """A problem of the user's own, whose variances are infinite."""
    members = {
        "parameters": ("center",),
        "mean_is": "center",
        "bounded": False,
        "variance": property(lambda self: jnp.full_like(self.center, jnp.inf)),
        "reward_range": property(lambda self: jnp.float32(jnp.nan)),
        "sample": classmethod(lambda cls, words, center: center + words[0].astype(jnp.float32) * jnp.float32(2.0**-32)),
        "__annotations__": {"center": jax.Array},
    }
    made = jb.problems.register_problem(dataclasses.dataclass(frozen=True)(type("Heavy", (jb.Problem,), members)))
    return made(jnp.asarray([0.5, 0.1]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: jb.student_t([0.0, 1.0], 1.0),
            "dof must be finite and above 1, or there is no mean, got 1.0 at arm 0",
        ),
        (lambda: jb.student_t([0.0, 1.0], 3.0, [1.0, 0.0]), "scale must be positive and finite, got 0.0 at arm 1"),
        (lambda: jb.pareto([1.0, 2.0], 1.0), "tail must be finite and above 1, or there is no mean"),
        (lambda: jb.pareto([1.0, -2.0], 2.0), "means must be positive and finite, got -2.0 at arm 1"),
        (lambda: jb.symmetric_pareto([1.0, 2.0], 2.0, -1.0), "scale must be positive"),
        (lambda: jb.log_normal([1.0, 2.0], 0.0), "sigma must be positive"),
        (lambda: jb.weibull([1.0, 2.0], -1.0), "shape must be positive"),
        (lambda: jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), jb.s1(), seeds=2), "has heavier tails: give b"),
        (
            lambda: jb.simulate(jb.SuccessiveElimination(delta=0.1), jb.student_t([0.0, 1.0], 1.5), seeds=2),
            "order p=2 is infinite for .*: p must be below 1.5",
        ),
        (
            lambda: jb.simulate(jb.SuccessiveElimination(delta=0.1, estimator="hoeffding"), jb.s1(), seeds=2),
            "heavier tails: give b, or use another estimator$",
        ),
        (
            lambda: jb.simulate(jb.SuccessiveElimination(delta=0.1), heavy(), seeds=2),
            "^SuccessiveElimination: the variance of Heavy is infinite: give a p below 2, and moment_b for it$",
        ),
        (
            lambda: jb.simulate(jb.SuccessiveElimination(delta=0.1, p=1.3), heavy(), seeds=2),
            "^SuccessiveElimination: Heavy does not know its moments of order 1.3: give moment_b$",
        ),
        (lambda: jb.SuccessiveElimination(delta=0.1, p=1.0), "p must be finite and above 1"),
        (lambda: jb.SuccessiveElimination(delta=0.1, moment_b=0.0), "moment_b must be positive"),
        (lambda: jb.SuccessiveElimination(delta=0.1, estimator="tae"), "did you mean 'tea'"),
        (lambda: jb.simulate(jb.SuccessiveRejects(budget=5), jb.s1(), seeds=2), "must cover 10 first pulls"),
        (lambda: jb.simulate(jb.SequentialHalving(budget=30), jb.s1(), seeds=2), "at least 40, got 30"),
    ],
)
def test_bad_input_is_refused_in_one_line(make, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
