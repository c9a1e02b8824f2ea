"""Checks of what a user gives a constructor of problems: values per arm, and numbers of arms."""

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays.on_host import as_float32
from jaxbandits.checks import FINITE, UNIT, as_single, each, numbers, whole
from jaxbandits.errors import UsageError
from jaxbandits.memory import check_fits_in_memory
from jaxbandits.random.streams import MOST_ARMS

__all__ = ["arm_count", "as_singles", "check_spread", "family_name", "per_arm", "per_arm_like", "probabilities"]


#: Bytes of an arm while a problem is made: its mean in double precision with two copies, and in float32.
_BYTES_OF_ARM = 32


def per_arm(what: str, values: ArrayLike) -> tuple[jax.Array, int]:
    """Return values given by a user as float32 on one axis, and the number of bandits M.

    Values have shape `(K,)`, or one row per bandit, `(M, K)`.

    Raises:
        UsageError: if there are fewer than two arms or too many, a value is not a finite number, float32 cannot hold
            it, or float32 cannot distinguish two of them.
    """
    array, bandits = _on_one_axis(what, values)
    singles = as_singles(what, array)
    _check_kept(what, array)
    return as_float32(singles), bandits


def as_singles(what: str, values: np.ndarray) -> np.ndarray:
    """Return values of each arm, shape `(K, …)`, as float32, or refuse one as `as_single` does."""
    with np.errstate(over="ignore"):
        singles = values.astype(np.float32)
    size = np.abs(singles)
    lost = (values != 0) & ((size < np.finfo(np.float32).tiny) | (np.isinf(singles) & np.isfinite(values)))
    if lost.any():
        first = np.argwhere(lost)[0]
        as_single(f"{what} at arm {first[0]}", float(values[tuple(first)]))
    return singles


def _on_one_axis(what: str, values: ArrayLike) -> tuple[np.ndarray, int]:
    array = numbers(what, values)
    if array.ndim not in (1, 2):
        got = f"{array.ndim} dimensions" if array.ndim else f"the number {array:g}"
        raise UsageError(f"{what} must be a list of numbers, or one list per bandit, got {got}")
    if array.shape[-1] < 2:
        column = " in each row: for a column with a value for each arm, use np.ravel" if len(array) > 1 else ""
        raise UsageError(f"{what}: a problem needs at least 2 arms, got {array.shape[-1]}{column}")
    each(what, array, FINITE)
    if array.size > MOST_ARMS:
        raise UsageError(f"{what}: there may be {MOST_ARMS:,} arms, got {array.size:,}")
    return array.T.reshape(-1), 1 if array.ndim == 1 else array.shape[0]


def probabilities(what: str, values: ArrayLike) -> tuple[jax.Array, int]:
    """Return probabilities as `per_arm` does.

    Raises:
        UsageError: as in `per_arm`, or if a value is outside [0, 1], or is below 1 but rounds to 1 as float32.
    """
    array, bandits = per_arm(what, values)
    given = np.asarray(values, np.float64).T.reshape(-1)
    kept = each(what, given.astype(np.float32), UNIT, "arm")
    if np.any(sure := (given < 1) & (kept == 1)):
        arm = int(np.argmax(sure))
        raise UsageError(f"{what}: {float(given[arm])!r} at arm {arm} is 1 as a float32 number: it would never fail")
    return array, bandits


#: Largest share of the distance to the next value by which rounding to float32 may move a value.
_ROUNDING = 0.1


def _check_kept(what: str, values: np.ndarray) -> None:
    """Refuse values whose differences float32 loses: the simulated arms would differ from those requested."""
    distinct = np.unique(values)
    moved = np.abs(distinct.astype(np.float32).astype(np.float64) - distinct)
    room = _to_nearest(distinct)
    if np.any(moved > _ROUNDING * room):
        worst = int(np.argmax(moved / room))
        value = distinct[worst]
        step = np.spacing(np.float32(abs(value)))
        digits = int(np.floor(-np.log10(10 * step)))
        rounded = f"round the values to {digits} digits, " if digits > 0 else ""
        raise UsageError(
            f"{what}: {float(value)!r} and the nearest other value differ by {room[worst]:.2g}, but the spacing of "
            f"float32 numbers there is {step:.2g}: {rounded}move the values towards 0, or farther from each other"
        )


def _to_nearest(values: np.ndarray) -> np.ndarray:
    """Return the distance of each of increasing values to the nearest other one, infinite for a single one."""
    gaps = np.concatenate([[np.inf], np.diff(values), [np.inf]])
    return np.minimum(gaps[:-1], gaps[1:])


#: Steps of float32 that a standard deviation has to have at its mean: rounding then adds 2% to the variance at most. An
#: arm that is further from the others, in standard deviations, may have less: it is told from them all the same.
_FINEST, _FAR = 2, 16


def check_spread(what: str, spread: jax.Array, center: jax.Array) -> None:
    """Refuse a spread of rewards that rounding to float32 changes, at the values around which they lie, `(K,)`."""
    sizes, means = np.asarray(spread), np.asarray(center)
    order = np.argsort(means)
    room, step = np.empty_like(means), np.spacing(np.abs(means))
    room[order] = _to_nearest(means[order])
    if np.any(lost := (sizes < _FINEST * step) & (room < _FAR * sizes)):
        arm = int(np.argmax(lost))
        raise UsageError(
            f"{what}: {float(sizes[arm]):g} at arm {arm}, but the spacing of float32 numbers at {float(means[arm]):g} "
            f"is {step[arm]:.2g}: move the means towards 0"
        )


def per_arm_like(what: str, values: ArrayLike, shape_of: ArrayLike) -> jax.Array:
    """Return one value for all arms, or one per arm, as float32 `(K,)`.

    `shape_of` has one value per arm.

    Raises:
        UsageError: if the shapes do not fit, a value is not a finite number, or float32 cannot hold it.
    """
    found, shape = numbers(what, values), np.shape(shape_of)
    try:
        found = np.broadcast_to(found, shape)
    except ValueError:
        raise UsageError(f"{what} must be one number, or one per arm, got shape {found.shape} for {shape}") from None
    return as_float32(as_singles(what, _on_one_axis(what, found)[0]))


def arm_count(name: str, value: float) -> int:
    """Return a number of arms given by a user: from 2 to `MOST_ARMS`, if memory holds that many.

    Raises:
        UsageError: not a whole number, fewer than two arms, or too many.
    """
    count = whole(f"the number of arms {name}", value, 2, MOST_ARMS)
    check_fits_in_memory(f"a problem of {count:,} arms", _BYTES_OF_ARM * count, f"a smaller {name}")
    return count


def family_name(family: str, values: ArrayLike) -> str:
    """Return the name of a problem that was given none."""
    shape = np.shape(values)
    return f"{family} ({shape[0]} arms)" if len(shape) == 1 else f"{family} ({shape[0]} bandits of {shape[1]} arms)"
