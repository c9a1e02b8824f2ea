"""Pulls in flight: a slow program of the platform decides the same, and without them nothing changes."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine.flights import flight_of
from jaxbandits.random.streams import root_key, run_key, step_key
from jaxbandits.random.threefry import key_words
from tests.reward_tables import tables

PROBLEM = jb.gaussian([0.8, 0.5, 0.4, 0.0], sd=0.5)
SEEDS, PULLS = 12, 3000
PLATFORMS = [(1, 0), (1, 7), (5, 0), (4, 10), (3, "geometric:6"), (2, "uniform:3,12")]


@jb.algorithm
class Wanders:
    """Pulls a random arm with probability one half, and else that with the largest index; remembers the last reward."""

    budget: int

    def init(self, arms, key):
        return jnp.float32(0.0)

    def select(self, last, arms, key):
        toss, which = jax.random.split(key)
        index = arms.mean + 1 / jnp.sqrt(arms.pulls) + 0 * last
        other = jax.random.randint(which, (), 0, arms.count)
        return jnp.where(jax.random.uniform(toss) < 0.5, other, jnp.argmax(index))

    def update(self, last, arms, arm, reward):
        return reward

    def done(self, last, arms):
        return (arms.time >= self.budget) | (last > 1.9)

    def recommend(self, last, arms):
        return jnp.argmax(arms.mean)


class Ugape:
    """UGapEc for one arm, by its paper; the reference of a rule that selects one arm."""

    pulls = 1

    def __init__(self, epsilon, delta, b=1.0, c=0.5):
        self.epsilon, self.delta, self.b, self.c = epsilon, delta, b, c

    def select(self, number, mean, time, key):
        return [self._decided(number, mean, time)[0]]

    def done(self, number, mean, time, last):
        return self._decided(number, mean, time)[1] < self.epsilon

    def _decided(self, number, mean, time):
        K = len(mean)
        beta = self.b * np.sqrt(self.c * np.log(4 * K * time**3 / self.delta) / number)
        upper, lower = mean + beta, mean - beta
        gap = np.array([np.delete(upper, k).max() for k in range(K)]) - lower
        best = int(np.argmin(gap))
        rival = max((k for k in range(K) if k != best), key=lambda k: upper[k])
        return (best if beta[best] > beta[rival] else rival), gap[best]


class Lucb:
    """LUCB1 for one arm; the reference of a rule that selects two arms, with a round of its own."""

    pulls = 2

    def __init__(self, epsilon, delta, b=1.0):
        self.epsilon, self.delta, self.b, self.round = epsilon, delta, b, 1

    def select(self, number, mean, time, key):
        return self._rivals(number, mean)[:2]

    def done(self, number, mean, time, last):
        return self._rivals(number, mean)[2] < self.epsilon

    def told(self):
        self.round += 1

    def _rivals(self, number, mean):
        beta = np.log(5 * len(mean) * self.round**4 / (4 * self.delta))
        radius = self.b * np.sqrt(beta / (2 * number))
        best = int(np.argmax(mean))
        upper = np.where(np.arange(len(mean)) == best, -np.inf, mean + radius)
        rival = int(np.argmax(upper))
        return best, rival, upper[rival] - (mean[best] - radius[best])


class Wander:
    """The reference of `Wanders`; its draws are those of the step's key."""

    pulls = 1

    def __init__(self, budget):
        self.budget = budget

    def select(self, number, mean, time, key):
        toss, which = jax.random.split(step_key(key, jnp.int32(time)))
        if float(jax.random.uniform(toss)) < 0.5:
            return [int(jax.random.randint(which, (), 0, len(mean)))]
        return [int(np.argmax(mean + 1 / np.sqrt(number)))]

    def done(self, number, mean, time, last):
        return time >= self.budget or last > 1.9


RULES = {
    "ugape": (jb.UGapEc(epsilon=0.2, delta=0.1, b=1.0), lambda: Ugape(0.2, 0.1)),
    "lucb": (jb.LUCB(epsilon=0.2, delta=0.1, b=1.0), lambda: Lucb(0.2, 0.1)),
    "wanders": (Wanders(budget=120), lambda: Wander(120)),
}


def reference(rule, rewards, key, delays, batch):
    """Make one run, event by event; arms are in the order of the run. Return the pulls of each arm, how
    many were told, the time, and those that were told of each arm."""
    K, P = rewards.shape[1], rule.pulls
    number, sums = np.ones(K), rewards[0].astype(np.float64)
    asked, flying, last = np.ones(K, int), [], 0.0
    first = max((m // batch + 1) * batch + delays[m] for m in range(K))
    width = -(-batch // P)
    time = 0  # in pulls, since all first rewards have arrived
    if rule.done(number, sums / number, K, last):
        return asked, K, first, number
    while True:
        for flight in [flight for flight in flying if flight[0] <= time]:  # in the order of asking
            flying.remove(flight)
            for arm, reward in flight[1]:
                number[arm] += 1
                sums[arm] += reward
                last = reward
            if hasattr(rule, "told"):
                rule.told()
            if rule.done(number, sums / number, int(number.sum()), last):
                return asked, int(number.sum()), first + time, number
        for _ in range(width):
            if getattr(rule, "budget", np.inf) <= asked.sum():
                break
            pulled, arms = [], rule.select(asked, sums / number, int(asked.sum()), key)
            longest = max(delays[asked.sum() + i] for i in range(P))
            for arm in arms:
                pulled.append((arm, float(rewards[asked[arm], arm])))
                asked[arm] += 1
            flying.append((time + width * P + longest, pulled))
        time += width * P


@functools.cache
def seen_rewards():
    """Rewards and keys of the runs, arms in the order of each run, and their places."""
    keys = run_key(root_key(0), np.arange(SEEDS, dtype=np.uint32))
    rewards, places = tables(PROBLEM, keys, pulls=PULLS)
    return np.asarray(rewards), np.asarray(places), keys


def delays_of(key, batch, delay):
    drawn = flight_of(batch, delay).delay(key_words(key), jnp.arange(2 * PULLS, dtype=jnp.int32))
    return np.asarray(drawn)


def told_pulls(problem, state, recommended):
    return state.pulls


def agrees(name, batches, delays):
    """Whether runs of a grid are those of the reference, in every cell."""
    rule, slow = RULES[name]
    metrics = {"arms_told": told_pulls}
    ds = jb.sweep(rule, PROBLEM, SEEDS, batch=jb.axis(batches), delay=jb.axis(delays), metrics=metrics)
    rewards, places, keys = seen_rewards()
    for batch in batches:
        for delay in delays:
            cell = ds.sel(batch=batch, delay=str(delay) if isinstance(delay, str) else delay)
            for seed in range(SEEDS):
                run = cell.sel(seed=seed)
                found = reference(
                    slow(),
                    rewards[seed][:, np.argsort(places[seed])],
                    keys[seed],
                    delays_of(keys[seed], batch, delay),
                    batch,
                )
                asked, told, elapsed, of_arms = found
                assert (int(run.pulls), int(run.told), int(run.elapsed)) == (asked.sum(), told, elapsed), (batch, delay)
                np.testing.assert_array_equal(run.arms_told, of_arms[places[seed]])


def test_a_rule_of_two_arms_decides_as_a_slow_program_of_the_platform():
    agrees("lucb", [1, 4, 5], [0, 7, 10])


def test_a_rule_that_draws_and_remembers_decides_as_a_slow_program_with_random_delays():
    agrees("wanders", [1, 3], ["geometric:6", "geometric:0.5"])


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("delays", [[0, 1, 40], ["geometric:6"], ["uniform:3,12"]])
def test_every_rule_decides_as_a_slow_program_of_the_platform(name, delays):
    agrees(name, [1, 2, 7], delays)
