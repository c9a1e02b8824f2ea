"""A plan from counts as text."""

import textwrap
from collections.abc import Iterator

import numpy as np

from jaxbandits.counts.anytime_confidence import LEAST_DELTA
from jaxbandits.counts.plan_facts import PlanFacts
from jaxbandits.report.formatting import by_reason, count, probability, value
from jaxbandits.report.text_tables import text_table

__all__ = ["sentence", "share", "written"]

#: Arms in a table at most.
_MOST_ARMS = 20
_TESTED = {
    "gk16": "Garivier and Kaufmann 2016, for rewards of 0 and 1",
    "kk21": "Kaufmann and Koolen 2021, for rewards in an interval",
    "student-mixture": "for normal rewards of unknown variances",
}


def written(plan: PlanFacts, width: int) -> str:
    """Return a plan as text; prose in lines of at most `width` characters."""

    def text(part: str | list[list[str]]) -> str:
        return textwrap.fill(part, max(width, 40)) if isinstance(part, str) else text_table(part, left=(0,))

    return "\n".join(map(text, _parts(plan)))


def sentence(plan: PlanFacts) -> str:
    """Return the answer in one sentence."""
    within = f" up to {plan.epsilon:g}" if plan.epsilon else ""
    sure = f"{plan.best} is the best{within}, with confidence {_all_but(plan.delta)} at all times"
    if plan.answer == "decided":
        return f"{sure}; equivalent within {plan.epsilon:g}: {_some(plan.equivalent)}" if plan.equivalent else sure
    if plan.answer == "equivalent":
        within = f"equivalent within {plan.epsilon:g}, with posterior probability {_all_but(plan.delta)}"
        return f"{within}: {_some(plan.equivalent)}"
    if plan.undecided_by_budget is not None:
        left = plan.undecided_by_budget
        return f"undecided, and after {count(plan.budget or 0)} further pulls still so with probability {share(left)}"
    return f"undecided: {plan.best} leads, and is the best with posterior probability {share(plan.leader.best)}"


def share(x: float) -> str:
    """Format a probability in percent, without rounding to 0 or 100: `12%`, `<0.1%`."""
    if 0 < x < 0.001:
        return "<0.1%"
    return ">99.9%" if 0.999 < x < 1 else f"{100 * x:.3g}%"


def _all_but(delta: float) -> str:
    """Format 1 - delta, without rounding delta away: `0.95`, `1 - 1e-10`."""
    text = f"{1 - delta:.4g}"
    return text if abs(1 - float(text) - delta) < delta / 100 else f"1 - {delta:g}"


def _parts(plan: PlanFacts) -> Iterator[str | list[list[str]]]:
    """Yield paragraphs and tables."""
    leader, some = plan.leader, plan.arms
    yield f"Taken: {plan.taken}; rewards: {plan.rewards}."
    yield f"Answer: {sentence(plan)}."
    yield ""
    of_all = f"{count(leader.pulls)} of {count(sum(arm.pulls for arm in some))} pulls"
    yield f"Best now: {plan.best}, with a mean of {value(leader.mean)} in {of_all}."
    yield (
        f"Anytime-valid confidence: {_confidence(plan)}; {_all_but(plan.delta)} was asked for. {_test(plan)} It holds "
        "whenever you look, and however arms were chosen by what was known before each reward. Rewards of an arm must "
        "be independent, with a mean that stays."
    )
    yield (
        f"Posterior probability of being the best: {share(leader.best)}, within {plan.error:.0e}{_near(plan)}. "
        f"Prior: {plan.prior}."
    )
    if (safest := min(some, key=lambda arm: arm.loss)) is not leader:
        yield f"By the posterior, {safest.name} has a smaller expected loss: {_loss(plan, safest.loss)}."
    yield f"Stopping now with {plan.best} loses {_loss(plan, leader.loss)} in expectation, against the best arm."
    yield ""
    shown = sorted(some, key=lambda arm: -arm.best)[:_MOST_ARMS]
    near = [f"within {plan.epsilon:g}"] if plan.epsilon else []
    yield [
        ["arm", "pulls", "mean", "95% posterior", "P(best)", *near, "expected loss"],
        *(
            [arm.name, count(arm.pulls), value(arm.mean), f"{value(arm.interval[0])} to {value(arm.interval[1])}",
             share(arm.best), *([share(arm.near)] if near else []), value(arm.loss)]
            for arm in shown
        ),
    ]  # fmt: skip
    if len(some) > len(shown):
        yield f"And {len(some) - len(shown)} arms that are less likely the best."
    yield from _further(plan)
    if plan.left_out:
        yield ""
        yield from (f"Left out, because {why}: {_some(names)}." for why, names in by_reason(plan.left_out))


def _further(plan: PlanFacts) -> Iterator[str | list[list[str]]]:
    if not plan.rules:
        return
    yield ""
    first = plan.rules[0]
    yield (
        f"Further pulls until sure (delta {plan.delta:g}, epsilon {plan.epsilon:g}), from these counts on: "
        f"{len(first.more)} runs a rule, each with arms drawn from the posterior, of at most {count(first.cap)} pulls. "
        "A further run falls into the interval with probability 90%."
    )
    budget = [] if plan.budget is None else [f"decided by {count(plan.budget)}"]
    yield [
        ["rule", "median", "90% interval", *budget, f"decided by {count(first.cap)}", "decided wrongly"],
        *(
            [one.label, _pulls(one.median, one.cap), " to ".join(_pulls(end, one.cap) for end in one.interval),
             *([share(one.decided_by(plan.budget))] if plan.budget is not None else []),
             share(one.decided_by(one.cap)), probability(one.wrong)]
            for one in plan.rules
        ),
    ]  # fmt: skip
    yield ""
    if plan.next_arm is None:
        yield f"Next: {first.label} would stop now."
        return
    shares = sorted(plan.next_shares.items(), key=lambda item: -item[1])[:6]
    told = ", ".join(f"{name} {share(part)}" for name, part in shares if part > 0)
    yield f"Next, by {first.label}: pull {plan.next_arm}; of the next {count(plan.horizon)} pulls, {told}."


def _confidence(plan: PlanFacts) -> str:
    return "none yet" if plan.test.delta >= 1 else f"{share(1 - plan.test.delta)}"


def _near(plan: PlanFacts) -> str:
    return (
        f"; of no other being better by more than {plan.epsilon:g}: {share(plan.leader.near)}" if plan.epsilon else ""
    )


def _test(plan: PlanFacts) -> str:
    test = f"The likelihood ratio test ({_TESTED[plan.test.threshold]})"
    if plan.test.delta >= 1:
        return f"{test} would stop now with no delta."
    smaller = "smaller ones" if plan.test.delta == LEAST_DELTA else "none smaller"
    return f"{test} would stop now with delta {plan.test.delta:.3g}, and with {smaller}."


def _loss(plan: PlanFacts, loss: float) -> str:
    worth = "" if plan.value is None else f", worth {value(1000 * loss * plan.value)} in 1,000 pulls"
    return f"{value(loss)} a pull{worth}"


def _pulls(x: float, cap: int) -> str:
    return count(x) if np.isfinite(x) else f">{count(cap)}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
