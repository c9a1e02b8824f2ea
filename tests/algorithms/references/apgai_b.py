"""APGAI with a budget, pull by pull: Jourdan, Delahaye-Duriez, Réda (2023), as the paper has it, by two costs."""

import numpy as np

import jaxbandits as jb

RULE = jb.APGAIb
COINS = jb.bernoulli([0.5, 0.4, 0.4, 0.3, 0.2, 0.6])
CASES = {
    "apgai-b": (jb.APGAIb(budget=140, threshold=0.43), COINS),
    "apgai-b, no good arm": (jb.APGAIb(budget=140, threshold=0.77), COINS),
}
TIES = [jb.APGAIb(budget=13, threshold=0.45)]


def reference(view, algorithm):
    mean, root = view.mean[0], np.sqrt(view.pulls[0])
    view.doubt(mean - algorithm.threshold)
    if mean.max() > algorithm.threshold:
        arm = view.first(root * np.maximum(mean - algorithm.threshold, 0), view.order[0])
        return [arm], {arm}, None
    return [view.first(-root * np.maximum(algorithm.threshold - mean, 0), view.order[0])], set(), None
