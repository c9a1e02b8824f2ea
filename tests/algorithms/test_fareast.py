"""FAREAST against a slow reference, batch by batch: Mason, Jain, Tripathy, Nowak (2020), as its docstring says.

Rewards are normal, so that nothing ties. Where two numbers that decide differ by less than `NEAR`, a run is left.
"""

import math

import jax
import numpy as np
import pytest

import jaxbandits as jb

NEAR, STEPS = 1e-4, 150
CASES = {
    "additive": (jb.FAREAST(epsilon=0.53, delta=0.3), jb.gaussian([1.0, 0.9, 0.2, -0.6, 0.7], 0.4)),
    "multiplicative": (
        jb.FAREAST(epsilon=0.41, delta=0.2, gamma=0.2, multiplicative=True, b=0.7),
        jb.gaussian([1.0, 0.9, 0.45, -0.6, 0.75], 0.4),
    ),
}


class Reference:
    """What is known between two batches, in double precision."""

    def __init__(self, algorithm, b, arms):
        self.rule, self.b, self.arms = algorithm, algorithm.b or b, arms
        self.active, self.good, self.k, self.spent, self.left = set(range(arms)), set(), 1, 0, 0

    def line(self, best, gamma=0.0):
        epsilon = self.rule.epsilon + gamma
        return (1 - epsilon) * best if self.rule.multiplicative else best - epsilon

    def radius(self, pulls, events):
        return self.b * np.sqrt(np.log(events * np.log2(2 * pulls)) / pulls)

    def request(self, pulls, mean):
        """Pulls of each arm, and whether the decision was clear."""
        self.kind, unknown = "sweep", self.active - self.good
        more = 1 + pulls.astype(int) // 16
        if self.left:
            return dict.fromkeys(self.active, min(self.left, *more[sorted(self.active)])), True
        among = sorted(self.good & self.active or self.active)
        best = max(among, key=mean.__getitem__)
        radius = self.radius(pulls, 16)
        others = [arm for arm in among if arm != best]
        rival = max(others, key=(mean + radius).__getitem__, default=best)
        gap = (mean + radius)[rival] - (mean - radius)[best] if others else -np.inf
        excess = gap - self.b / 2**self.k
        if excess > 0:
            self.kind = "search"
            return {best: more[best], rival: more[rival]}, abs(excess) > NEAR
        self.kind = "test"
        number = math.ceil(4**self.k * math.log(16 * self.arms * self.k**2 / self.rule.delta))
        return dict.fromkeys({best} | unknown, number), abs(excess) > NEAR

    def absorb(self, counts, means, pulls, mean):
        """Whether all decisions were clear."""
        differences = []
        if self.kind != "sweep":
            self.spent += sum(counts.values())
        if self.kind == "test":
            bar = self.line(max(means[arm] for arm in counts)) - 2 * self.b / 2**self.k
            differences += [means[arm] - bar for arm in counts]
            self.active -= {arm for arm in counts if arm not in self.good and means[arm] <= bar}
            self.left = math.ceil(self.spent / len(self.active))
        if self.kind == "sweep":
            radius = self.radius(pulls, 2 * self.arms / self.rule.delta)
            lower, upper, active = mean - radius, mean + radius, sorted(self.active)
            top, bottom = upper[active].max(), lower[active].max()
            for arm in active:
                edges = lower[arm] - self.line(top, self.rule.gamma), upper[arm] - self.line(bottom)
                self.good |= {arm} if edges[0] > 0 else set()
                beaten = upper[arm] < bottom if arm in self.good else edges[1] < 0
                self.active -= {arm} if beaten else set()
                differences += [*edges, upper[arm] - bottom]
            self.left -= max(counts.values())
            if not self.left:
                self.k, self.spent = self.k + 1, 0
        return min(map(abs, differences), default=1.0) > NEAR


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_batch_is_that_of_the_reference(case):
    algorithm, problem = CASES[case]
    compared = set()
    for run in range(4):
        seen = jax.device_get(jb.trajectory(algorithm, problem, jax.random.key(run), STEPS))
        pulls, mean, total = (np.asarray(x, np.float64) for x in (seen.pulls, seen.mean, seen.total))
        reference = Reference(algorithm, float(problem.reward_range), problem.arms)
        for step in range(STEPS):
            assert bool(seen.ended[step]) == (reference.active <= reference.good)
            if seen.ended[step]:
                assert set(np.flatnonzero(seen.answer[step])) == reference.good
                compared.add("end")
                break
            counts, clear = reference.request(pulls[step], mean[step])
            if not clear:
                break
            made = pulls[step + 1] - pulls[step]
            assert {int(arm): int(made[arm]) for arm in np.flatnonzero(made)} == counts, (run, step)
            compared.add(reference.kind)
            means = (total[step + 1] - total[step]) / np.maximum(made, 1)
            if not reference.absorb(counts, means, pulls[step + 1], mean[step + 1]):
                break
    assert compared == {"sweep", "search", "test", "end"}


@pytest.mark.parametrize("rule", [jb.ST2, jb.FAREAST])
def test_a_multiplicative_line_above_the_best_mean_is_refused(rule):
    """No arm was good then, every answer was empty, and counted as right."""
    negative = jb.gaussian([-0.9, -0.3], sd=0.2)
    with pytest.raises(jb.UsageError, match=r"the best mean must not be negative, got -0\.3"):
        jb.simulate(rule(epsilon=0.3, delta=0.2, multiplicative=True), negative, seeds=1)
