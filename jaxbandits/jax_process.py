"""A check that JAX can run in this process: on an available platform, and in no fork of a process where it runs.

A fork does not take JAX's threads along: the first computation in such a child waits for ever.
"""

import os

import jax

from jaxbandits.errors import UsageError

__all__ = ["check_jax"]

#: Whether this process is a fork of one in which JAX ran.
_is_fork_of_running = False


def check_jax() -> None:
    """Start JAX, unless it runs.

    Raises:
        UsageError: the process is a fork of one in which JAX runs, or JAX does not have the platform.
    """
    if _is_fork_of_running:
        raise UsageError(
            "this process is a fork of one in which JAX runs already, and would wait for ever: start processes with "
            'multiprocessing.get_context("spawn")'
        )
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:  # an assertion where JAX has only plugins that failed
        platforms = os.environ.get("JAX_PLATFORMS") or "this machine"
        why = " ".join(str(error).split()) or "no devices"
        raise UsageError(f"JAX cannot start on {platforms}: {why}") from None


def _runs() -> bool:
    """Return whether JAX has started: it then refuses another number of devices."""
    count = getattr(jax.config, "jax_num_cpu_devices", -1)
    try:
        jax.config.update("jax_num_cpu_devices", count + 1)
    except RuntimeError:
        return True
    jax.config.update("jax_num_cpu_devices", count)
    return False


def _note_the_fork() -> None:
    global _is_fork_of_running
    _is_fork_of_running = _is_fork_of_running or _runs()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_note_the_fork)
