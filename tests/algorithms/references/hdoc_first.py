"""HDoC up to its first output, pull by pull: Kano et al. (2019), Algorithm 1."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.references import hdoc

RULE = jb.HDoCFirst
CASES = {
    "hdoc-first": (jb.HDoCFirst(delta=0.3, threshold=0.5), jb.bernoulli([0.9, 0.85, 0.8, 0.1, 0.02])),
    "hdoc-first, no good arm": (
        jb.HDoCFirst(delta=0.3, threshold=0.45, b=0.9), jb.gaussian([0.1, -0.1, -0.3, -0.4], 0.3)
    ),
}  # fmt: skip
TIES = [jb.HDoCFirst(delta=0.9, threshold=0.5)]


def reference(view, algorithm):
    pulled, good, undecided = hdoc.reference(view, algorithm)
    if not good:
        return pulled, good, undecided
    found = np.asarray(sorted(good))
    return pulled, {int(found[view.first(view.mean[0][found], view.order[0][found])])}, -np.inf
