"""Several stopping rules on one way of sampling: each against its intervals in double precision, all on one path."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb

PROBLEM = jb.gaussian([0.9, 0.3, 0.1], sd=0.5)
KEY = jax.random.fold_in(jax.random.key(2), 5)
WORDS = ("glr", "lucb-gap", "ugape-index", "elimination")
DELTA, EPSILON, B = 0.1, 0.1, 1.0


def intervals(word, mean, pulls):
    """Lower and upper bounds at every step, from means and pulls `(step, arm)`."""
    time, arms = pulls.sum(1), pulls.shape[1]
    beta = np.log(4 * arms * time**3 / DELTA) if word == "ugape-index" else np.log(1.25 * arms * time**4 / DELTA)
    radius = B * np.sqrt(beta[:, None] / (2 * pulls))
    return mean - radius, mean + radius


def played(algorithm, problem, word, steps):
    """Of a run: whether it is done and what it returns, means, and the bounds of the intervals; by step."""
    algorithm = algorithm.resolved(problem)
    states = jb.trajectory(algorithm, problem, KEY, steps)
    mean, pulls = (np.asarray(x, float) for x in (states.mean, states.pulls))
    return states.ended, states.answer, mean, *intervals(word, mean, pulls)


@pytest.mark.parametrize("word", WORDS[1:])
@pytest.mark.parametrize("rule", [jb.UniformGLR, pytest.param(jb.EBTC, marks=pytest.mark.slow)])
def test_a_run_stops_where_its_intervals_part(rule, word):
    steps = 900
    algorithm = rule(delta=DELTA, epsilon=EPSILON, stopping=word)
    done, returned, mean, lower, upper = played(algorithm, PROBLEM, word, steps)
    wanted, eliminated = [], np.zeros(3, bool)
    for now_lower, now_upper, now_mean in zip(lower, upper, mean, strict=True):
        best = now_mean.argmax()
        rest = np.arange(3) != best
        if word == "elimination":
            eliminated |= rest & (now_upper < now_lower[best])
        wanted.append(bool((eliminated | (now_upper - now_lower[best] < EPSILON))[rest].all()))
    assert 100 < np.argmax(wanted) < steps
    np.testing.assert_array_equal(done, wanted)
    np.testing.assert_array_equal(np.asarray(returned)[-1], [True, False, False])


@pytest.mark.slow
@pytest.mark.parametrize("word", WORDS[1:])
def test_of_two_arms_each_has_to_part_from_all_others(word):
    """Uniformly sampled: LUCB's gap between the sets, and for `ugape-index` one that UGapE's index never exceeds."""
    steps, problem = 3000, jb.gaussian([0.9, 0.8, 0.3, 0.1], sd=0.5)
    algorithm = jb.UniformGLR(delta=DELTA, epsilon=EPSILON, stopping=word, m=2)
    done, returned, mean, lower, upper = played(algorithm, problem, word, steps)
    wanted, eliminated = [], np.zeros(4, bool)
    for low, high, now_mean in zip(lower, upper, mean, strict=True):
        answer = np.isin(np.arange(4), np.argsort(-now_mean)[:2])
        if word == "elimination":
            eliminated |= ~answer & (high < low[answer].min())
        wanted.append(bool((eliminated | (high - low[answer].min() < EPSILON))[~answer].all()))
        if word == "ugape-index":
            second = [np.sort(np.delete(high, arm))[-2] for arm in range(4)]
            assert (second - low)[answer].max() <= high[~answer].max() - low[answer].min() + 1e-9
    assert 100 < np.argmax(wanted) < steps
    np.testing.assert_array_equal(done, wanted)
    np.testing.assert_array_equal(np.asarray(returned)[-1], [True, True, False, False])


@pytest.mark.slow
def test_an_arm_that_was_eliminated_stays_so():
    """Its mean rises again, at a time at which the gap alone would not stop."""
    rule = jb.UniformGLR(delta=DELTA, stopping="elimination", family="gaussian", b=B)
    update = jax.jit(rule.update)
    pulls, sums, state = np.zeros(2, np.int32), np.zeros(2, np.float32), None
    for reward in [(1.0, 0.0)] * 200 + [(1.0, 1.0)] * 700:
        for arm in (0, 1):
            pulls[arm] += 1
            sums[arm] += reward[arm]
            if pulls.min() == 0:
                continue
            arms = jb.Arms(
                pulls=pulls,
                mean=sums / pulls,
                inverse_root=1 / np.sqrt(pulls, dtype=np.float32),
                total=sums,
                time=pulls.sum(),
                count=np.int32(2),
                b=np.float32(B),
            )
            arms = jax.tree.map(jnp.asarray, arms)
            state = rule.init(arms, KEY) if state is None else update(state, arms, jnp.int32(arm), reward[arm])
    assert bool(rule.done(state, arms))
    lower, upper = intervals("elimination", *(np.asarray(x, float)[None] for x in (arms.mean, arms.pulls)))
    assert lower[0, 0] < upper[0, 1]


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("word", WORDS[1:])
def test_every_delta_of_each_is_read_off_one_run(word):
    rule = jb.UniformGLR(delta=jb.axis([0.2, 0.001]), epsilon=EPSILON, stopping=word)
    grid = jb.sweep(rule, PROBLEM, seeds=8, max_pulls=1500)
    assert grid.attrs["one_trajectory"] == "delta"
    alone = jb.simulate(jb.UniformGLR(delta=0.001, epsilon=EPSILON, stopping=word), PROBLEM, 8, max_pulls=1500)
    xr.testing.assert_equal(grid.sel(delta=0.001, drop=True).drop_attrs(), alone.drop_attrs())


@pytest.mark.slow
def test_which_stops_first():
    """On one path of pulls: the ratio of likelihoods, then UGapE's lower rate, then LUCB's with and without memory."""
    rules = {word: jb.UniformGLR(delta=0.001, epsilon=EPSILON, stopping=word) for word in WORDS}
    found = {word: jb.simulate(rule, PROBLEM, 8).pulls.values for word, rule in rules.items()}
    assert (found["elimination"] <= found["lucb-gap"]).all()
    assert (found["ugape-index"] < found["lucb-gap"]).all()
    assert (found["glr"] < found["ugape-index"]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stopping": "lucb"}, "lucb-gap"),
        (
            {"stopping": "lucb-gap", "threshold": "kk21"},
            "stopping=glr, and stopping=lucb-gap has its own",
        ),
        ({"stopping": "elimination", "family": "poisson"}, "stopping=elimination is for family=bernoulli or gaussian"),
    ],
)
def test_what_cannot_be_is_one_line(settings, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.UniformGLR(delta=0.1, **settings)
    assert "\n" not in str(error.value)


def test_the_union_bounds_of_the_rates():
    """The sum over t of K t exp(-beta(t)) is below delta."""
    arms, time = 5, np.arange(5, 200_000)
    for name in ("lucb1", "ugape"):
        rate = np.asarray(jb.theory.glr_threshold(time.astype(float), arms, DELTA, name))
        assert 0 < (arms * time * np.exp(-rate)).sum() < DELTA
