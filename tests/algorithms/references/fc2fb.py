"""FC2FB, pull by pull: Balagopalan et al. (2026), Algorithm 3, with UGapEc and lil'UCB for one arm."""

import math

import numpy as np

import jaxbandits as jb
from tests.algorithms.programs import means_of, reference_of

RULE = jb.FC2FB
SMOOTH = jb.gaussian([0.9, 0.65, 0.5, 0.4], 0.1)
CASES = {
    "fc2fb": (jb.FC2FB(budget=150, least=18), SMOOTH),
    "fc2fb, few pulls": (jb.FC2FB(budget=50), jb.gaussian([0.9, *(0.03 * i for i in range(14))], 0.1)),
    "fc2fb, lil'ucb": (jb.FC2FB(budget=150, least=12, first_delta=0.8, rule="lil-ucb", b=0.1), SMOOTH),
}
TIES = [jb.FC2FB(budget=40, least=8, first_delta=0.9, b=0.3)]


def program(view, algorithm):
    b, order = algorithm.b or view.b, view.order[0]
    stages = max(1, min(math.floor(math.log2(algorithm.budget / algorithm.least)), algorithm.budget // view.count))
    part = algorithm.budget // stages
    for stage in range(1, stages + 1):
        delta = algorithm.first_delta**2 ** (stages - stage)
        start = [len(seen) for seen in view.rewards] if stage > 1 else [0] * view.count
        while True:
            fresh = [seen[at:] for seen, at in zip(view.rewards, start, strict=True)]
            pulls, overall = np.asarray([len(seen) for seen in fresh]), means_of(view.rewards)
            if pulls.min() > 0:
                decide = ugape if algorithm.rule == "ugape-c" else lil_ucb
                arm, answer, distance = decide(view, means_of(fresh), pulls, delta, b)
                view.doubt(distance)
                while distance < 0:
                    yield [], {answer}, True
            else:
                arm = view.first(-pulls, order)
            if pulls.sum() >= part:
                break
            yield [arm], {view.first(overall, order)}, False
    yield [], {view.first(means_of(view.rewards), order)}, True


def ugape(view, means, pulls, delta, b):
    """The next pull, the answer, and what is below 0 where UGapEc stops (Gabillon et al. 2012, Figure 1)."""
    order = view.order[0]
    radius = b * np.sqrt(0.5 * np.log(4 * view.count * pulls.sum() ** 3 / delta) / pulls)
    upper, lower = means + radius, means - radius
    index = [max(np.delete(upper, arm)) - lower[arm] for arm in range(view.count)]
    chosen = view.first(-np.asarray(index), order)
    rest = [arm for arm in range(view.count) if arm != chosen]
    rival = rest[view.first(upper[rest], order[rest])]
    both = [rival, chosen]
    return both[view.first(radius[both], order[both])], chosen, index[chosen]


def lil_ucb(view, means, pulls, delta, b):
    """The same of lil'UCB with the constants of its theorem (Jamieson et al. 2014)."""
    eps = 0.01
    omega = (math.sqrt(1 + delta) - 1) ** 2 / (4 * (2 + eps) / eps * (1 / math.log(1 + eps)) ** (1 + eps))
    spread = 2 * (b / 2) ** 2 * (1 + eps) * np.log(np.log((1 + eps) * pulls) / omega) / pulls
    most = view.first(pulls, view.order[0])
    left = 9 * (pulls.sum() - pulls[most]) + 1 - pulls[most]
    return view.first(means + 2 * (1 + math.sqrt(eps)) * np.sqrt(spread), view.order[0]), most, left - 0.5


reference = reference_of(program)
