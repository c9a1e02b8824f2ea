"""LinGame, pull by pull: Degenne, Ménard, Shang, Valko (2020); the threshold of Jedra and Proutiere (2020)."""

import math

import numpy as np

import jaxbandits as jb
from tests.algorithms.question_game import play, threshold

RULE = jb.LinGame
FEATURES = np.asarray([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5], [-0.4, 0.3]])
PROBLEM = jb.gaussian(FEATURES @ [1.0, -0.2], 0.4)
CASES = {
    "lin-game": (jb.LinGame(delta=0.1, features=FEATURES), PROBLEM),
    "lin-game, heuristic": (jb.LinGame(delta=1e-4, features=FEATURES, threshold="heuristic"), PROBLEM),
    "lin-game, no features": (jb.LinGame(delta=1e-4), jb.gaussian([1.1, 0.6, 0.3], 0.3)),
}
TIES = [jb.LinGame(delta=0.9)]


def reference(view, algorithm):
    """With the features as they were given: nothing depends on the coordinates of theta."""
    b, seen = algorithm.b or view.b, np.argsort(view.order[0])
    given = {4: FEATURES}.get(view.count, np.eye(view.count)) if algorithm.features is not None else np.eye(view.count)
    x = given[seen]

    def information(weights):
        return (x * np.asarray(weights)[:, None]).T @ x

    def fit(pulls, means):
        inverse = np.linalg.inv(information(pulls))
        return x @ inverse @ x.T @ (pulls * means), np.einsum("ai,ij,aj->a", x, inverse, x)

    def respond(means, shares):
        theta, inverse = np.linalg.lstsq(x, means)[0], np.linalg.inv(information(shares))
        best, found = means.argmax(), []
        for arm in range(view.count):
            if arm != best:
                way = x[best] - x[arm]
                far = way @ inverse @ way
                found.append(((way @ theta) ** 2 / far, arm, theta - (way @ theta) / far * (inverse @ way)))
        return x @ min(found, key=lambda one: one[:2])[2]

    def boundary(pulls):
        if algorithm.threshold == "heuristic":
            return threshold("heuristic", view.time, 1, 1, algorithm.delta)
        first = information(np.ones(view.count))
        volume = np.linalg.slogdet(information(pulls) + 0.1 * first)[1] - np.linalg.slogdet(0.1 * first)[1]
        return (1 + 0.1 / pulls.min()) * (volume / 2 - math.log(algorithm.delta))

    return play(view, "gaussian", b, fit, respond, boundary, lambda means: [means.argmax()])
