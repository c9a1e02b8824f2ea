"""Rules make as many pulls of each arm, and as many errors, as independent NumPy programs; z-scores are of fixed seeds.

A correct package passes 290 comparisons, each within 4.5 standard errors, with a probability above 0.998.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms.protocol import Rule
from tests.algorithms import held_out_batches as batches
from tests.algorithms import held_out_budgets as budgets
from tests.algorithms import held_out_good_arms as good_arms
from tests.algorithms import held_out_programs as programs
from tests.algorithms import held_out_questions as questions

COINS = [0.6, 0.5, 0.5, 0.35, 0.2]
GOOD = [0.85, 0.7, 0.2, 0.2, 0.1]
PRIORS = [0.3, 0.4, 0.5, 0.2, 0.3, 0.1]
SPREAD = ([0.5, 0.4, 0.35, 0.3, 0.1, 0.0], [0.2, 0.6, 0.1, 0.4, 0.3, 0.8])

FEATURES = np.asarray([[1.0, 0.3], [0.4, 1.0], [0.5, -0.1], [-0.2, 0.3]])
FEATURES_3 = np.asarray([[1.0, 0.2, 0.3], [0.2, 1.0, 0.0], [0.0, 0.1, 1.0], [0.6, 0.0, -0.4], [0.5, 0.4, 0.5]])


class Case(NamedTuple):
    rule: Rule
    program: Callable[[programs.Bandit], np.ndarray]
    means: list[float]
    right: Callable[[np.ndarray], np.ndarray]  # of answers (R, K), by arm
    sd: list[float] | None = None
    runs: int = 20_000
    first: int = 1  # pulls of each arm before the first decision
    most: int = 10**9  # pulls of a run
    together: int = 1  # arms of a group, which stay together in a run's order


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
    "tri-bbai": Case(
        jb.TriBBAI(0.1, shift=0.03, l1=8, l2=60, l3=70), lambda bandit: batches.tri_bbai(bandit, 0.1, 0.03, 8, 60, 70),
        COINS, one_of([1, 0, 0, 0, 0]), runs=4000, first=0,
    ),
    "tri-bbai, small delta": Case(
        jb.TriBBAI(1e-3, l1=12, l2=400, l3=48), lambda bandit: batches.tri_bbai(bandit, 1e-3, 0.01, 12, 400, 48),
        [0.8, 0.4, 0.3, 0.3], one_of([1, 0, 0, 0]), runs=4000, first=0,
    ),
    "opt-bbai": Case(
        jb.OptBBAI(0.2, l1=6, l2=50, scale=0.02), lambda bandit: batches.opt_bbai(bandit, 0.2, 0.01, 6, 50, 0.02),
        [0.7, 0.5, 0.45, 0.3], one_of([1, 0, 0, 0]), runs=4000, first=0,
    ),
    "bayes-elim": Case(
        jb.BayesElim(100, prior_mean=PRIORS, prior_sd=0.2),
        lambda bandit: batches.bayes_elim(bandit, 100, PRIORS, 0.2, np.square(SPREAD[1])),
        SPREAD[0], one_of([1, 0, 0, 0, 0, 0]), SPREAD[1], first=0,
    ),
    "ocba": Case(
        jb.OCBA(budget=97, increment=12, initial=6), lambda bandit: budgets.ocba(bandit, 97, 12, 6),
        SPREAD[0], one_of([1, 0, 0, 0, 0, 0]), SPREAD[1],
    ),
    "ocba of three arms": Case(
        jb.OCBA(budget=60), lambda bandit: budgets.ocba(bandit, 60, 10, 5), [0.5, 0.3, 0.2], one_of([1, 0, 0]),
        [0.2, 0.3, 0.7],
    ),
    "ocba-m": Case(
        jb.OCBAm(budget=120, m=3, increment=25), lambda bandit: budgets.ocba_m(bandit, 120, 3, 25, 5),
        SPREAD[0], finds([1, 1, 1, 0, 0, 0]), SPREAD[1],
    ),
    "ocba-m of one": Case(
        jb.OCBAm(budget=60, initial=4), lambda bandit: budgets.ocba_m(bandit, 60, 1, 10, 4),
        [0.5, 0.3, 0.2, 0.2], one_of([1, 0, 0, 0]), [0.2, 0.3, 0.7, 0.4],
    ),
    "sh-var": Case(
        jb.SHVar(100), lambda bandit: budgets.shvar(bandit, 100, SPREAD[1]), SPREAD[0], one_of([1, 0, 0, 0, 0, 0]),
        SPREAD[1],
    ),
    "doubling sequential halving": Case(
        jb.DoublingSequentialHalving(173), lambda bandit: budgets.doubling_halving(bandit, 173),
        COINS, one_of([1, 0, 0, 0, 0]),
    ),
    "doubling sequential halving, normal": Case(
        jb.DoublingSequentialHalving(400), lambda bandit: budgets.doubling_halving(bandit, 400),
        SPREAD[0], one_of([1, 0, 0, 0, 0, 0]), SPREAD[1],
    ),
    "anytime eb-tc": Case(
        jb.AnytimeEBTC(100), lambda bandit: budgets.anytime_eb_tc(bandit, 100, 0.5, 0.1), COINS,
        one_of([1, 0, 0, 0, 0]),
    ),
    "anytime eb-tc, ids": Case(
        jb.AnytimeEBTC(150, share="ids", slack=0.05), lambda bandit: budgets.anytime_eb_tc(bandit, 150, None, 0.05),
        SPREAD[0], one_of([1, 0, 0, 0, 0, 0]), SPREAD[1],
    ),
    "hdoc": Case(jb.HDoC(0.3, 0.45), lambda bandit: good_arms.hdoc(bandit, 0.3, 0.45), GOOD, finds([1, 1, 0, 0, 0])),
    "hdoc, so far": Case(
        jb.HDoC(0.3, 0.45), lambda bandit: good_arms.hdoc(bandit, 0.3, 0.45, 160), GOOD, finds([1, 1, 0, 0, 0]),
        most=160,
    ),
    "hdoc, first": Case(
        jb.HDoCFirst(0.3, 0.45), lambda bandit: good_arms.hdoc(bandit, 0.3, 0.45, first=True), GOOD,
        one_of([1, 1, 0, 0, 0]),
    ),
    "hdoc, no good arm": Case(
        jb.HDoCFirst(0.3, 0.95), lambda bandit: good_arms.hdoc(bandit, 0.3, 0.95, first=True), GOOD,
        finds([0, 0, 0, 0, 0]), runs=4000,
    ),
    "lucb-g, so far": Case(
        jb.LUCBG(0.3, 0.45), lambda bandit: good_arms.lucb_g(bandit, 0.3, 0.45, 160), GOOD, finds([1, 1, 0, 0, 0]),
        most=160,
    ),
    "apt-g, so far": Case(
        jb.APTG(0.3, 0.45), lambda bandit: good_arms.apt_g(bandit, 0.3, 0.45, 330), GOOD, finds([1, 1, 0, 0, 0]),
        most=330,
    ),
    "st2": Case(
        jb.ST2(0.3, 0.2), lambda bandit: good_arms.st2(bandit, 0.3, 0.2, 0.0), GOOD, finds([1, 1, 0, 0, 0]), runs=4000
    ),
    "st2, multiplicative": Case(
        jb.ST2(0.5, 0.2, gamma=0.05, multiplicative=True),
        lambda bandit: good_arms.st2(bandit, 0.5, 0.2, 0.05, 2 * 0.3, multiplicative=True),
        [1.0, 0.7, 0.2, 0.1], finds([1, 1, 0, 0]), [0.3, 0.3, 0.3, 0.3], runs=4000,
    ),
    "fareast": Case(
        jb.FAREAST(0.3, 0.2), lambda bandit: good_arms.fareast(bandit, 0.3, 0.2), GOOD, finds([1, 1, 0, 0, 0])
    ),
    "fareast, multiplicative": Case(
        jb.FAREAST(0.5, 0.2, multiplicative=True),
        lambda bandit: good_arms.fareast(bandit, 0.5, 0.2, 2 * 0.3, multiplicative=True),
        [1.0, 0.7, 0.2, 0.1], finds([1, 1, 0, 0]), [0.3, 0.3, 0.3, 0.3],
    ),
    "threshold game": Case(
        jb.ThresholdGame(delta=0.3, level=0.45, threshold="heuristic"),
        lambda bandit: questions.threshold_game(bandit, 0.3, 0.45), GOOD, finds([1, 1, 0, 0, 0]), runs=4000,
    ),
    "threshold game, normal": Case(
        jb.ThresholdGame(delta=0.2, level=0.0, threshold="heuristic"),
        lambda bandit: questions.threshold_game(bandit, 0.2, 0.0, questions.normal(0.5)),
        [0.6, 0.4, -0.3, -0.9], finds([1, 1, 0, 0]), [0.5] * 4, runs=4000,
    ),
    "top-m game": Case(
        jb.TopMGame(m=2, delta=0.3, threshold="heuristic"),
        lambda bandit: questions.top_m_game(
            bandit, 2, questions.normal(0.5), lambda bandit: questions.heuristic(bandit, 0.3)
        ),
        [0.8, 0.6, 0.2, 0.1, -0.5], finds([1, 1, 0, 0, 0]), [0.5] * 5, runs=4000,
    ),
    "top-m game, coins": Case(
        jb.TopMGame(delta=0.3, threshold="gk16"),
        lambda bandit: questions.top_m_game(bandit, 1, programs.kl, lambda bandit: questions.gk16(bandit, 0.3, 3)),
        [0.8, 0.5, 0.4, 0.1], finds([1, 0, 0, 0]), runs=4000,
    ),
    "lin-game": Case(
        jb.LinGame(features=FEATURES, delta=0.2),
        lambda bandit: questions.lin_game(bandit, FEATURES, 0.2, 0.5, proved=True),
        list(FEATURES @ [0.9, 0.2]), finds([1, 0, 0, 0]), [0.5] * 4, runs=4000,
    ),
    "lin-game, three parameters": Case(
        jb.LinGame(features=FEATURES_3, delta=0.2, threshold="heuristic"),
        lambda bandit: questions.lin_game(bandit, FEATURES_3, 0.2, 0.5, proved=False),
        list(FEATURES_3 @ [0.8, 0.5, 0.0]), finds([1, 0, 0, 0, 0]), [0.5] * 5, runs=4000,
    ),
    "lin-gap-e": Case(
        jb.LinGapE(features=FEATURES, delta=0.2), lambda bandit: questions.lin_gap_e(bandit, FEATURES, 0.2, 1.0),
        list(FEATURES @ [0.9, 0.2]), finds([1, 0, 0, 0]), [0.5] * 4, runs=4000,
    ),
    "lin-gap-e, three parameters": Case(
        jb.LinGapE(features=FEATURES_3, delta=0.2, epsilon=0.1),
        lambda bandit: questions.lin_gap_e(bandit, FEATURES_3, 0.2, 1.0, 0.1),
        list(FEATURES_3 @ [0.8, 0.5, 0.0]), finds([1, 0, 0, 0, 0]), [0.5] * 5, runs=4000,
    ),
    "pareto game": Case(
        jb.ParetoGame(delta=0.3, objectives=2, threshold="heuristic"),
        lambda bandit: questions.pareto_game(bandit, 0.3, 2, questions.normal(0.25)),
        [0.9, 0.0, 0.3, 0.8, 0.0, 0.3, -0.1, -0.5], finds([1, 1, 1, 1, 0, 0, 0, 0]), [0.25] * 8, runs=2000,
        together=2,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("name", CASES)
def test_pulls_and_errors_are_those_of_a_program_in_numpy(name):
    case = CASES[name]
    problem = jb.bernoulli(case.means) if case.sd is None else jb.gaussian(case.means, case.sd)
    by_arm = {"by_arm": lambda problem, state, answer: state.pulls}
    ours = jb.simulate(case.rule, problem, case.runs, metrics=by_arm, max_pulls=case.most)
    bandit = programs.Bandit(case.means, case.runs, seed=17, sd=case.sd, first=case.first, together=case.together)
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
