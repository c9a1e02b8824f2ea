"""Structures tell classes apart: programs are cached by them."""

import dataclasses
import itertools

import jax
import pytest

import jaxbandits as jb

PROBLEMS = [
    jb.bernoulli([0.5, 0.4]), jb.gaussian([0.5, 0.4]), jb.beta([1.0, 2.0], 1.0), jb.rademacher([0.0, 0.0], [1.0, 0.5]),
    jb.student_t([0.5, 0.4], 3.0), jb.pareto([0.5, 0.4], 3.0), jb.symmetric_pareto([0.5, 0.4], 3.0),
    jb.poisson([0.5, 0.4]), jb.exponential([0.5, 0.4]), jb.log_normal([0.5, 0.4], 3.0), jb.weibull([0.5, 0.4], 3.0),
    jb.empirical([[0.0, 1.0], [1.0, 2.0]]),
]  # fmt: skip


def nameless(problem):
    return dataclasses.replace(problem, name="")


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations([nameless(problem) for problem in PROBLEMS], 2)))
def test_problems_of_different_laws_have_different_structures(one, other):
    assert jax.tree.structure(one) != jax.tree.structure(other)


def test_algorithms_have_different_structures():
    made = [jb.Uniform(budget=9), jb.GapE(budget=9), jb.UCBE(budget=9), jb.SuccessiveRejects(budget=9),
            jb.SequentialHalving(budget=9), jb.SAR(budget=9), jb.UGapEb(budget=9), jb.UGapEc(epsilon=0.1, delta=0.1),
            jb.LUCB(epsilon=0.1, delta=0.1), jb.SuccessiveElimination(delta=0.1)]  # fmt: skip
    for one, other in itertools.combinations(made, 2):
        assert jax.tree.structure(one) != jax.tree.structure(other)


def test_a_round_trip_keeps_everything():
    algorithm = jb.UGapEc(epsilon=0.1, delta=0.2, variance=True)
    leaves, structure = jax.tree.flatten(algorithm)
    assert jax.tree.unflatten(structure, leaves) == algorithm
    assert [str(path[0]) for path, _ in jax.tree_util.tree_leaves_with_path(algorithm)] == [
        ".epsilon", ".delta", ".m", ".c",
    ]  # fmt: skip
