"""An algorithm as the package knows it: looked at once, when it comes in.

What is asked of an algorithm before its runs is asked here, of a user's own as of the package's; what the engine asks
during the runs, of what `batched` or `mapped` returns.
"""

import dataclasses
from typing import Any

import jax

from jaxbandits.algorithms.arm_values import by_arm
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.traits import Traits, answers_of, tolerance_of
from jaxbandits.arrays.numerics import NO_LIMIT
from jaxbandits.arrays.pytrees import classes
from jaxbandits.axes import Axis
from jaxbandits.engine.border import check_algorithm, check_kind, check_methods
from jaxbandits.engine.rule_border import why_unpaddable
from jaxbandits.errors import UsageError
from jaxbandits.jax_process import check_jax
from jaxbandits.problems.base import Problem

__all__ = ["Admitted", "admitted", "check", "check_one"]


@dataclasses.dataclass(frozen=True)
class Admitted:
    """An algorithm, axes and all, and what is known of its class.

    Attributes:
        algorithm: as it came in.
        registered: whether it is one of the package's, which its tests hold to the protocol.
    """

    algorithm: Rule
    registered: bool

    @property
    def name(self) -> str:
        """The class's name."""
        return type(self.algorithm).__name__

    @property
    def traits(self) -> Traits:
        """What it says of itself."""
        return self.algorithm.traits

    @property
    def fields(self) -> tuple[dataclasses.Field[Any], ...]:
        """Its parameters."""
        return dataclasses.fields(self.algorithm)

    @property
    def values(self) -> dict[str, Any]:
        """The values of its parameters, by name."""
        return {field.name: getattr(self.algorithm, field.name) for field in self.fields}

    @property
    def axes(self) -> dict[str, Axis]:
        """Which of these are axes of a grid."""
        return {name: value for name, value in self.values.items() if isinstance(value, Axis)}

    @property
    def tolerance(self) -> float:
        """By how much an answer may miss and count as correct."""
        return tolerance_of(self.algorithm)

    @property
    def answers(self) -> int | None:
        """How many arms an answer has; None for any number."""
        return answers_of(self.algorithm)

    @property
    def cost_budget(self) -> float | None:
        """The budget of cost, where one is spent."""
        return None if self.traits.spends is None else float(self.values[self.traits.spends])

    @property
    def most_pulls(self) -> int:
        """Pulls after which a run is stopped if nobody says otherwise: 10^9, but none where sums are drawn."""
        return NO_LIMIT if self.traits.in_batches else 10**9

    def likely_pulls(self, usual: float) -> float:
        """How many pulls a run makes, more or less: its budget, or the usual number."""
        budget = self.algorithm.given("budget")
        return usual if budget is None else float(budget)

    @property
    def kind(self) -> Any:
        """What must be equal for two algorithms to share a program."""
        return jax.tree.structure(self.algorithm), classes(self.algorithm)

    def at(self, changes: dict[str, Any]) -> "Admitted":
        """With other values of some parameters."""
        return admitted(dataclasses.replace(self.algorithm, **changes)) if changes else self

    def suited(self, problem: Problem) -> tuple["Admitted", Problem]:
        """With what it takes from the problem, and the problem with as many arms as it wants.

        Raises:
            UsageError: they do not fit.
        """
        if problem.drawn and any(by_arm(self.algorithm)):
            raise UsageError(f"{self.name} has values of arms, and {problem.name} draws other arms for each run")
        explored = self.algorithm.explored(problem)
        self.algorithm.check(explored.arms // explored.bandits, explored.bandits)
        return admitted(self.algorithm.resolved(explored)), explored

    def may_be_padded(self, problem: Problem, count: int) -> bool:
        """Whether its program may have up to `count` arms that are there to fill up; a trace tells."""
        return why_unpaddable(self.algorithm, problem.padded(count)) is None

    def unseen(self, problem: Problem) -> float | None:
        """Where a problem has more arms than are simulated: how improbable it is, at most, that one would matter."""
        return self.algorithm.unseen(problem)

    def why_not_anytime(self) -> str:
        """Why it cannot be looked at before it ends."""
        if self.algorithm.given("budget") is not None:
            return "must know its budget: use budget=jb.axis([…]) in place of checkpoints"
        if self.traits.in_batches:
            return "pulls in large batches, and cannot be looked at in between"
        return "says that it cannot be looked at before it ends"


def admitted(algorithm: Any) -> Admitted:
    """An algorithm that comes in.

    Raises:
        UsageError: what is none: a name, a class, a function, a problem; or JAX cannot run here.
    """
    check_jax()
    check_kind(algorithm)
    return Admitted(algorithm, registered=REGISTRY.name_of(type(algorithm)) is not None)


def check(algorithm: Admitted) -> None:
    """Whether a cell's algorithm can be run, as far as can be seen without calling it.

    Raises:
        UsageError: it cannot.
    """
    check_algorithm(algorithm.algorithm, registered=algorithm.registered)


def check_one(algorithm: Admitted, problem: Problem, key: jax.Array, *, judged: bool = True) -> None:
    """Whether its methods return what the protocol says, for one run; they are traced, not run.

    Of a live experiment answers are not `judged`.

    Raises:
        UsageError: which method returns what, in place of what.
    """
    if not algorithm.registered:
        check_methods(algorithm.algorithm, problem, key, judged=judged)
