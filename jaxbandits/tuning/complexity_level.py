"""The means of one complexity: directions that leave it as it is, and the way back to it."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["Level"]

#: Bisections, and the largest logarithm of a factor of the gaps.
_HALVINGS, _SCALES = 60, 5.0


@dataclasses.dataclass(frozen=True)
class Level:
    """The means of one complexity, within ends."""

    complexity: Callable[[jax.Array], jax.Array]
    ends: tuple[float, float]
    at: float

    def along(self, means: jax.Array, gradient: jax.Array) -> jax.Array:
        """Return the part of a gradient that leaves the complexity as it is."""
        normal = jax.grad(lambda x: self.complexity(x))(means)
        return gradient - normal * (gradient @ normal) / jnp.maximum(normal @ normal, 1e-30)

    def check_falls(self, means: np.ndarray) -> None:
        """Check that the complexity falls as the gaps of some means grow, where they have gaps.

        Raises:
            UsageError: it does not, so that no scale of the gaps would be one more than another.
        """
        of = _Scaled(self, means)
        most = of.complexity(of.best, -_SCALES)
        if of.gaps.max() > 0 and all(most <= of.complexity(of.best, scale) for scale in of.scales(of.best)):
            raise UsageError(f"the complexity must fall as gaps grow, and does not around the means {means.tolist()}")

    def back(self, means: np.ndarray) -> jax.Array:
        """Return means with the gaps scaled until the complexity is the level's.

        Where the ends leave no room for that, the best mean is moved up first.

        Raises:
            UsageError: gaps of no scale have it.
        """
        of = _Scaled(self, means)
        best = of.best
        if of.easy_at(best) is None:
            without_end = best + float(np.exp(_SCALES) * of.gaps.max())  # the lower end then holds no arm
            top = self.ends[1] if np.isfinite(self.ends[1]) else without_end
            best = _least(lambda x: of.easy_at(x) is not None, best, top)
        wide = of.easy_at(best)
        if wide is None:
            raise UsageError(
                f"no gaps around the means {of.inside.tolist()} have the start's complexity {self.at:g}: a complexity "
                "must fall as gaps grow, and steps must not be too large"
            )
        return of.means(best, _least(lambda x: of.complexity(best, x) <= self.at, -_SCALES, wide))


class _Scaled:
    """Some means with other gaps to their best, which may be moved."""

    def __init__(self, level: Level, means: np.ndarray) -> None:
        self.level, self.inside = level, np.clip(means, *level.ends)
        self.best = float(self.inside.max())
        self.gaps = self.inside.max() - self.inside

    def means(self, best: float, log_scale: float) -> jax.Array:
        return jnp.asarray(np.clip(best - np.exp(log_scale) * self.gaps, *self.level.ends), jnp.float32)

    def complexity(self, best: float, log_scale: float) -> float:
        return float(self.level.complexity(self.means(best, log_scale)))

    def scales(self, best: float) -> list[float]:
        """Return logarithms of the scales that may be easiest: the largest, then those at which an arm meets an end.

        Arms that the end holds come closer to each other, such as the last arm to return and the first not to.
        """
        if not np.isfinite(self.level.ends[0]):
            return [_SCALES]
        room, gaps = best - self.level.ends[0], np.unique(self.gaps[self.gaps > 0])[::-1]
        met = np.log(room / gaps) if room > 0 else np.zeros(0)
        return [_SCALES, *met[abs(met) < _SCALES].tolist()]

    def easy_at(self, best: float) -> float | None:
        """Return the logarithm of a scale with at most the level's complexity, up to which it falls; None without."""
        return next((scale for scale in self.scales(best) if self.complexity(best, scale) <= self.level.at), None)


def _least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the smallest number between two where a condition holds that holds above it."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
