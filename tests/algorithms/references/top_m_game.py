"""TopMGame, pull by pull: Degenne, Koolen, Ménard (2019), section 3."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.question_game import divergence, play, threshold

RULE = jb.TopMGame
CASES = {
    "top-m game, one arm": (jb.TopMGame(delta=0.3), jb.gaussian([1.1, 0.9, 0.2, 0.4], 0.3)),
    "top-m game, two arms": (
        jb.TopMGame(delta=0.01, m=2, family="bernoulli", threshold="heuristic"),
        jb.beta([8.0, 6.0, 2.0, 3.0], [2.0, 4.0, 8.0, 7.0]),
    ),
}
TIES = [jb.TopMGame(delta=0.9, m=2)]


def reference(view, algorithm):
    b, m = algorithm.b or view.b, algorithm.m
    family = algorithm.family or "gaussian"
    word = algorithm.threshold or "kk21-gaussian"

    def largest(means):
        return np.argsort(-means, kind="stable")[:m]

    def respond(means, shares):
        found = []
        for i in largest(means):
            for j in set(range(view.count)) - set(largest(means)):
                middle = (shares[i] * means[i] + shares[j] * means[j]) / (shares[i] + shares[j])
                cost = sum(shares[k] * divergence(family, b, means[k], middle) for k in (i, j))
                found.append((cost, i, j, middle))
        _, i, j, middle = min(found)
        return np.where(np.isin(np.arange(view.count), [i, j]), middle, means)

    return play(
        view, family, b, lambda pulls, means: (means, 1 / pulls), respond,
        lambda pulls: threshold(word, view.time, 2, m * (view.count - m), algorithm.delta), largest,
    )  # fmt: skip
