"""Conversion of the text of a command line or a file to values; every fault becomes one `UsageError`."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import xarray as xr
from cyclopts import Parameter, Token

from jaxbandits.checks import is_number, whole
from jaxbandits.engine.devices import use_all_cores
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.io.toml_files import read_toml
from jaxbandits.jax_process import check_jax
from jaxbandits.problems import Problem, with_costs
from jaxbandits.report.dimensions import nearest
from jaxbandits.sweeps import spec
from jaxbandits.sweeps.options import run_options
from jaxbandits.sweeps.plan import Plan, make_plan

__all__ = [
    "Names",
    "Selection",
    "Switch",
    "Whole",
    "algorithm_of",
    "plan_of",
    "problem_of",
    "selected",
    "start_jax",
    "value_of",
]


def _convert_whole(_: Any, tokens: Sequence[Token]) -> int:
    """Convert a whole number, which may be written 1e6."""
    return whole(tokens[0].keyword or "the value", value_of(tokens[0].value))


#: The type of an option that takes a whole number.
Whole = Annotated[int, Parameter(converter=_convert_whole, n_tokens=1)]
#: The types of options that take several names, and several `dimension=value`.
Names = Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=())]
Selection = Annotated[tuple[str, ...], Parameter(name="--sel", consume_multiple=True, negative=())]
#: The type of an option that is present or absent.
Switch = Annotated[bool, Parameter(negative=())]


def algorithm_of(name: str, settings: Sequence[str]) -> Any:
    """Return an algorithm from its name and `name=value` texts, in kebab or snake case, or `name=3,1` for each arm."""
    table: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise UsageError(f"--set takes name=value, got {setting!r}")
        if key in table or key == "name":
            raise UsageError(f"--set {key} is given twice" if key in table else "--set has no parameter called name")
        table[key] = _value_or_values(text.strip())
    with _one_line(f"algorithm {name}"):
        return spec.build_algorithm({"name": name, **table})


def selected(dataset: xr.Dataset, choices: Sequence[str]) -> xr.Dataset:
    """Return the part of results at values of their dimensions, given as `name=value` texts."""
    if not choices:
        return dataset
    counted = dataset["runs" if "runs" in dataset else "pulls"]
    dimensions = [str(name) for name in counted.dims if name != "seed"]
    at: dict[str, int] = {}
    for choice in choices:
        name, equals, text = (part.strip() for part in choice.partition("="))
        if not equals or not name:
            raise UsageError(f"--sel takes name=value, got {choice!r}")
        if name in at:
            raise UsageError(f"--sel {name} is given twice")
        if not dimensions:
            raise UsageError(f"the store has no dimension {name!r}: nothing varies in it but the seed")
        if name not in dimensions:
            raise unknown_name("dimension", name, dimensions)
        values = dataset[name].to_numpy().tolist()
        wanted = value_of(text)
        same = [place for place, value in enumerate(values) if text == str(value) or wanted is value]
        place = same[0] if same else nearest(wanted, values) if is_number(wanted) else None
        if place is None:
            shown = ", ".join(map(str, values[:12])) + (", …" if len(values) > 12 else "")
            raise UsageError(f"there is no {name}={text}: the values of {name} are {shown}")
        at[name] = place
    return dataset.isel(at)


def tables_of(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return files by figure, from `figure=FILE` texts."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, path = (part.strip() for part in text.partition("="))
        if not equals or not name or not path:
            raise UsageError(f"--table takes figure=FILE.csv, got {text!r}")
        if not Path(path).is_file():
            raise UsageError(f"there is no file {path}")
        found.setdefault(name, []).append(path)
    return found


def problem_of(text: str, costs: str | None = None) -> Problem:
    """Return a problem from its SPEC, and from the costs of its pulls: `reward`, or prices separated by commas."""
    with _one_line(f"problem {text!r}"):
        problem: Any = spec.parse_problem(text)
    if costs is not None:
        with _one_line(f"--costs {costs!r}"):
            problem = with_costs(problem, _prices(costs))
    assert not problem.axes  # a SPEC cannot contain one
    return problem


def _prices(text: str) -> Any:
    if text.strip() == "reward":
        return "reward"
    try:
        prices = [float(price) for price in text.split(",")]
    except ValueError:
        raise UsageError(f"--costs takes reward or prices such as 1,2,0.5, got {text!r}") from None
    return prices if len(prices) > 1 else prices[0]


def plan_of(path: Path) -> tuple[Plan, str, float | None]:
    """Return the plan of a sweep's TOML file, what it keeps of the runs, and its time limit in seconds; run nothing."""
    file = read_toml(path)
    start_jax()  # a problem consists of its arrays
    with file.blamed():
        algorithm, problem, options = spec.build(file.tables)
        run, keep, max_time = run_options(options)
        return make_plan(algorithm, problem, **run), keep, max_time


def start_jax() -> None:
    """Start JAX with one CPU device per core, on the platform that JAX_PLATFORMS names."""
    platforms = os.environ.get("JAX_PLATFORMS", "")
    if "JAX_NUM_CPU_DEVICES" not in os.environ and (not platforms or "cpu" in platforms.split(",")):
        # JAX runs already, with the devices that its owner chose, or cannot start, which is reported below.
        with contextlib.suppress(UsageError, RuntimeError, AssertionError):
            use_all_cores()
    check_jax()


def value_of(text: str) -> Any:
    """Return the number, the truth value or None that a text is, or the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _value_or_values(text: str) -> Any:
    """Return the value of a text, or the list of numbers that are separated by commas."""
    values = [value_of(part.strip()) for part in text.split(",")]
    return values if len(values) > 1 and all(map(is_number, values)) else value_of(text)


@contextlib.contextmanager
def _one_line(what: str) -> Iterator[None]:
    """Turn any error of converting a user's text inside a `with` block into a UsageError about the text."""
    try:
        yield
    except UsageError:
        raise
    except MemoryError:
        raise UsageError(f"{what}: there is not enough memory") from None
    except (ValueError, TypeError, ArithmeticError) as error:
        raise UsageError(f"{what}: {error}") from None
