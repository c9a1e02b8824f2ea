"""APGAI with fixed confidence, pull by pull: Jourdan, Delahaye-Duriez, Réda (2023); the threshold by Lambert's W."""

import numpy as np
from scipy import special

import jaxbandits as jb
from tests.algorithms.references import apgai_b

RULE = jb.APGAIc
CASES = {
    "apgai-c": (jb.APGAIc(delta=0.1, threshold=0.43), apgai_b.COINS),
    "apgai-c, no good arm, a wider range": (
        jb.APGAIc(delta=0.5, threshold=0.15, b=0.9), jb.gaussian([-0.2, 0.05, -0.3, 0.02], 0.3),
    ),
}  # fmt: skip
TIES = [jb.APGAIc(delta=0.9, threshold=0.5)]


def reference(view, algorithm):
    pulled, answer, _ = apgai_b.reference(view, algorithm)
    x = 2 * np.log(view.count / algorithm.delta) + 4 * np.log(np.log(np.exp(4) * view.time)) + 0.5
    bound = np.sqrt(-special.lambertw(-np.exp(-x), -1).real)
    gap = 2 * (view.mean[0] - algorithm.threshold) / (algorithm.b or view.b) * np.sqrt(view.pulls[0])
    evidence = np.maximum(gap, 0).max() if answer else np.maximum(-gap, 0).min()
    return pulled, answer, bound - evidence
