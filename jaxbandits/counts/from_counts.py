"""From counts so far to a plan: `jb.plan`, and `jaxbandits plan` on the command line."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.checks import INSIDE_UNIT, NOT_NEGATIVE, POSITIVE, number, seed, shown, whole
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.counts.anytime_confidence import anytime_test
from jaxbandits.counts.count_plan import CountPlan
from jaxbandits.counts.count_tables import MOST_PULLS, Columns, CountTable, read_counts
from jaxbandits.counts.further_pulls import Simulated, next_pulls, simulate_rules, suitable_rules
from jaxbandits.counts.marginals import Chances, Marginals, chances
from jaxbandits.counts.plan_facts import ArmNow
from jaxbandits.counts.posterior_laws import posterior_of, unit_of
from jaxbandits.engine.driver import Progress
from jaxbandits.errors import UsageError

__all__ = ["plan"]

#: Further pulls of a run by default: times those made, and of each arm at least; and draws at most.
_CAP, _LEAST, _MOST_DRAWS = 5, 1000, 100_000
#: The next pulls whose shares are shown: of each arm, or as a share of those made.
_NEXT, _NEXT_SHARE = 20, 0.05


@own_settings()
def plan(
    counts: Any,
    *,
    delta: float = 0.05,
    epsilon: float = 0.0,
    rewards: str | None = None,
    reward_range: float = 1.0,
    prior: object = None,
    rules: Sequence[str] | None = None,
    budget: int | None = None,
    value: float | None = None,
    draws: int = 199,
    max_pulls: int | None = None,
    root_seed: int = 0,
    where: str = "",
    arm: str | None = None,
    pulls: str | None = None,
    successes: str | None = None,
    mean: str | None = None,
    variance: str | None = None,
    sd: str | None = None,
    squares: str | None = None,
    on_progress: Callable[[Progress, int], None] | None = None,
) -> CountPlan:
    """Say what counts so far show: which arm is best, how sure that is, how many more pulls it takes, what to do next.

    Two statements of confidence are made. The anytime-valid one is the smallest delta at which a likelihood ratio test
    would stop now. It holds whenever one looks, for arms that were chosen by what was known before each reward, and
    needs no prior. The other is the posterior probability of being the best arm, under a prior.

    How many more pulls a rule needs is simulated: each run draws its arms from the posterior, and goes on from these
    counts. So it is not taken for granted that the observed means are the true ones. A further run falls into the
    interval of 90% with that probability, if the prior is right (measured: `docs/examples/counts_so_far.md`).

    Args:
        counts: a row for each arm: a CSV file, a data frame, a dict of columns, or an array `(K, 2)` of pulls and
            successes. Arms may have been pulled unequally, or not at all. Columns are found by their usual names
            (`arm`, `pulls`, `impressions`, `n`, `successes`, `clicks`, `mean`, `variance`, `sd`, …) if these are
            unambiguous. An index of pandas that has a name, as after `groupby`, or texts counts as a column.
        delta: allowed probability of error, in (0, 1).
        epsilon: a mean this far below the best is good enough; not negative.
        rewards: `coins` for 0 and 1, from pulls and successes. `bounded` for rewards in [0, reward_range] and `normal`,
            from pulls, mean, and one of variance (divisor n - 1), sd (likewise) and squares (the sum of the squared
            rewards; the mean then needs all its digits). None for coins where there are successes.
        reward_range: the largest reward, of bounded ones; positive.
        prior: of coins, for each arm independently: `uniform` (Beta(1, 1)), `jeffreys` (Beta(1/2, 1/2)), or the two
            numbers of a Beta law; None for `uniform`. Others have a weak normal-inverse-gamma prior about all rewards.
        rules: names of the rules whose further pulls are simulated; an empty list for none. None for all that are
            proved, can go on from counts, and are not slow to simulate.
        budget: how many more pulls there may be, at least 1: the result says which share of the draws it decides.
        value: the worth of one unit of reward, such as of a click; it turns the expected loss into money.
        draws: runs of each rule, from 19 to 100 000.
        max_pulls: further pulls at which a run is truncated: it counts as needing more. None for 5 times those made,
            at least 1000 for each arm, and at least the budget.
        root_seed: as in `sweep`.
        where: `column=value`: only the rows of the table with this value.
        arm: the column of the arms' names; None for the usual one, or the only one of texts.
        pulls: the column of the numbers of pulls.
        successes: that of the numbers of rewards of 1.
        mean: that of the means.
        variance: that of the variances.
        sd: that of the standard deviations.
        squares: that of the sums of squared rewards.
        on_progress: called now and then with the progress so far and the number of runs in total.

    Returns:
        The plan: `print` shows it as the command does, `picture()` draws it, and `as_dict()` has it in plain Python.

    Raises:
        UsageError: a table that cannot be read (row and column are named), columns that are ambiguous or missing, an
            arm twice, fewer than two arms, or a number outside its range.

    Example:
        >>> found = jb.plan({"arm": ["old", "new"], "n": [300, 310], "clicks": [20, 35]}, rules=["lucb-pp"], draws=19)
        >>> found.best, found.answer
        ('new', 'undecided')
    """
    delta, epsilon = number("delta", delta, INSIDE_UNIT), number("epsilon", epsilon, NOT_NEGATIVE)
    reward_range = number("reward_range", reward_range, POSITIVE)
    value = None if value is None else number("value", value)
    budget = None if budget is None else whole("budget", budget, 1, MOST_PULLS)
    draws, root_seed = whole("draws", draws, 19, _MOST_DRAWS), seed("root_seed", root_seed)
    named = rules is None or (isinstance(rules, Collection) and all(isinstance(name, str) for name in rules))
    if isinstance(rules, str) or not named:
        raise UsageError(f"rules must be a list of names, such as ['lucb-pp'], got {shown(rules)}")
    table = read_counts(
        counts, Columns(arm, pulls, successes, mean, variance, sd, squares), rewards, reward_range, where
    )
    unit = unit_of(table, reward_range)
    made = int(table.pulls.sum())
    usual = min(max(_CAP * made, _LEAST * len(table.arms), budget or 1), MOST_PULLS)
    cap = usual if max_pulls is None else whole("max_pulls", max_pulls, max(budget or 1, 1), MOST_PULLS)
    posterior = posterior_of(table, prior, reward_range)
    found = chances(posterior.marginals, epsilon)
    chosen, left_out = suitable_rules(posterior.problem, table.rewards, delta, epsilon / unit, rules)
    lacking = int(np.maximum(2 - table.pulls, 0).sum())
    if cap < (least := lacking + 2):
        raise UsageError(f"max_pulls must be at least {least:,}, so that every arm may have two pulls, got {cap:,}")
    runs = Simulated(posterior.problem, made, lacking, cap, draws, root_seed)
    simulated = simulate_rules(chosen, runs, on_progress)
    horizon = min(max(_NEXT * len(table.arms), int(_NEXT_SHARE * made)), cap)
    shares = next_pulls(simulated[0].rule, runs, horizon) if simulated else np.zeros(len(table.arms))
    return CountPlan(
        arms=_arms(table, posterior.marginals, found), best=table.arms[table.leader], delta=delta, epsilon=epsilon,
        rewards=table.rewards, prior=posterior.prior, taken=table.taken, test=anytime_test(table, epsilon, unit),
        error=found.error, rules=simulated, left_out=left_out if rules is None else [], budget=budget, value=value,
        next_arm=_next_arm(table, simulated[0].rule, runs) if shares.any() else None,
        next_shares={name: float(part) for name, part in zip(table.arms, shares, strict=True) if part > 0},
        horizon=horizon,
    )  # fmt: skip


def _next_arm(table: CountTable, rule: Rule, runs: Simulated) -> str:
    """Return the arm that a rule pulls next: one with too few pulls, or the one that it selects."""
    few = table.pulls < rule.initial_pulls
    return table.arms[int(np.argmax(few if few.any() else next_pulls(rule, runs, 2)))]


def _arms(table: CountTable, marginals: Marginals, found: Chances) -> list[ArmNow]:
    ends = marginals.quantiles(np.asarray([0.025, 0.975]))
    return [
        ArmNow(name, int(pulls), float(mean), (float(low), float(high)), float(best), float(near), float(loss))
        for name, pulls, mean, (low, high), best, near, loss in zip(
            table.arms, table.pulls, table.means, ends, found.best, found.near, found.loss, strict=True
        )
    ]
