"""Which class an algorithm is of is part of every program's key, however the class became a pytree."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.arrays.pytrees import classes
from jaxbandits.ask_tell.session import AskTell
from jaxbandits.engine import driver

MANY = 30  # with the address of a class in the key, the 23rd run was another's, and the 27th trajectory
PROBLEM = jb.bernoulli(np.linspace(0.1, 0.9, MANY))
KEY = jax.random.key(0)


class Constant:
    """Pulls one arm, its class's own, and returns it; in the problem's order of arms."""

    shuffle_arms = False

    def select(self, arms, key):
        return jnp.int32(self.answer)

    def done(self, arms):
        return arms.time > len(arms)

    def recommend(self, arms):
        return arms.pulls > 1


@jb.algorithm
class Holder(Constant):
    """Asks a part of its own for the arm."""

    part: Any

    @property
    def answer(self):
        return self.part.answer


def family(register, base=object):
    """Classes of one name with the same fields, which differ in nothing but their answer."""
    named = {"__annotations__": {"unused": Any}, "unused": 0.5}
    made = [type("Same", (base,), named | {"answer": i}) for i in range(MANY)]
    return [register(dataclasses.dataclass(frozen=True)(cls)) for cls in made]


#: The algorithm itself, or a part of it that became a pytree otherwise.
FAMILIES = {
    "rules": lambda: [cls() for cls in family(jb.algorithm, Constant)],
    "parts": lambda: [Holder(cls()) for cls in family(jax.tree_util.register_dataclass)],
}


@pytest.fixture(params=FAMILIES)
def algorithms(request):
    return FAMILIES[request.param]()


@pytest.mark.slow
def test_a_run_is_of_its_own_class(algorithms):
    pulls = [jb.run(algorithm, PROBLEM, KEY).pulls for algorithm in algorithms]
    assert np.argmax(pulls, axis=1).tolist() == list(range(MANY))


@pytest.mark.slow
def test_a_trajectory_is_of_its_own_class(algorithms):
    pulls = [jb.trajectory(algorithm, PROBLEM, KEY, 2).pulls[-1] for algorithm in algorithms]
    assert np.argmax(pulls, axis=1).tolist() == list(range(MANY))


@pytest.mark.slow
def test_a_session_is_of_its_own_class():
    asked, returned = [], []
    for algorithm in FAMILIES["rules"]():
        session = AskTell(algorithm, arms=MANY)
        for _ in range(MANY):
            session.tell(session.ask(), 0.5)
        asked.append(session.ask())
        session.tell(asked[-1], 0.5)
        returned.append(int(np.flatnonzero(session.recommendation)[0]))
    assert asked == returned == list(range(MANY))


class EnoughError(Exception):
    pass


@pytest.mark.parametrize("algorithms", ["rules", pytest.param("parts", marks=pytest.mark.slow)], indirect=True)
def test_the_engine_has_a_program_for_each_class(algorithms, monkeypatch):
    keys = []

    def spy(cells, window, carry, rounds, chunk, *, settings):
        keys.append(settings)
        raise EnoughError

    monkeypatch.setattr(driver, "advance", spy)
    for algorithm in algorithms:
        with pytest.raises(EnoughError):
            jb.simulate(algorithm, PROBLEM, seeds=3)
    assert len(set(keys)) == MANY


@pytest.mark.slow
@pytest.mark.parametrize("register", [jb.pytree, jax.tree_util.register_dataclass])
def test_cells_whose_parts_are_of_other_classes_are_not_alike(register):
    parts = [cls(unused=float(i)) for i, cls in enumerate(family(register)[:3])]
    ds = jb.sweep(Holder(jb.axis(parts)), PROBLEM, seeds=2)
    assert ds.recommended.values.argmax(axis=-1).tolist() == [[i, i] for i in range(3)]


def test_classes_of_a_tree_name_every_node():
    one, other = (cls() for cls in family(jax.tree_util.register_dataclass)[:2])
    assert classes(Holder({"a": (one,), "b": other})) == (Holder, dict, tuple, type(one), type(other))
    assert classes(1.0) == ()
