"""How an algorithm is written: for one run, in plain `jax.numpy`, as its paper's figure.

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

`arms` is what is known of the arms, a `jb.Arms`; the engine draws the rewards and keeps it. Every arm is pulled
`initial_pulls` times first, once unless the class says otherwise. Then, until `done`:

    select(arms, key)              -> the arm to pull, int (), or several different ones, int (P,)
    request(arms, key)             -> in place of `select`: how often to pull each arm, int (K,), in one batch; or
                                      jb.Batches(counts, number), so many batches of these pulls
    done(arms)                     -> whether the run has ended, bool ()
    recommend(arms)                -> the answer: an arm, int (), or a mask of arms, bool (K,)

`key` is a new JAX key at every step. A rule that needs to remember more than `arms` has a state of its own, any pytree
of arrays whose shapes and types stay; all methods above then take it first, `select(state, arms, key)`:

    init(arms, key)                -> the state after the first pulls
    update(state, arms, arm, reward)     -> the state after a step: `arm` and `reward` are as `select` returned them
    absorb(state, arms, counts, sums)    -> in its place after a batch: pulls and sums of rewards of each arm, (K,)

In these two, `arms` is what is known after the step.

**Batches.** Where `request` returns `jb.Batches`, `slots = …` in the class says how many one request may have at most:
`absorb` is given them as they were asked for, and `sums` (slots, K), zeros beyond the number. A rule that looks at the
latest sums only says `fresh_only = True`: beside these only counts are kept, `arms.pulls` and `arms.time` stop at the
end of their range, and what a run has spent is counted on. A request that has no room ends a run as `max_pulls` does:
more batches than slots; 2^30 pulls of an arm in a batch of several, or of a rule with `fresh_only`; 2^31 pulls of all
arms in all, elsewhere.

**Elimination.** In place of `select` and `request`, a rule may say which arms stay (`keep`), and when it looks at them
(`rounds` or `due`). The engine then pulls the surviving arms in turn, many rounds at once:
`help(jaxbandits.algorithms.elimination.surviving_arms)`.

**The order of the arms.** Each run sees its arms in an order of its own, drawn from its key. So ties are fair whatever
the rule, and `jnp.argmax` may take the first. What comes out is in the problem's order again: answers, pulls, means,
and every axis of a state of one's own that grows with the number of arms. A number of an arm that a state keeps is one
in the run's order. `shuffle_arms = False` in the class leaves the problem's order.

**Several bandits.** A rule whose traits say `multi_bandit=True` may be given M = `arms.bandits` bandits at once, of as
many arms each: arm k of bandit b is at the place k M + b of all arrays. `arms.per_bandit(x)` is `(K / M, M)`, so that
`jnp.max(…, axis=0)` is one number of each bandit; of one bandit it is x itself, `(K,)`. An answer is then a mask.

**The number of arms.** `arms.count` is the number of arms, `len(arms)` the length of the arrays. Problems with other
numbers of arms share one program, in which the arrays are longer: maxima, sums, `argmax` and the like leave out what is
beyond `arms.count`. A rule for which that cannot be done is compiled for each number of arms.

**Costs.** A rule whose traits say `spends="budget"`, the name of one of its fields, spends a budget of cost. The engine
pays for each pull, and ends the run at the one that costs more than is left, which pays nothing; `done` may be left
out. The rule is told `arms.mean_cost`, `arms.total_cost` and `arms.spent`. With `takes_costs = True` in the class a
rule is told costs without a budget. The first pulls are then made one after another, arm by arm.

**Arms of a reservoir.** `explored(problem)`, which may return `problem.sized(n)`, says how many arms a run draws. A
rule that takes ever more of them has a method more, `arms_needed(arms) -> int ()`: while fewer arms have been pulled,
the next one is. `arms.count` are then the arms pulled so far. A run that needs more than there are is truncated.

**What is costly and rare.** `jax.lax.cond(due, solve, keep, *state)`, where `solve` has a loop and `keep` returns what
it is given, computes `solve` for the runs that are due only, on CPU, with the same bits. Of two branches with loops
each is computed if any run wants it.

What else is to be known of a rule stands in its attribute `traits`, a `jb.Traits`. Fields are numbers, or arrays; those
annotated as `bool` or `str` are part of the program. A field made with `jb.parameter` has a range that is checked.

**A value of each arm.** A field `prior: jax.Array = jb.parameter(per_arm=True)` is one number, or an array `(K,)` in
the problem's order. The methods are given the array in the run's order, as `arms`, so that `arms.mean + self.prior` is
of the same arms. Any other array as long as there are arms is refused, unless its field says `per_arm=False`.
"""

import dataclasses
from typing import Any, ClassVar, TypeVar, dataclass_transform

from jaxbandits.algorithms.hyperparameters import Hyperparameters
from jaxbandits.algorithms.parameters import parameter
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
    """What `jb.algorithm` makes of a class: an algorithm that is written for one run."""

    #: Whether each run sees its arms in an order of its own.
    shuffle_arms: ClassVar[bool] = True
    #: How many batches a request has at most, where it is a `Batches`.
    slots = 1
    #: Whether nothing but the sums of the latest batches is looked at: then pulls may pass 2^31.
    fresh_only: ClassVar[bool] = False
    #: Whether a rule that eliminates arms keeps the rewards from before its last look.
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

    @property
    def has_state(self) -> bool:
        """Whether the rule has a state of its own."""
        return self.has("init")

    @property
    def eliminates(self) -> bool:
        """Whether it says which arms stay, and the engine pulls these in turn."""
        return self.has("keep")

    @property
    def looks_each_round(self) -> bool:
        """Whether it is asked after each round if an arm may have to go."""
        return self.has("due")

    @property
    def in_batches(self) -> bool:
        """Whether it asks for batches of pulls."""
        return self.has("request")

    @property
    def grows(self) -> bool:
        """Whether it takes ever more arms."""
        return self.has("arms_needed")

    @property
    def may_end(self) -> bool:
        """Whether it ends runs itself: one that spends a budget of cost need not."""
        return self.has("done")

    @property
    def cost_budget(self) -> Any:
        """The budget of cost that is spent, `(…)`; None where none is."""
        return None if self.traits.spends is None else getattr(self, self.traits.spends)

    @property
    def one_by_one(self) -> bool:
        """Whether the first pulls are made one after another: what they cost may be more than there is."""
        return self.takes_costs or self.grows

    @property
    def initial_pulls(self) -> int:
        """Pulls of every arm before the first decision."""
        return 0 if self.one_by_one else super().initial_pulls


@dataclass_transform(frozen_default=True, field_specifiers=(parameter, dataclasses.field))
def algorithm(cls: type[C]) -> type[C]:
    """Make an algorithm of a class; see the text of this module, `help(jaxbandits.algorithms.protocol)`.

    The class becomes a frozen dataclass and a pytree.

    Raises:
        UsageError: a method that is missing, or two where one is needed.

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
        text: dict[str, Any] = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
        text["__made_of__"] = cls  # for who reads its code
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
