"""The score of a run: the derivative of the logarithm of the density of all its rewards in a parameter of each arm.

Rewards are a table, so a run's counts say which it saw. Its score is a sum over these entries, drawn again. The engine
stores nothing for it. A law's normalisation and its draws in [0, 1] are the family's, in `log_density`.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.bounded_jit import recent_programs
from jaxbandits.problems.base import Problem
from jaxbandits.random.streams import root_key
from jaxbandits.users_code.cache_key import Code, code_of

__all__ = ["scores"]

#: Pulls of an arm that are drawn at a time, and the number of such blocks in a call of the program.
_PULLS, _BLOCKS = 32, 2**15
#: Programs that a process holds.
_MOST = 16


def scores(problem: Problem, parameter: str, pulls: np.ndarray, root_seed: int) -> np.ndarray:
    """Return scores of runs, in one parameter of every arm.

    Args:
        problem: of a family that has them, leaves `(K,)`.
        parameter: name of a leaf, one of `problem.scored`.
        pulls: int64 `(…, seeds, K)`: how often the runs with seeds 0, 1, … pulled each arm.
        root_seed: of the runs.

    Returns:
        float64 `(…, seeds, K)`; 0 for an arm without a pull.
    """
    seeds, arms = pulls.shape[-2:]
    counts = pulls.reshape(-1)
    blocks = -(-counts // _PULLS)
    owner = np.repeat(np.arange(counts.size), blocks)  # number in `counts` of each block
    first = (np.arange(owner.size) - np.repeat(np.cumsum(blocks) - blocks, blocks)) * _PULLS
    code = code_of(problem)
    devices, root = jax.local_devices(), root_key(root_seed)
    placed = [jax.device_put((problem.kind(), root), device) for device in devices]
    sums = []
    for number, start in enumerate(range(0, owner.size, _BLOCKS)):
        mine = slice(start, start + _BLOCKS)
        run, arm = owner[mine] // arms % seeds, owner[mine] % arms
        given = [_filled(x) for x in (run, arm, first[mine], counts[owner[mine]])]
        place = number % len(devices)
        sums.append(_sums(*placed[place], *jax.device_put(given, devices[place]), parameter=parameter, code=code))
    total = np.zeros(counts.size)
    if sums:
        np.add.at(total, owner, np.concatenate([np.asarray(x) for x in sums])[: owner.size].astype(np.float64))
    return total.reshape(pulls.shape)


def _filled(values: np.ndarray) -> np.ndarray:
    """Pad values to the number of a call, int32; padding has no pulls."""
    return np.concatenate([values, np.zeros(_BLOCKS - len(values), values.dtype)]).astype(np.int32)


@recent_programs(_MOST, "parameter", "code")
def _sums(
    problem: Problem, root: jax.Array, run: jax.Array, arm: jax.Array, first: jax.Array, end: jax.Array, *,
    parameter: str, code: Code,
) -> jax.Array:  # fmt: skip
    """Return the score of each block, float32 `(_BLOCKS,)`."""

    def of_block(run: jax.Array, arm: jax.Array, first: jax.Array, end: jax.Array) -> jax.Array:
        key = jax.random.fold_in(root, run)
        law: dict[str, jax.Array] = {name: getattr(problem, name)[arm] for name in problem.parameters}
        pull = first + jnp.arange(_PULLS, dtype=jnp.int32)
        reward = jax.vmap(lambda t: problem.reward(key, arm, t))(pull).astype(jnp.float32)

        def log_density(value: jax.Array) -> jax.Array:
            return problem.log_density(reward, *(law | {parameter: value}).values())

        _, slope = jax.jvp(log_density, (law[parameter],), (jnp.ones_like(law[parameter]),))
        return jnp.sum(jnp.where(pull < end, slope, 0.0))

    with code.traced():
        found: jax.Array = jax.vmap(of_block)(run, arm, first, end)
    return found
