"""How many more pulls rules need until they are sure: simulated from the counts so far, with arms of the posterior."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import xarray as xr

from jaxbandits.algorithms.likelihood_ratio.glr_stopping import GLRStopped
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY, normal_name
from jaxbandits.algorithms.traits import label_of
from jaxbandits.comparison.compile_ahead import compiling
from jaxbandits.counts.anytime_confidence import family_settings
from jaxbandits.engine.driver import Progress
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.report.intervals import clopper_pearson
from jaxbandits.status import stopped_early
from jaxbandits.sweeps.run import sweep

__all__ = ["FurtherPulls", "Simulated", "next_pulls", "simulate_rules", "suitable_rules"]

#: A pull of a rule may take this many times as long as one of UGapEc, unless the rule was named.
_MOST_COST = 10.0


@dataclasses.dataclass(frozen=True, eq=False)
class FurtherPulls:
    """What one rule needs from now on, in runs whose arms are draws from the posterior.

    Attributes:
        label: the rule's name on the command line, with the settings that differ from the defaults.
        rule: the rule.
        more: float64 `(draws,)`, sorted: the pulls of each run after those made so far; infinite where it was
            truncated.
        cap: how many more pulls a run might make.
        wrong: share of all runs that ended by themselves with an arm that is worse than the best by more than epsilon.

    Example:
        >>> found = jb.plan({"pulls": [90, 90], "successes": [60, 20]}, delta=0.1, rules=["lucb-pp"], draws=19)
        >>> found.rules[0].median >= 0
        True
    """

    label: str
    rule: Rule
    more: np.ndarray
    cap: int
    wrong: float

    @property
    def median(self) -> float:
        """Return the median of the further pulls; infinite if it is above the cap."""
        return self._at(0.5)

    @property
    def interval(self) -> tuple[float, float]:
        """Return the interval that a further run falls into with probability 90%; ends above the cap are infinite."""
        return self._at(0.05, down=True), self._at(0.95)

    @property
    def typical(self) -> float:
        """Return the mean of the further pulls, each counted up to the cap: rules are compared by it."""
        return float(np.mean(np.minimum(self.more, self.cap)))

    def decided_by(self, budget: float) -> float:
        """Return the share of the draws that are decided within a number of further pulls."""
        return float(np.mean(self.more <= budget))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts and lists; None where it is above the cap."""
        low, high = (_finite(end) for end in self.interval)
        decided = int(np.sum(np.isfinite(self.more)))
        ends = clopper_pearson(decided, len(self.more))
        return {
            "rule": self.label, "median": _finite(self.median), "interval": [low, high], "cap": self.cap,
            "decided": decided / len(self.more), "decided_interval": [float(end) for end in ends],
            "draws": len(self.more), "wrong": self.wrong,
        }  # fmt: skip

    def _at(self, level: float, *, down: bool = False) -> float:
        """Return the order statistic at a level of n + 1: the next run is as likely to come at each place."""
        place = level * (len(self.more) + 1)
        rank = int(np.floor(place + 1e-9) if down else np.ceil(place - 1e-9))
        return float(self.more[min(max(rank, 1), len(self.more)) - 1])


def _finite(x: float) -> float | None:
    return x if np.isfinite(x) else None


@dataclasses.dataclass(frozen=True)
class Simulated:
    """What runs from counts have in common."""

    problem: Problem  # the posterior
    made: int  # pulls so far
    lacking: int  # pulls until each arm has two, which some rules make first
    cap: int
    draws: int
    root_seed: int

    def run(self, rule: Rule, more: int, on_progress: Callable[[Progress], None] | None) -> xr.Dataset:
        """Return runs of at most `more` further pulls."""
        limit = self.made + max(more, self.lacking)
        return sweep(
            rule, self.problem, self.draws, root_seed=self.root_seed, max_pulls=limit, metrics=_METRICS,
            on_progress=on_progress,
        )  # fmt: skip


def _each_arm(problem: Problem, state: Any, answer: jax.Array) -> jax.Array:
    """Return the pulls of each arm, those before the run included."""
    del problem, answer
    return state.pulls


_METRICS = {"each": _each_arm}


def suitable_rules(
    problem: Problem, rewards: str, delta: float, epsilon: float, named: Sequence[str] | None
) -> tuple[dict[str, Rule], list[str]]:
    """Return the rules that can go on from counts and stop when they are sure, by label; and why others are left out.

    Args:
        problem: the posterior.
        rewards: the kind of rewards.
        delta: allowed probability of error.
        epsilon: accuracy.
        named: names of rules that the user wants; None for all that are proved and not slow.

    Raises:
        UsageError: a named rule that does not exist or cannot go on from counts.
    """
    wanted = None if named is None else [normal_name(name) for name in named]
    found: dict[str, Rule] = {}
    left_out: list[str] = []
    for name in REGISTRY if wanted is None else wanted:
        cls = REGISTRY[name]
        fields = {field.name: field for field in dataclasses.fields(cls)}
        needed = {key for key, field in fields.items() if field.default is dataclasses.MISSING}
        if "delta" not in fields or cls.traits.criterion != "epsilon-m" or not needed <= {"delta", "epsilon"}:
            if wanted is not None:
                raise UsageError(
                    f"{name} does not find the best arm with a given confidence: it cannot go on from counts"
                )
            continue  # for another question, or for a budget
        given = {key: value for key, value in {"delta": delta, "epsilon": epsilon}.items() if key in fields}
        tested = issubclass(cls, GLRStopped)
        if tested:
            given |= family_settings(rewards)  # type: ignore[arg-type]
        reasons: dict[str, str] = {}
        for settings in cls.traits.variants:
            label = label_of(name, settings)
            try:
                rule = cls(**{**given, **settings})
            except UsageError as reason:  # a setting that does not go with the family
                reasons[label] = str(reason)
                continue
            if not (why := _why_not(rule, problem, tested, slow=wanted is not None, loose=epsilon > 0)):
                found[label] = rule
            elif rule.proved:
                reasons[label] = why
        if wanted is not None and not any(label.split()[0] == name for label in found):
            raise UsageError(f"{name}: {next(iter(reasons.values()), 'has no proof')}")
        left_out += [f"{label} ({why})" for label, why in reasons.items()]
    return found, left_out


def _why_not(rule: Rule, problem: Problem, tested: bool, *, slow: bool, loose: bool) -> str:
    """Return why a rule cannot go on from counts; empty if it can."""
    if not rule.proved:
        return "nothing is proved"
    if not rule.takes_counts:
        return "it must see each reward, or choose all arms from the first pull on"
    if not (tested or problem.in_interval):
        return "the variances of normal rewards are unknown"
    if loose and rule.given("epsilon") is None:
        return "it has no epsilon"
    if rule.relative_cost > _MOST_COST and not slow:
        return "it takes long to simulate, unless it is named in rules"
    try:
        rule.resolved(problem)
        rule.check_suitable(problem, 1)
    except UsageError as reason:
        return str(reason)
    return ""


def simulate_rules(
    rules: dict[str, Rule], runs: Simulated, on_progress: Callable[[Progress, int], None] | None
) -> list[FurtherPulls]:
    """Return what each rule needs from now on, the one that needs least first."""
    found, done = [], Progress(runs=0, pulls=0.0)
    with compiling(runs.problem, _METRICS) as wait:
        waiting = [*rules.items()]
        while waiting:
            label, rule = waiting.pop(0)
            wait(label, waiting, lambda _: runs.draws)
            before = done

            def report(progress: Progress) -> None:
                nonlocal done
                done = progress.after(before)  # noqa: B023 - called before the next round
                if on_progress is not None:
                    on_progress(done, runs.draws * len(rules))

            ds = runs.run(rule, runs.cap, report)
            more = np.asarray(ds["pulls"].to_numpy(), np.float64) - runs.made
            truncated = stopped_early(ds["status"].to_numpy())
            more[truncated] = np.inf
            wrong = float(np.mean(~ds["correct"].to_numpy() & ~truncated))
            found.append(FurtherPulls(label, rule, np.sort(more), runs.cap, wrong))
    return sorted(found, key=lambda one: one.typical)


def next_pulls(rule: Rule, runs: Simulated, more: int) -> np.ndarray:
    """Return the shares of the arms among the next pulls of a rule, float64 `(K,)`, on average; zeros if it stops now.

    Where arms must be pulled first, there are at least these pulls.
    """
    ds = runs.run(rule, more, None)
    history = runs.problem.history
    assert history is not None
    fresh = np.maximum(ds["each"].to_numpy() - np.asarray(history.pulls), 0).sum(axis=0)
    return np.asarray(fresh / max(fresh.sum(), 1), np.float64)
