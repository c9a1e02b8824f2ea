"""A live session decides as a simulated platform that gives it the same rewards in the same order."""

import jax
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.random.streams import root_key, run_key

PROBLEM = jb.bernoulli([0.8, 0.5, 0.3])


@jb.algorithm
class Sometimes:
    """Pulls a random arm now and then, and else the one with the largest index."""

    budget: int

    def select(self, arms, key):
        toss, which = jax.random.split(key)
        index = jax.numpy.argmax(arms.mean + 1 / jax.numpy.sqrt(arms.pulls))
        return jax.numpy.where(jax.random.uniform(toss) < 0.3, jax.random.randint(which, (), 0, arms.count), index)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jax.numpy.argmax(arms.mean)


def live_run(rule, seed, batch, delay, pulls, most):
    """Make one run by a session: whole batches are asked for, and rewards told before each in the order of asking."""
    key = run_key(root_key(0), np.uint32(seed))
    session = jb.AskTell(rule, arms=3, key=key)
    table = np.asarray(jax.vmap(lambda pull: PROBLEM.rewards(key, pull))(np.arange(200, dtype=np.int32)))
    asked, flying, time = np.zeros(3, int), [], 0
    width = -(-batch // pulls) * pulls

    def ask(number):
        found = []
        for pull in session.ask(number):
            found.append((pull, float(table[asked[pull.arm], pull.arm])))
            asked[pull.arm] += 1
        return found

    for pull, reward in ask(3):
        session.tell(pull, reward)
    while not session.done:
        for flight in [flight for flight in flying if flight[0] <= time]:
            flying.remove(flight)
            for pull, reward in flight[1]:
                session.tell(pull, reward)
            if session.done:
                return asked, session
        steps = range(min(width, most - asked.sum()) // pulls)
        flying += [(time + width + delay, ask(pulls)) for _ in steps]
        time += width
    return asked, session


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(jb.AskTell, "forget"), reason="sessions hand out one pull at a time")
@pytest.mark.parametrize(
    ("rule", "pulls", "most"),
    [
        (Sometimes(budget=60), 1, 60),
        (jb.LUCB(epsilon=0.4, delta=0.3), 2, 10**9),
        (jb.BetaTopTwo(budget=40), 1, 40),  # draws from posteriors of the sums
        (jb.TTTS(delta=0.3, family="bernoulli", threshold="gk16"), 1, 10**9),
    ],
)
def test_a_session_decides_as_a_simulated_platform(rule, pulls, most):
    told = {"arms_told": lambda problem, state, recommended: state.pulls}
    ds = jb.simulate(rule, PROBLEM, 6, batch=4, delay=6, metrics=told)
    for seed in range(6):
        asked, session = live_run(rule, seed, 4, 6, pulls, most)
        assert asked.sum() == ds.pulls.sel(seed=seed)
        np.testing.assert_array_equal(session.pulls, ds.arms_told.sel(seed=seed))
        np.testing.assert_array_equal(session.recommendation, ds.recommended.sel(seed=seed))
