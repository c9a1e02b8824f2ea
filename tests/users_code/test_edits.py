"""Whatever is edited in a user's code, the next run is of the new code; unchanged code is not compiled again."""

import dataclasses
import functools
import importlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from IPython.extensions.autoreload import superreload

import jaxbandits as jb
from jaxbandits.engine.compilation import compile_clock
from jaxbandits.problems.base import register_problem
from jaxbandits.users_code.cache_key import code_of
from jaxbandits.users_code.records import CODE, change, recorded

ARMS = 64
PROBLEM, KEY = jb.bernoulli(np.linspace(0.1, 0.9, ARMS)), jax.random.key(0)

HELPERS = """
OFFSET = 1

def shift(x):
    return x + OFFSET

def through(x):
    return deeper(x)

def deeper(x):
    return x + 0
"""
RULES = """
import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxbandits as jb
import users_helpers
from users_helpers import through

NUMBER = 1
TABLE = np.array([0, 1])
OPTIONS = {"some": [1, 2], "other": 0}


@jax.jit
def jitted(x):
    return x + NUMBER


def body(carry, _):
    return carry + 1, None


def around(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x) + 0
    return wrapper


@around
def wrapped(x):
    return x + 1


def made(step):
    def closure(x):
        return x + step
    return closure


CLOSURE = made(1)
PARTIAL = functools.partial(lambda x, y: x + y, y=1)


class Base:
    bonus = 1

    def inherited(self, x):
        return x + 1


@jb.algorithm
class Rule(Base):
    budget: Any
    extra: Any = dataclasses.field(default=None, metadata={"static": True})
    shuffle_arms = False

    @property
    def more(self):
        return 1

    @staticmethod
    def fixed(x, add=1):
        return x + add

    def begin(self):
        return jnp.int32(0)

    def select(self, arms, key):
        x = self.begin()
        x = users_helpers.shift(through(x))
        x = CLOSURE(PARTIAL(wrapped(jitted(x))))
        x = jax.lax.scan(body, x, None, length=1)[0]
        x = self.inherited(self.fixed(x)) + self.bonus + self.more + int(TABLE.sum()) + len(OPTIONS["some"])
        return x if self.extra is None else self.extra(x)

    def done(self, arms):
        return arms.time >= self.budget + len(arms)

    def recommend(self, arms):
        return arms.pulls > 1
"""


def added(x):
    return x + 2


def test_every_edit_is_noticed(modules):
    helpers = modules.load("users_helpers", HELPERS)
    rules = modules.load("users_rules", RULES)
    make = lambda: rules.Rule(1)  # noqa: E731

    def arm():
        return int(np.argmax(jb.run(make(), PROBLEM, KEY).pulls))

    def patch(function, text):
        """As `%autoreload` does: the function object stays, its code becomes another."""
        there = dict(function.__globals__)
        exec(text, there)
        function.__code__ = there[function.__name__].__code__
        function.__defaults__ = there[function.__name__].__defaults__

    at = arm()
    assert at == 13
    edits = {
        "a method": lambda: setattr(rules.Rule, "inherited", lambda self, x: x + 2),
        "a method's code": lambda: patch(rules.Rule.begin, "def begin(self):\n    return jnp.int32(16)"),
        "back": lambda: patch(rules.Rule.begin, "def begin(self):\n    return jnp.int32(0)"),
        "a global, which a jitted function names": lambda: setattr(rules, "NUMBER", 2),
        "an array in place": lambda: rules.TABLE.__setitem__(0, 1),
        "a list in a dictionary": lambda: rules.OPTIONS["some"].append(3),
        "the body of a loop": lambda: patch(rules.body, "def body(carry, _):\n    return carry + 2, None"),
        "a global of another module": lambda: setattr(helpers, "OFFSET", 2),
        "a function that a function of another module calls": lambda: patch(
            helpers.deeper, "def deeper(x):\n    return x + 1"
        ),
        "what a decorator is around": lambda: patch(rules.wrapped.__wrapped__, "def wrapped(x):\n    return x + 2"),
        "what a closure holds": lambda: setattr(rules.CLOSURE.__closure__[0], "cell_contents", 2),
        "another closure": lambda: setattr(rules, "CLOSURE", rules.made(3)),
        "an argument of partial": lambda: setattr(
            rules, "PARTIAL", functools.partial(rules.PARTIAL.func, y=2)
        ),
        "a default": lambda: setattr(rules.Rule.fixed, "__defaults__", (2,)),
        "a property": lambda: setattr(rules.Rule, "more", property(lambda self: 2)),
        "an attribute of a base class": lambda: setattr(rules.Base, "bonus", 2),
    }  # fmt: skip
    for name, edit in edits.items():
        edit()
        now = arm()
        assert now - at == {**dict.fromkeys(edits, 1), "a method's code": 16, "back": -16}[name], name
        at = now
    with compile_clock() as clock:
        ds = jb.simulate(make(), PROBLEM, seeds=2)
        assert clock.programs == 1
        jb.simulate(make(), PROBLEM, seeds=2)
        assert clock.programs == 1
        rules.Base.bonus = 3
        assert (jb.simulate(make(), PROBLEM, seeds=2).recommended.values.argmax(-1) == at + 1).all()
        assert clock.programs == 2
    assert (ds.recommended.values.argmax(-1) == at).all()
    make = lambda: rules.Rule(1, extra=added)  # noqa: E731
    assert arm() == at + 3
    before = added.__code__
    added.__code__ = (lambda x: x + 4).__code__
    assert arm() == at + 5
    added.__code__ = before
    assert arm() == at + 3


EDITS = {
    "importlib.reload": importlib.reload,
    "%autoreload": lambda module: superreload(module, old_objects={}),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["importlib.reload", "%autoreload"])
def test_an_edited_file_that_is_loaded_again(how, modules):
    modules.load("users_helpers", HELPERS)
    rules = modules.load("users_rules", RULES)
    rule = rules.Rule(1)
    first = jb.simulate(rule, PROBLEM, seeds=2).recommended.values.argmax(-1)
    modules.write("users_rules", RULES.replace("return function(x) + 0", "return function(x) + 5"))
    EDITS[how](rules)
    for again in (rule, rules.Rule(1))[how == "importlib.reload" :]:
        assert (jb.simulate(again, PROBLEM, seeds=2).recommended.values.argmax(-1) == first + 5).all()
    modules.write("users_rules", RULES.replace("return jnp.int32(0)", "return jnp.int32(3)"))
    EDITS[how](rules)  # a method
    for again in (rule, rules.Rule(1))[how == "importlib.reload" :]:
        assert (jb.simulate(again, PROBLEM, seeds=2).recommended.values.argmax(-1) == first + 3).all()


def test_modules_that_import_each_other(modules):
    one = modules.load("users_one", "NUMBER = 1\n")
    other = modules.load("users_other", "import users_one\n\ndef f():\n    return 0\n")
    one.users_other = other

    def metric(*seen):
        import users_one

        return users_one.NUMBER + users_one.users_other.f() + users_one.users_other.users_one.NUMBER

    def key():
        return code_of(functions={"metric": metric}).key

    first = key()
    assert first == key()
    one.NUMBER = 2
    second = key()
    assert second != first
    other.f = lambda: 1
    assert key() not in (first, second)


IMPORTS = [
    "import users_late as late",
    "from users_package import late",
    "from . import late",
    "from ..late import K\n late = 0",
]


@pytest.mark.parametrize("line", IMPORTS)
def test_a_module_that_only_a_function_imports(line, modules, monkeypatch):
    """It was not read before the first call had imported it, nor was what `from . import` names at all."""
    (modules.folder / "users_package" / "inner").mkdir(parents=True)
    for name in ("users_late", "users_package.late", "users_package.inner.late"):
        modules.write(name.replace(".", "/"), "K = 1\n")
    package = "users_package.inner" if ".." in line else "users_package"
    within = {"__package__": package, "__name__": f"{package}.rule"}
    exec(f"def metric(problem, state, recommended):\n {line}\n return late.K if late else K", within)

    def record():
        for name in [name for name in sys.modules if name.startswith(("users_late", "users_package"))]:
            monkeypatch.delitem(sys.modules, name)
        importlib.invalidate_caches()
        importlib.import_module(package)
        found = recorded(functions={"metric": within["metric"]})
        assert found == recorded(functions={"metric": within["metric"]})
        return found

    before = record()
    assert record() == before
    for name in ("users_late", "users_package.late", "users_package.inner.late"):
        modules.write(name.replace(".", "/"), "K = 2\n")
    assert "K of metric: 1 there and 2 here" in change(before[CODE], record()[CODE])


def test_a_module_that_cannot_be_imported_is_left_to_the_function():
    def metric(problem, state, recommended):
        try:
            import users_module_that_is_nowhere
        except ImportError:
            return state.time
        return users_module_that_is_nowhere.K

    ds = jb.simulate(jb.Uniform(budget=4), jb.bernoulli([0.6, 0.4]), seeds=1, metrics={"m": metric})
    assert int(ds.m[0]) == 4


NEW_INSTANCES = {
    "@dataclasses.dataclass\nclass Own:\n x: int = 1": "2",
    "@dataclasses.dataclass\nclass Own:\n x: int = dataclasses.field(default_factory=lambda: 1)": "2",
    "class Own(typing.NamedTuple):\n x: int = 1": "2",
    "Own = collections.namedtuple('Own', 'x', defaults=[1])": "2",
    "@jb.algorithm\nclass Own:\n x: int = 1\n select = done = recommend = lambda self, *seen: 0": "2",
    "@dataclasses.dataclass\nclass Base:\n x: int = 1\n@dataclasses.dataclass\nclass Own(Base):\n pass": "2",
    "@dataclasses.dataclass\nclass Pair:\n x: int\n y: int\ndef Own(): return Pair(1, 0)": ("x: int\n y", "y: int\n x"),
    "@dataclasses.dataclass(eq=True)\nclass Pair:\n y: int\ndef Own():\n x = Pair(0) == Pair(0)\n return Pair": "False",
    "array = np.ma.array([1], mask=[True])\nclass Own:\n x = property(lambda self: array.count())": "False",
    "@dataclasses.dataclass\nclass Own:\n x: int = 0\n def __post_init__(self): self.x = 1": "2",
    "class Own(int):\n x = 0\n def __new__(cls): return int.__new__(cls, 1)": "2",
    "class Own(typing.NamedTuple):\n x: int = 0\n def __repr__(self): return '1'": "2",
    "class Own:\n x = property(lambda self: self._replace())\n def _replace(self): return 1": "2",
    "class Own:\n x = property(lambda self: self[0])\n @functools.cache\n def __getitem__(self, i): return 1": "2",
    "class Own:\n x = property(lambda self: self(0))\n @jitted\n def __call__(self, x): return x + 1": "2",
    "class Array(np.ndarray): pass\narray = np.ones(3).view(Array)\narray.unit = 1\ndef Own(): return array": "2",
    "Own = types.ModuleType('own')\ndef at(name): return 1\nOwn.__getattr__ = at\nmodule = Own": "2",
}


@pytest.mark.parametrize("text", NEW_INSTANCES)
def test_what_new_instances_of_a_users_class_are(text):
    """Defaults, masks, methods with decorators and what has a name of Python's own is read."""
    edit = NEW_INSTANCES[text]
    old, new = edit if isinstance(edit, tuple) else ({"2": "1", "False": "True"}[edit], edit)

    def key(text):
        within = {"__name__": "__main__"}
        exec("import collections, dataclasses, functools, types, typing, jax, numpy as np, jaxbandits as jb", within)
        exec("jitted = functools.partial(jax.jit, static_argnums=0)", within)
        exec(text, within)
        used = "module" if "module" in within else "Own()"
        exec(f"def metric(problem, state, recommended):\n return {used}.x", within)
        return code_of(functions={"metric": within["metric"]}).key, recorded(functions={"metric": within["metric"]})

    assert key(text) == key(text)
    (first, before), (second, after) = key(text), key(text.replace(old, new, 1))
    assert first != second
    assert change(before[CODE], after[CODE])


def test_a_default_of_a_rule_does_not_count_where_its_value_is_given():
    def made(default):
        @jb.algorithm
        class Own(jb.Uniform):
            x: float = default

        return Own(budget=4, x=3.0)

    assert recorded([made(1.0)]) == recorded([made(2.0)])


def test_a_ufunc_that_hides_its_function_cannot_be_read():
    ufunc = np.frompyfunc(lambda x: x, 1, 1)
    with pytest.warns(UserWarning, match="ufunc of metric has changed is unknown, since the content of a ufunc"):
        code_of(functions={"metric": lambda problem, state, recommended: ufunc(1)})


PRIVATE = """
__LEVEL = 1

def metric(problem, state, recommended):
    return state.time * 0 + __LEVEL
"""


@pytest.mark.slow
def test_a_private_global_and_a_module_that_is_held_are_noticed(modules):
    """The first was taken for a name like `__file__`; of the second only the module's name counted."""
    private = modules.load("users_private", PRIVATE)
    constants = modules.load("users_constants", "LEVEL = 1\n")

    def default(problem, state, recommended, held=constants):
        return state.time * 0 + held.LEVEL

    def of(metric):
        return int(jb.simulate(jb.Uniform(budget=4), jb.bernoulli([0.6, 0.4]), seeds=1, metrics={"m": metric}).m[0])

    assert of(private.metric) == 1
    setattr(private, "__LEVEL", 2)
    assert of(private.metric) == 2
    for metric in (default, functools.partial(default, held=constants)):
        constants.LEVEL = 1
        with pytest.warns(UserWarning, match="the content of a module cannot be read: the program is compiled again"):
            assert of(metric) == 1
        constants.LEVEL = 2
        with pytest.warns(UserWarning, match="the content of a module cannot be read: the program is compiled again"):
            assert of(metric) == 2


def test_metrics_are_code_too(modules):
    """Functions in `jb.Metric`, closures over arrays that are edited in place."""
    weights = np.ones(3)

    def metric(problem, state, recommended):
        return jnp.sum(state.pulls * weights)

    algorithm, problem = jb.Uniform(budget=9), jb.bernoulli([0.5, 0.4, 0.3])
    own = {"weighed": jb.Metric(metric)}
    assert (jb.simulate(algorithm, problem, seeds=2, metrics=own).weighed == 9).all()
    weights[:] = 2
    assert (jb.simulate(algorithm, problem, seeds=2, metrics=own).weighed == 18).all()


@pytest.mark.slow
def test_a_family_of_problems_is_code_too(modules):
    class Own(jb.problems.Bernoulli):
        shift = 0

        @classmethod
        def sample(cls, words, *parameters):
            return super().sample(words, *parameters) * 0 + cls.shift

        @property
        def mean(self):
            return self.probability * 0 + self.shift

        @property
        def variance(self):
            return self.probability * 0

    family = register_problem(dataclasses.dataclass(frozen=True)(Own))
    mine = family(jnp.asarray([0.5, 0.4, 0.3]), name="mine")
    algorithm = jb.Uniform(budget=9)
    rewards = {"rewards": lambda problem, state, recommended: jnp.sum(state.total)}
    assert (jb.simulate(algorithm, mine, seeds=2, metrics=rewards).rewards == 0).all()
    Own.shift = 1
    assert (jb.simulate(algorithm, mine, seeds=2, metrics=rewards).rewards == 9).all()


@pytest.mark.slow
def test_laws_are_code_too(monkeypatch):
    """The density that a gradient takes its score from, and the pieces of which moments are integrals."""

    @register_problem
    @dataclasses.dataclass(frozen=True)
    class Own(jb.problems.Bernoulli):
        factor = 1.0

        @classmethod
        def log_density(cls, reward, *parameters):
            return cls.factor * super().log_density(reward, *parameters)

    mine = Own(jnp.asarray([0.5, 0.4], jnp.float32), name="mine")
    slope = lambda: jb.gradients.expected("pulls", jb.LUCB(epsilon=0.5, delta=0.3), mine, seeds=20).gradient  # noqa: E731
    first = slope()
    monkeypatch.setattr(Own, "factor", 2.0)
    np.testing.assert_allclose(slope(), 2 * first, rtol=1e-5)

    @register_problem
    @dataclasses.dataclass(frozen=True)
    class Heavy(jb.problems.HeavyTailed):
        scale: jax.Array
        parameters = ("scale",)
        weight = 1.0
        mean = variance = property(lambda self: self.scale)
        sample = classmethod(lambda cls, words, scale: scale)

        @classmethod
        def _pieces(cls, scale):
            yield cls.weight, lambda w: scale

    heavy = Heavy(jnp.asarray([2.0, 3.0], jnp.float32))
    np.testing.assert_allclose(heavy.moments(1.0, central=False), [2, 3], rtol=1e-6)
    monkeypatch.setattr(Heavy, "weight", 2.0)
    np.testing.assert_allclose(heavy.moments(1.0, central=False), [4, 6], rtol=1e-6)


def test_a_method_put_into_a_class_of_the_package(monkeypatch):
    problem = jb.bernoulli([0.9, 0.1])
    assert jb.simulate(jb.Uniform(budget=50), problem, seeds=4).correct.all()
    with monkeypatch.context() as patched:
        patched.setattr(jb.Uniform, "recommend", lambda self, state: jnp.arange(2) == 1)
        assert not jb.simulate(jb.Uniform(budget=50), problem, seeds=4).correct.any()
    assert jb.simulate(jb.Uniform(budget=50), problem, seeds=4).correct.all()


class Live:
    """Asks for one arm after the first pulls."""

    arm = 1
    shuffle_arms = False

    def select(self, arms, key):
        return jnp.int32(self.arm)

    def done(self, arms):
        return arms.time > 100

    def recommend(self, arms):
        return jnp.int32(self.arm)


def test_a_session_goes_on_with_the_code_as_it_is(monkeypatch):
    session_rule = jb.algorithm(Live)()
    session = jb.AskTell(session_rule, arms=3)
    for _ in range(3):
        session.tell(session.ask(), 0.5)
    assert session.ask() == 1
    saved = session.to_json()
    monkeypatch.setattr(Live, "arm", 2)
    session.tell(1, 0.5)
    assert session.ask() == 2
    with pytest.raises(jb.UsageError, match=r"another algorithm: Live.*arm: 1 there and 2 here"):
        jb.AskTell.from_json(saved, session_rule)


def test_what_cannot_be_read_is_said_and_never_taken_from_before(tmp_path):
    with (tmp_path / "log").open("w", encoding="utf-8") as log:

        def metric(problem, state, recommended):
            log.write("traced")
            return 1

        def run():
            return jb.simulate(jb.Uniform(budget=9), jb.bernoulli([0.5, 0.4]), seeds=2, metrics={"one": metric})

        with pytest.warns(UserWarning, match="whether log of one has changed is unknown, since the content of"):
            assert (run().one == 1).all()
        with pytest.warns(UserWarning, match="log of one"), compile_clock() as clock:
            run()
        assert clock.programs == 1


def test_it_takes_little_time():
    """A tenth of a millisecond on a quiet machine; a call of `jb.simulate` takes seven."""
    algorithm, problem = jb.UGapEc(epsilon=0.1, delta=0.1), jb.bernoulli([0.5, 0.4])

    def seconds(*trees):
        began = time.perf_counter()
        code_of(*trees)
        return time.perf_counter() - began

    for trees in ((algorithm, problem), (Live(), problem)):
        assert min(seconds(*trees) for _ in range(50)) < 1e-3
