"""Find the range of a value before it is computed, so that checks can be left out.

A range [lo, hi] says that a value is a number in it, in every run and every entry, and not NaN. Infinite ends allow
infinities. Then a maximum need not check for NaN, nor a logarithm for zero. A place that `argmax` returned need not be
clipped. The bits are the same with ranges and without.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import SMALLEST
from jaxbandits.transform.operation import Operation, Range, is_float, replaces

__all__ = ["constant_range", "range_of"]

_LARGEST = float(np.finfo(np.float32).max)
#: More than the rounding of an operation, relatively.
_ROUNDING = 2.0**-20
#: The most entries of a constant whose range is computed.
_MOST_ENTRIES = 4096

#: Operations whose results are entries of their first operand.
_MOVES = {
    "broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose", "slice", "rev", "copy", "dynamic_slice",
    "reduce_max", "reduce_min", "cummax", "cummin", "stop_gradient", "optimization_barrier", "sort",
}  # fmt: skip
#: Functions that grow with their argument, where it lies in a range.
_GROWING: dict[str, tuple[Callable[[float], float], float, float]] = {
    "sqrt": (math.sqrt, 0.0, math.inf),
    "log": (lambda x: math.log(x) if 0 < x < math.inf else (x if x > 0 else -math.inf), 0.0, math.inf),
    "log1p": (lambda x: math.log1p(x) if -1 < x < math.inf else (x if x > 0 else -math.inf), -1.0, math.inf),
    "exp": (lambda x: math.exp(x) if x < 700 else math.inf, -math.inf, math.inf),
    "exp2": (lambda x: 2.0**x if x < 1000 else math.inf, -math.inf, math.inf),
    "expm1": (lambda x: math.expm1(x) if x < 700 else math.inf, -math.inf, math.inf),
    "logistic": (lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0, -math.inf, math.inf),
    "tanh": (math.tanh, -math.inf, math.inf),
    "floor": (lambda x: float(np.floor(x)), -math.inf, math.inf),
    "ceil": (lambda x: float(np.ceil(x)), -math.inf, math.inf),
    "sign": (lambda x: float(np.sign(x)), -math.inf, math.inf),
}


def range_of(operation: Operation) -> Range | None:
    """Return the range of the result of an operation, as far as it follows from those of its operands."""
    dtype = getattr(operation.out, "dtype", None)
    if dtype is None or jnp.issubdtype(dtype, jax.dtypes.extended):
        return None
    if dtype == jnp.bool_:
        return _compared(operation)
    found = _found(operation)
    if found is None or math.isnan(found[0]) or math.isnan(found[1]):
        return None
    if jnp.issubdtype(dtype, np.integer):
        limits = jnp.iinfo(dtype)
        return found if limits.min <= found[0] and found[1] <= limits.max else None
    return _with_zero(found) if dtype == jnp.float32 else None


def _found(operation: Operation) -> Range | None:
    name, ranges = operation.name, [value.range for value in operation.values]
    first = ranges[0] if ranges else None
    if name in ("reduce_max", "reduce_min") and not math.prod(operation.aval(0).shape):
        return None  # -inf, or the lowest number
    if name in _MOVES:
        return first
    if name == "iota":
        return 0, max(0, operation.shape[operation.params["dimension"]] - 1)
    if name in ("argmax", "argmin"):
        return 0, math.prod(operation.aval(0).shape[axis] for axis in operation.params["axes"]) - 1
    if name == "select_n":
        return _union(ranges[1:])
    if name in ("concatenate", "pad", "dynamic_update_slice"):
        return _union(ranges[: None if name == "concatenate" else 2])
    if name == "scatter":
        return _union([first, ranges[2]]) if replaces(operation.params["update_jaxpr"]) else None
    if name == "gather":
        return first if _finds_entries(operation) else None
    if name == "convert_element_type":
        return _converted(operation, first)
    if not ranges or any(found is None for found in ranges):
        return None
    return _arithmetic(operation, [found for found in ranges if found is not None])


def _arithmetic(operation: Operation, ranges: Sequence[Range]) -> Range | None:
    """Return the range of a result of arithmetic, which may take numbers below the normal ones for zero."""
    if is_float(operation.aval(0).dtype):
        ranges = [_with_zero(found) for found in ranges]
    name, (lo, hi) = operation.name, ranges[0]
    if name in ("add", "add_any"):
        return _rounded(operation, [lo + ranges[1][0], hi + ranges[1][1], lo + ranges[1][1], hi + ranges[1][0]])
    if name == "sub":
        return _rounded(operation, [a - b for a, b in itertools.product(ranges[0], ranges[1])])
    if name in ("mul", "square"):
        other = ranges[-1]
        if any(a[0] <= 0 <= a[1] and math.isinf(max(-b[0], b[1])) for a, b in ((ranges[0], other), (other, ranges[0]))):
            return None  # 0 times infinity
        if name == "square" or operation.equation.invars[0] is operation.equation.invars[1]:
            return _rounded(operation, [lo * lo, hi * hi, *([0.0] if lo <= 0 <= hi else [])])
        return _rounded(operation, [a * b for a, b in itertools.product(ranges[0], other)])
    if name == "div":
        return _quotient(operation, ranges[0], ranges[1])
    if name == "integer_pow":
        return _power(operation, ranges[0])
    if name == "neg":
        return -hi, -lo
    if name == "abs":
        return (0 if lo <= 0 <= hi else min(abs(lo), abs(hi))), max(abs(lo), abs(hi))
    if name in ("max", "min"):
        pick = max if name == "max" else min
        return pick(lo, ranges[1][0]), pick(hi, ranges[1][1])
    if name == "clamp":
        low, (lo, hi), high = ranges
        return min(max(lo, low[0]), high[0]), min(max(hi, low[1]), high[1])
    if name == "round":
        return float(np.floor(lo)), float(np.ceil(hi))
    if name == "rsqrt" and lo > 0:
        return _rounded(operation, [1 / math.sqrt(lo), 1 / math.sqrt(hi) if hi < math.inf else 0.0])
    if name in _GROWING:
        function, least, most = _GROWING[name]
        return _rounded(operation, [function(lo), function(hi)]) if least <= lo and hi <= most else None
    if name == "pow" and lo > 0 and operation.aval(1).dtype == jnp.float32:
        try:
            ends = [float(a) ** b for a, b in itertools.product(ranges[0], ranges[1])]
        except OverflowError:
            return 0.0, math.inf
        share = _ROUNDING * max(1.0, *(abs(end) for end in ranges[1]))  # as exact as the exponent is small
        return _rounded(operation, ends, share) if share < 1 else (0.0, math.inf)
    if name in ("reduce_sum", "cumsum"):
        axes = operation.params["axes"] if name == "reduce_sum" else (operation.params["axis"],)
        count = math.prod(operation.aval(0).shape[axis] for axis in axes)
        if is_float(operation.out.dtype) and (
            (lo == -math.inf and hi * count > _LARGEST) or (hi == math.inf and lo * count < -_LARGEST)
        ):
            return None  # infinities of both signs, if only of sums on the way
        ends = [min(0, lo * count), max(0, hi * count)] if name == "cumsum" or not count else [lo * count, hi * count]
        return _rounded(operation, ends, _ROUNDING * max(1, count))
    return None


def _quotient(operation: Operation, above: Range, below: Range) -> Range | None:
    """Return the range of a quotient; the divisor's zeros may have either sign."""
    if not jnp.issubdtype(operation.out.dtype, np.floating):
        return None
    large = max(-below[0], below[1]) > 1 / SMALLEST  # its reciprocal may count as zero
    if large and math.isinf(max(-above[0], above[1])):
        return None
    if below[0] <= 0 <= below[1]:
        return None if above[0] <= 0 <= above[1] else (-math.inf, math.inf)
    return _rounded(operation, [a / b for a, b in itertools.product(above, below)] + [0.0] * large)


def _power(operation: Operation, base: Range) -> Range | None:
    """Return the range of a whole power, which is made of products."""
    exponent, (lo, hi) = operation.params["y"], base
    if exponent < 0 or (math.isinf(max(-lo, hi)) and exponent != 1):
        return None
    try:
        ends = [float(lo) ** exponent, float(hi) ** exponent]
    except OverflowError:
        return None
    share = _ROUNDING * max(1, exponent)
    if share >= 1:
        return None
    return _rounded(operation, [0.0, *ends] if exponent % 2 == 0 and lo <= 0 <= hi else ends, share)


def _converted(operation: Operation, found: Range | None) -> Range | None:
    """Return the range of numbers of another type."""
    before, after = operation.aval(0).dtype, operation.out.dtype
    if before == jnp.bool_:
        return (0, 1) if found is None else found
    if found is None:
        return None
    if after == jnp.float32:  # the nearest number of each: larger ones of larger ones
        with np.errstate(over="ignore"):
            return float(np.float32(found[0])), float(np.float32(found[1]))
    return (math.trunc(found[0]), math.trunc(found[1])) if not math.isinf(max(-found[0], found[1])) else None


def _rounded(operation: Operation, ends: Sequence[float], share: float = _ROUNDING) -> Range | None:
    """Return the range from the smallest to the largest end, wider by what rounding may add."""
    if any(math.isnan(end) for end in ends):
        return None
    lo, hi = min(ends), max(ends)
    if jnp.issubdtype(operation.out.dtype, np.integer):
        return lo, hi
    lo, hi = (lo if math.isinf(lo) else lo - abs(lo) * share), (hi if math.isinf(hi) else hi + abs(hi) * share)
    return (-math.inf if lo < -_LARGEST else lo), (math.inf if hi > _LARGEST else hi)


def _with_zero(found: Range) -> Range:
    """Return a range of float32, with zero where numbers so small may be taken for it."""
    lo, hi = found
    return (0.0 if 0 < lo < SMALLEST else lo), (0.0 if -SMALLEST < hi < 0 else hi)


def _finds_entries(operation: Operation) -> bool:
    """Return whether all that is gathered are entries, and nothing is filled in for places outside."""
    if not str(operation.params["mode"]).endswith("FILL_OR_DROP"):
        return True
    sizes, places = operation.params["slice_sizes"], operation.values[1].range
    axes = operation.params["dimension_numbers"].start_index_map
    room = min((operation.aval(0).shape[axis] - sizes[axis] for axis in axes), default=0)
    return operation.exist is None and places is not None and places[0] >= 0 and places[1] <= room


def _compared(operation: Operation) -> Range | None:
    """Return (0, 0) where a comparison holds nowhere and (1, 1) where it holds everywhere."""
    name = operation.name
    dtype = operation.aval(0).dtype
    if name not in ("lt", "le", "gt", "ge") or not (jnp.issubdtype(dtype, np.integer) or dtype == jnp.float32):
        return None
    own, other = (value.range for value in operation.values)
    if own is None or other is None:
        return None
    (lo, hi), (least, most) = _with_zero(own), _with_zero(other)
    if name in ("gt", "le"):
        holds = (1, 1) if lo > most else (0, 0) if hi <= least else None
    else:
        holds = (1, 1) if lo >= most else (0, 0) if hi < least else None
    if holds is None:
        return None
    return holds if name in ("gt", "ge") else (1 - holds[0], 1 - holds[1])


def _union(ranges: Sequence[Range | None]) -> Range | None:
    known = [found for found in ranges if found is not None]
    return (min(lo for lo, _ in known), max(hi for _, hi in known)) if len(known) == len(ranges) else None


def constant_range(array: object) -> Range | None:
    """Return the range of a constant; None if an entry is NaN, if it is no number, or if it has too many entries."""
    if isinstance(array, jax.core.Tracer) or not isinstance(array, np.ndarray | np.generic | int | float | jax.Array):
        return None
    if isinstance(array, jax.Array) and jnp.issubdtype(array.dtype, jax.dtypes.extended):
        return None
    if not 0 < np.size(array) <= _MOST_ENTRIES:
        return None
    values = np.asarray(array)
    if values.dtype.kind not in "iufb":
        return None
    found = float(np.min(values)), float(np.max(values))
    return None if math.isnan(found[0]) else found
