"""What every algorithm of the registry must do, whatever it computes: shapes, and bits that depend on nothing else.

A new algorithm is covered as soon as it is in the registry.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.algorithms.betting_intervals import OF_POPULATIONS
from jaxbandits.algorithms.parameters import Word
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.mapping import map_algorithm
from tests.same_bits import assert_same_bits

RUNS, STEPS = 6, 200
# Values that differ from run to run, for every parameter that has no usable default; some runs end, others do not.
VALUES = {
    "epsilon": np.linspace(0.0, 0.5, RUNS),
    "delta": np.linspace(0.05, 0.4, RUNS),
    "budget": np.linspace(40, 400, RUNS).astype(int),
    "a": np.linspace(1.0, 4.0, RUNS),
    "eta": np.linspace(1.0, 4.0, RUNS),
    "c": np.linspace(0.05, 0.5, RUNS),
    "p": np.linspace(1.2, 2.5, RUNS),
    "moment_b": np.linspace(0.01, 0.02, RUNS),
    "moment_c": np.linspace(0.001, 0.002, RUNS),
    "b": np.linspace(0.2, 0.5, RUNS),
    "threshold": np.linspace(0.4, 1.0, RUNS),
    "level": np.linspace(0.4, 1.0, RUNS),
    "k": np.asarray([1, 2, 3, 4, 2, 1]),
    "scale": np.linspace(0.1, 0.4, RUNS),
    "resamplings": np.asarray([1, 2, 3, 4, 5, 6]),
    "beta": np.linspace(0.6, 0.9, RUNS),
    "n0": np.asarray([2, 3, 5, 9, 12, 6]),
    "variances": np.linspace(0.1, 0.5, RUNS),
}
# All that MAB-PPR fills in before a run. Sizes are small, and every run reaches its final round.
PPR = {
    "epsilon": np.linspace(0.4, 0.9, RUNS),
    "delta": VALUES["delta"],
    "correlation": np.linspace(1, 3, RUNS),
    "cq": np.linspace(0.3, 1.0, RUNS),
    "cq_prime": np.linspace(2, 8, RUNS),
    "c1": np.linspace(0.01, 0.1, RUNS),
    "c2": np.linspace(2, 8, RUNS),
    "c3": np.linspace(2, 8, RUNS),
    "n_final": np.linspace(2.0, 3.5, RUNS),
    "rho": np.linspace(0.7, 0.9, RUNS),
    "theta": np.linspace(0.4, 0.5, RUNS),
    "factor": np.linspace(0.5, 1.5, RUNS),
}
FLAT = jb.bernoulli([0.6, 0.5, 0.5, 0.4, 0.3])
SMOOTH = jb.gaussian([0.6, 0.5, 0.5, 0.4, 0.3], 0.5)
PRICED = jb.with_costs(FLAT, [0.9, 0.7, 0.7, 0.3, 0.5], random=True)
SEVERAL = jb.bernoulli([[0.6, 0.5, 0.4, 0.3], [0.5, 0.5, 0.2, 0.1]])
KEYS = jax.random.split(jax.random.key(11), RUNS)
LIVE = np.arange(RUNS) % 2 == 0


class Case(NamedTuple):
    algorithm: Any  # leaves (R,)
    problem: jb.Problem  # leaves (K,)


def numeric(values):
    return np.asarray(values, np.int32 if np.asarray(values).dtype.kind == "i" else np.float32)


def cases():
    """Every algorithm with each of its switches; every number differs from run to run."""
    for name, cls in REGISTRY.items():
        fields = {field.name: field for field in dataclasses.fields(cls)}
        words = {n for n in fields if _choices(fields, n)}
        given = {n: VALUES[n] for n, field in fields.items() if n in VALUES and field.default is not None}
        others = {n: field.default for n, field in fields.items() if n not in VALUES}
        numbers = {n: value for n, value in others.items() if type(value) in (int, float)}
        given |= {n: np.full(RUNS, value) for n, value in numbers.items() if not fields[n].metadata.get("static")}
        optional = [n for n, field in fields.items() if n in VALUES and field.default is None and n not in words]
        switches = [n for n, field in fields.items() if isinstance(field.default, bool)]
        # The range of the rewards, a factor and no more, is given with the switches: each case is two programs.
        ranges = {"b": VALUES["b"]} if switches and "b" in optional else {}
        settings = {"": {}, **{n: {n: VALUES[n]} for n in optional if n not in ranges}}
        if cls is jb.MABPPR:
            given, settings = PPR, {"": {"slots": 12}}
        if cls is jb.Rinott:  # filled in before a run, too
            given |= {"h": VALUES["a"], "n0": 5}
        if "variances" in optional:  # the problem's, filled in before a run
            given |= {"variances": VALUES["variances"]}
            settings.pop("variances")
        if "beta" in optional:  # the reservoir's, filled in before a run
            given |= {"beta": VALUES["beta"]}
            settings.pop("beta")
        spends = cls.traits.spends
        if spends:
            given["budget"] = VALUES["budget"] / 4
            settings |= {word: {"sequence": word} for word in _choices(fields, "sequence")[1:]}
        settings |= {n: {n: not fields[n].default, **ranges} for n in switches}
        settings |= {word: {"exploration": word} for word in _choices(fields, "exploration")[1:]}
        # Those for finite populations: tests/problems/test_score_matrix.py.
        words = [word for word in _choices(fields, "radius")[1:] if word not in OF_POPULATIONS]
        settings |= {word: {"radius": word} for word in words}
        if "family" in fields:
            families = {"bernoulli": "bernoulli", "unknown-variance": "gaussian-unknown-variance"}
            settings |= {n: {"family": word} for n, word in families.items() if word in _choices(fields, "family")}
            if cls is jb.UniformGLR:
                settings |= {word: {"stopping": word} for word in _choices(fields, "stopping")[1:]}
            settings |= {word: {"tracking": word} for word in _choices(fields, "tracking")[:1]}
            settings |= {word: {n: Word(word)} for n, f in fields.items() for word in f.metadata["words"]}
        if "schedule" in fields:
            settings["fine"] = {"schedule": "fine"}
            settings["fine with a budget"] = {"schedule": "fine", "budget": VALUES["budget"]}
        if "estimator" in fields:  # each takes some of the numbers that are optional
            given |= {n: VALUES[n] for n in ("moment_b", "moment_c", "b", "threshold") if n in fields}
            settings = {n: {"estimator": n} for n in fields["estimator"].metadata["choices"]}
        if {"variance", "adaptive"} <= fields.keys():
            settings["adaptive-variance"] = {"adaptive": True, "variance": True}
        if "m" in fields:
            given["m"] = np.ones(RUNS, int)
            settings["m"] = {"m": np.asarray([1, 2, 3, 4, 2, 1])}
        for label, extra in settings.items():
            values = {n: v if isinstance(v, bool | str | int) else numeric(v) for n, v in (given | extra).items()}
            problem = SMOOTH if {"variance", "estimator"} & {label, *extra} or "variance" in label else FLAT
            problem = PRICED if spends else problem
            yield pytest.param(Case(suited(cls(**values), problem), problem), id=f"{name}-{label}" if label else name)
        if cls.traits.multi_bandit:
            algorithm = suited(cls(**{n: numeric(v) for n, v in given.items()}), SEVERAL)
            yield pytest.param(Case(algorithm, SEVERAL), id=f"{name}-bandits")


def suited(algorithm, problem):
    """With what a rule takes from the problem before a run, in each run."""
    if not (isinstance(algorithm, Rule) and algorithm.oracle):
        return algorithm
    each = [jax.tree.map(lambda leaf, i=i: leaf[i], algorithm).resolved(problem) for i in range(RUNS)]
    return jax.tree.map(lambda *leaves: numeric(np.stack(leaves)), *each)


def _common(algorithm, name):
    """Whether a grid that shares a parameter's common value gets a program of its own."""
    return any(field.name == name and field.metadata["common"] is not None for field in dataclasses.fields(algorithm))


def _choices(fields, name):
    return fields[name].metadata["choices"] if name in fields else ()


CASES = list(cases())


def of_engine(algorithm):
    """What the engine makes of an algorithm."""
    return map_algorithm(algorithm) if isinstance(algorithm, Rule) else algorithm


class Played(NamedTuple):
    first: Any
    last: Any
    after: Any
    announced: jax.Array  # pulls by `last`, as said before every step
    done: jax.Array
    stuck: jax.Array
    recommended: jax.Array


@recent_programs(1000)
def play(problem, key, algorithm, live):
    """A run of `STEPS` steps and what it answers then; and its state after three more, where it is `live`."""
    algorithm = of_engine(algorithm)
    first = algorithm.init(problem, key)

    def leg(carry, leg):
        steps, live = leg

        def step(_, carry):
            state, announced = carry
            moving = ~algorithm.done(state) & ~jnp.asarray(algorithm.exhausted(state))
            announced = announced + jnp.where(moving, algorithm.next_pulls(state), 0)
            return algorithm.step(problem, key, state, live), announced

        carry = jax.lax.fori_loop(0, steps, step, carry)
        return carry, carry

    # One loop for both, so that a step is compiled once.
    legs = jnp.asarray([STEPS, 3]), jnp.stack([jnp.ones_like(live), live])
    _, (states, announced) = jax.lax.scan(leg, (first, first.time), legs)
    last, after = (jax.tree.map(lambda leaf, i=i: leaf[i], states) for i in range(2))
    stuck = jnp.broadcast_to(algorithm.exhausted(last), last.time.shape)
    return Played(first, last, after, announced[0], algorithm.done(last), stuck, algorithm.recommend(last))


each_alone = recent_programs(1000)(jax.vmap(play.__wrapped__, in_axes=(None, 0, -1, 0), out_axes=-1))


def wide(problem):
    """The problem with leaves `(K, R)`."""
    return jax.tree.map(lambda leaf: np.broadcast_to(np.asarray(leaf)[:, None], (*leaf.shape, RUNS)), problem)


@functools.cache
def together(index):
    """All runs of a case in a native batch, as NumPy's arrays."""
    algorithm, problem = CASES[index].values[0]
    return jax.device_get(play(wide(problem), KEYS, algorithm, LIVE))


def of_run(tree, run):
    return jax.tree.map(lambda leaf: leaf[..., run], tree)


# One of each kind; with the slow tests, all of them.
KINDS = (jb.UGapEc, jb.SuccessiveElimination, jb.AdaptiveTopK, jb.RCBAIR)


def marked(index, *, each_time):
    """A case: with the programs that users get where it is the first of its kind, and else compiled plainly."""
    kind = type(CASES[index].values[0].algorithm)
    first = next(i for i, case in enumerate(CASES) if type(case.values[0].algorithm) is kind)
    marks = [pytest.mark.bits] * (kind in KINDS and index == first) + [pytest.mark.slow] * (not each_time)
    return pytest.param(index, id=CASES[index].id, marks=marks)


# And what asks for two arms or for several batches, or answers with sets of its own.
TYPICAL = (*KINDS, jb.LUCB, jb.MABPPR, jb.CLUCB)


def first_of_each(condition, often):
    """The first case of each algorithm that meets a condition, and its case of several bandits, a slow test."""
    chosen = {}
    for index, case in enumerate(CASES):
        algorithm, problem = case.values[0]
        if condition(algorithm):
            chosen.setdefault((type(algorithm), problem.bandits), index)
    cases = [marked(index, each_time=kind in often and bandits == 1) for (kind, bandits), index in chosen.items()]
    return pytest.mark.parametrize("index", cases)


def all_cases(often, most=2):
    """The first case of some algorithms, also of up to `most` bandits, each time; the rest with the slow tests."""
    seen, cases = set(), []
    for index, case in enumerate(CASES):
        algorithm, problem = case.values[0]
        kind = (type(algorithm), problem.bandits)
        chosen = type(algorithm) in often and problem.bandits <= most
        cases.append(marked(index, each_time=chosen and kind not in seen))
        seen.add(kind)
    return pytest.mark.parametrize("index", cases)


every_case = all_cases(TYPICAL)


@every_case
def test_shapes_and_what_is_returned(index):
    algorithm, problem = CASES[index].values[0]
    played = together(index)
    for state in (played.first, played.last):
        chex.assert_shape([state.pulls, state.time], [(problem.arms, RUNS), (RUNS,)])
        chex.assert_type(state.pulls, int)
        total = np.asarray(state.pulls).sum(axis=0, dtype=np.int64)
        np.testing.assert_array_equal(np.minimum(total, MAX_COUNT - 1), state.time)
    np.testing.assert_array_equal(played.first.pulls, np.full((problem.arms, RUNS), algorithm.initial_pulls))
    chex.assert_shape([played.done, played.recommended], [(RUNS,), (problem.arms, RUNS)])
    chex.assert_type([played.done, played.recommended], bool)
    wanted = getattr(algorithm, "k", getattr(algorithm, "m", 1))
    returned = played.recommended.reshape(-1, problem.bandits, RUNS).sum(axis=0)
    if algorithm.traits.answers != "any":
        np.testing.assert_array_equal(returned, np.broadcast_to(wanted, returned.shape))
    assert (played.last.time[~played.done & ~played.stuck] >= STEPS).all()
    assert played.done.any() or "delta" in {f.name for f in dataclasses.fields(algorithm)}


@every_case
def test_a_step_keeps_structure_shapes_and_types(index):
    algorithm, problem = CASES[index].values[0]
    state = together(index).first
    after = jax.eval_shape(lambda s: of_engine(algorithm).step(wide(problem), KEYS, s), state)
    chex.assert_trees_all_equal_shapes_and_dtypes(after, state)


@every_case
def test_a_step_makes_the_pulls_that_it_announces(index):
    """By which runs are kept below `max_pulls`."""
    played = together(index)
    counted = played.last.time < MAX_COUNT - 1
    np.testing.assert_array_equal(played.announced[counted], played.last.time[counted])


@every_case
def test_nothing_changes_when_done_or_not_live(index):
    played = together(index)
    moving = LIVE & ~played.done & ~played.stuck
    for run in range(RUNS):
        if moving[run]:
            assert int(played.after.time[run]) > int(played.last.time[run])
        else:
            assert_same_bits(of_run(played.after, run), of_run(played.last, run))


@all_cases(KINDS, most=1)
def test_a_run_alone_has_the_bits_of_the_batch(index):
    algorithm, problem = CASES[index].values[0]
    batch = together(index)
    for run in range(RUNS):
        alone = jax.device_get(play(problem, KEYS[run], of_run(algorithm, run), LIVE[run]))
        assert_same_bits(alone, of_run(batch, run))


@first_of_each(lambda algorithm: True, (jb.UGapEc,))
def test_vmap_of_one_run_has_the_bits_of_the_batch(index):
    algorithm, problem = CASES[index].values[0]
    assert_same_bits(jax.device_get(each_alone(problem, KEYS, algorithm, LIVE)), together(index))


def check_forms(platform, index):
    algorithm, problem = CASES[index].values[0]
    with override_lowering(platform):
        played = jax.device_get(play(wide(problem), KEYS, algorithm, LIVE))
    assert_same_bits(played, together(index))


# One form for GPUs, each time: tests/engine/test_platforms.py.
@first_of_each(lambda algorithm: True, ())
def test_forms_of_gpus_have_the_same_bits(index):
    check_forms("gpu", index)


@first_of_each(lambda algorithm: True, (jb.UGapEc,))
def test_forms_of_tpus_have_the_same_bits(index):
    check_forms("tpu", index)


def can_be_padded(algorithm):
    """Not linear means without features, with an inverse of as many operations as there are arms; nor designs."""
    return getattr(algorithm, "features", 0) is not None and not isinstance(algorithm, jb.ParetoGame)


@first_of_each(can_be_padded, (jb.CLUCB,))
def test_padding_changes_neither_pulls_nor_the_answer(index):
    """Tie orders keep their high bits when arms are added, so even ties fall alike (but for 2^-27 a pair)."""
    algorithm, problem = CASES[index].values[0]
    batch = together(index)
    padded = problem.padded(8)
    assert padded.arms == 8 * problem.bandits
    played = jax.device_get(play(wide(padded), KEYS, algorithm, LIVE))
    np.testing.assert_array_equal(played.last.pulls[: problem.arms], batch.last.pulls)
    np.testing.assert_array_equal(played.recommended[: problem.arms], batch.recommended)
    np.testing.assert_array_equal(played.done, batch.done)
    assert not played.last.pulls[problem.arms :].any()
    assert not played.recommended[problem.arms :].any()


@first_of_each(lambda algorithm: _common(algorithm, "m"), (jb.UGapEc,))
def test_one_arm_known_to_the_program_has_the_bits_of_one_arm_traced(index):
    algorithm, problem = CASES[index].values[0]
    ones = dataclasses.replace(algorithm, m=np.ones(RUNS, np.int32))
    known = dataclasses.replace(algorithm, m=StaticInt(1))
    one, other = jax.device_get([play(wide(problem), KEYS, m, LIVE) for m in (known, ones)])
    # Not the whole states: what is kept for many arms to return, one arm does without.
    assert_same_bits(*((p.last.pulls, p.done, p.recommended) for p in (one, other)))


BAD = [
    ("probability", [0.0, 1.0, -0.1, 1.5, float("nan"), "x"]),
    ("positive", [0.0, -1.0, float("inf"), float("nan"), "x"]),
    ("not negative", [-1e-9, float("inf"), float("nan"), "x"]),
    ("count", [0, -3, 1.5, float("nan"), float("inf"), "x"]),
]


@pytest.mark.parametrize("name", REGISTRY)
def test_values_outside_their_range_are_refused(name):
    cls = REGISTRY[name]
    fields = {field.name: field for field in dataclasses.fields(cls)}
    good = {"epsilon": 0.1, "delta": 0.1, "budget": 50, "k": 2}
    required = {n: good.get(n, 0.5) for n, f in fields.items() if f.default is dataclasses.MISSING}
    cls(**required)
    checked = 0
    for parameter, field in fields.items():
        for value in dict(BAD).get(field.metadata["rule"], []):
            for given in (value, jb.axis([required.get(parameter, 1), value])):
                with pytest.raises(jb.UsageError, match=f"{cls.__name__}: {parameter}") as error:
                    cls(**{**required, parameter: given})
                assert "\n" not in str(error.value)
                checked += 1
    assert checked >= 10


# Of five arms, where it is not one pull of each.
LEAST_BUDGETS = {
    "sequential-halving": 15, "bayes-elim": 15, "sh-var": 15, "sh-ada-var": 30, "doubling-sequential-halving": 15,
    "ocba": 25, "ocba-m": 25,
}  # fmt: skip


@pytest.mark.parametrize("name", REGISTRY)
def test_what_does_not_fit_the_problem_is_refused(name):
    cls = REGISTRY[name]
    fields = {field.name: field for field in dataclasses.fields(cls)}
    good = {"epsilon": 0.1, "delta": 0.1, "budget": 50, "k": 2}
    required = {n: good.get(n, 0.5) for n, f in fields.items() if f.default is dataclasses.MISSING}
    cls(**required).check(5, 1)
    if "m" in fields:
        cls(**required, m=4).check(5, 1)
        for m in (5, 6):
            with pytest.raises(jb.UsageError, match="m must be smaller"):
                cls(**required, m=m).check(5, 1)
    if "budget" in fields and not cls.traits.spends:
        least = LEAST_BUDGETS.get(name, 5)
        cls(**{**required, "budget": least}).check(5, 1)
        with pytest.raises(jb.UsageError, match=f"pulls? .*of 5 arms.*, got {least - 1}|5 arms a pull.*got 14"):
            cls(**{**required, "budget": least - 1}).check(5, 1)
    if "budget" in fields and "variance" in fields:
        cls(**{**required, "budget": 10}, variance=True).check(5, 1)
        with pytest.raises(jb.UsageError, match="10 first pulls"):
            cls(**{**required, "budget": 9}, variance=True).check(5, 1)
    if cls.traits.multi_bandit:
        cls(**required).check(4, 3)
    else:
        with pytest.raises(jb.UsageError, match="one bandit"):
            cls(**required).check(4, 3)
