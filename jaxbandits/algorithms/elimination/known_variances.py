"""Rules that know the variances of the rewards: given ones, or those of the problem."""

import dataclasses
from typing import Any, Self

import numpy as np

from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["KnownVariances"]


class KnownVariances(Rule):
    """A rule with a hyperparameter `variances`, which is None for those of the problem."""

    variances: Numeric
    oracle_knows = "the true variances"

    @property
    def oracle(self) -> bool:
        """Whether the variances are the problem's."""
        return self.variances is None

    def resolved(self, problem: Problem) -> Self:
        """Fill in the variances of the problem.

        Raises:
            UsageError: one is infinite.
        """
        new: Any = super().resolved(problem)
        if not new.oracle:
            return new
        variances, name = np.asarray(problem.variance), type(self).__name__
        if not np.all(np.isfinite(variances)):
            raise UsageError(f"{name} needs finite variances, and {problem.name} has an infinite one: give variances")
        filled: Self = dataclasses.replace(new, variances=variances)
        return filled

    def check_live(self) -> None:
        """Refuse unknown variances."""
        if self.oracle:
            name = type(self).__name__
            raise UsageError(f"{name} needs the variances of the arms: give variances, or use SHAdaVar")
