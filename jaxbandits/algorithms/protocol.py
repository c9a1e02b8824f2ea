"""How to write an algorithm: for one run, in plain `jax.numpy`, like the figure in its paper.

    @jb.algorithm
    class UCBE:
        \"\"\"UCB-E (Audibert, Bubeck, Munos 2010, Figure 1).\"\"\"

        budget: int
        a: float

        def select(self, arms, key):
            return jnp.argmax(arms.mean + jnp.sqrt(self.a / arms.pulls))

        def done(self, arms):
            return arms.time >= self.budget

        def recommend(self, arms):
            return jnp.argmax(arms.mean)

`arms` is a `jb.Arms`: what is known of the arms. The engine draws the rewards and updates it. First the engine pulls
every arm `initial_pulls` times: once, unless the class says otherwise. Then it calls these methods until `done`:

    select(arms, key)              -> the arm to pull, int (), or several different ones, int (P,)
    request(arms, key)             -> in place of `select`: how often to pull each arm, int (K,), in one batch; or
                                      jb.Batches(counts, number): `number` batches of these pulls
    done(arms)                     -> whether the run has ended, bool ()
    recommend(arms)                -> the answer: an arm, int (), or a mask of arms, bool (K,)

`key` is a new JAX key at every step.

A rule that must remember more than `arms` has a state: any pytree of arrays whose shapes and types stay the same. All
methods above then take the state first, `select(state, arms, key)`, and the rule has two more methods:

    init(arms, key)                -> the state after the first pulls
    update(state, arms, arm, reward)     -> the state after a step: `arm` and `reward` are as `select` returned them
    absorb(state, arms, counts, sums)    -> in its place after a batch: pulls and sums of rewards of each arm, (K,)

In `update` and `absorb`, `arms` already includes the step. The sum of a stage's rewards belongs in the state.
Where rewards have fractions, `arms.total` is float32. A difference of two large totals has lost the first of them.

**Batches.** If `request` returns `jb.Batches`, the class sets `slots = …`: how many batches one request may have at
most. `absorb` gets the batches as they were requested, and `sums` of shape (slots, K), with zeros beyond `number`.

A rule that uses only the latest sums sets `fresh_only = True`. The engine then keeps no sums, only counts. `arms.pulls`
and `arms.time` stop at the end of their range; what a run has spent is still counted.

A request that is too large ends the run, as `max_pulls` does. Too large are: more batches than slots; 2^30 pulls of an
arm in a batch, if there are several batches or `fresh_only` is set; otherwise 2^31 pulls of all arms together.

**Elimination.** In place of `select` and `request`, a rule may return which arms survive (`keep`), and when it decides
this (`rounds` or `due`). The engine then pulls the surviving arms in turn, many rounds at once:
`help(jaxbandits.algorithms.elimination.surviving_arms)`.

**The order of the arms.** Each run sees its arms in a random order, drawn from its key. So ties are fair for every
rule, and `jnp.argmax` may take the first. Results are in the problem's order again: answers, pulls, means, and every
axis of the state whose length is the number of arms. Longer axes, such as 2K or K + 1, stay in the run's order, and an
arm's number in a state is a number in the run's order.
`shuffle_arms = False` in the class keeps the problem's order. An array from outside the rule's fields is not reordered:
where it could have a value of each arm, the rule is refused.

**Several bandits.** A rule whose traits say `multi_bandit=True` may get M = `arms.bandits` bandits at once, all with
the same number of arms. Arm k of bandit b has the index k M + b in all arrays. `arms.per_bandit(x)` has the shape
`(K / M, M)`, so that `jnp.max(…, axis=0)` is one number for each bandit. With one bandit it is x itself, `(K,)`. The
answer is then a mask.

**The number of arms.** `arms.count` is the number of arms, `len(arms)` the length of the arrays. Problems with
different numbers of arms share one program, whose arrays are longer. The engine makes maxima, sums, `argmax` and other
reductions leave out the padding beyond `arms.count`. A loop over the arms, the last entry of a sorted array and numbers
such as `math.log(len(arms))` are those of the run. A rule that the engine cannot pad is compiled for each number of
arms: one with `x[1:]`, for example, or one that has other operations for few arms.

**Costs.** A rule whose traits say `spends="budget"`, the name of one of its fields, spends a budget of cost. The engine
pays for each pull. It ends the run at the pull that costs more than is left; that pull pays nothing. `done` may be left
out. The rule can read `arms.mean_cost`, `arms.total_cost` and `arms.spent`. `takes_costs = True` in the class gives a
rule the costs without a budget. In both cases the first pulls are made one after another, arm by arm.

**Arms of a reservoir.** `explored(problem)` may return `problem.sized(n)`: it decides how many arms a run draws. A rule
that takes ever more arms has one more method, `arms_needed(arms) -> int ()`. While fewer arms have been pulled, the
engine pulls the next one. `arms.count` is then the number of arms pulled so far. A run that needs more arms than there
are is truncated.

**Rare and costly steps.** `jax.lax.cond(due, solve, keep, *state)` computes `solve` only for the runs that are due, if
`solve` has a loop and `keep` returns its arguments. This is so on CPU; the bits are the same everywhere. If both
branches have loops, each is computed when any run needs it.

All other facts about a rule are in its attribute `traits`, a `jb.Traits`. Fields are numbers or arrays; fields
annotated as `bool` or `str` are part of the program. A field made with `jb.parameter` has a range that is checked.
Some names of such fields have a meaning: `budget` (pulls), `delta` (error probability), `epsilon` (tolerance), `m` or
`k` (number of arms to return), and `b` if its default is None (range of the rewards). Use other names for other things.

**A value of each arm.** A field `prior: jax.Array = jb.parameter(per_arm=True)` is one number, or an array `(K,)` in
the problem's order. The methods see the array in the run's order, as they see `arms`: in `arms.mean + self.prior` both
belong to the same arms. Any other array with the length K is refused, unless its field says `per_arm=False`.
"""

import dataclasses
from typing import Any, ClassVar, TypeVar, dataclass_transform

import jax

from jaxbandits.algorithms.hyperparameters import Hyperparameters
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.rule_methods import check_methods
from jaxbandits.algorithms.told_arms import Arms, Batches
from jaxbandits.algorithms.traits import traits_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError

__all__ = ["Arms", "Batches", "Rule", "algorithm"]

C = TypeVar("C")
#: Types of fields that are part of the program.
_STATIC = (bool, str, "bool", "str")


@dataclasses.dataclass(frozen=True)
class Rule(Hyperparameters):
    """The base class that `jb.algorithm` adds to a class: an algorithm that is written for one run."""

    #: Whether each run sees its arms in a random order.
    shuffle_arms: ClassVar[bool] = True
    #: The most batches of a request that is a `Batches`.
    slots = 1
    #: Whether the rule uses only the sums of the latest batches: then pulls may pass 2^31.
    fresh_only: ClassVar[bool] = False
    #: Whether an elimination rule keeps the rewards from before its last decision.
    reuse = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in dataclasses.fields(self):
            if type(value := vars(self)[field.name]) in (list, tuple) and not field.metadata.get("static"):
                raise UsageError(
                    f"{type(self).__name__}: {field.name} must be a number or an array, got {value!r}: for a grid, "
                    f"jb.axis({value!r})"
                )

    def has(self, method: str) -> bool:
        """Return whether the rule has a method of this name."""
        return callable(getattr(self, method, None))

    def range_of(self, arms: Arms) -> jax.Array:
        """Return the range of the rewards: the rule's field `b`; the problem's range where that is None."""
        b: jax.Array | None = self.b  # type: ignore[attr-defined]
        return arms.reward_range if b is None else b

    @property
    def has_state(self) -> bool:
        """Whether the rule has a state."""
        return self.has("init")

    @property
    def eliminates(self) -> bool:
        """Whether the rule returns the surviving arms, which the engine pulls in turn."""
        return self.has("keep")

    @property
    def looks_each_round(self) -> bool:
        """Whether the engine asks after each round if an arm may have to be dropped."""
        return self.has("due")

    @property
    def in_batches(self) -> bool:
        """Whether the rule requests batches of pulls."""
        return self.has("request")

    @property
    def grows(self) -> bool:
        """Whether the rule takes ever more arms."""
        return self.has("arms_needed")

    @property
    def takes_counts(self) -> bool:
        """Whether a run may start from counts of pulls made before: they determine all that the rule knows.

        This is so without a state. A class with one declares it, if its `init` returns a valid state for any counts.
        """
        return not (self.has_state or self.eliminates or self.in_batches or self.one_by_one)

    @property
    def may_end(self) -> bool:
        """Whether the rule ends runs itself; a rule that spends a budget of cost need not."""
        return self.has("done")

    @property
    def cost_budget(self) -> Numeric:
        """The budget of cost, `(…)`; None if the rule has none."""
        return None if self.traits.spends is None else getattr(self, self.traits.spends)

    @property
    def one_by_one(self) -> bool:
        """Whether the first pulls are made one after another: the budget may not cover all of them."""
        return self.takes_costs or self.grows

    @property
    def initial_pulls(self) -> int:
        """The pulls of every arm before the first decision."""
        return 0 if self.one_by_one else super().initial_pulls


@dataclass_transform(frozen_default=True, field_specifiers=(parameter, dataclasses.field))
def algorithm(cls: type[C]) -> type[C]:
    """Turn a class into an algorithm; see `help(jaxbandits.algorithms.protocol)`.

    The class becomes a frozen dataclass and a pytree.

    Raises:
        UsageError: a method is missing, or there are two where one is needed.

    Example:
        >>> import jax.numpy as jnp
        >>> import jaxbandits as jb
        >>> @jb.algorithm
        ... class RoundRobin:
        ...     budget: int
        ...     def select(self, arms, key):
        ...         return jnp.argmin(arms.pulls)
        ...     def done(self, arms):
        ...         return arms.time >= self.budget
        ...     def recommend(self, arms):
        ...         return jnp.argmax(arms.mean)
        >>> int(jb.simulate(RoundRobin(budget=30), jb.bernoulli([0.9, 0.1]), seeds=5).pulls.sum())
        150
    """
    name, spends = cls.__name__, traits_of(cls).spends is not None
    check_methods(cls)
    made: Any = cls if "__dataclass_fields__" in vars(cls) else dataclasses.dataclass(frozen=True)(cls)
    if not issubclass(made, Rule):
        text: dict[str, object] = {
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
        }
        text["__made_of__"] = cls  # for readers of its code
        made = dataclasses.dataclass(frozen=True)(type(made)(name, (made, Rule), text))
    if spends and traits_of(made).spends not in {field.name for field in dataclasses.fields(made)}:
        raise UsageError(f"{name}: no field {traits_of(made).spends!r}, which is to hold its budget of cost")
    for field in dataclasses.fields(made):
        if field.type in _STATIC and "static" not in field.metadata:
            field.metadata = {**field.metadata, "static": True}  # type: ignore[assignment]
    if spends:
        made.takes_costs = True
    if callable(getattr(made, "request", None)):  # a step is long, and a run has few
        made.traits = dataclasses.replace(traits_of(made), in_batches=True, anytime=False)
    complete: type[C] = pytree(made)
    return complete
