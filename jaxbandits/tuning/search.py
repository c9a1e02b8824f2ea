"""Parameters of an algorithm that do best over a distribution of instances, by stochastic gradients."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import optax
import xarray as xr
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, number, seed, whole
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.binding import accept
from jaxbandits.errors import UsageError
from jaxbandits.interruptions import interruptible
from jaxbandits.io.serialize import array_hash
from jaxbandits.problems.base import Problem
from jaxbandits.problems.to_spec import describe_problem
from jaxbandits.sweeps.spec import describe_algorithm
from jaxbandits.tuning.bijectors import Coordinate, check_without_axes, coordinates
from jaxbandits.tuning.compared import START, TUNED, check_question_stays, compared_with
from jaxbandits.tuning.estimates import WIDTH, goal_of, slopes
from jaxbandits.tuning.evaluation import check_enough, judged, share_within
from jaxbandits.tuning.history import Step, check_drawn, history_of, steps_of
from jaxbandits.tuning.instance_parameters import Draw, family, hash_of, instances_of, seed_of
from jaxbandits.tuning.optimizers import optimizer_of
from jaxbandits.users_code.records import recorded

__all__ = ["Tuned", "tune"]

#: Limit on how far the multiplier of the constraint moves in a step.
_RATE = 0.05
#: The weight of the augmented Lagrangian's square.
_DAMPING = 1.0


@dataclasses.dataclass(frozen=True)
class Tuned:
    """The result of `tune`.

    Attributes:
        algorithm: with the parameters found.
        values: these, by name.
        history: of each step the parameters' values, the means of objective and error with their slopes and standard
            errors, the constraint's multiplier, and how many runs were `truncated`; `tune(…, history=…)` goes on from
            it. The attribute `found` has the parameters found, and the objective of `held_out`, as JSON.
        held_out: objective and error on instances that no step has seen, with 95% intervals: of the start (`start`), of
            what was found (`tuned`) and of what was given to compare; `difference` is to `tuned`, paired. `truncated`
            counts truncated runs, which are judged by their last state: their pulls are lower bounds.
    """

    algorithm: Any
    values: dict[str, float]
    history: xr.Dataset
    held_out: xr.Dataset


class _State(NamedTuple):
    points: dict[str, jax.Array]  # float32 ()
    optimizer: optax.OptState
    multiplier: float


@own_settings()
def tune(
    algorithm: Any,
    problems: Draw | Sequence[Problem],
    objective: str | Callable[..., ArrayLike] = "pulls",
    *,
    wrt: Sequence[str],
    error_at_most: float | None = None,
    optimizer: optax.GradientTransformation | None = None,
    steps: int = 100,
    instances: int = 16,
    seeds: int = 100,
    root_seed: int = 0,
    max_pulls: int | None = None,
    against: Mapping[str, object] | None = None,
    held_out: int = 200,
    held_out_seeds: int | None = None,
    history: xr.Dataset | None = None,
    on_step: Callable[[xr.Dataset], None] | None = None,
) -> Tuned:
    """Find the parameters with the least expected objective over a distribution of instances.

    Each step draws instances. It takes differences of runs that see the same rewards, at a tenth on both sides of each
    parameter. The optimizer moves logarithms of parameters (logits of probabilities) by them. A parameter without a
    declared range (`jb.parameter`) is moved itself, in units of its start. With `error_at_most` the search is for a
    Lagrangian's saddle point, of log(objective) + multiplier (error / error_at_most - 1). The multiplier grows while
    errors are too many. The result is the average of the second half of the steps, moved back towards the start as far
    as errors on further instances require.

    It is always judged on instances it has not seen: `held_out` says whether errors are few enough there. If so, they
    are few enough on average over the distribution, and nearly at the limit where that saves anything. An algorithm's
    proof does not cover what is found.

    Args:
        algorithm: with a number for each parameter that is tuned. Its criterion and tolerance say what an error is.
        problems: a function of a `numpy.random.Generator` to a problem; or a list of problems, of which half are kept
            to judge by. The further instances on which errors are counted are then those of the steps.
        objective: `pulls`, `steps`, `cost`, `error`, `simple_regret` or `aggregate_regret`, or a function of problem,
            state and returned arms, as for `jb.simulate`.
        wrt: names of real parameters of the algorithm; where errors are to be few, none that says what an error is.
        error_at_most: in (0, 1); None for no constraint. `held_out` x `held_out_seeds` runs must be able to show it.
        optimizer: of `optax`; None for `optax.adam(0.1)`.
        steps: at least 1.
        instances: problems in a step, at least 1.
        seeds: runs of each problem at each value, at least 1.
        root_seed: of instances and rewards.
        max_pulls: as in `jb.simulate`.
        against: further algorithms to judge, by name; not `start` or `tuned`. They have its criterion and tolerance.
        held_out: instances to judge by, at least 2; at most half of a list.
        held_out_seeds: runs of each of them, at least 2; None for the number `seeds`, at least 2.
        history: of an earlier call with the same arguments, except `steps` and what is judged: its steps are not made
            again.
        on_step: called after each step with the history so far.

    Raises:
        UsageError: a parameter that cannot be tuned, no distribution, other arguments than the history's, or steps that
            lead to numbers that are not finite. Too few runs for `error_at_most`.

    Example:
        >>> rule, problems = jb.UCBE(budget=20, a=2.0), [jb.bernoulli([0.9, 0.4])] * 4
        >>> found = jb.tune(rule, problems, "error", wrt=["a"], steps=1, instances=1, seeds=20, held_out=2)
        >>> type(found.algorithm).__name__
        'UCBE'
    """
    known, goal = accept(algorithm), goal_of(objective, max_pulls)
    steps, instances = whole("steps", steps, 1), whole("instances", instances, 1)
    seeds, root_seed = whole("seeds", seeds, 1), seed("root_seed", root_seed)
    kept = whole("held_out, the number of instances to judge by,", held_out, 2)
    kept_seeds = max(seeds, 2) if held_out_seeds is None else whole("held_out_seeds", held_out_seeds, 2)
    limit = None if error_at_most is None else number("error_at_most", error_at_most, INSIDE_UNIT)
    moving = optimizer_of(optimizer, 0.1)
    where, drawn = coordinates(known, wrt), instances_of(problems, root_seed)
    check_without_axes("", known)
    if limit is not None or objective == "error":
        check_question_stays(known, [one.parameter for one in where])
    compared = compared_with(known, against)
    checks = [] if limit is None else drawn.checks(kept)
    if limit is not None:
        check_enough(limit, len(checks), kept_seeds)
    first_instances = drawn.of_step(0, instances)
    about = {
        "algorithm": describe_algorithm(known),
        "objective": goal.name,
        "error_at_most": limit,
        "wrt": [one.parameter for one in where],
        "instances": instances,
        "seeds": seeds,
        "root_seed": root_seed,
        "max_pulls": max_pulls,
        "width": WIDTH,
        "first_instances": array_hash(jax.tree.leaves(first_instances)),
        **({"training_problems": array_hash(jax.tree.leaves(drawn.training))} if drawn.training else {}),
        "problem": {str(place): describe_problem(one) for place, one in enumerate(first_instances)},
        **recorded(functions={} if isinstance(objective, str) else {"objective": objective}),
    }
    search = _Search(where, limit, moving)
    made = [] if history is None else steps_of(history, where, about)[:steps]
    state = search.begun()
    reached = []
    with interruptible():
        for number_of in range(steps):
            points = {name: float(point) for name, point in state.points.items()}
            on, own_seed = drawn.of_step(number_of, instances), seed_of(root_seed, "steps", number_of)
            if number_of < len(made):
                search.check_same(made[number_of], points, state.multiplier)
                check_drawn(made[number_of], number_of, on)
            else:
                found = slopes(goal, algorithm, where, points, family(on), seeds, own_seed)
                made.append(Step(points, state.multiplier, *found, hash_of(on)))
                if on_step is not None:
                    on_step(history_of(made, where, about))
            state = search.moved(state, made[number_of], made[0])
            reached.append(state.points)
    late = reached[len(reached) // 2 :]
    ends = {one: (one.point(one.start), float(np.mean([x[one.parameter] for x in late]))) for one in where}

    def values(share: float) -> dict[str, float]:
        return {one.parameter: one.value(first + share * (last - first)) for one, (first, last) in ends.items()}

    share = 1.0
    if limit is not None:
        share = share_within(
            goal, limit, lambda x: dataclasses.replace(algorithm, **values(x)), checks, kept_seeds,
            seed_of(root_seed, "check"),
        )  # fmt: skip
    best = values(share)
    tuned = dataclasses.replace(algorithm, **best)
    judges = drawn.held_out(kept)
    judgement = judged(
        goal, {START: algorithm, TUNED: tuned, **compared}, judges, kept_seeds, seed_of(root_seed, "judge"), TUNED
    )  # fmt: skip
    judgement.attrs.update(spec=json.dumps({**about, "held_out": len(judges), "held_out_seeds": kept_seeds}))
    ended = history_of(made, where, about)
    objectives = {name: float(judgement["objective"].sel(algorithm=name)) for name in (START, TUNED)}
    ended.attrs["found"] = json.dumps({"values": best, "objective": objectives})
    return Tuned(tuned, best, ended, judgement)


class _Search(NamedTuple):
    """The optimizer, and how a step moves."""

    where: list[Coordinate]
    limit: float | None
    optimizer: optax.GradientTransformation

    def begun(self) -> _State:
        points = {one.parameter: np.float32(one.point(one.start)) for one in self.where}
        placed = jax.tree.map(jax.numpy.asarray, points)
        return _State(placed, self.optimizer.init(placed), 0.0)

    def moved(self, state: _State, step: Step, first: Step) -> _State:
        """Return the state after what a step found."""
        found_at = ", ".join(f"{one.parameter} = {one.value(step.points[one.parameter]):g}" for one in self.where)
        for name, mean in step.means.items():
            if not np.isfinite(mean.mean):
                raise UsageError(f"the {name} is {mean.mean:g} on average at {found_at}: tuning needs a finite one")
        scale = abs(first.means["objective"].mean) or 1.0
        if self.limit is not None:  # the logarithm's slope: a share of the objective against a share of the limit
            scale = step.means["objective"].mean
            if scale <= 0:
                raise UsageError(f"with error_at_most the objective must be positive, it is {scale:g} on average")
        slope = {name: found.mean / scale for name, found in step.slopes["objective"].items()}
        multiplier = state.multiplier
        if self.limit is not None:
            excess = min(step.means["error"].mean / self.limit - 1, 1.0)
            # The multiplier of the augmented Lagrangian reacts at once, and so damps the swings of the other.
            weight = max(0.0, multiplier + _DAMPING * excess)
            for name, found in step.slopes["error"].items():
                slope[name] += weight * found.mean / self.limit
            multiplier = max(0.0, multiplier + _RATE * excess)
        gradient = {name: jax.numpy.float32(value) for name, value in slope.items()}
        updates, optimizer = self.optimizer.update(gradient, state.optimizer, state.points)
        points = optax.apply_updates(state.points, updates)
        reached = [(one, float(points[one.parameter])) for one in self.where]
        if lost := [(one.parameter, one.value(point)) for one, point in reached if not one.reaches(point, WIDTH)]:
            raise UsageError(f"tuning led {lost[0][0]} to {lost[0][1]:g}: a smaller learning rate may help")
        return _State(points, optimizer, multiplier)

    def check_same(self, step: Step, points: dict[str, float], multiplier: float) -> None:
        """Check that a step of a history is at the point to which these steps lead."""
        there, here = ([*at.values(), m] for at, m in ((step.points, step.multiplier), (points, multiplier)))
        if not np.allclose(there, here, rtol=1e-5, atol=1e-6):
            raise UsageError("the history was made with another optimizer")
