"""ThresholdGame, pull by pull: Degenne, Koolen, Ménard (2019), section 3."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.question_game import divergence, play, threshold

RULE = jb.ThresholdGame
CASES = {
    "threshold game, normal": (jb.ThresholdGame(delta=0.3, level=0.5), jb.gaussian([1.1, 0.9, 0.2, 0.4], 0.3)),
    "threshold game, coins, heuristic": (
        jb.ThresholdGame(delta=0.01, level=0.45, threshold="heuristic"),
        jb.bernoulli([0.9, 0.6, 0.2, 0.3]),
    ),
}
TIES = [jb.ThresholdGame(delta=0.9, level=0.5)]


def reference(view, algorithm):
    b, level = algorithm.b or view.b, algorithm.level
    normal = bool(view.problem.normal)
    family = "gaussian" if normal else "bernoulli"
    word = algorithm.threshold or ("kk21-gaussian" if normal else "gk16")

    def respond(means, shares):
        costs = shares * divergence(family, b, means, level)
        return np.where(np.arange(view.count) == costs.argmin(), level, means)

    return play(
        view, family, b, lambda pulls, means: (means, 1 / pulls), respond,
        lambda pulls: threshold(word, view.time, 1, view.count, algorithm.delta),
        lambda means: np.flatnonzero(means >= level),
    )  # fmt: skip
