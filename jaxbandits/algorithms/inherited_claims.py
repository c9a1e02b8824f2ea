"""What is proved of an algorithm is not proved of a user's class that is made from it: its methods may be others."""

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY

__all__ = ["claims"]


def claims(known: Rule, name: str) -> bool:
    """Return whether an algorithm states a claim of itself: one of the package's, or a user's class that has its own.

    Args:
        known: the algorithm.
        name: of the claim: `proved`, `theorem`, `theorem_of_moments` or `rate`.
    """
    by = next(cls for cls in type(known).__mro__ if name in vars(cls))
    return REGISTRY.holds(type(known)) or not REGISTRY.holds(by)
