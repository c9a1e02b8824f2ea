"""An algorithm as the package knows it: looked at once, when it comes in.

What is asked of an algorithm before its runs is asked here, of a user's own as of the package's; what the engine asks
during the runs, of what `batched` or `alone` returns.
"""

import dataclasses
from typing import Any

import jax

from jaxbandits.algorithms.arm_values import by_arm
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.traits import Traits, answers_of, tolerance_of, traits_of
from jaxbandits.arrays.numerics import NO_LIMIT
from jaxbandits.arrays.pytrees import classes
from jaxbandits.axes import Axis
from jaxbandits.engine.border import check_algorithm, check_kind, check_methods
from jaxbandits.engine.mapping import mapped
from jaxbandits.engine.rule_border import why_unpaddable
from jaxbandits.engine.users_own import UsersOwn
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

    algorithm: Any
    registered: bool

    @property
    def base(self) -> Rule | None:
        """The same algorithm where it is written for one run by the protocol of `jb.algorithm`; None elsewhere."""
        return self.algorithm if isinstance(self.algorithm, Rule) else None

    @property
    def is_rule(self) -> bool:
        """Whether it is written for one run by the protocol of `jb.algorithm`."""
        return self.base is not None

    @property
    def name(self) -> str:
        """The class's name."""
        return type(self.algorithm).__name__

    @property
    def traits(self) -> Traits:
        """What it says of itself."""
        return traits_of(self.algorithm)

    @property
    def fields(self) -> tuple[dataclasses.Field[Any], ...]:
        """Its parameters, where it is a dataclass."""
        known = dataclasses.is_dataclass(self.algorithm) and not isinstance(self.algorithm, type)
        return dataclasses.fields(self.algorithm) if known else ()

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
        # A user's own algorithm may have long steps too, but nobody watches that its counts stay in their range.
        return NO_LIMIT if self.base is not None and self.traits.in_batches else 10**9

    def likely_pulls(self, usual: float) -> float:
        """How many pulls a run makes, more or less: its budget, or the usual number."""
        budget = None if self.base is None else self.base.given("budget")
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
        if self.base is not None:
            if problem.drawn and any(by_arm(self.base)):
                raise UsageError(f"{self.name} has values of arms, and {problem.name} draws other arms for each run")
            explored = self.base.explored(problem)
            self.base.check(explored.arms // explored.bandits, explored.bandits)
            return admitted(self.base.resolved(explored)), explored
        if not problem.arms:
            raise UsageError(f"{self.name}: give {problem.name} arms=, the number that a run draws")
        if problem.bandits > 1 and not self.traits.multi_bandit:
            raise UsageError(
                f"{self.name} explores one bandit, the problem has {problem.bandits}: if it can, multi_bandit=True in "
                "its jb.Traits says so"
            )
        return self, problem

    def may_be_padded(self, problem: Problem, count: int) -> bool:
        """Whether its program may have up to `count` arms that are there to fill up; a trace tells."""
        return self.is_rule and why_unpaddable(self.algorithm, problem.padded(count)) is None

    def unseen(self, problem: Problem) -> float | None:
        """Where a problem has more arms than are simulated: how improbable it is, at most, that one would matter."""
        return None if self.base is None else self.base.unseen(problem)

    def why_not_anytime(self) -> str:
        """Why it cannot be looked at before it ends."""
        if self.base is not None and self.base.given("budget") is not None:
            return "must know its budget: use budget=jb.axis([…]) in place of checkpoints"
        if self.traits.in_batches:
            return "pulls in large batches, and cannot be looked at in between"
        return "says that it cannot be looked at before it ends"

    def alone(self) -> Any:
        """For one run, as the engine wants it; leaves may be traced."""
        if self.is_rule:
            return mapped(self.algorithm)
        return UsersOwn(self.algorithm, several=False)


def admitted(algorithm: Any) -> Admitted:
    """An algorithm that comes in.

    Raises:
        UsageError: what is none: a name, a class, a function, a problem; or JAX cannot run here.
    """
    check_jax()
    if not isinstance(algorithm, Rule):
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
