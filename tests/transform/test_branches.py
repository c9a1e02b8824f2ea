"""Branches that differ between runs: costly ones are made for those that want them, and no run's bits tell."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxbandits as jb
from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.transform import Known, Padded, map_runs, map_step, results_of

MOST = 150


def costly(x, y):
    """A loop, whose length differs between runs."""
    return lax.while_loop(lambda z: jnp.sum(z) < 3, lambda z: z * 1.1 + jnp.abs(x) * 0.3 + 0.01, jnp.abs(x * y))


def rare(x, y, s):
    return lax.cond(s > 1.5, costly, lambda x, y: x, x, y)


def both(x, y, s):
    few = functools.partial(lax.fori_loop, 0, 3, lambda i, z: z * 0.5 + jnp.max(z))
    return lax.cond(s > 0, lambda: costly(x, y) - jnp.sum(y), lambda: few(x * y))


def several(x, y, s):
    state = {"x": x, "n": jnp.argmax(y), "b": y > 0}

    def again(state):
        return {"x": costly(state["x"], y), "n": jnp.argmin(state["x"]), "b": ~state["b"]}

    return lax.switch(jnp.argmax(y[:3]), [lambda state: state, again, lambda state: state], state)


def operands(count, runs, seed=0):
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(2, count, MOST)).astype(np.float32)
    return tuple(jnp.asarray(z[..., :runs]) for z in (x, y, random.normal(size=MOST).astype(np.float32)))


@pytest.mark.parametrize("function", [rare, both, several])
@pytest.mark.parametrize("seed", range(3))
def test_bits_are_the_same_alone_and_in_batches(function, seed):
    """Also where no run wants a branch, and where all of them do."""
    mapped = jax.jit(map_runs(function))
    whole = mapped(*operands(5, MOST, seed))
    for runs in (1, 7, 64, 65):
        found = mapped(*operands(5, runs, seed))
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(whole), strict=True):
            np.testing.assert_array_equal(one, other[..., :runs])
    x, y, s = operands(5, MOST, seed)
    for shift in (-9, 9):
        found = mapped(x, y, s + shift)
        wanted = jax.vmap(function, in_axes=-1, out_axes=-1)(x, y, s + shift)
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("function", [rare, both])
def test_arms_that_exist_have_their_bits(function):
    x, y, s = operands(8, MOST)
    count = jnp.full(MOST, 5, jnp.int32)
    padded = Padded(count, 8, [(0,), (0,), ()])
    found, _ = results_of(function, (x, y, s), [Known()] * 3, padded)
    exact, _ = results_of(function, (x[:5], y[:5], s))
    np.testing.assert_array_equal(found[0].array[:5], exact[0].array)


@pytest.mark.parametrize("form", ["cpu", "gpu"])
def test_a_step_makes_costly_branches_for_runs_that_make_it_only(form):
    """What they leave as it was is not chosen a second time, and on CPU nothing is made where no run makes the step."""
    x, y, s = operands(5, MOST)
    live = jnp.arange(MOST) % 3 > 0

    def taken(live):
        return map_step(lambda y, s, x: rare(x, y, s))(live, y, s, x)

    found = jax.jit(taken)(live)
    np.testing.assert_array_equal(found, jax.jit(lambda live: jnp.where(live, map_runs(rare)(x, y, s), x))(live))
    np.testing.assert_array_equal(found[:, ~live], x[:, ~live])
    assert (found != x).any()
    with override_lowering(form):
        last = jax.make_jaxpr(taken)(live).jaxpr.eqns[-1].primitive.name
    assert last == ("cond" if form == "cpu" else "jit")


def test_a_branch_that_is_known_beforehand_is_the_only_one():
    def function(x, y, s):
        return lax.cond(s > 0, lambda: x, lambda: costly(x, y))

    def length(known):
        return len(str(jax.make_jaxpr(lambda *a: results_of(function, a, known)[0][0].array)(*operands(4, 9))))

    assert length([Known(), Known(), Known((1.0, 2.0))]) < length([Known(), Known(), Known((0.0, 2.0))]) / 4


@jb.algorithm
class Lazy:
    """Looks for its arm in a costly way now and then."""

    budget: int

    def init(self, arms, key):
        return jnp.argmax(arms.mean), jnp.int32(0)

    def update(self, state, arms, arm, reward):
        def look(_, when):
            scores = lax.fori_loop(0, 4, lambda i, z: z * 0.5 + arms.mean / (1 + jnp.sum(jnp.abs(z))), arms.mean)
            return jnp.argmax(scores - jnp.sqrt(arms.pulls) * 0.1), when + arms.time // 4 + 1

        return lax.cond(arms.time >= state[1], look, lambda *state: state, *state)

    def select(self, state, arms, key):
        return state[0]

    def done(self, state, arms):
        return arms.time >= self.budget

    def recommend(self, state, arms):
        return jnp.argmax(arms.mean)


@pytest.mark.slow
def test_a_rule_with_a_rare_branch_has_its_bits_alone_in_batches_and_padded():
    problem = jb.bernoulli([0.7, 0.5, 0.4])
    metrics = {"pulls_of": lambda problem, state, answer: state.pulls}
    made = functools.partial(jb.simulate, Lazy(budget=60), seeds=90, root_seed=2, metrics=metrics)
    runs = made(problem)
    for other in (made(problem, lanes=7), made(problem.padded(6))):
        np.testing.assert_array_equal(runs.pulls_of, other.pulls_of[:, :3])


def looped(s):
    """Return how often a loop was repeated, within a loop that ends for a positive number only."""

    def inner(count):
        return lax.while_loop(lambda w: (w[0] < 3) & (w[1] < 999), lambda w: (w[0] + s, w[1] + 1), (0.0, count))[1]

    return lax.while_loop(lambda z: z[0] < 2, lambda z: (z[0] + 1, inner(z[1])), (0, 0))[1]


def test_no_loop_waits_for_a_run_that_nobody_reads():
    """A lane without a job has parameters of 0, for which a loop may take long or never end."""
    s = jnp.asarray([1.0, 0.0, 0.5])
    live = jnp.asarray([True, False, True])
    for function, spared in ((looped, 3), (lambda s: lax.while_loop(lambda z: z < 3, lambda z: z + s, 1.0), 1)):
        (found,), _ = results_of(function, (s,), live=live)
        wanted = [function(x) for x in s[live]]
        np.testing.assert_array_equal(found.array[live], wanted)
        assert found.array[1] == spared or found.array[1] in wanted
