"""(ST)^2, round by round: Mason, Jain, Tripathy, Nowak (2020), Algorithm 1."""

import numpy as np

import jaxbandits as jb

RULE = jb.ST2
CASES = {
    "st2": (jb.ST2(epsilon=0.2173, delta=0.3), jb.bernoulli([0.97, 0.9, 0.85, 0.1, 0.02])),
    "st2 with accuracy": (
        jb.ST2(epsilon=0.1179, delta=0.5, gamma=0.2031, b=0.3), jb.gaussian([0.5, 0.45, 0.1, 0.0, 0.35], 0.15),
    ),
    "st2, multiplicative": (
        jb.ST2(epsilon=0.3179, delta=0.3, gamma=0.1031, multiplicative=True, b=0.4),
        jb.bernoulli([0.97, 0.9, 0.85, 0.1, 0.02]),
    ),
}  # fmt: skip
TIES = [jb.ST2(epsilon=0.2173, delta=0.9)]


def line(algorithm, best, gamma):
    return (1 - algorithm.epsilon - gamma) * best if algorithm.multiplicative else best - algorithm.epsilon - gamma


def reference(view, algorithm):
    pulls, mean, order = view.pulls[0], view.mean[0], view.order[0]
    radius = (algorithm.b or view.b) * np.sqrt(np.log(view.count * np.log2(2 * pulls) / algorithm.delta) / pulls)
    top, bottom = line(algorithm, max(mean + radius), algorithm.gamma), line(algorithm, max(mean - radius), 0)
    middle = line(algorithm, max(mean), 0)
    good, bad = mean - radius > top, mean + radius < bottom
    for one in (mean - middle, mean - radius - top, mean + radius - bottom):
        view.doubt(one)
    queue = view.memory.setdefault("queue", [])
    if not queue:
        queue.append(view.first(mean + radius, order))
        for side, index in ((mean >= middle, radius - mean), (mean < middle, mean + radius)):
            if (unknown := side & ~good & ~bad).any():
                queue.append(view.first(np.where(unknown, index, -np.inf), order))
        view.memory["ended"] = len(queue) == 1
    view.memory["near"] = view.near = view.near or view.memory.get("near", False)  # another round from here on
    answer = set(np.flatnonzero(good | ((mean >= middle) & ~bad)))
    return [queue.pop(0)], answer, -np.inf if view.memory["ended"] else np.inf
