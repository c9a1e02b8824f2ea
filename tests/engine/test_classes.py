"""Which class an algorithm is of is part of every program's key, however the class became a pytree."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine import driver
from jaxbandits.live.session import AskTell

MANY = 30  # with the address of a class in the key, the 23rd run was another's, and the 27th trajectory
PROBLEM = jb.bernoulli(np.linspace(0.1, 0.9, MANY))
KEY = jax.random.key(0)


class State(NamedTuple):
    pulls: jax.Array  # int32 (K,)


@dataclasses.dataclass(frozen=True)
class Constant:
    """Pulls one arm, its class's own, and returns it."""

    unused: Any = 0.5

    def init(self, problem, key):
        return State(jnp.zeros(problem.arms, jnp.int32))

    def step(self, problem, key, state):
        return State(state.pulls.at[self.answer].add(1))

    def done(self, state):
        return jnp.sum(state.pulls) >= 2

    def recommend(self, state):
        return state.pulls > 0


class ConstantLive:
    """The same as a rule, in the problem's order of arms."""

    shuffle_arms = False

    def select(self, arms, key):
        return jnp.int32(self.answer)

    def done(self, arms):
        return arms.time > len(arms)

    def recommend(self, arms):
        return arms.pulls > 1


def family(base, register):
    """Classes of one name with the same fields, which differ in nothing but their answer."""
    named = {"__annotations__": {"unused": Any}, "unused": 0.5}
    made = [type("Same", (base,), named | {"answer": i}) for i in range(MANY)]
    return [register(cls if register is jb.algorithm else dataclasses.dataclass(frozen=True)(cls)) for cls in made]


@pytest.fixture(params=[jb.pytree, jax.tree_util.register_dataclass], ids=["pytree", "register_dataclass"])
def register(request):
    return request.param


def test_a_run_is_of_its_own_class(register):
    pulls = [jb.run(cls(), PROBLEM, KEY).pulls for cls in family(Constant, register)]
    assert np.argmax(pulls, axis=1).tolist() == list(range(MANY))


def test_a_trajectory_is_of_its_own_class(register):
    pulls = [jb.trajectory(cls(), PROBLEM, KEY, 2).pulls[-1] for cls in family(Constant, register)]
    assert np.argmax(pulls, axis=1).tolist() == list(range(MANY))


def test_a_session_is_of_its_own_class():
    asked, returned = [], []
    for cls in family(ConstantLive, jb.algorithm):
        session = AskTell(cls(), arms=MANY)
        for _ in range(MANY):
            session.tell(session.ask(), 0.5)
        asked.append(session.ask())
        session.tell(asked[-1], 0.5)
        returned.append(int(np.flatnonzero(session.recommendation)[0]))
    assert asked == returned == list(range(MANY))


class EnoughError(Exception):
    pass


def test_the_engine_has_a_program_for_each_class(register, monkeypatch):
    keys = []

    def spy(cells, window, carry, rounds, chunk, *, settings):
        keys.append(settings)
        raise EnoughError

    monkeypatch.setattr(driver, "advance", spy)
    for cls in family(Constant, register):
        for algorithm in (cls(), Holder(cls())):  # the class itself, and one inside another
            with pytest.raises(EnoughError):
                jb.simulate(algorithm, PROBLEM, seeds=3)
    assert len(set(keys)) == 2 * MANY


@jb.pytree
@dataclasses.dataclass(frozen=True)
class Holder:
    """An algorithm with another one inside."""

    inner: Any

    def init(self, problem, key):
        return self.inner.init(problem, key)

    def step(self, problem, key, state):
        return self.inner.step(problem, key, state)

    def done(self, state):
        return self.inner.done(state)

    def recommend(self, state):
        return self.inner.recommend(state)


def test_cells_whose_inner_classes_differ_are_not_alike(register):
    inner = [cls(unused=float(i)) for i, cls in enumerate(family(Constant, register)[:3])]
    ds = jb.sweep(Holder(jb.axis(inner)), PROBLEM, seeds=2)
    assert ds.recommended.values.argmax(axis=-1).tolist() == [[i, i] for i in range(3)]


def test_classes_of_a_tree_name_every_node():
    one, other = (cls() for cls in family(Constant, jax.tree_util.register_dataclass)[:2])
    assert classes(Holder((one, {"b": other}))) == (Holder, tuple, type(one), dict, type(other))
    assert classes(1.0) == ()
