"""The picture of a plan from counts: what is known of each arm, and how soon rules are sure."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from jaxbandits.counts.plan_facts import PlanFacts
from jaxbandits.counts.plan_words import sentence, share
from jaxbandits.report import style as looks
from jaxbandits.report.user_settings import in_style

__all__ = ["draw"]

#: Arms and rules in the picture at most: the likeliest and the quickest.
_ARMS, _RULES = 12, 5


@in_style
def draw(plan: PlanFacts, *, title: str | None, ax: looks.Place, style: str | None, width: float | None) -> Figure:
    """Draw a plan; arguments as of `CountPlan.picture`."""
    picture, (left, right) = looks.new_panels(2, shared=False, ax=ax, style=style, width=width)
    (colour,) = looks.colours([""])
    arms = sorted(plan.arms, key=lambda arm: -arm.best)[:_ARMS][::-1]
    for place, arm in enumerate(arms):
        low, high = arm.interval
        left.plot([low, high], [place, place], color=colour, linewidth=3, solid_capstyle="butt", alpha=0.45)
        if arm.pulls:
            left.plot([arm.mean], [place], "o", color=colour, markersize=6)
    left.set_yticks(range(len(arms)), [f"{_short(arm.name)}\nbest: {share(arm.best)}" for arm in arms])
    left.set_ylim(-0.6, len(arms) - 0.4)
    rules = plan.rules[:_RULES]
    for one, line in zip(rules, looks.colours([rule.label for rule in rules]), strict=True):
        decided = one.more[np.isfinite(one.more)]
        shares = np.arange(1, len(decided) + 1) / len(one.more)
        x = np.concatenate([[0.0], decided, [one.cap]])
        right.step(x, np.concatenate([[0.0], shares, shares[-1:] if len(shares) else [0.0]]), where="post", color=line,
                   label=one.label)  # fmt: skip
    if rules:
        looks.set_scale(right.xaxis, np.asarray([0.0, rules[0].cap]), False, narrow=True)
        right.set_xlim(0, rules[0].cap)
        if plan.budget is not None:
            right.axvline(plan.budget, color="#8a8a8a", linestyle="--", linewidth=1, label="budget")
    right.set_ylim(0, 1.02)
    right.yaxis.set_major_formatter(PercentFormatter(1.0))
    if title is None and ax is None:
        title = sentence(plan)[0].upper() + sentence(plan)[1:]
    looks.finish(left, title, "mean reward: observed, and 95% of the posterior", "", others=(right,))
    right.set_xlabel("further pulls", fontsize=left.xaxis.label.get_fontsize(), color=left.xaxis.label.get_color())
    right.set_ylabel("share of posterior draws decided", fontsize=left.xaxis.label.get_fontsize())
    return picture


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
