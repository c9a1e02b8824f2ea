"""Rules that eliminate arms, and what they are told of them.

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

In each round every survivor is pulled once; the engine draws many rounds at once. A rule has

    rounds(arms)                   -> after how many more rounds it looks at the arms, int (); 0 for at once
    due(arms)                      -> in place of `rounds`: whether it looks at them after this round, bool ()
    keep(arms, key)                -> the arms that stay, bool (K,)

and may have `done` and `recommend`: without them it is done with one arm left, and returns this, or before that the
largest mean. Means are those of the rewards, or those of an estimator:

    mean_estimator(arms)           -> a `MeanEstimator` of `jaxbandits.statistics.robust_means`

With a state of its own all of these take it first. `init(arms, key)` makes it before the first pull, and `keep` returns
the new one, and the arms that stay. `rounds` is asked before the first pull and after every look, `due` after every
round: it should look at nothing but `highest`, `lowest` and `round`. With `reuse = False` in the class the rewards are
forgotten at every look.
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
    """What is known of the arms of a run between two rounds, in each of which every survivor is pulled once.

    Attributes:
        mean: float32 `(K,)`, the estimates of the survivors' means, 0 before the first pull; -inf of the other arms.
        active: bool `(K,)`, the survivors.
        left: int32 `()`, how many there are.
        round: int32 `()`, pulls of each of them.
        highest: float32 `()`, the largest estimate of a survivor, for `due`; None elsewhere, and where the estimator
            takes long.
        lowest: float32 `()`, the smallest, likewise.
    """

    active: jax.Array = dataclasses.field(kw_only=True)
    left: jax.Array = dataclasses.field(kw_only=True)
    round: jax.Array = dataclasses.field(kw_only=True)
    highest: Any = dataclasses.field(kw_only=True)
    lowest: Any = dataclasses.field(kw_only=True)
