"""What versions of JAX write differently into their programs, for all that read these."""

from collections.abc import Mapping
from typing import Any

__all__ = ["scan_sizes"]


def scan_sizes(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many constants a scan has, and how many values it carries.

    Args:
        parameters: of the equation.
    """
    if "ft_in" in parameters:  # JAX 0.12: trees of constants, carry and rows
        constants, carry, _ = parameters["ft_in"].unpack()
        return len(constants), len(carry)
    return parameters["num_consts"], parameters["num_carry"]
