"""LSA, pull by pull: Tao, Blanco, Peng, Zhou (2019)."""

import numpy as np

import jaxbandits as jb

RULE = jb.LSA
COINS = jb.bernoulli([0.5, 0.4, 0.4, 0.3, 0.2, 0.6])
CASES = {
    "lsa": (jb.LSA(budget=140, threshold=0.43), COINS),
    "lsa, a wider range": (jb.LSA(budget=140, threshold=0.31, epsilon=0.05, alpha=1.3, b=1.7), COINS),
}
TIES = [jb.LSA(budget=13, threshold=0.45)]


def reference(view, algorithm):
    pulls, gap = view.pulls[0], np.abs(view.mean[0] - algorithm.threshold) + algorithm.epsilon
    index = algorithm.alpha * pulls * (gap / (algorithm.b or view.b)) ** 2 + np.log(pulls) / 2
    view.doubt(view.mean[0] - algorithm.threshold)
    return [view.first(-index, view.order[0])], set(np.flatnonzero(view.mean[0] >= algorithm.threshold)), None
