"""APT: Locatelli, Gutzeit, Carpentier (2016), Algorithm 1."""

import numpy as np

import jaxbandits as jb

RULE = jb.APT
CASES = {"apt": (jb.APT(budget=140, threshold=0.43, epsilon=0.05), jb.bernoulli([0.5, 0.4, 0.4, 0.3, 0.2, 0.6]))}
TIES = [jb.APT(budget=13, threshold=0.45)]


def reference(view, algorithm):
    index = np.sqrt(view.pulls[0]) * (np.abs(view.mean[0] - algorithm.threshold) + algorithm.epsilon)
    view.doubt(view.mean[0] - algorithm.threshold)
    return [view.first(-index, view.order[0])], set(np.flatnonzero(view.mean[0] >= algorithm.threshold)), None
