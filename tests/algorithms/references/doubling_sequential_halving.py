"""Doubling Sequential Halving, pull by pull: Zhao et al. (2023)."""

import jaxbandits as jb
from tests.algorithms.programs import halving, reference_of

RULE = jb.DoublingSequentialHalving
CASES = {
    "doubling": (jb.DoublingSequentialHalving(budget=150), jb.bernoulli([0.5, 0.4, 0.4, 0.1, 0.9])),
    "doubling of two": (jb.DoublingSequentialHalving(budget=40), jb.gaussian([0.5, 0.4], 0.2)),
}
TIES = [jb.DoublingSequentialHalving(budget=30)]


def program(view, algorithm):
    budget, answer = view.count * (view.count - 1).bit_length(), None
    while True:  # a stage that passes the budget does not end
        answer = yield from halving(view, budget, fewest, equal_pulls, answer)
        budget *= 2


def fewest(fresh, alive):
    del alive
    return [-len(seen) for seen in fresh]


def equal_pulls(budget, left, stages):
    return left * (budget // (left * stages))


reference = reference_of(program)
