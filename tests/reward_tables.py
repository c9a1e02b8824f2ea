"""What runs see, for references that follow them: rewards entry by entry, and the orders of the arms."""

import jax
import jax.numpy as jnp

from jaxbandits.arrays.arms import index
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.random.arm_orders import ArmOrder


@recent_programs(100, "pulls")
def reward_table(problem, key, *, pulls):
    """Return the first rewards of every arm in a run, `(pulls, K)`."""
    return jax.lax.map(lambda pull: problem.rewards(key, pull), jnp.arange(pulls, dtype=jnp.int32))


@recent_programs(100, "pulls")
def tables(problem, keys, *, pulls):
    """Return the same of several runs, `(R, pulls, K)`, and the place of each arm in their orders, `(R, K)`."""
    order = ArmOrder.draw(keys, problem.arms, None, problem.bandits)
    rewards = jax.vmap(lambda key: reward_table(problem, key, pulls=pulls))(keys)
    return rewards, order.by_arm(index(problem.arms, keys.shape)).T
