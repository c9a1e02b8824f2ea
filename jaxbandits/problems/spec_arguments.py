"""Parser of the arguments of a problem's SPEC, such as `0.7,0.5;1` or `means=0.7,0.5,sd=2`."""

import inspect
from collections.abc import Mapping

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.io.axis_values import is_text

__all__ = ["arguments_of"]

_SWITCH = {"true": True, "false": False}
_LISTS = "a list is written 0.7,0.5, lists of several bandits 0.7,0.5/0.6,0.3"


def arguments_of(
    rest: str, spec: str, known: Mapping[str, inspect.Parameter]
) -> tuple[list[object], dict[str, object]]:
    """Return the positional values, and the named ones.

    Commas separate the numbers of a list, and arguments with a name; semicolons separate arguments.

    Args:
        rest: the part after the problem's name and its colon.
        spec: the whole SPEC, for error messages.
        known: the parameters of the problem's constructor; empty for an unknown problem.

    Raises:
        UsageError: text that is not a number, an argument without a name after one with a name, or one that is given
            twice.
    """
    texts = {name for name, argument in known.items() if is_text(argument.annotation)}
    first = next(iter(known), "")
    if first in texts and "=" not in rest:  # a path may have commas
        return ([rest] if rest else []), {}
    by_place: list[str] = []
    by_name: dict[str, str] = {}
    name = ""
    for group in rest.split(";") if rest else []:
        for place, part in enumerate(group.split(",")):
            key, equals, text = part.partition("=")
            if equals:
                name = key.strip()
                if name in by_name:
                    raise UsageError(f"problem {spec!r}: {name} is given twice")
                by_name[name] = text
            elif name and (place == 0 or name in texts):
                hint = "" if name in texts else f": {_LISTS}"
                raise UsageError(f"problem {spec!r}: expected name=value, got {part!r}{hint}")
            elif name:
                by_name[name] += f",{part}"
            elif place == 0:
                by_place.append(part)
            else:
                by_place[-1] += f",{part}"
    positional = [_value(text, spec, known.get(first) if i == 0 else None, True) for i, text in enumerate(by_place)]
    return positional, {name: _value(text, spec, known.get(name), False) for name, text in by_name.items()}


def _value(text: str, spec: str, argument: inspect.Parameter | None, placed: bool) -> object:
    """Return the value of an argument; a positional number becomes a list of one."""
    if argument is not None and is_text(argument.annotation):
        return text.strip()
    if argument is not None and argument.annotation is bool:
        return _SWITCH.get(text.strip(), text.strip())
    if argument is None and not placed:  # an unknown name is refused later, whatever its value
        return text.strip()
    rows = [[_number(item, spec) for item in row.split(",")] for row in _plain(text).split("/")]
    if len(rows) > 1:
        return rows
    return rows[0][0] if len(rows[0]) == 1 and not placed and "[" not in text else rows[0]


def _plain(text: str) -> str:
    """Return a list without the brackets that Python and TOML write around it."""
    bare = "".join(text.split()) if "[" in text else text
    return bare.replace("],[", "/").strip("[]")


def _number(text: str, spec: str) -> object:
    try:
        number = float(text)
    except ValueError:
        several = len(text.split()) > 1 or ":" in text or "|" in text
        hint = f": {_LISTS}" if several else ""
        raise UsageError(f"problem {spec!r}: {text.strip()!r} is not a number{hint}") from None
    return int(number) if number == int(number if np.isfinite(number) else 0) and "." not in text else number
