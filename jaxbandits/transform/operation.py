"""The argument of a rule of the transformation: one operation of one run, with its operands for R runs."""

import contextlib
import contextvars
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from jaxbandits.compilers.jaxpr_types import Jaxpr, JaxprEqn
from jaxbandits.compilers.xla_cpu import barrier

__all__ = [
    "Counts", "Known", "Operation", "Range", "Value", "Written", "as_it_is", "computed_once", "first_run", "given",
    "is_float", "replaces", "spread", "twice", "with_arms",
]  # fmt: skip

Tree = TypeVar("Tree")

#: Whether what a run has once is computed and kept before it meets what it has of each arm.
_once: contextvars.ContextVar[bool] = contextvars.ContextVar("once", default=False)


@contextlib.contextmanager
def computed_once(which: bool) -> Iterator[None]:
    """Compute numbers that a run has once before they are broadcast, and keep them, while this is entered.

    XLA:CPU copies what it broadcasts into the loop over arms, and computes a logarithm for each arm. In a step that
    looks at every arm many times that is most of its time; a step of one pull is one loop, which must not be parted.
    """
    token = _once.set(which)
    try:
        yield
    finally:
        _once.reset(token)


def with_arms(array: jax.Array) -> jax.Array:
    """Return numbers `(R,)` as they are to be broadcast."""
    return barrier(array) if _once.get() else array


def twice(tree: Tree) -> Tree:
    """Return a pytree with an axis of one run as one of two, the same run twice.

    XLA multiplies and divides arrays of one entry in another order than longer ones. A single run would then have other
    bits than in a batch.
    """
    return jax.tree.map(lambda leaf: jnp.concatenate([leaf, leaf], -1), tree)


def first_run(tree: Tree) -> Tree:
    """Return a pytree of two runs with the first one only."""
    return jax.tree.map(lambda leaf: leaf[..., :1], tree)


#: The smallest and the largest number that a value may be.
Range = tuple[float, float]


class Written(NamedTuple):
    """How a value was made of an array: one entry of an axis was replaced in each run.

    Attributes:
        base: the array, `(…, K, …, R)`.
        axis: the axis of K.
        place: int32 `(R,)`, in [0, K).
        value: what was written, the shape of `base` without that axis.
        before: how `base` was made in the same way; None where it was not.
    """

    base: jax.Array
    axis: int
    place: jax.Array
    value: jax.Array
    before: "Written | None" = None


class Counts(NamedTuple):
    """What is known of a positive multiple of counts, or of what was divided by them.

    Attributes:
        root: 1 / sqrt of the counts, which is kept; the shape of the array.
        scale: what the array is this multiple of: of the counts, of their roots, or of their reciprocals.
        power: 1, 1/2 or -1 accordingly.
    """

    root: jax.Array
    scale: "Value"
    power: float


class Value(NamedTuple):
    """A value of the one-run program, for R runs.

    Attributes:
        array: shape `(…, R)` where it differs between runs, the one-run shape `(…)` where it does not.
        mapped: whether it differs between runs.
        thin: what the value is a broadcast of, of the same number of axes or without any; None if it is none.
        written: how it was made of another array; None where it was not.
        range: between which numbers it lies in every run, and that none is NaN (`ranges.py`); None where that is not
            known.
        counts: of a multiple of counts whose inverse roots are kept (`counts.py`); None elsewhere.
        unless: what it is equal to in runs whose step is not made (`steps.py`); None where that is not known.
        fixed: whether it hangs on the number of arms only, so that it is a constant where arrays have their length: it
            is then computed with as with one.
        open: what XLA could rewrite it as, together with what follows (`rewrites.py`).
    """

    array: jax.Array
    mapped: bool
    thin: "Value | None" = None
    written: Written | None = None
    range: Range | None = None
    counts: Counts | None = None
    fixed: bool = False
    unless: jax.Array | None = None
    open: frozenset[str] = frozenset()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in one run."""
        shape = tuple(jnp.shape(self.array))
        return shape[:-1] if self.mapped else shape

    @property
    def constant(self) -> bool:
        """Whether it is a constant where arrays have their length."""
        return not self.mapped or self.fixed


class Known(NamedTuple):
    """What is known of a leaf before it is computed with."""

    range: Range | None = None  # of its entries
    root: jax.Array | None = None  # 1 / sqrt of its entries, where they are counts of which this is kept
    fixed: bool = False  # whether it hangs on the number of arms only, where arrays are padded


def given(array: jax.Array, known: Known) -> Value:
    """Return a value that differs between runs, with what is known of it."""
    counted = None if known.root is None else Counts(known.root, Value(jnp.float32(1), False), 1)
    return Value(array, True, range=known.range, counts=counted, fixed=known.fixed)


@dataclasses.dataclass(frozen=True)
class Operation:
    """An equation of a one-run program and its operands for R runs.

    Attributes:
        equation: the equation of the jaxpr.
        values: its operands.
        suffix: `(R,)` where an operand differs between runs, else `()`.
        exposed: whether the result may be added to something: a product must then be shielded (`products.py`).
        shape: the shape of the first result in one run.
        arm_axes: the axes of the first operand along which not all entries are arms that exist (`padding.py`).
        exist: int32 `(R,)`, how many are; None where all are.
        starts: axes along which a slice starts at a place of each run, int32 `(R,)`, and these places.
        unread: which results nobody reads.
        live: bool `(R,)`, the runs of which results are read; None for all.
    """

    equation: JaxprEqn
    values: Sequence[Value]
    suffix: tuple[int, ...]
    exposed: bool
    shape: tuple[int, ...]
    arm_axes: tuple[int, ...] = ()
    exist: jax.Array | None = None
    starts: tuple[tuple[int, jax.Array], ...] = ()
    unread: tuple[bool, ...] = ()
    live: jax.Array | None = None

    @property
    def name(self) -> str:
        """The name of the primitive."""
        return str(self.equation.primitive.name)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the primitive."""
        return dict(self.equation.params)

    @property
    def out(self) -> jax.core.ShapedArray:
        """The abstract value of the first result in one run."""
        return self.equation.outvars[0].aval

    def aval(self, i: int) -> jax.core.ShapedArray:
        """Return the abstract value of operand i in one run."""
        return self.equation.invars[i].aval

    def full(self, i: int) -> jax.Array:
        """Return operand i with the shape of one run and the suffix: an axis of runs if any operand has one."""
        return spread(self.values[i], self.aval(i).shape, self.suffix)

    def like_result(self, i: int) -> jax.Array:
        """Return operand i, broadcast to the shape of the result and the suffix."""
        return spread(self.values[i], self.shape, self.suffix)

    def length(self, axis: int) -> int | jax.Array:
        """Return how many entries the first operand has along an axis, an int, or int32 `(R,)`."""
        return self.exist if self.exist is not None and axis in self.arm_axes else self.aval(0).shape[axis]

    @property
    def axis(self) -> int:
        """The axis along which it works; the last where it is not told, as in `top_k` of JAX 0.8.0."""
        return int(self.params.get("axis", len(self.aval(0).shape) - 1))

    @property
    def varies(self) -> bool:
        """Whether the result would differ between runs if all had the same number of arms."""
        return not all(value.constant for value in self.values)

    def bind(self, *arrays: jax.Array, **changed: object) -> list[jax.Array]:
        """Apply the primitive itself, with some parameters changed; a list of its results."""
        found = self.equation.primitive.bind(*arrays, **(self.params | changed))
        return list(found) if self.equation.primitive.multiple_results else [found]


def as_it_is(operation: Operation) -> list[jax.Array]:
    """Apply an operation whose parameters name axes of one run: they come before that of the runs."""
    return operation.bind(*(operation.full(i) for i in range(len(operation.values))))


def spread(value: Value, shape: tuple[int, ...], suffix: tuple[int, ...]) -> jax.Array:
    """Broadcast a value to a one-run shape and the suffix; scalars and axes of size 1 broadcast."""
    array = value.array if isinstance(value.array, jax.Array) else jnp.asarray(value.array)
    whole = (*shape, *suffix)
    if array.shape == whole and (value.mapped or not suffix):
        return array
    if value.mapped and shape and not value.shape:
        array = with_arms(array)
    axes = [*range(len(value.shape)), *([len(shape)] if value.mapped else [])]  # scalars, or as many axes
    return lax.broadcast_in_dim(array, whole, axes)


def is_float(dtype: DTypeLike) -> bool:
    """Return whether a type is a float, so that its numbers are rounded."""
    return bool(jnp.issubdtype(dtype, np.floating))


def replaces(program: Jaxpr | None) -> bool:
    """Return whether a scatter replaces an entry by the update; all do except `x.at[i].apply(function)`."""
    return program is None or (not program.eqns and program.outvars[0] is program.invars[1])
