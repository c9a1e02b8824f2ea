"""Independent programs of some rules on a matrix of scores, in NumPy: many runs at once, items read without return."""

import numpy as np


def means_of(table, runs, *, paired, random):
    """Return a function from pulls `(R, K)` to means `(R, K)`, of arms in a random order in each run, and that order.

    The items are in a random order, which all arms share if paired.
    """
    items, arms = table.shape
    shape = (runs, items) if paired else (runs, items, arms)
    order = np.argsort(random.random(shape), axis=1)
    scores = table[order] if paired else np.take_along_axis(np.broadcast_to(table, shape), order, axis=1)
    place = np.argsort(random.random((runs, arms)), axis=1)
    scores = np.take_along_axis(scores, place[:, None], axis=2)
    sums = np.concatenate([np.zeros((runs, 1, arms)), np.cumsum(scores, axis=1)], axis=1)

    def means(pulls):
        read = np.minimum(pulls, items)
        return np.take_along_axis(sums, read[:, None], axis=1)[:, 0] / np.maximum(read, 1)

    means.items = items
    return means, place


def answers_of(means, pulls, place):
    """Return the arm with the largest mean in each run."""
    return np.take_along_axis(place, np.argmax(means(pulls), axis=1)[:, None], axis=1)[:, 0]


def uniform(means, place, budget):
    """Uniform sampling: what is left of the budget goes to the first arms of the run."""
    runs, arms = place.shape
    pulls = np.broadcast_to(budget // arms + (np.arange(arms) < budget % arms), (runs, arms))
    return answers_of(means, pulls, place)


def index_rule(means, place, budget, index):
    """A rule that pulls the arm with the largest index, a function of means and pulls, of those with items left."""
    runs, arms = place.shape
    pulls, every = np.ones((runs, arms), int), np.arange(runs)
    for _ in range(budget - arms):
        unread = pulls < means.items
        pulls[every, np.argmax(np.where(unread, index(means(pulls), pulls), -np.inf), axis=1)] += unread.any(axis=1)
    return answers_of(means, pulls, place)


def ucb_e(means, place, budget, a):
    """UCB-E on scores in [0, 1]."""
    return index_rule(means, place, budget, lambda mean, pulls: mean + np.sqrt(a / pulls))


def gap_e(means, place, budget, a):
    """GapE on scores in [0, 1]: the gap of the best arm is its lead."""

    def index(mean, pulls):
        two = -np.sort(-mean, axis=1)[:, :2]
        best = np.argmax(mean, axis=1)[:, None] == np.arange(mean.shape[1])
        gap = np.where(best, two[:, :1] - two[:, 1:], two[:, :1] - mean)
        return np.sqrt(a / pulls) - gap

    return index_rule(means, place, budget, index)


def by_elimination(means, place, rounds, keep):
    """Pull the active arms some rounds more, drop the worst, and so on; `rounds` and `keep` take the number left."""
    runs, arms = place.shape
    active, pulls = np.ones((runs, arms), bool), 0
    left = arms
    while left > 1:
        pulls += rounds(left, pulls)
        estimates = np.where(active, means(np.full((runs, arms), pulls)), -np.inf)
        ranks = np.argsort(np.argsort(-estimates, axis=1, kind="stable"), axis=1)
        left = keep(left)
        active = ranks < left
    return np.take_along_axis(place, np.argmax(active, axis=1)[:, None], axis=1)[:, 0]


def halving(means, place, budget):
    """Sequential Halving that keeps its rewards."""
    phases = int(np.ceil(np.log2(place.shape[1])))
    return by_elimination(means, place, lambda left, _: budget // (left * phases), lambda left: -(-left // 2))


def rejects(means, place, budget):
    """Successive Rejects. Of equally bad arms it drops the first, so that the order of the arms is turned around."""
    arms = place.shape[1]
    bar = 0.5 + sum(1 / i for i in range(2, arms + 1))

    def rounds(left, pulls):
        return int(np.ceil((budget - arms) / (bar * left) - 1e-9)) - pulls

    return by_elimination(means, place, rounds, lambda left: left - 1)
