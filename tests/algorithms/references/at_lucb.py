"""AT-LUCB, round by round: Jun, Nowak (2016)."""

import itertools

import numpy as np

import jaxbandits as jb
from tests.algorithms.programs import means_of, reference_of

RULE = jb.ATLUCB
SMOOTH = jb.gaussian([0.9, 0.4, 0.4, 0.1, 0.6], 0.2)
CASES = {
    "at-lucb": (jb.ATLUCB(budget=145), SMOOTH),
    "at-lucb of two arms": (jb.ATLUCB(budget=145, m=2, epsilon=0.1, alpha=0.7, b=0.6), SMOOTH),
}
TIES = [jb.ATLUCB(budget=15), jb.ATLUCB(budget=15, m=2)]


def program(view, algorithm):
    order, b, delta, stage, answer = view.order[0], algorithm.b or view.b, algorithm.first_delta, 1, set()
    for t in itertools.count(1):
        means, pulls = means_of(view.rewards), np.asarray([len(seen) for seen in view.rewards])
        high = view.top(means, algorithm.m, order)
        rest = [arm for arm in range(view.count) if arm not in high]

        def rivals(delta):
            radius = b * np.sqrt(np.log(5 / 4 * view.count * t**4 / delta) / (2 * pulls))  # noqa: B023
            lower, upper = means - radius, means + radius  # noqa: B023
            h = high[view.first(-lower[high], order[high])]  # noqa: B023
            l = rest[view.first(upper[rest], order[rest])]  # noqa: B023, E741
            return h, l, upper[l] - lower[h]

        ended = rivals(delta)[2] < algorithm.epsilon
        while rivals(delta)[2] < algorithm.epsilon:
            stage, delta = stage + 1, delta * algorithm.alpha
        if ended or stage == 1:
            answer = set(high)
        h, l, distance = rivals(delta)  # noqa: E741
        ends = np.asarray([distance, rivals(delta / algorithm.alpha)[2]]) - algorithm.epsilon
        view.near |= bool(np.any(np.abs(ends) < 1e-6))
        yield [h, l], answer, bool(algorithm.budget - pulls.sum() < 2)


reference = reference_of(program)
