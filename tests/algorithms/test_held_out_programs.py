"""Rules make as many pulls of each arm, and as many errors, as independent NumPy programs; z-scores are of fixed seeds.

A correct package passes 68 comparisons, each within 4.5 standard errors, with a probability above 0.9995.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms.protocol import Rule
from tests.algorithms import held_out_programs as programs

COINS = [0.6, 0.5, 0.5, 0.35, 0.2]
SPREAD = ([0.5, 0.4, 0.35, 0.3, 0.1, 0.0], [0.2, 0.6, 0.1, 0.4, 0.3, 0.8])


class Case(NamedTuple):
    rule: Rule
    program: Callable[[programs.Bandit], np.ndarray]
    means: list[float]
    right: Callable[[np.ndarray], np.ndarray]  # of answers (R, K), by arm
    sd: list[float] | None = None
    runs: int = 20_000


def finds(wanted):
    """Whether an answer is these arms."""
    return lambda answer: (answer == np.asarray(wanted, bool)).all(axis=1)


def one_of(good):
    """Whether an answer is one of these arms."""
    return lambda answer: (answer.sum(axis=1) == 1) & (answer & np.asarray(good, bool)).any(axis=1)


CASES = {
    "lsa": Case(jb.LSA(200, 0.45), lambda bandit: programs.lsa(bandit, 200, 0.45), COINS, finds([1, 1, 1, 0, 0])),
    "apgai-b": Case(
        jb.APGAIb(60, 0.55), lambda bandit: programs.apgai_b(bandit, 60, 0.55), COINS, one_of([1, 0, 0, 0, 0])
    ),
    "apgai-b, no good arm": Case(
        jb.APGAIb(60, 0.65), lambda bandit: programs.apgai_b(bandit, 60, 0.65), COINS, finds([0, 0, 0, 0, 0])
    ),
    "apgai-c": Case(
        jb.APGAIc(0.3, 0.42), lambda bandit: programs.apgai_c(bandit, 0.3, 0.42), COINS, one_of([1, 1, 1, 0, 0]),
        runs=4000,
    ),
    "apgai-c, no good arm": Case(
        jb.APGAIc(0.3, 0.8), lambda bandit: programs.apgai_c(bandit, 0.3, 0.8), COINS, finds([0, 0, 0, 0, 0]),
        runs=4000,
    ),
    "sh-ada-var": Case(
        jb.SHAdaVar(300, level=0.3), lambda bandit: programs.sh_ada_var(bandit, 300, 0.3), SPREAD[0],
        one_of([1, 0, 0, 0, 0, 0]), SPREAD[1],
    ),
    "at-lucb": Case(jb.ATLUCB(300), lambda bandit: programs.at_lucb(bandit, 300, 1), COINS, one_of([1, 0, 0, 0, 0])),
    "at-lucb of two": Case(
        jb.ATLUCB(301, m=2, first_delta=0.4, alpha=0.9), lambda bandit: programs.at_lucb(bandit, 301, 2, 0.4, 0.9),
        [0.8, 0.6, 0.5, 0.2], finds([1, 1, 0, 0]),
    ),
    "fc2fb": Case(
        jb.FC2FB(600, least=75, b=0.3),
        lambda bandit: programs.fc2fb(bandit, 600, 75, "ugape-c", 0.3678794, 0.3),
        [0.6, 0.5, 0.45, 0.3], one_of([1, 0, 0, 0]), runs=8000,
    ),
    "fc2fb, lil'ucb": Case(
        jb.FC2FB(900, rule="lil-ucb", least=110, first_delta=0.8, b=0.1),
        lambda bandit: programs.fc2fb(bandit, 900, 110, "lil-ucb", 0.8, 0.1),
        [0.6, 0.5, 0.45, 0.3], one_of([1, 0, 0, 0]), runs=8000,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("name", CASES)
def test_pulls_and_errors_are_those_of_a_program_in_numpy(name):
    case = CASES[name]
    problem = jb.bernoulli(case.means) if case.sd is None else jb.gaussian(case.means, case.sd)
    by_arm = {"by_arm": lambda problem, state, answer: state.pulls}
    ours = jb.simulate(case.rule, problem, case.runs, metrics=by_arm)
    bandit = programs.Bandit(case.means, case.runs, seed=17, sd=case.sd)
    answer = bandit.by_arm(case.program(bandit))
    theirs = {"right": case.right(answer), "pulls": bandit.pulls.sum(axis=1)}
    mine = {"right": ours.correct.to_numpy(), "pulls": ours.pulls.to_numpy()}
    for arm, pulls in enumerate(bandit.by_arm(bandit.pulls).T):
        theirs[f"pulls of arm {arm}"], mine[f"pulls of arm {arm}"] = pulls, ours.by_arm.to_numpy()[:, arm]
    assert 0.02 < theirs["right"].mean() <= 1
    for what, values in theirs.items():
        apart = mine[what].mean() - values.mean()
        error = np.sqrt((mine[what].var() + values.var()) / case.runs)
        assert abs(apart) <= 4.5 * error, (name, what, mine[what].mean(), values.mean(), error)
