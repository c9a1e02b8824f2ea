"""What counts as a number, wherever one is asked for, and that nobody decides it anew."""

import ast
import fractions
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits
from jaxbandits import checks
from jaxbandits.errors import UsageError
from jaxbandits.memory import check_fits_in_memory

PACKAGE = Path(jaxbandits.__file__).parent
NAN, INF = float("nan"), float("inf")
REFUSED = None


def traced():
    kept = []
    jax.make_jaxpr(lambda x: kept.append(x) or x)(3)
    return kept[0]


#: What is given, and what it is: as a number, as a whole number, and as a number of something.
GIVEN = [
    (3, 3.0, 3, 3),
    (3.0, 3.0, 3, REFUSED),
    (1e6, 1e6, 10**6, REFUSED),
    (2.5, 2.5, REFUSED, REFUSED),
    (-3, -3.0, -3, -3),
    (np.int32(3), 3.0, 3, 3),
    (np.uint64(2**63), 2.0**63, 2**63, 2**63),
    (np.float32(3), 3.0, 3, REFUSED),
    (np.float64(2.5), 2.5, REFUSED, REFUSED),
    (np.array(3), 3.0, 3, 3),
    (np.array(2.5, np.float16), 2.5, REFUSED, REFUSED),
    (jnp.int32(3), 3.0, 3, 3),
    (jnp.float32(3), 3.0, 3, REFUSED),
    (2**53 + 1, 2.0**53, 2**53 + 1, 2**53 + 1),
    (10**400, REFUSED, 10**400, 10**400),
    (NAN, REFUSED, REFUSED, REFUSED),
    (INF, REFUSED, REFUSED, REFUSED),
    (np.float32(NAN), REFUSED, REFUSED, REFUSED),
    (jnp.float32(-INF), REFUSED, REFUSED, REFUSED),
    *((given, REFUSED, REFUSED, REFUSED) for given in (
        True, np.True_, np.array(True), jnp.array(False), "3", b"3", None, 3j, np.array(3j), [3], (3,), np.array([3]),
        jnp.array([3.0]), {}, object(), fractions.Fraction(3), np.datetime64("2020-01-01"), np.array("3"),
    )),
]  # fmt: skip
ASKED = [
    (lambda value: checks.number("x", value), float),
    (lambda value: checks.whole("x", value), int),
    (lambda value: checks.index("x", value, -(10**500), 10**500), int),
]


@pytest.mark.parametrize(
    ("given", "expected"), [(given, rest) for given, *rest in GIVEN], ids=lambda x: re.sub(" at 0x.*", "", repr(x)[:40])
)
def test_what_a_number_is(given, expected):
    for (ask, kind), wanted in zip(ASKED, expected, strict=True):
        if wanted is REFUSED:
            with pytest.raises(UsageError, match=r"^x must be .*, got ") as error:
                ask(given)
            assert "\n" not in str(error.value)
        else:
            found = ask(given)
            assert type(found) is kind
            assert found == wanted


def test_what_is_traced_has_no_value():
    for ask, _ in ASKED:
        with pytest.raises(UsageError, match=r"^x must be "):
            ask(traced())
    assert not checks.is_number(traced())


@pytest.mark.parametrize(
    ("rule", "inside", "outside"),
    [
        (checks.FINITE, [0, -3.0, 1e300], [INF, -INF]),
        (checks.POSITIVE, [1e-300, 7], [0, -1, INF]),
        (checks.NOT_NEGATIVE, [0, 7], [-1e-300, INF]),
        (checks.AT_LEAST_ONE, [1, 7], [1 - 2**-53, INF]),
        (checks.ABOVE_ONE, [1 + 2**-52, 7], [1, INF]),
        (checks.UNIT, [0, 0.5, 1], [-1e-300, 1 + 2**-52, INF]),
        (checks.INSIDE_UNIT, [1e-300, 0.5, 1 - 2**-53], [0, 1, INF]),
        (checks.whole_rule(), [-3, 0, 1e9], [0.5, INF]),
        (checks.whole_rule(1), [1, 2.0], [0, 1.5]),
        (checks.whole_rule(1, 4), [1, 4], [0, 5, 2.5]),
        (checks.whole_rule(most=4), [-9, 4], [5]),
    ],
    ids=lambda x: getattr(x, "words", ""),
)
def test_a_rule_is_the_same_for_one_number_and_for_many(rule, inside, outside):
    for value in inside:
        assert checks.number("x", value, rule) == value
    np.testing.assert_array_equal(checks.each("x", inside, rule), inside)
    for value in [*outside, NAN]:
        with pytest.raises(UsageError, match=r"^x must ") as one:
            checks.number("x", value, rule)
        with pytest.raises(UsageError, match=r"^x must ") as many:
            checks.each("x", np.asarray([*inside, value], object), rule)
        assert str(one.value) == str(many.value)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: checks.whole("n", 0, 1), "n must be a whole number, at least 1, got 0"),
        (lambda: checks.whole("n", 2**31, 1, 2**31 - 1), "n must be a whole number from 1 to 2^31 - 1, got 2147483648"),
        (lambda: checks.whole("n", 1, 2, 2**23), "n must be a whole number from 2 to 8,388,608, got 1"),
        (lambda: checks.whole("k", 3, 1, 2, bound="below n"), "k must be a whole number from 1 to 2, below n, got 3"),
        (lambda: checks.whole("x", np.float32(0.1)), "x must be a whole number, got 0.1"),
        (lambda: checks.seed("x", -1), "x must be a whole number from 0 to 2^64 - 1, got -1"),
        (lambda: checks.seed("x", 2**32, bits=32), "x must be a whole number from 0 to 2^32 - 1, got 4294967296"),
        (
            lambda: checks.index("arm", 3.0, 0, 4),
            "arm must be a whole number from 0 to 4, written without a point, got 3.0",
        ),
        (lambda: checks.number("x", "many"), "x must be a number, got 'many'"),
        (lambda: checks.number("x", 1, checks.INSIDE_UNIT), "x must lie strictly between 0 and 1, got 1"),
        (lambda: checks.each("x", [0.5, 1.5, NAN], checks.UNIT, "arm"), "x must lie in [0, 1], got 1.5 at arm 1"),
        (
            lambda: checks.each("m", np.array([1, 5]), checks.whole_rule(1, 4)),
            "m must be a whole number from 1 to 4, got 5",
        ),
        (lambda: checks.numbers("x", ["0.5", "0.7"]), "x must be numbers, got ['0.5', '0.7']"),
        (lambda: checks.numbers("x", [[1, 2], [3]]), "x must be numbers, got [[1, 2], [3]]"),
        (lambda: checks.numbers("x", [1j, 2]), "x must be numbers, got [1j, 2]"),
        (lambda: checks.numbers("x", [10**400, 2]), f"x must be numbers, got [{'1' + '0' * 57}…"),
        (
            lambda: checks.numbers("x", np.array(["2020-01-01"], "M8[D]")),
            "x must be numbers, got array(['2020-01-01'], dtype='datetime64[D]')",
        ),
        (
            lambda: checks.numbers("x", np.array([5], "m8[s]")),
            "x must be numbers, got array([5], dtype='timedelta64[s]')",
        ),
        (
            lambda: checks.numbers("x", np.array([1, "2"], object)),
            "x must be numbers, got array([1, '2'], dtype=object)",
        ),
    ],
)
def test_the_one_line(ask, message):
    with pytest.raises(UsageError) as error:
        ask()
    assert str(error.value) == message


def test_data_may_say_whether_something_happened():
    np.testing.assert_array_equal(checks.each("x", [True, False], checks.UNIT), [1.0, 0.0])


@pytest.mark.parametrize("value", [True, np.True_, np.array(False)])
def test_a_bool_alone_is_no_number(value):
    with pytest.raises(UsageError, match=r"^x must be numbers, got "):
        checks.each("x", value, checks.POSITIVE)
    with pytest.raises(UsageError, match=r"^costs must be numbers, got "):
        jaxbandits.problems.with_costs(jaxbandits.abm(4), value)


def test_an_instance_of_a_paper_has_one_name():
    assert jaxbandits.abm(4.0).name == "abm:4"
    assert jaxbandits.gabillon(2.0).name == "gabillon:2"
    with pytest.raises(UsageError, match=r"^abm has the experiments 1 to 7, got True$"):
        jaxbandits.abm(True)


def test_what_is_long_is_shown_in_one_short_line():
    with pytest.raises(UsageError) as error:
        checks.number("x", np.zeros((40, 40)))
    assert len(str(error.value)) < 100
    assert "\n" not in str(error.value)


def test_what_takes_more_memory_than_there_is_is_refused():
    check_fits_in_memory("this", 2**10, "less of it")
    with pytest.raises(UsageError, match=r"this would take .* GiB: less of it"):
        check_fits_in_memory("this", 2**70, "less of it")


#: (file, text) -> why what looks like a check of its own may stand outside of `checks`.
ALLOWED = {
    ("problems/spec_arguments.py", "number == int(number if np.isfinite(number) else 0)"): "1e3 in a text is an int",
    ("report/formatting.py", "x == int(x)"): "how a number is printed",
}


def own_checks(source):
    """Sentences about whole numbers, and comparisons with what `int` makes of a value, outside of docstrings."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""  # a docstring
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "whole number" in node.value:
            found.append(node.value)
        elif isinstance(node, ast.Attribute) and node.attr == "is_integer":
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            sides = [node.left, *node.comparators]
            made = [side for side in sides if isinstance(side, ast.Call) and ast.unparse(side.func) == "int"]
            of = {ast.unparse(part) for call in made for part in ast.walk(call) if isinstance(part, ast.expr)}
            if any(ast.unparse(side) in of for side in sides if side not in made):
                found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize(
    "source",
    [
        "raise UsageError(f'{name} must be a whole number, got {value}')", "if x == int(x): pass", "int(n) != n",
        "value.is_integer()",
    ],
)  # fmt: skip
def test_a_check_of_its_own_is_found(source):
    assert own_checks(source)


@pytest.mark.parametrize("source", ['"""A whole number."""', "n == int(text)", "checks.whole('n', n)"])
def test_what_is_none_is_not(source):
    assert not own_checks(source)


def test_nobody_checks_whole_numbers_anew():
    found = {
        (path.relative_to(PACKAGE).as_posix(), text)
        for path in PACKAGE.rglob("*.py")
        for text in own_checks(path.read_text())
        if path != PACKAGE / "checks.py"
    }
    assert found <= ALLOWED.keys(), sorted(found - ALLOWED.keys())
    assert ALLOWED.keys() <= found, sorted(ALLOWED.keys() - found)
