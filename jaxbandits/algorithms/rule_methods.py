"""Check which methods a rule has."""

import dataclasses

from jaxbandits.algorithms.traits import traits_of
from jaxbandits.errors import UsageError

__all__ = ["check_methods"]


def check_methods(cls: type) -> None:
    """Check that a class has the methods of one kind of rule.

    Raises:
        UsageError: a method is missing, or there are two where one is needed; or the class makes its own instances.
    """
    name = cls.__name__
    fields = f"write class {name}: with each parameter as an annotated field, such as budget: int"
    if issubclass(cls, tuple):
        raise UsageError(f"{name} is a tuple, which jb.algorithm cannot make an algorithm of: {fields}")
    if "__init__" in vars(cls) and not dataclasses.is_dataclass(cls):
        raise UsageError(f"{name} has an __init__ of its own, which jb.algorithm replaces: {fields}")
    (_check_elimination if callable(getattr(cls, "keep", None)) else _check_steps)(cls)


def _check_elimination(cls: type) -> None:
    """Check that a class with a method `keep` has `rounds` or `due`, and no method for single pulls.

    Raises:
        UsageError: a method is missing, or there is one too many.
    """
    name = cls.__name__
    for method in ("select", "request", "update", "absorb"):
        if callable(getattr(cls, method, None)):
            raise UsageError(
                f"{name} has keep, so that arms are pulled in turn, and {method}: it must have one of them"
            )
    if callable(getattr(cls, "rounds", None)) == callable(getattr(cls, "due", None)):
        raise UsageError(
            f"{name} must have one of the methods rounds (after how many more it looks at the arms) and due (whether "
            "it looks now)"
        )


def _check_steps(cls: type) -> None:
    """Check that a class whose steps are pulls has the methods for them.

    Raises:
        UsageError: a method is missing, or there are two where one is needed.
    """
    name, spends = cls.__name__, traits_of(cls).spends is not None
    for method in ("recommend",) if spends else ("done", "recommend"):
        if not callable(getattr(cls, method, None)):
            raise UsageError(f"{name} has no method {method!r}: an algorithm has select or request, done and recommend")
    if callable(getattr(cls, "select", None)) == callable(getattr(cls, "request", None)):
        raise UsageError(f"{name} must have one of the methods select (an arm) and request (pulls of each arm)")
    after = "absorb" if callable(getattr(cls, "request", None)) else "update"
    if callable(getattr(cls, "init", None)) != callable(getattr(cls, after, None)):
        raise UsageError(f"{name} must have both of the methods init and {after}, for a state of its own, or neither")
    in_turn = spends or getattr(cls, "takes_costs", False) or callable(getattr(cls, "arms_needed", None))
    if in_turn and after == "absorb":
        raise UsageError(
            f"{name} pulls one arm after another, as costs and arms_needed ask: give it select, not request"
        )
