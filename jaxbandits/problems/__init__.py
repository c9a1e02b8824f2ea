"""Problems: reward families, the papers' named instances, and the registry that the command line reads.

To add one: write its constructor in `instances.py` (or a family in `families.py`), then add it here.
"""

from collections.abc import Callable
from typing import Any

from jaxbandits.problems.base import Problem
from jaxbandits.problems.families import (
    Bernoulli,
    Beta,
    Gaussian,
    TwoPoint,
    bernoulli,
    beta,
    gaussian,
    rademacher,
)
from jaxbandits.problems.instances import abm, gabillon, linear, one_sparse, polynomial, random_uniform, two_group

__all__ = [
    "REGISTRY",
    "Bernoulli",
    "Beta",
    "Gaussian",
    "Problem",
    "TwoPoint",
    "abm",
    "bernoulli",
    "beta",
    "gabillon",
    "gaussian",
    "linear",
    "one_sparse",
    "polynomial",
    "rademacher",
    "random_uniform",
    "two_group",
]

#: Names on the command line and in sweep specifications.
REGISTRY: dict[str, Callable[..., Any]] = {
    "bernoulli": bernoulli,
    "gaussian": gaussian,
    "beta": beta,
    "rademacher": rademacher,
    "abm": abm,
    "gabillon": gabillon,
    "two-group": two_group,
    "one-sparse": one_sparse,
    "linear": linear,
    "polynomial": polynomial,
    "random-uniform": random_uniform,
}
