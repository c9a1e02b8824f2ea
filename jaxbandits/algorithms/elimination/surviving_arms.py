"""How to write a rule that eliminates arms, and what it knows about them.

    @jb.algorithm
    class SequentialHalving:
        \"\"\"Karnin, Koren, Somekh (2013), Algorithm 3.\"\"\"

        budget: int
        reuse = False

        def rounds(self, arms):
            return self.budget // (arms.left * jnp.ceil(jnp.log2(arms.count)).astype(int))

        def keep(self, arms, key):
            rank = jnp.argsort(jnp.argsort(-arms.mean))
            return rank < (arms.left + 1) // 2

In each round every survivor is pulled once; the engine draws many rounds at once. A rule has these methods:

    rounds(arms)                   -> the number of rounds until the next decision, int (); 0 for an immediate one
    due(arms)                      -> in place of `rounds`: whether to decide after this round, bool ()
    keep(arms, key)                -> the decision: the arms that stay, bool (K,)

It may have `done` and `recommend`. Without them the run ends with one arm left and returns it; before that, the answer
is the arm with the largest mean. Means are averages of the rewards, unless the rule has an estimator:

    mean_estimator(arms)           -> a `MeanEstimator` of `jaxbandits.statistics.robust_means`

A rule may have a state, which all methods then take first. `init(arms, key)` returns it before the first pull; `keep`
returns the new state and the arms that stay. The engine calls `rounds` before the first pull and after every decision.
It calls `due` after every round; `due` should use only `highest`, `lowest` and `round`. With `reuse = False` in the
class the rewards are forgotten at every decision.
"""

import dataclasses
from typing import Any

import jax

from jaxbandits.algorithms.protocol import Arms
from jaxbandits.arrays.pytrees import pytree

__all__ = ["SurvivingArms"]


@pytree
@dataclasses.dataclass(frozen=True)
class SurvivingArms(Arms):
    """The observations of a run between two rounds, in each of which every survivor is pulled once.

    Attributes:
        mean: float32 `(K,)`, the estimates of the survivors' means, 0 before the first pull; -inf for other arms.
        active: bool `(K,)`, the survivors.
        left: int32 `()`, the number of survivors.
        round: int32 `()`, pulls of each survivor.
        highest: float32 `()`, the largest estimate of a survivor, in `due`; None elsewhere, and if the estimator is
            expensive.
        lowest: float32 `()`, the smallest, likewise.
    """

    active: jax.Array = dataclasses.field(kw_only=True)
    left: jax.Array = dataclasses.field(kw_only=True)
    round: jax.Array = dataclasses.field(kw_only=True)
    highest: Any = dataclasses.field(kw_only=True)
    lowest: Any = dataclasses.field(kw_only=True)
