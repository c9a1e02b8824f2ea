"""Runs on a matrix of scores err as often as independent NumPy programs; z-scores are of fixed seeds."""

import functools

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.problems import synthetic_scores
from tests.problems import matrix_programs as programs

pytestmark = pytest.mark.bits

SCORES = synthetic_scores(items=40, candidates=6, seed=3)
BUDGETS = (40, 90, 170)
RULES = {
    "uniform": (jb.Uniform, programs.uniform),
    "ucb-e": (functools.partial(jb.UCBE, a=2.0), functools.partial(programs.ucb_e, a=2.0)),
    "gape": (functools.partial(jb.GapE, a=2.0), functools.partial(programs.gap_e, a=2.0)),
    "halving": (jb.SequentialHalving, programs.halving),
    "rejects": (jb.SuccessiveRejects, programs.rejects),
}


def compare_errors(name, runs, *, paired, budgets):
    """Check that both programs err equally often."""
    rule, program = RULES[name]
    wrong = ~jb.simulate(rule(budget=jb.axis(budgets)), jb.matrix(SCORES, paired=paired), seeds=runs).correct
    means, place = programs.means_of(SCORES, runs, paired=paired, random=np.random.default_rng(7))
    best = SCORES.mean(axis=0) >= SCORES.mean(axis=0).max() - 1e-9
    for budget, ours in zip(budgets, wrong.values, strict=True):
        theirs = ~best[program(means, place, budget)]
        rate = (ours.mean() + theirs.mean()) / 2
        z = (ours.mean() - theirs.mean()) / np.sqrt(rate * (1 - rate) * 2 / runs)
        assert abs(z) < 4.5, (name, paired, budget, ours.mean(), theirs.mean(), z)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "paired"), [("ucb-e", True), ("halving", False), ("ucb-e", False), ("halving", True)])
def test_errors_are_those_of_a_program_in_numpy(name, paired):
    compare_errors(name, 3000, paired=paired, budgets=(90,))


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("name", RULES)
def test_errors_are_those_of_a_program_in_numpy_in_many_runs(name, paired):
    compare_errors(name, 100_000, paired=paired, budgets=BUDGETS)


@pytest.mark.slow
def test_each_item_once_and_the_same_for_all_errs_less():
    """Sequential Halving over 20 prompts and 500 items, budget 3000."""
    scores = synthetic_scores()
    designs = {
        "paired": jb.matrix(scores), "independent": jb.matrix(scores, paired=False),
        "rows with replacement": jb.empirical(scores, joint=True), "cells with replacement": jb.empirical(scores),
    }  # fmt: skip
    error = {
        name: float(1 - jb.simulate(jb.SequentialHalving(budget=3000), problem, seeds=400).correct.mean())
        for name, problem in designs.items()
    }
    # Each step is larger than 5 standard errors of its difference.
    assert error["paired"] + 0.1 < error["rows with replacement"]
    assert error["independent"] + 0.1 < error["cells with replacement"]
