"""The picture of a plan from counts: what is known of each arm, and how soon rules are sure."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from jaxbandits.counts.plan_facts import PlanFacts
from jaxbandits.counts.plan_words import sentence, share
from jaxbandits.report import style as looks

__all__ = ["draw"]

#: Arms and rules in the picture at most: the likeliest and the quickest.
_ARMS, _RULES = 12, 5


def draw(plan: PlanFacts, *, title: str | None, ax: looks.Place) -> Figure:
    """Draw a plan; arguments as of `CountPlan.picture`."""
    picture, (left, *others) = looks.new_panels(2 if plan.rules else 1, shared=False, ax=ax)
    _draw_arms(plan, left)
    if title is None and ax is None:
        title = sentence(plan)[0].upper() + sentence(plan)[1:]
    for right in others:
        _draw_rules(plan, right)
    looks.finish(left, title, "mean reward: observed, and 95% of the posterior", "", others=others)
    for right in others:  # each pair of axes has labels of its own
        look: dict[str, Any] = {"fontsize": left.xaxis.label.get_fontsize(), "color": left.xaxis.label.get_color()}
        right.set_xlabel("further pulls", **look)
        right.set_ylabel("share of draws decided", **look)
    return picture


def _draw_arms(plan: PlanFacts, axes: Axes) -> None:
    (colour,) = looks.colours([""])
    arms = sorted(plan.arms, key=lambda arm: -arm.best)[:_ARMS][::-1]
    for place, arm in enumerate(arms):
        axes.plot(arm.interval, [place, place], color=colour, linewidth=3, solid_capstyle="butt", alpha=0.45)
        if arm.pulls:
            axes.plot([arm.mean], [place], "o", color=colour, markersize=6)
    axes.set_yticks(range(len(arms)), [f"{_short(arm.name)}\nbest: {share(arm.best)}" for arm in arms])
    axes.set_ylim(-0.6, len(arms) - 0.4)


def _draw_rules(plan: PlanFacts, axes: Axes) -> None:
    rules = plan.rules[:_RULES]
    looks.set_scale(axes.xaxis, np.asarray([0.0, rules[0].cap]), False, narrow=True)
    for one, colour in zip(rules, looks.colours([rule.label for rule in rules]), strict=True):
        decided = one.more[np.isfinite(one.more)]
        x = np.concatenate([[0.0], decided, [one.cap]])
        y = np.concatenate([np.arange(len(decided) + 1), [len(decided)]]) / len(one.more)
        axes.step(x, y, where="post", color=colour, label=one.label)
    if plan.budget is not None:
        axes.axvline(plan.budget, color="#8a8a8a", linestyle="--", linewidth=1, label="budget")
    axes.set_xlim(0, rules[0].cap)
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
