"""A record of code is the same wherever and however the code is written down, and says what was edited."""

import ast
import gc
import importlib
import json
import linecache
import os
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

from jaxbandits.users_code.records import CODE, change, doubts, recorded
from jaxbandits.users_code.source import source_hash

RULE = """
import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

import jaxbandits as jb

LIMITS = {"low", "high", "none", "all"}
TABLE = np.linspace(0, 1, 50)
FACTOR = 0.5


def helper(x, power=2):
    return x**power


@jb.algorithm
class Rule:
    budget: Any
    ranks = staticmethod(jnp.argsort)

    def select(self, arms, key):
        scored = [lambda x: x + 1, lambda x: helper(x) * FACTOR]
        if "low" in LIMITS and arms is not None:
            return sum(score(TABLE) for score in scored)
        return {"a", "b", "c"}, -0.0, f"{arms!r:>10}"

    def done(self, arms):
        return arms[1]

    def recommend(self, arms):
        return arms[0]
"""
REFORMATTED = '''
from __future__ import annotations
import dataclasses
import functools
from typing import Any
import jax.numpy as jnp
import numpy as np
import jaxbandits as jb

FACTOR = .5 # the same
TABLE = np.linspace(0, 1, 50)
LIMITS = {"none", "all", "low", "high"}

@jb.algorithm
class Rule:
    """A rule."""
    budget: Any
    ranks = staticmethod(jnp.argsort)
    def recommend(self, arms) -> int:
        """The answer."""
        # It is the first.
        return (arms [0])
    def done(self, arms): return arms[1]
    def select(self, arms: Any, key):
        scored: list[Any] = [lambda x: x + 1,
                  lambda x: helper( x ) * FACTOR]
        if "low" in LIMITS and (arms is not None):
            return sum(score(TABLE) for score in scored)
        return ({'a', 'b', 'c'}, -0.0, f"{arms!r:>10}")

def helper(x: float, power: int = 2):
    return x ** power
'''
AS_A_SCRIPT = """
import json
from jaxbandits.users_code.records import recorded
print(json.dumps(recorded([Rule(1)])))
"""


def record(namespace):
    return recorded([namespace["Rule"](1)])[CODE]


def of_text(text, filename="<string>"):
    namespace = {"__name__": "__main__"}
    exec(compile(text, filename, "exec"), namespace)
    return record(namespace)


def of_cell(text, name="<cell 1>"):
    """As notebooks do."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return of_text(text, name)


def of_script(text, folder):
    file = folder / "script.py"
    file.write_text(text + AS_A_SCRIPT, encoding="utf-8")
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)[CODE]


def test_it_is_the_same_in_a_module_a_notebook_a_script_and_without_source(modules, tmp_path):
    there = record(vars(modules.load("users_rule", RULE)))
    functions = [text for text in there.values() if text.startswith("code: ")]
    assert len(functions) == 4
    assert not any(" - " in text for text in functions)
    assert "Rule.select" in there
    for here in (of_cell(RULE), of_text(RULE), of_script(REFORMATTED, tmp_path), of_cell(REFORMATTED)):
        assert change(there, here) == change(here, there) == ""
    assert change(there, of_another_python(of_cell(REFORMATTED))) == ""
    assert there == of_cell(RULE)


EDITS = {
    "the code of Rule.select has changed": ("x + 1,", "x + 2,"),
    "the code of helper has changed": ("x**power", "x**power + 0"),
    "defaults of helper: [2] there and [3] here": ("power=2", "power=3"),
    "FACTOR of Rule.select: 0.5 there and 0.25 here": ("FACTOR = 0.5", "FACTOR = 0.25"),
    "LIMITS of Rule.select:": ('"none"', '"some"'),
    "TABLE of Rule.select:": ("50)", "51)"),
    "Rule.ranks: jax.argsort there and jax.argmax here": ("jnp.argsort", "jnp.argmax"),
    "the code of Rule.recommend has changed": ("arms[0]", "arms[2]"),
    "Rule.more is part of the code here only": ("    def rec", "    def more(self):\n        pass\n\n    def rec"),
}  # fmt: skip


@pytest.mark.parametrize("words", EDITS)
def test_it_says_what_was_edited(words):
    edited = RULE.replace(*EDITS[words])
    assert edited != RULE
    for first, second in ((of_cell(RULE), of_cell(edited, "<cell 2>")), (of_text(RULE), of_text(edited))):
        assert change(first, second).startswith(words)
        assert change(second, first)


def of_another_python(there, *, source=True):
    """A record as another minor version of Python would write it: other bytecode."""
    found = {}
    for label, text in there.items():
        kind, *rest = text.split()
        found[label] = f"code: {rest[0] if source else '-'} cpython-399 {'0' * 16}" if kind == "code:" else text
    return found


def test_other_versions_of_python_are_compared_by_the_source():
    there = of_cell(RULE)
    assert change(there, of_another_python(there)) == ""
    assert "the code of Rule.recommend has changed" in change(
        of_another_python(there), of_cell(RULE.replace("arms[0]", "arms[2]"), "<cell 2>")
    )
    words = change(of_another_python(there, source=False), there)
    assert words.startswith("the code of Rule.done cannot be compared: it was recorded without its source by")


def test_a_file_that_was_edited_and_not_loaded_again_is_not_the_source(modules):
    there = of_cell(RULE)
    rule = modules.load("users_rule", RULE)
    modules.write("users_rule", RULE.replace("arms[0]", "arms[2]"))
    here = record(vars(rule))
    assert here["Rule.recommend"].split()[1] == "-"
    assert change(there, here) == ""
    modules.write("users_rule", "# another line\n" + RULE)
    assert record(vars(rule)) == there
    modules.write("users_rule", RULE.replace("arms[0]", "arms[2]"))
    assert record(vars(rule)) == there  # what has been found stays
    assert change(there, record(vars(importlib.reload(rule)))) == "the code of Rule.recommend has changed"


def test_names_that_change_places_are_a_change():
    """Two functions of one name, two values of one name, and what is bound to what."""

    def made(first, second):
        one, other = types.ModuleType("one"), types.ModuleType("other")
        for module, (number, text) in ((one, first), (other, second)):
            vars(module).update(SCALE=number)
            exec(f"def f(x):\n    return SCALE * x {text}", vars(module))
        both = lambda x: one.f(x) + 2 * other.f(x)  # noqa: E731
        return recorded(functions={"both": both})[CODE]

    plain = made((1, "+ 1"), (2, "+ 2"))
    assert change(plain, made((1, "+ 1"), (2, "+ 2"))) == ""
    assert change(plain, made((2, "+ 1"), (1, "+ 2")))
    assert change(plain, made((1, "+ 2"), (2, "+ 1")))
    assert change(plain, made((2, "+ 2"), (1, "+ 1")))

    def swapped(first, second):
        one, other = (lambda x: x + 1), (lambda x: x + 2)
        chosen = {"one": one, "other": other}
        a, b = chosen[first], chosen[second]
        return recorded(functions={"both": lambda x: a(x) - b(x)})[CODE]

    assert change(swapped("one", "other"), swapped("other", "one"))


def test_what_a_library_made_is_compared_within_a_version_of_it():
    def made(axis, inner=1, version=None):
        found = recorded(functions={"m": jax.vmap(lambda x: x + inner, axis)})[CODE]
        return {label: text.replace(jax.__version__, version or jax.__version__) for label, text in found.items()}

    assert change(made(0), made(0)) == ""
    assert change(made(0), made(1)) == "what jax.vmap_f was made with has changed"
    assert change(made(0), made(0, inner=2)).startswith("inner of m.__wrapped__: 1 there and 2 here")
    assert change(made(0), made(0, inner=2, version="0.99")).startswith("inner of m.__wrapped__: 1 there")
    assert change(made(0), recorded(functions={"m": lambda x: x + 1})[CODE])
    there, here = made(0), made(1, version="0.99")
    assert change(there, here) == ""
    assert any("cannot be compared, it was version" in doubt for doubt in doubts({CODE: there}, {CODE: here}))


def test_what_cannot_be_told_is_a_doubt(tmp_path):
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        here = {"run": {"metrics": ["m"], **recorded(functions={"m": lambda *seen: log.write("")})}}
    assert not change(here["run"][CODE], here["run"][CODE])
    assert doubts(here, here) == ["the content of log of m, a TextIOWrapper, cannot be read"]
    assert doubts({"run": {"metrics": ["m"]}}, {"run": {"metrics": ["m"], CODE: {}}}) == [
        "its code was not recorded by the version that wrote it"
    ]
    table = {"sha256": "0", "cannot_be_repeated": "it is not one of the package's algorithms"}
    assert doubts({"algorithm": table}, {"algorithm": table | {CODE: {}}})
    assert not doubts({"algorithm": {"name": "uniform"}}, {"algorithm": {"name": "uniform"}})


def test_two_threads_read_sources_at_once(tmp_path):
    """`compare` compiles in threads. A collection of garbage lets another thread parse in the middle of a tree."""
    made = []
    for number in range(2):
        file = tmp_path / f"users_rule_{number}.py"
        file.write_text(f"def rule_{number}(x):\n    return [{'x + (1 * (2 - x)), ' * 200}]\n")
        inside = {}
        exec(compile(file.read_text(), str(file), "exec"), inside)
        made.append(inside[f"rule_{number}"].__code__)
    in_the_middle = threading.Event()

    def wait(*_):
        if sys._getframe(1).f_code is ast.parse.__code__ and threading.current_thread() is threading.main_thread():
            in_the_middle.set()
            time.sleep(0.02)

    def other():
        in_the_middle.wait(60)
        return source_hash(made[1])

    before, enabled = gc.get_threshold(), gc.isenabled()
    gc.callbacks.append(wait)
    gc.set_threshold(1000, 10_000, 10_000)
    gc.enable()
    try:
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(other)
            first = source_hash(made[0])
            paused = in_the_middle.is_set()
            in_the_middle.set()
    finally:
        if not enabled:
            gc.disable()
        gc.set_threshold(*before)
        gc.callbacks.remove(wait)
    assert paused
    assert first == second.result() is not None


def test_nothing_is_recorded_of_the_packages_own():
    import jaxbandits as jb

    trees = [jb.UGapEc(epsilon=0.1, delta=0.1), jb.empirical(np.random.default_rng(0).random((9, 3)))]
    assert recorded(trees) == {}
