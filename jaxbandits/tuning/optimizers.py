"""The optimizers of a search."""

import optax

from jaxbandits.checks import shown
from jaxbandits.errors import UsageError

__all__ = ["optimizer_of"]


def optimizer_of(given: object, rate: float) -> optax.GradientTransformation:
    """Return the optimizer that was given, or Adam with this rate where there is none; refuse what is none of optax."""
    if given is None:
        return optax.adam(rate)
    if isinstance(given, optax.MultiSteps):  # the only optimizer of optax of another type
        return given.gradient_transformation()
    if not isinstance(given, optax.GradientTransformation):
        raise UsageError(f"optimizer must be one of optax, such as optax.adam({rate:g}), got {shown(given)}")
    return given
