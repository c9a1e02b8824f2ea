"""Rules that ask for batches, of several runs at once, with sums that a test makes up."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.uniform_sampling.joint_rounds import tie_numbers
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine import rule_batches
from jaxbandits.engine.mapped_rule import MappedRule


@recent_programs(100)
def begin(rule, problem, keys):
    """The states before the first pull, what they ask for, and which asks for too much."""
    mapped = MappedRule(rule)
    state = mapped.init(problem, keys)
    return state, state.wanted.asked, state.wanted.beyond


@recent_programs(100)
def look(rule, state, sums, live):
    """As `begin`, after what was asked for; before which asks for too much, which have ended and answers by places."""
    mapped = MappedRule(rule)
    asked = jax.tree.map(lambda leaf: jnp.where(live, leaf, 0), state.wanted.asked)
    new = mapped.asking(mapped._updated(rule_batches.add_sums(state, asked, sums, live), live, asked, sums))
    return new, new.wanted.asked, mapped.done(new), new.by_place(mapped.recommend(new)), new.wanted.beyond


ties = jax.jit(tie_numbers, static_argnums=2)


def order_of(state, run):
    """The tie orders of a run, by the number of the ranking: of equal ones that comes first whose number is larger."""
    arms = state.statistics.pulls.shape[0]
    if not hasattr(state.own, "seed"):  # the order in which the run sees them
        return lambda number: np.arange(arms)
    seed = state.own.seed[:, run] if run is not ... else state.own.seed
    return lambda number: -np.asarray(ties(seed, jnp.int32(number), arms))
