"""HDoC, pull by pull: Kano et al. (2019), Algorithm 1."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.good_arms import decided

RULE = jb.HDoC
CASES = {
    "hdoc": (jb.HDoC(delta=0.3, threshold=0.5), jb.bernoulli([0.97, 0.9, 0.85, 0.1, 0.02])),
    "hdoc, a wider range": (jb.HDoC(delta=0.5, threshold=0.4, b=1.2), jb.gaussian([1.1, 0.9, -0.3, -0.4], 0.3)),
}
TIES = [jb.HDoC(delta=0.9, threshold=0.5)]


def reference(view, algorithm):
    return decided(
        view,
        algorithm,
        lambda view, radius: view.mean[0] + (algorithm.b or view.b) * np.sqrt(np.log(view.time) / (2 * view.pulls[0])),
    )
