"""Problems to tune on, fresh ones in each step, and others to judge by."""

import dataclasses
import hashlib
from collections.abc import Callable, Sequence

import jax
import numpy as np

from jaxbandits.checks import shown, whole
from jaxbandits.errors import UsageError
from jaxbandits.io.serialize import array_hash
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily, listed

__all__ = ["INSTANCE", "Draw", "Instances", "family", "hash_of", "instances_of", "seed_of"]

#: The dimension of the problems.
INSTANCE = "instance"

#: A function that draws a problem.
Draw = Callable[[np.random.Generator], Problem]


@dataclasses.dataclass(frozen=True)
class Instances:
    """A distribution over problems, or a list of them in two halves."""

    draw: Draw | None
    training: tuple[Problem, ...]
    kept: tuple[Problem, ...]
    root_seed: int

    def of_step(self, step: int, count: int) -> list[Problem]:
        """Return the problems of a step: the same whenever it is made."""
        random = np.random.default_rng([self.root_seed, 0, step])
        if self.draw is not None:
            return [_drawn(self.draw, random) for _ in range(count)]
        number = min(count, len(self.training))
        return [self.training[i] for i in random.permutation(len(self.training))[:number]]

    def checks(self, count: int) -> list[Problem]:
        """Return the problems on which errors are counted before the judgement."""
        if self.draw is None:
            return list(self.training[:count])
        random = np.random.default_rng([self.root_seed, 3])
        return [_drawn(self.draw, random) for _ in range(count)]

    def held_out(self, count: int) -> list[Problem]:
        """Return the problems to judge by; no step has any of them."""
        if self.draw is None:
            return list(self.kept[:count])
        random = np.random.default_rng([self.root_seed, 1])
        return [_drawn(self.draw, random) for _ in range(count)]


def instances_of(problems: Draw | Sequence[Problem], root_seed: int) -> Instances:
    """Return the instances that a user gave.

    Raises:
        UsageError: neither a function nor at least four problems.
    """
    if callable(problems):
        return Instances(problems, (), (), root_seed)
    if not isinstance(problems, Sequence) or not all(isinstance(problem, Problem) for problem in problems):
        raise UsageError(
            "tuning needs a distribution, such as lambda random: jb.bernoulli(random.uniform(size=10)), or a list of "
            f"problems, got {shown(problems)}"
        )
    whole("the number of problems, of which half are kept to judge by,", len(problems), 4)
    order = np.random.default_rng([root_seed, 2]).permutation(len(problems))
    half = len(problems) // 2
    training, kept = (tuple(problems[i] for i in part) for part in (order[half:], order[:half]))
    return Instances(None, training, kept, root_seed)


def _drawn(draw: Draw, random: np.random.Generator) -> Problem:
    problem = draw(random)
    if not isinstance(problem, Problem):
        given = shown(problem)
        raise UsageError(f"the distribution must give a problem, such as jb.bernoulli([0.7, 0.5]), got {given}")
    return problem


def family(problems: Sequence[Problem]) -> ProblemFamily:
    """Return the problems along an axis, `INSTANCE`."""
    return listed(problems, INSTANCE)


def hash_of(problems: Sequence[Problem]) -> int:
    """Return a number that says which problems these are, in [0, 2^60)."""
    words = [array_hash(jax.tree.leaves(problems)), *(type(problem).__name__ for problem in problems)]
    return int(hashlib.sha256(" ".join(words).encode()).hexdigest()[:15], 16)


def seed_of(root_seed: int, use: str, step: int = 0) -> int:
    """Return a root seed of runs, of a step or of a judgement, distinct from all others."""
    words = np.frombuffer(use.encode().ljust(8, b"\0"), np.uint32).tolist()
    return int(np.random.SeedSequence([root_seed, *words, step]).generate_state(1, np.uint64)[0])
