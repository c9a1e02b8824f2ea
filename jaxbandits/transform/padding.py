"""Padding: find the axes of arms of arrays with room for more arms than exist, and leave out the padding.

A program is traced for several numbers of arms, larger and smaller. An axis that grows with them is an axis of arms. A
number that changes with them is computed from how many exist (`growing_numbers.py`). Every operation over an axis of
arms then gets neutral values in the padding (`filling.py`). If this fails it is never guessed: the program is refused
here, and compiled for each number of arms.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple, cast

import jax
import numpy as np

from jaxbandits.compilers.jaxpr_types import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jaxbandits.transform.growing_numbers import UnpaddableError, number_by_count
from jaxbandits.transform.operation import Known, Value, twice
from jaxbandits.transform.program_plans import are_alike, grows, is_same, plan_of
from jaxbandits.transform.shared_traces import once, traced

__all__ = ["Padded", "Padding", "of_two", "with_numbers_of_arms"]

#: Up to this number of arms, a program is traced for each number. Beyond, for some numbers, closest for few arms.
_EACH = 8
#: Further numbers of arms to trace programs for, of each bandit.
_numbers: ContextVar[tuple[int, ...]] = ContextVar("_numbers", default=())


@contextlib.contextmanager
def with_numbers_of_arms(numbers: tuple[int, ...]) -> Iterator[None]:
    """Trace programs for these numbers of arms, too, while this is entered: those that are to share one."""
    token = _numbers.set(numbers)
    try:
        yield
    finally:
        _numbers.reset(token)


@dataclasses.dataclass(frozen=True)
class Padding:
    """The padding of a program: the number of arms, and the program for other numbers of arms.

    Attributes:
        count: int32 `(R,)`, how many arms exist.
        width: the number of arms that arrays have room for.
        sizes: other numbers of arms.
        wider: the same program, or equation, for each of these.
        consts: the constants of these programs.
        bandits: the number of bandits M that share the arms: an axis of the arms of each, K / M, is one of arms, too.
        checks: how many of the sizes, the last, are only to agree with the others: another time they are not traced.
    """

    count: jax.Array
    width: int
    sizes: tuple[int, ...]
    wider: tuple[Any, ...]
    consts: tuple[Sequence[jax.Array], ...] = ()
    bandits: int = 1
    checks: int = 0

    def exist(self, size: int) -> jax.Array:
        """Return how many entries exist along an axis of arms of a size, int32 `(R,)`; of all bandits, or of each."""
        return self.count if size == self.width else self.count // (self.width // size)

    def at(self, place: int) -> "Padding":
        """Return the padding of one equation."""
        return dataclasses.replace(self, wider=tuple(program.eqns[place] for program in self.wider))

    def inside(self, called: Callable[[JaxprEqn], tuple[Jaxpr, Sequence[jax.Array]]]) -> "Padding":
        """Return the padding of the program that an equation calls."""
        programs = [called(equation) for equation in self.wider]
        return dataclasses.replace(self, wider=tuple(p for p, _ in programs), consts=tuple(c for _, c in programs))

    def of_runs(self, some: jax.Array | None) -> "Padding":
        """Return the padding of some runs, int32 `(W,)`; of all for None."""
        return self if some is None else dataclasses.replace(self, count=self.count[some])

    def check_program(self, jaxpr: Jaxpr, consts: Sequence[jax.Array]) -> None:
        """Check that the programs for other numbers of arms are made of the same operations and constants.

        Raises:
            UnpaddableError: they are not.
        """
        plan = plan_of(jaxpr)
        if any(plan_of(other) != plan for other in self.wider):
            raise UnpaddableError("with another number of arms other operations are made")
        for others in self.consts:
            if len(others) != len(consts) or not all(map(self._follows, consts, others)):
                raise UnpaddableError("a constant array changes with the number of arms")

    def _follows(self, narrow: jax.Array, other: jax.Array) -> bool:
        """Return whether a constant is the same for another number of arms, but that it has an entry for each arm."""
        if narrow is other:
            return True
        lengths = list(zip(np.shape(narrow), np.shape(other), strict=False))
        grown = all(a == b or (a == self.width and b in self.sizes) for a, b in lengths)
        if np.ndim(narrow) != np.ndim(other) or not grown:
            return False
        both = tuple(slice(min(a, b)) for a, b in lengths)
        return is_same(np.asarray(narrow)[both], np.asarray(other)[both])

    def literal(self, narrow: Literal, others: Sequence[Literal]) -> Value | None:
        """Return a literal that changes with the number of arms, for each run; None for one that does not.

        Raises:
            UnpaddableError: it is an array, or changes in a way that cannot be followed.
        """
        values = [np.asarray(atom.val, narrow.aval.dtype) for atom in (narrow, *others)]
        if any(value.shape for value in values):
            if len({(value.shape, value.tobytes()) for value in values}) == 1:
                return None
            raise UnpaddableError("a constant array changes with the number of arms")
        return self.number(values)

    def number(self, values: Sequence[np.ndarray]) -> Value | None:
        """Return a number, `()` for each number of arms, for each run; None for one that does not change.

        Raises:
            UnpaddableError: it changes in a way that cannot be followed.
        """
        counts = [n // self.bandits for n in (self.width, *self.sizes)]
        return number_by_count(values, counts, self.exist(counts[0]), self.checks)

    def touches(self, equation: JaxprEqn) -> bool:
        """Return whether an equation depends on the number of arms: an axis, a literal or a parameter does."""
        return grows((equation, *self.wider))

    def grows_as_arms(self, sizes: tuple[int, ...]) -> bool:
        """Return whether sizes, for each number of arms, are those of an axis of arms, of all bandits or of each."""
        numbers = (self.width, *self.sizes)
        return sizes in (numbers, tuple(n // self.bandits for n in numbers))

    def axes_of(self, narrow: Atom, others: Sequence[Atom]) -> tuple[int, ...]:
        """Return the axes of arms of a variable, from its shapes for several numbers of arms.

        Raises:
            UnpaddableError: an axis that grows with the arms and is not as long as they are.
        """
        if isinstance(narrow, Literal):
            return ()
        shapes = [atom.aval.shape for atom in (narrow, *others)]
        if len({len(shape) for shape in shapes}) > 1:
            raise UnpaddableError("an array has another number of axes with more arms")
        axes = []
        for axis, sizes in enumerate(zip(*shapes, strict=True)):
            if self.grows_as_arms(sizes):
                axes.append(axis)
            elif len(set(sizes)) > 1:
                raise UnpaddableError("an axis grows with the number of arms and has another length")
        return tuple(axes)


class Padded(NamedTuple):
    """How many arms exist, and which axes of the arguments are axes of arms."""

    exist: jax.Array  # int32 (R,)
    width: int  # the number of arms that arrays have room for
    axes: Sequence[tuple[int, ...]]  # of each leaf of the arguments, in one run
    bandits: int = 1  # how many share the arms: their number is then a multiple of it
    least: int = 2  # how many arms exist at least, of each bandit

    def followed(
        self,
        function: Callable[..., object],
        name: Hashable,
        leaves: Sequence[jax.ShapeDtypeStruct],
        each: bool,
    ) -> Padding:
        """Trace a function of one run, of these leaves, for some other numbers of arms, or for each.

        Args:
            function: of arrays.
            name: what tells it from other functions.
            leaves: its arguments.
            each: whether for each number up to the width.

        Raises:
            UnpaddableError: it fails there.
        """
        width = self.width // self.bandits
        others = [width + 1, width + 2, *(range(self.least, width) if each else _usual_sizes(width))]
        checks = [n for n in _numbers.get() if 1 < n < width and n not in others]
        sizes = [size * self.bandits for size in (*others, *checks)]
        programs = [self._traced(function, name, leaves, size) for size in sizes]
        if self.least == 1 and not each:  # where JAX writes operations on one entry in another way, it tells nothing
            with contextlib.suppress(UnpaddableError):
                alone = self._traced(function, name, leaves, self.bandits)
                if are_alike(alone.jaxpr, programs[0].jaxpr):
                    sizes.insert(2, self.bandits)
                    programs.insert(2, alone)
        parts = tuple(p.jaxpr for p in programs), tuple(p.consts for p in programs)
        return Padding(self.exist, self.width, tuple(sizes), *parts, self.bandits, len(checks))

    def _traced(
        self, function: Callable[..., object], name: Hashable, leaves: Sequence[jax.ShapeDtypeStruct], size: int
    ) -> ClosedJaxpr:
        def length(n: int) -> int:
            return size if n == self.width else n * size // self.width

        longer = [
            jax.ShapeDtypeStruct(tuple(length(n) if i in axes else n for i, n in enumerate(leaf.shape)), leaf.dtype)
            for leaf, axes in zip(leaves, self.axes, strict=True)
        ]
        key = (name, tuple((leaf.shape, leaf.dtype) for leaf in longer))
        try:
            program, _ = once(key, functools.partial(traced, function, *longer))
        except Exception as error:
            raise UnpaddableError(f"with {size} arms it fails: {error}") from error
        return cast(ClosedJaxpr, program)


def of_two(known: Sequence[Known] | None, padded: Padded | None) -> tuple[Sequence[Known] | None, Padded | None]:
    """Return what is known of a single run, and its padding, for the same run twice (`operation.twice`)."""
    knows = None if known is None else [one._replace(root=twice(one.root)) for one in known]
    return knows, None if padded is None else padded._replace(exist=twice(padded.exist))


def _usual_sizes(width: int) -> list[int]:
    """Return the smaller numbers of arms to trace a program for, down to 2.

    What is the same for many arms may be another for few, as `len(arms) // 3` or `min(len(arms), 5)`.
    """
    return [n for n in range(2, width) if n <= _EACH or n == width - 1 or n & (n - 1) == 0]
