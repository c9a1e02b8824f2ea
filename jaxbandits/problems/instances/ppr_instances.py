"""Problems in which a pull costs its reward, and the properties of them that MAB-PPR requires.

Sabato (2019), "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS.
"""

import dataclasses
from typing import ClassVar

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

from jaxbandits import checks
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.io.csv_files import Table
from jaxbandits.io.serialize import File
from jaxbandits.problems.argument_checks import arm_count
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli, bernoulli
from jaxbandits.problems.pull_costs import with_costs
from jaxbandits.problems.tables.joint_pulls import blocks, one_click

__all__ = ["UNSEEN", "BernoulliHead", "click_rates", "ppr", "ppr_unbounded"]

#: Accepted names of a column that names an arm, in lower case.
_ARM = (
    "arm", "ad", "ad_id", "ad_name", "advertisement", "article", "banner", "creative", "id", "item", "item_id",
    "keyword", "label", "name", "product", "url", "variant",
)  # fmt: skip
_WEIGHTS = ("one-good", "power", "flat")
_PULLS = ("independent", "one-click", "blocks")
#: Largest probability that an arm beyond a simulated head pays in the first round.
UNSEEN = 1e-9
_LARGEST_HEAD = 2**20 - 1
_CONVERGES = checks.ABOVE_ONE._replace(words="must be finite and above 1, or the sum of the means diverges")


def _exact(number: float) -> str:
    """Return the shortest text of a number that reads back the same."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(float(number))


@varying
def ppr(
    weights: str = "one-good", k: int = 100, w: float = 2.0, pulls: str = "independent", block: int = 2
) -> Bernoulli:
    """Return Bernoulli arms with a given sum of means, where a pull costs its reward.

    Args:
        weights: `one-good`, w_1 = 1/2 and the others equal; `power`, w_i proportional to 1/i; `flat`, all equal.
        k: number of arms, at least 2.
        w: W, the sum of all means, positive; at most 1 for `one-click`.
        pulls: how the rewards of a joint pull depend on each other: `independent`; `one-click`, at most one arm pays;
            `blocks`, arms in blocks of neighbours that pay together.
        block: arms in a block, at least 1.

    Raises:
        UsageError: an unknown name, or numbers that make a mean above 1 or below 0.

    Example:
        >>> round(float(jb.ppr("one-good", k=10).mean.sum()), 3)
        2.0
    """
    if weights not in _WEIGHTS:
        raise unknown_name("weights", str(weights), _WEIGHTS)
    if pulls not in _PULLS:
        raise unknown_name("pulls", str(pulls), _PULLS)
    k = arm_count("k", k)
    checks.number("ppr: the sum of the means w", w, checks.POSITIVE)
    if weights == "one-good":
        if w < 0.5:
            raise UsageError(f"ppr:one-good needs w of at least 1/2, the mean of its good arm, got {w:g}")
        means = np.full(k, (w - 0.5) / (k - 1))
        means[0] = 0.5
    elif weights == "power":
        means = 1 / np.arange(1, k + 1)
        means *= w / means.sum()
    else:
        means = np.full(k, w / k)
    if means.max() > 1:
        raise UsageError(f"ppr:{weights} with k={k} and w={w:g} has a mean of {means.max():g}: at most 1")
    kept = np.asarray(means, np.float32)
    name = f"ppr:{weights},k={k},w={_exact(w)}"
    if pulls == "independent":
        made = bernoulli(kept, name=name)
    elif pulls == "one-click":
        made = one_click(kept, name=f"{name},pulls=one-click")
    else:
        made = blocks(kept, block)
        made = dataclasses.replace(made, name=f"{name},pulls=blocks,block={made.size}")
    return with_costs(made, "reward")


@varying(path=File.read)
def click_rates(path: str) -> Bernoulli:
    """Return arms from a table of impressions and clicks, a row per arm; a pull, an impression, costs its click.

    Args:
        path: a CSV file with columns `impressions` and `clicks`.

    Raises:
        UsageError: no such file or columns, fewer than two arms, or an unusable row (its line and column are given).
            Clicks must not exceed impressions, and an arm has one row.

    Example:
        >>> import pandas as pd
        >>> pd.DataFrame({"impressions": [100, 200], "clicks": [7, 8]}).to_csv("clicks.csv", index=False)
        >>> print(jb.click_rates("clicks.csv").mean)
        [0.07 0.04]
    """
    table = Table.read(path)
    for name in ("impressions", "clicks"):
        if not table.has([name]):
            raise UsageError(f"{path}: columns impressions and clicks are needed, got {', '.join(table.header)}")
    table.refuse_repeated(_ARM, "the arm")
    shown, clicked = table.place(["impressions"]), table.place(["clicks"])
    means = []
    for line, row in table.rows:
        impressions = table.number(line, row, shown, checks.whole_rule(1))
        count = table.number(line, row, clicked, checks.whole_rule(0))
        if count > impressions:
            table.refuse(line, clicked, f"{row[clicked]} clicks of {row[shown]} impressions")
        checks.as_single(f"{path}, line {line}: clicks per impression", count / impressions)
        means.append(count / impressions)
    if len(means) < 2:
        raise UsageError(f"{path}: two arms or more are needed, got {len(means)}")
    return with_costs(bernoulli(sorted(means, reverse=True), name=f"clicks:{path}"), "reward")


@register_problem
@dataclasses.dataclass(frozen=True)
class BernoulliHead(Bernoulli):
    """The first of infinitely many Bernoulli arms; `beyond` is the sum of the other means."""

    scored: ClassVar[tuple[str, ...]] = ()  # the law includes the arms that are not simulated
    beyond: float = 0.0
    choices = ("beyond",)

    @property
    def unseen_mean(self) -> float:
        """Return the sum of the means of the arms that are not simulated."""
        return self.beyond


@varying
def ppr_unbounded(
    law: str = "zipf", w: float = 1.0, exponent: float = 4.0, ratio: float = 0.9, first_pulls: float = 1e5
) -> BernoulliHead:
    """Return infinitely many arms whose means have a finite sum, where a pull costs its reward.

    In the first round all arms are pulled together. Those that never pay are at the bottom of the order and are
    eliminated. So the arms beyond the simulated head need not exist: with probability 1 - 10^-9 none of them pays in
    the first round. The result's attribute `unseen` bounds the probability that one does; counts of pulls are of
    the head only.

    Args:
        law: `zipf`, w_i proportional to i^-exponent; `geometric`, proportional to ratio^i.
        w: W, the sum of all means, positive.
        exponent: exponent of `zipf`, above 1.
        ratio: ratio of `geometric`, in (0, 1).
        first_pulls: joint pulls for which the head is long enough, positive: at least those of the first round.

    Raises:
        UsageError: a law whose sum diverges, a mean above 1, or a head of a million arms or more.

    Example:
        >>> type(jb.ppr_unbounded("zipf")).__name__
        'BernoulliHead'
    """
    if law not in ("zipf", "geometric"):
        raise unknown_name("law", str(law), ("zipf", "geometric"))
    checks.number("ppr-unbounded: w", w, checks.POSITIVE)
    checks.number("ppr-unbounded: first_pulls", first_pulls, checks.POSITIVE)
    share = UNSEEN / first_pulls / w  # share of the whole weight that may be left out
    if law == "zipf":
        checks.number("ppr-unbounded: exponent", exponent, _CONVERGES)
        total = float(scipy.special.zeta(exponent))
        # The sum of i^-s from h + 1 on is at most h^(1-s) / (s - 1).
        head = (share * total * (exponent - 1)) ** (1 / (1 - exponent))
    else:
        checks.number("ppr-unbounded: ratio", ratio, checks.INSIDE_UNIT)
        total = ratio / (1 - ratio)
        head = np.log(share) / np.log(ratio)
    if head > _LARGEST_HEAD:
        raise UsageError(
            f"ppr-unbounded: {head:.2g} arms would have to be simulated so that no later one pays in {first_pulls:g} "
            f"pulls, at most {_LARGEST_HEAD} can be: a law with a lighter tail, or smaller first_pulls"
        )
    index = np.arange(1, max(2, int(np.ceil(head))) + 1, dtype=np.float64)
    means = w * (index**-exponent if law == "zipf" else ratio**index) / total
    if means[0] > 1:
        raise UsageError(f"ppr-unbounded: the first mean is {means[0]:g}, above 1: a smaller w")
    kept = np.asarray(means, np.float32)
    left = float(scipy.special.zeta(exponent, len(index) + 1)) / total if law == "zipf" else ratio ** len(index)
    text = f"exponent={_exact(exponent)}" if law == "zipf" else f"ratio={_exact(ratio)}"
    made = bernoulli(kept, name=f"ppr-unbounded:law={law},w={_exact(w)},{text},first_pulls={_exact(first_pulls)}")
    head_of = BernoulliHead(made.probability, beyond=float(w * left), name=made.name)
    return with_costs(head_of, "reward")
