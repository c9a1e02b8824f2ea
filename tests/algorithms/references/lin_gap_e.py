"""LinGapE, pull by pull: Xu, Honda, Sugiyama (2018), Algorithm 1, with greedy pulls."""

import math

import numpy as np

import jaxbandits as jb

RULE = jb.LinGapE
FEATURES = np.asarray([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5], [-0.4, 0.3]])
CASES = {
    "lin-gap-e": (jb.LinGapE(delta=0.1, features=FEATURES), jb.gaussian(FEATURES @ [0.9, -0.2], 0.4)),
    "lin-gap-e, no features": (
        jb.LinGapE(delta=0.1, ridge=0.3, norm=2.0, epsilon=0.1),
        jb.gaussian([1.1, 0.6, 0.3], 0.2),
    ),
}
TIES = [jb.LinGapE(delta=0.9, norm=1.5)]  # theta is longer than 1


def reference(view, algorithm):
    seen, K = np.argsort(view.order[0]), view.count
    x = (np.eye(K) if algorithm.features is None else FEATURES)[seen]
    pulls, sums = view.pulls[0][seen], (view.pulls * view.mean)[0][seen]
    A = algorithm.ridge * np.eye(x.shape[1]) + sum(n * np.outer(row, row) for n, row in zip(pulls, x, strict=True))
    theta = np.linalg.solve(A, x.T @ sums)
    means = x @ theta
    volume = math.sqrt(np.linalg.det(A / algorithm.ridge))
    C = (algorithm.b or view.b) / 2 * math.sqrt(2 * math.log(K**2 * volume / algorithm.delta))
    C += math.sqrt(algorithm.ridge) * algorithm.norm
    best = view.first(means, np.arange(K))

    def length(way, matrix):
        return math.sqrt(way @ np.linalg.solve(matrix, way))

    index = np.asarray([means[j] - means[best] + length(x[best] - x[j], A) * C for j in range(K)])
    index[best] = -np.inf
    rival = view.first(index, np.arange(K))
    way = x[best] - x[rival]
    # What a reward takes away falls with the pulls; so does what float32 can tell of it.
    gains = [length(way, A) ** 2 - length(way, A + np.outer(row, row)) ** 2 for row in x]
    pulled = view.first(np.asarray(gains) * view.time**2, np.arange(K))
    return [int(seen[pulled])], {int(seen[best])}, index[rival]
