"""A slow program of rules on a platform with batches and delays, event by event: a reference for runs in flight."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.random.streams import step_key


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
        return max((best, rival), key=lambda k: (beta[k], -k)), gap[best]


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
