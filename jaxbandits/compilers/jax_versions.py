"""Names and forms that differ between versions of JAX, for all modules that need them."""

from collections.abc import Mapping
from typing import Any

import jax

__all__ = ["KERNELS_IN_TURN", "scan_sizes"]

#: The option with which XLA:CPU runs the kernels of a program one after the other. A step has dozens of small ones:
#: handing some to a second thread and waiting for it doubled the processor time of SE-TEA and RCB-I on two cores.
KERNELS_IN_TURN: dict[str, str | bool] = (
    {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}
    if jax.__version_info__ >= (0, 9, 1)
    else {"xla_cpu_enable_concurrency_optimized_scheduler": False}
)


def scan_sizes(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many constants a scan has, and how many values it carries.

    Args:
        parameters: the parameters of the equation.
    """
    if "ft_in" in parameters:  # JAX 0.12: trees of constants, carry and rows
        constants, carry, _ = parameters["ft_in"].unpack()
        return len(constants), len(carry)
    return parameters["num_consts"], parameters["num_carry"]
