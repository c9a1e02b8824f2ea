"""Fixtures of the theory tests: double precision on request, and derivatives by differences."""

from collections.abc import Callable, Iterator

import jax
import numpy as np
import pytest


@pytest.fixture
def x64() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture
def central_differences() -> Callable[[Callable[[np.ndarray], jax.Array], np.ndarray], np.ndarray]:
    """Gradient of a scalar function by central differences, error of order 1e-10 where its scale is 1."""

    def gradient(function: Callable[[np.ndarray], jax.Array], x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.float64)
        result = np.empty_like(x)
        function = jax.jit(function)
        for place in np.ndindex(x.shape):
            width = 1e-5 * max(1.0, abs(x[place]))
            up, down = x.copy(), x.copy()
            up[place] += width
            down[place] -= width
            result[place] = (float(function(up)) - float(function(down))) / (2 * width)
        return result

    return gradient
