"""EB-TC without a confidence, pull by pull: Jourdan, Degenne, Kaufmann (2023), Algorithm 1."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.programs import means_of, reference_of

RULE = jb.AnytimeEBTC
SMOOTH = jb.gaussian([0.5, 0.4, 0.4, 0.3, 0.6], 0.2)
CASES = {
    "anytime eb-tc": (jb.AnytimeEBTC(budget=140), jb.bernoulli([0.5, 0.4, 0.4, 0.1, 0.9])),
    "anytime eb-tc, ids": (jb.AnytimeEBTC(budget=140, share="ids", slack=0.03), SMOOTH),
    "anytime eb-tc, a share": (jb.AnytimeEBTC(budget=140, share=0.3141, slack=0.0), SMOOTH),
}
TIES = [jb.AnytimeEBTC(budget=20)]


def program(view, algorithm):
    order, times, made = view.order[0], {}, {}
    while True:
        means, pulls = means_of(view.rewards), np.asarray([float(len(seen)) for seen in view.rewards])
        leader = view.first(means, order)
        others = [arm for arm in range(view.count) if arm != leader]
        cost = (means[leader] - means + algorithm.slack) / np.sqrt(1 / pulls[leader] + 1 / pulls)
        pair = leader, others[view.first(-cost[others], order[others])]
        share = pulls[pair[1]] / pulls[list(pair)].sum() if algorithm.share == "ids" else algorithm.share
        times[pair] = times.get(pair, 0) + 1 - share
        away = times[pair] - made.get(pair, 0)
        view.near |= 0 < abs(away) < 1e-6
        challenged = int(away >= 0)
        made[pair] = made.get(pair, 0) + challenged
        yield [pair[challenged]], {leader}, None


reference = reference_of(program)
