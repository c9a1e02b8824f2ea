"""Checks that a question about the means does not name an arm by its number."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["check_no_arm_is_named"]


def check_no_arm_is_named(name: str, answer: Callable[[jax.Array], jax.Array], means: np.ndarray) -> None:
    """Check that for arms in another order the answer is the same, in that order.

    Args:
        name: the class of the question.
        answer: returns a mask of arms, bool `(K,)`.
        means: float32 `(K,)`; nothing is checked where some are equal.

    Raises:
        UsageError: it is another one.
    """
    places = np.arange(len(means))
    if len(np.unique(means)) < len(means):
        return
    for order in (np.roll(places, 1), np.concatenate([[1, 0], places[2:]])):
        try:
            found, moved = (np.asarray(answer(jnp.asarray(some))) for some in (means, means[order]))
        except Exception:  # of any class: it is said in one line where the methods are traced
            return
        if not np.array_equal(found[order], moved):
            raise UsageError(
                f"{name}.answer is another one if the arms come in another order, and each run sees its arms in its "
                "own: set shuffle_arms = False in the class if the question names arms by number"
            )
