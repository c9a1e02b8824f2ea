"""No run passes `max_pulls`: a step that would is not made, and first pulls that would are refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

MEANS = jb.bernoulli([0.7, 0.6, 0.5, 0.3])
BATCHES = {
    "union-bound": jb.UnionBound(epsilon=0.1, delta=0.1),
    "union-bound of medians": jb.UnionBound(epsilon=0.7, delta=0.1, estimator="mom"),
    "median elimination": jb.MedianElimination(epsilon=0.4, delta=0.1),
    "exponential-gap elimination": jb.ExpGapElimination(epsilon=0.3, delta=0.1),
    "race": jb.KLRace(epsilon=0.02, delta=0.1),
    "accept and reject": jb.AdaptiveTopK(k=2, epsilon=0.05, delta=0.1),
    "rounds of two": jb.LUCB(epsilon=0.02, delta=0.1),
}
OFTEN = ("median elimination",)


@jb.algorithm
class PullsAll:
    """Pulls every arm `each` times a step, and never ends."""

    each: int
    initial_pulls = 7

    def request(self, arms, key):
        return self.each * jnp.ones(len(arms), jnp.int32)

    def done(self, arms):
        return jnp.bool_(False)

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in OFTEN)) for n in BATCHES])
def test_a_batch_that_would_pass_it_is_not_made(name):
    free = jb.simulate(BATCHES[name], MEANS, seeds=12)
    limits = [int(free["pulls"].max()) - 1, int(free["pulls"].max()), int(free["pulls"].min() * 0.6)]
    for limit in limits:
        try:
            found = jb.simulate(BATCHES[name], MEANS, seeds=12, max_pulls=limit)
        except jb.UsageError as refusal:
            assert "first" in str(refusal)  # noqa: PT017 - some have one batch only
            assert limit < int(free["pulls"].max())
            continue
        ended = free["pulls"] <= limit
        assert (found["pulls"] <= limit).all()
        np.testing.assert_array_equal(found["status"], (~ended).astype(int))
        # A run that ends by itself is the run without a limit.
        np.testing.assert_array_equal(found["pulls"].where(ended, 0), free["pulls"].where(ended, 0))


@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(BATCHES["race"], marks=pytest.mark.slow),
        pytest.param(BATCHES["rounds of two"], marks=pytest.mark.slow),
        PullsAll(5),
    ],
    ids=lambda algorithm: type(algorithm).__name__,
)
def test_one_run_keeps_it_like_the_engine(algorithm):
    rows = jb.simulate(algorithm, MEANS, seeds=3, max_pulls=200)
    for seed in range(3):
        state = jb.run(algorithm, MEANS, jax.random.fold_in(jax.random.key(0), seed), 200)
        assert int(jnp.sum(state.pulls)) == int(rows["pulls"][seed]) <= 200


@pytest.mark.parametrize(("limit", "pulls", "steps"), [(28, 28, 0), (47, 28, 0), (48, 48, 1), (100, 88, 3)])
def test_a_users_step_that_would_pass_it_is_not_made(limit, pulls, steps):
    found = jb.simulate(PullsAll(5), MEANS, seeds=3, max_pulls=limit)
    assert (found["pulls"] == pulls).all()
    assert (found["steps"] == steps).all()
    assert (found["status"] == 1).all()


@pytest.mark.parametrize(
    ("algorithm", "limit", "said"),
    [
        (jb.UnionBound(epsilon=0.01, delta=0.1), 10, "UnionBound: its first batch is 350,5"),
        (jb.UGapEc(epsilon=0.1, delta=0.1, variance=True), 7, "UGapEc: the first pulls of 4 arms are 8, more than max"),
        (jb.UniformGLR(delta=0.1), 3, "the first pulls of 4 arms are 4"),
        (PullsAll(1), 27, "PullsAll: the first pulls of 4 arms are 28, more than max_pulls=27"),
    ],
)
def test_first_pulls_that_would_pass_it_are_refused(algorithm, limit, said):
    with pytest.raises(jb.UsageError, match=said):
        jb.simulate(algorithm, MEANS, seeds=2, max_pulls=limit)


def test_of_a_grid_the_cell_that_asks_for_most_is_refused():
    grid = jb.UnionBound(epsilon=jb.axis([0.5, 0.01]), delta=0.1)
    with pytest.raises(jb.UsageError, match="UnionBound: its first batch is 350,5"):
        jb.sweep(grid, MEANS, seeds=2, max_pulls=10_000)
