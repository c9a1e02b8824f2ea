"""Specifications: what was run, as plain data (TOML or JSON), and back.

[algorithm]  name = "ugape-c", its parameters by name, an axis as { axis = [0.1, 0.2] } or { axis = { start, stop, num,
scale } }
[problem]    spec = "bernoulli:0.7,0.5", or name = "two-group" with its arguments by name, axes allowed; also costs =
"reward", a price or a list of prices, and random_costs = true, as in `jaxbandits.with_costs`
[run]        seeds, root_seed, max_pulls, …: the options of `jaxbandits.sweep`
"""

import dataclasses
import inspect
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np

from jaxbandits import algorithms, problems
from jaxbandits.axes import Axis, ProblemFamily, axis
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.problems.base import Problem
from jaxbandits.problems.costs import with_costs

__all__ = ["build", "build_algorithm", "build_problem", "describe", "parse_problem"]


def describe(algorithm: Any, problem: Problem | ProblemFamily, run: dict[str, Any]) -> dict[str, Any]:
    """The specification of a sweep as JSON-ready data; `build` reads it back."""
    names = {cls: name for name, cls in algorithms.REGISTRY.items()}
    fields = dataclasses.fields(algorithm) if dataclasses.is_dataclass(algorithm) else ()
    parameters = {f.name: _plain(getattr(algorithm, f.name)) for f in fields}
    parameters = {name: value for name, value in parameters.items() if value is not None}
    name = names.get(type(algorithm), type(algorithm).__name__)
    return {"algorithm": {"name": name, **parameters}, "problem": _describe_problem(problem), "run": run}


def build(spec: str | dict[str, Any]) -> tuple[Any, Problem | ProblemFamily, dict[str, Any]]:
    """Algorithm, problem and run options of a specification, given as data or as JSON text.

    Raises:
        UsageError: a missing table, or a name or value that is not known.
    """
    tables = json.loads(spec) if isinstance(spec, str) else spec
    for table in ("algorithm", "problem"):
        if not isinstance(tables.get(table), dict):
            raise UsageError(f"the specification has no [{table}] table")
    for table in tables.keys() - {"algorithm", "problem", "run"}:
        raise unknown_name("table", table, ["algorithm", "problem", "run"])
    return build_algorithm(tables["algorithm"]), build_problem(tables["problem"]), dict(tables.get("run", {}))


def build_algorithm(table: dict[str, Any]) -> Any:
    """An algorithm from its name and parameters.

    Raises:
        UsageError: an unknown name or parameter, one that is missing, or a value outside its range.
    """
    cls = algorithms.algorithm_class(str(_required(table, "name", "algorithm")))
    known = {f.name: f for f in dataclasses.fields(cls)}
    given = {name: value for name, value in table.items() if name != "name"}
    for name in given.keys() - known.keys():
        raise unknown_name(f"parameter of {table['name']}", name, known)
    values = {name: _value(value, whole=known[name].metadata["rule"] == "count") for name, value in given.items()}
    for name, value in values.items():
        _check_kind(table["name"], known[name], value)
    missing = [key for key, field in known.items() if field.default is dataclasses.MISSING and key not in values]
    if missing:
        raise UsageError(f"{table['name']} needs {', '.join(missing)}")
    return cls(**values)


def build_problem(table: dict[str, Any]) -> Problem | ProblemFamily:
    """A problem from `spec`, or from its name and arguments.

    Raises:
        UsageError: an unknown name or argument, or a value outside its range.
    """
    costs = {key: table[key] for key in ("costs", "random_costs") if key in table}
    if costs:
        bare = build_problem({key: value for key, value in table.items() if key not in costs})
        if "costs" not in costs:
            raise UsageError("random_costs needs costs, one price or one per arm")
        priced: Problem | ProblemFamily = with_costs(
            bare, costs["costs"], random=bool(costs.get("random_costs", False))
        )
        return priced
    if "spec" in table:
        if others := sorted(table.keys() - {"spec"}):
            raise UsageError(f"the [problem] table has a spec, which leaves no place for {', '.join(others)}")
        return parse_problem(str(table["spec"]))
    name = str(_required(table, "name", "problem"))
    make = problems.REGISTRY.get(_normal(name))
    types = {key: p.annotation for key, p in inspect.signature(make).parameters.items()} if make else {}
    arguments = {key: _value(v, whole=_number_type(types.get(key)) is int) for key, v in table.items() if key != "name"}
    return _construct(name, [], arguments)


def parse_problem(spec: str) -> Problem | ProblemFamily:
    """A problem from a command-line SPEC: `bernoulli:0.7,0.5`, `gaussian:0.5,0.4;1`, `abm:1`, `two-group:n=1000,k=100`.

    Several bandits are separated by `/`: `bernoulli:0.5,0.4/0.6,0.3`. `FILE.csv` and `data:market-returns` resample a
    table with a column per arm; `workers:FILE.csv` and `workers:path=FILE.csv,dataset=rte` read crowd workers from one.

    Raises:
        UsageError: an unknown name, or arguments that cannot be read.
    """
    name, _, rest = spec.strip().partition(":")
    make = problems.REGISTRY.get(_normal(name))
    arguments = inspect.signature(make).parameters if make else {}
    texts = [key for key, argument in arguments.items() if _is_text(argument.annotation)]
    takes_path = texts[:1] == list(arguments)[:1] != []
    if spec.strip().lower().endswith(".csv") and not takes_path:
        return problems.empirical_from_csv(spec.strip())
    if _normal(name) == "data":
        return problems.empirical_from_data(_normal(rest))
    positional: list[Any] = []
    named: dict[str, Any] = {}
    if "=" in rest:
        for place, part in enumerate(rest.split(",")):
            key, equals, text = part.partition("=")
            if not equals and takes_path and place == 0:  # ppr:one-good,k=100
                positional = [part.strip()]
                continue
            if not equals:
                raise UsageError(f"problem {spec!r}: expected name=value, got {part!r}")
            key = key.strip()  # of an unknown one `_construct` complains, whatever its value
            named[key] = text.strip() if key in texts or key not in arguments else _number(text, spec)
    elif rest:
        positional = [rest] if takes_path else [_numbers(part, spec) for part in rest.split(";")]
    return _construct(name, positional, named)


def _construct(name: str, positional: list[Any], named: dict[str, Any]) -> Problem | ProblemFamily:
    normal = _normal(name)
    if normal not in problems.REGISTRY:
        raise unknown_name("problem", name, problems.REGISTRY)
    make = problems.REGISTRY[normal]
    known = inspect.signature(make).parameters
    for key in named.keys() - known.keys():
        raise unknown_name(f"argument of {normal}", key, [p for p in known if p != "name"])
    for key, value in named.items():
        _check_argument(normal, known[key], value)
    if len(positional) == 1 and np.ndim(positional[0]) == 1 and len(positional[0]) == 1 and "means" not in known:
        positional = [positional[0][0]]  # abm:1
    elif len(positional) == 2 and len(np.ravel(positional[1])) == 1:
        positional[1] = float(np.ravel(positional[1])[0])  # gaussian:0.5,0.4;1
    try:
        problem: Problem | ProblemFamily = make(*positional, **named)
    except TypeError as error:
        raise UsageError(f"problem {normal}: {error}") from None
    return problem


def _describe_problem(problem: Problem | ProblemFamily) -> dict[str, Any]:
    if isinstance(problem, ProblemFamily):
        given = {name: _plain(value) for name, value in problem.arguments.items()}
        known_as = {inspect.unwrap(make): name for name, make in problems.REGISTRY.items()}
        costs = {} if problem.costs is None else {"costs": _plain(problem.costs[0]), "random_costs": problem.costs[1]}
        return {"name": known_as.get(problem.make, problem.name.replace("_", "-")), **given, **costs}
    named, priced = (
        problem.name.startswith(("ppr:", "ppr-unbounded:", "clicks:", "reservoir:", "reservoir-table:")),
        problem.costs,
    )
    if priced is not None and not (named and priced.price is None):
        price = "reward" if priced.price is None else _decimals(priced.price).tolist()
        bare = _describe_problem(dataclasses.replace(problem, costs=None))
        return {**bare, "costs": price, "random_costs": priced.random}
    if named:  # a list of all means would be long
        return {"spec": problem.name}
    if isinstance(problem, problems.Empirical):
        known = problem.name.startswith("data:") or problem.name.endswith(".csv")
        return {"spec": problem.name} if known and not problem.joint else {"name": "empirical"}
    names = {
        problems.StudentT: ("student-t", ["means", "dof", "scale"]),
        problems.Pareto: ("pareto", ["means", "tail"]),
        problems.SymmetricPareto: ("symmetric-pareto", ["means", "tail", "scale"]),
        problems.LogNormal: ("log-normal", ["mu", "sigma"]),
        problems.Weibull: ("weibull", ["scale", "shape"]),
        problems.Bernoulli: ("bernoulli", ["means"]),
        problems.Gaussian: ("gaussian", ["means", "sd"]),
        problems.Beta: ("beta", ["a", "b"]),
        problems.TwoPoint: ("rademacher", ["low", "high"]),
        problems.OneClick: ("one-click", ["means"]),
        problems.Blocks: ("blocks", ["means"]),
    }
    if type(problem) not in names:
        return {"name": type(problem).__name__}
    family, arguments = names[type(problem)]
    values: dict[str, Any] = {}
    for argument, parameter in zip(arguments, problem.parameters, strict=True):
        flat = _decimals(getattr(problem, parameter))
        rows = flat.reshape(-1, problem.bandits).T
        values[argument] = (rows if problem.bandits > 1 else rows[0]).tolist()
    return {"name": family, **values, **{name: getattr(problem, name) for name in problem.choices}}


def _decimals(values: Any) -> np.ndarray:
    """The shortest decimals that give the same float32 back."""
    return np.asarray([float(str(x)) for x in np.asarray(values, np.float32)])


def _plain(value: Any) -> Any:
    if isinstance(value, Axis):
        data: dict[str, Any] = {"axis": [_plain(item) for item in value.values]}
        return data if value.name is None else {**data, "name": value.name}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, bool | str | int | float) or value is None:
        return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if hasattr(value, "tolist"):
        return np.asarray(value).tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return repr(value)


def _normal(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _check_argument(owner: str, argument: inspect.Parameter, value: Any) -> None:
    kind_of = _number_type(argument.annotation)
    for one in value.values if isinstance(value, Axis) else [value]:
        if kind_of is None or (one is None and argument.default is None):
            continue
        number = isinstance(one, int | float) and not isinstance(one, bool) and np.isfinite(one)
        if not number or (kind_of is int and one != int(one)):
            kind = "a whole number" if kind_of is int else "a finite number"
            raise UsageError(f"problem {owner}: {argument.name} must be {kind}, got {one!r}")


def _is_text(annotation: Any) -> bool:
    return annotation is str or str in get_args(annotation)


def _number_type(annotation: Any) -> type | None:
    """`int` or `float` for arguments that are one, or one or None; None for all others."""
    kinds = [kind for kind in (int, float) if annotation is kind or set(get_args(annotation)) == {kind, type(None)}]
    return kinds[0] if kinds else None


def _check_kind(owner: str, field: dataclasses.Field[Any], value: Any) -> None:
    """Text has no types: `true` in place of a number would count as 1, and any word as true."""
    switch = isinstance(field.default, bool)
    for one in value.values if isinstance(value, Axis) else [value]:
        if (one is None and field.default is None) or (switch and isinstance(one, bool)):
            continue
        if switch:
            raise UsageError(f"{owner}: {field.name} is true or false, got {one!r}")
        if field.metadata["rule"] and (isinstance(one, bool) or not isinstance(one, int | float)):
            hint = f"; an axis is written {{ axis = {one!r} }}" if isinstance(one, list) else ""
            raise UsageError(f"{owner}: {field.name} must be a number, got {one!r}{hint}")


def _value(value: Any, whole: bool = False) -> Any:
    """A value of a table; `{ axis = … }` becomes an axis, a range of `whole` numbers one of rounded values."""
    if not isinstance(value, dict):
        return value
    if "axis" not in value:
        raise UsageError(f"expected a number, a list or {{ axis = … }}, got {value!r}")
    inner = value["axis"]
    if not isinstance(inner, dict):
        return axis(inner, value.get("name"))
    unknown = inner.keys() - {"start", "stop", "num", "scale"}
    if unknown or not {"start", "stop", "num"} <= inner.keys():
        raise UsageError(f"an axis by range needs start, stop and num, and may have scale, got {sorted(inner)}")
    scale = inner.get("scale", "linear")
    if scale not in {"linear", "log"}:
        raise UsageError(f"the scale of an axis is linear or log, got {scale!r}")
    start, stop, num = inner["start"], inner["stop"], inner["num"]
    if any(isinstance(x, bool) or not isinstance(x, int | float) for x in (start, stop)):
        raise UsageError(f"start and stop of an axis are numbers, got {start!r} and {stop!r}")
    if isinstance(num, bool) or not isinstance(num, int) or num < 1:
        raise UsageError(f"num of an axis is a whole number, at least 1, got {num!r}")
    if scale == "log" and not (start > 0 and stop > 0):
        raise UsageError(f"an axis with scale log needs start and stop above 0, got {start:g} and {stop:g}")
    values = [float(x) for x in (np.geomspace if scale == "log" else np.linspace)(start, stop, num)]
    return axis([round(x) for x in values] if whole else values, value.get("name"))


def _required(table: dict[str, Any], key: str, what: str) -> Any:
    if key not in table:
        raise UsageError(f"the [{what}] table needs a {key}")
    return table[key]


def _numbers(text: str, spec: str) -> Any:
    rows = [[_number(item, spec) for item in row.split(",")] for row in text.split("/")]
    return rows if len(rows) > 1 else rows[0]


def _number(text: str, spec: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"problem {spec!r}: {text.strip()!r} is not a number") from None
    return int(number) if number == int(number if np.isfinite(number) else 0) and "." not in text else number
