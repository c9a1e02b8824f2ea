"""Every algorithm against a slow NumPy reference in double precision, written from the papers' formulas.

The reference sees the rewards that the run has seen so far and must choose the arm that the run pulls next, at every
step. Exact ties are common (Bernoulli arms, few pulls) and must fall the same way, by the run's tie order. Where two
float64 values that decide differ by less than `NEAR` and are not equal, float32 may decide otherwise: such a decision
is not compared, and there must be few of them.

A reference says of a moment what is pulled next, a list of arms, or of a rule that draws it the probability of each,
an array; the arms that it would return, a set; and a stopping statistic, whether the run has ended, or None. A new one
is a module of `references/`.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from scipy import optimize, stats

import jaxbandits as jb
from jaxbandits.algorithms.confidence_bounds.lucb_rounds import LUCBRounds
from jaxbandits.algorithms.cost_budget.budget_index import BudgetIndex
from jaxbandits.algorithms.likelihood_ratio.glr_stopping import GLRStopped
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.bounded_jit import recent_programs
from tests.algorithms import references
from tests.reward_tables import tables

NEAR = 1e-5
RUNS, STEPS = 4, 160


def scrambled(x: np.ndarray) -> np.ndarray:
    """Some number in [0, 1) for every number.

    Added to counts and means in a far digit, it leaves ties of arms that look the same, and makes near misses of ties
    by coincidence, such as 2/3 - 1/3 = 1/3 - 0, which float32 and float64 need not agree on.
    """
    return 43758.5453 * np.sin(12.9898 * x + 4.1414) % 1


class View:
    """What a run of one bandit or several has seen: counts, means and variances in float64, `(bandits, K)`."""

    def __init__(self, rewards: list[list[float]], order: np.ndarray, problem: jb.Problem, memory: dict) -> None:
        def shape(x: Any) -> np.ndarray:
            return np.asarray(x, np.float64).reshape(-1, problem.bandits).T

        self.problem = problem
        self.memory = memory  # the run's key, and what a reference wants to keep from step to step
        self.rewards = rewards
        pulls = shape([len(seen) for seen in rewards])
        self.time = pulls.sum()
        self.pulls = pulls + 1e-11 * scrambled(pulls)
        mean = shape([np.sum(seen) / len(seen) for seen in rewards])
        self.mean = mean + 1e-11 * scrambled(mean)
        self.variance = shape([np.var(seen, ddof=1) if len(seen) > 1 else 0 for seen in rewards])
        self.order = shape(order)
        self.count = self.pulls.size
        self.true_mean = shape(problem.mean)
        self.true_sd = np.sqrt(shape(problem.variance))
        self.b = float(problem.reward_range)
        self.near = False  # whether a decision was too close to compare

    def first(self, values: np.ndarray, order: np.ndarray) -> int:
        """The position of the largest value, ties by the order."""
        best = values.max()
        self.near |= bool(((values != best) & (values > best - NEAR * max(1, abs(best)))).any())
        return int(np.where(values == best, order, np.inf).argmin())

    def top(self, values: np.ndarray, m: int, order: np.ndarray) -> list[int]:
        """The positions of the m largest values, ties by the order."""
        ranked = np.lexsort((order, -values))
        last, following = values[ranked[m - 1]], values[ranked[m]]
        close = values[np.abs(values - last) < NEAR * max(1, abs(last))]
        self.near |= bool(following in close and (close != last).any())
        return [int(arm) for arm in ranked[:m]]

    def doubt(self, differences: np.ndarray | float) -> None:
        """Note that float32 may see another sign of one of these."""
        self.near |= bool(np.any(np.abs(differences) < NEAR))

    def arm(self, bandit: int, position: int) -> int:
        return position * self.problem.bandits + bandit


def mth_largest_of_others(values, m):
    """For every arm, the m-th largest value among the other arms."""
    return np.asarray([-np.sort(-np.delete(values, arm))[m - 1] for arm in range(len(values))])


def gaps(means, m=1):
    """|m-th largest of the others - own mean|, bandit by bandit."""
    return np.asarray([np.abs(mth_largest_of_others(row, m) - row) for row in means])


def bernstein(a, view, b):
    return np.sqrt(2 * a * view.variance / view.pulls) + 7 * a * b / (3 * (view.pulls - 1))


# What a reference says of a moment; the run ends once the stopping statistic is below epsilon, or where it is True.
Said = tuple[list[int] | np.ndarray, set[int], float | bool | None]


def uniform(view: View, algorithm: Any) -> Said:
    arm = view.first(-view.pulls.T.reshape(-1), view.order.T.reshape(-1))
    return [arm], largest_means(view, getattr(algorithm, "m", 1)), None


def largest_means(view: View, m: int) -> set[int]:
    return {
        view.arm(bandit, arm)
        for bandit in range(len(view.mean))
        for arm in view.top(view.mean[bandit], m, view.order[bandit])
    }


def ugape(view: View, algorithm: Any) -> Said:
    m, b = algorithm.m, algorithm.b or view.b
    if isinstance(algorithm, jb.UGapEc):
        if algorithm.variance:
            radius = bernstein(np.log(7 * view.count * view.time**3 / algorithm.delta), view, b)
        else:
            level = np.log(4 * view.count * view.time**3 / algorithm.delta)
            radius = b * np.sqrt(algorithm.c * level / view.pulls)
    else:
        a = ugape_b_parameter(view, algorithm, b)
        radius = bernstein(a, view, b) if algorithm.variance else b * np.sqrt(a / view.pulls)
    upper, lower = view.mean + radius, view.mean - radius
    offers = []
    for bandit in range(len(upper)):
        U, L, beta, order = upper[bandit], lower[bandit], radius[bandit], view.order[bandit]
        B = mth_largest_of_others(U, m) - L
        J = view.top(-B, m, order)
        rest = [arm for arm in range(len(U)) if arm not in J]
        u = widest(view, rest, U, beta, order)
        l = widest(view, J, -L, beta, order)  # noqa: E741
        pull = [u, l][view.first(beta[[u, l]], order[[u, l]])]
        hardest = J[np.argmax(B[J])]
        # Two bandits tie where their arms look the same; 1 + r - (1 - r) = 0 + r - (0 - r) is a coincidence.
        worst = B[hardest] + 1e-11 * scrambled(L[hardest])
        offers.append((worst, view.arm(bandit, pull), {view.arm(bandit, arm) for arm in J}))
    worst, arms = np.asarray([offer[0] for offer in offers]), np.asarray([offer[1] for offer in offers])
    chosen = view.first(worst, view.order.T.reshape(-1)[arms] % view.problem.bandits)  # the order of the bandits
    returned = set().union(*(offer[2] for offer in offers))
    return [int(arms[chosen])], returned, float(worst.max())


def widest(view, candidates, values, beta, order):
    """The candidate with the largest value; of equals the one with the largest radius, then the first in the order."""
    best = values[candidates].max()
    view.first(values[candidates], order[candidates])  # notes a close call
    tied = [arm for arm in candidates if values[arm] == best]
    return tied[view.first(beta[tied], order[tied])]


def ugape_b_parameter(view, algorithm, b):
    if algorithm.a is not None:
        return algorithm.a
    means = view.mean if algorithm.adaptive else view.true_mean
    gap = gaps(means, algorithm.m)
    if algorithm.adaptive:
        distance = gap + np.sqrt(1 / (2 * view.pulls))
        sd = np.maximum(0, np.sqrt(view.variance) - np.sqrt(2 / np.maximum(view.pulls - 1, 1)))
    else:
        distance, sd = np.maximum((gap + algorithm.epsilon) / 2, algorithm.epsilon), view.true_sd
    if algorithm.variance:
        complexity = ((sd + np.sqrt(sd**2 + 13 / 3 * b * distance)) ** 2 / distance**2).sum()
        return (algorithm.budget - 2 * view.count) / (2 * complexity)
    return (algorithm.budget - view.count) / (4 * (b**2 / distance**2).sum())


def gap_e(view: View, algorithm: Any) -> Said:
    b, gap = algorithm.b or view.b, gaps(view.mean)
    a = algorithm.a
    if a is None:
        if algorithm.adaptive:
            distance = gap + np.sqrt(1 / (2 * view.pulls))
            sd = np.maximum(0, np.sqrt(view.variance) - np.sqrt(2 / np.maximum(view.pulls - 1, 1)))
        else:
            distance, sd = gaps(view.true_mean), view.true_sd
        if algorithm.variance:
            complexity = ((sd + np.sqrt(sd**2 + 16 / 3 * b * distance)) ** 2 / distance**2).sum()
            a = 8 / 9 * (algorithm.budget - 2 * view.count) / complexity
        else:
            complexity = (b**2 / distance**2).sum()
            a = 4 / 9 * (algorithm.budget - view.count) / complexity
        if algorithm.eta is not None:
            a = algorithm.eta * algorithm.budget / complexity
    index = -gap + (bernstein(a, view, b) if algorithm.variance else b * np.sqrt(a / view.pulls))
    return [view.first(index.T.reshape(-1), view.order.T.reshape(-1))], largest_means(view, 1), None


def ucb_e(view: View, algorithm: Any) -> Said:
    b, a = algorithm.b or view.b, algorithm.a
    if algorithm.adaptive:
        a = adaptive_ucb_e_parameter(view, algorithm, b)
    elif a is None:
        h1 = (b**2 / gaps(view.true_mean) ** 2).sum()
        a = 25 / 36 * (algorithm.budget - view.count) / h1
        if algorithm.eta is not None:
            a = algorithm.eta * algorithm.budget / h1
    index = (view.mean + b * np.sqrt(a / view.pulls))[0]
    return [view.first(index, view.order[0])], largest_means(view, 1), None


def adaptive_ucb_e_parameter(view, algorithm, b):
    count, budget = view.count, algorithm.budget
    log_bar = 0.5 + sum(1 / i for i in range(2, count + 1))
    rejects = [math.ceil((budget - count) / (log_bar * (count + 1 - k)) - 1e-9) for k in range(1, count)]
    ends = [sum(rejects[: k - 1]) + (count - k + 1) * rejects[k - 1] for k in range(1, count)]
    if view.time in ends:
        gaps_of_all = np.sort(view.mean[0].max() - view.mean[0])
        k = 1 + ends.index(view.time)
        with np.errstate(divide="ignore"):
            view.memory["H"] = max(b**2 * i / gaps_of_all[i - 1] ** 2 for i in range(count - k + 1, count + 1))
    return (algorithm.eta or 1) * budget / view.memory.get("H", count)


def lucb(view: View, algorithm: Any) -> Said:
    b, order = algorithm.b or view.b, view.order[0]
    rounds = 1 + (view.time - view.count) / 2
    rate = np.log(5 / 4 * view.count * rounds**4 / algorithm.delta)
    if algorithm.exploration == "kl2013":
        x = np.log(405.5 * view.count * rounds**1.1 / algorithm.delta)
        rate = x + np.log(x)
    radius = b * np.sqrt(rate / (2 * view.pulls[0]))
    J = view.top(view.mean[0], algorithm.m, order)
    rest = [arm for arm in range(view.count) if arm not in J]
    lower, upper = view.mean[0] - radius, view.mean[0] + radius
    h = J[view.first(-lower[J], order[J])]
    l = rest[view.first(upper[rest], order[rest])]  # noqa: E741
    return [h, l], set(J), float(upper[l] - lower[h])


def kl_lower(p: float, divergence: float) -> float:
    """The smallest q with d(p, q) <= divergence, by bisection for w = ln(p / q)."""
    if p <= 0:
        return 0.0

    def miss(w: float) -> float:
        return p * w + (0 if p >= 1 else (1 - p) * math.log((1 - p) / -(p * math.exp(-w) - 1))) - divergence

    return p * math.exp(-optimize.brentq(miss, 0, 600, xtol=1e-14)) if miss(600) > 0 else 0.0


def kl_lucb(view: View, algorithm: Any) -> Said:
    b, order = algorithm.b or view.b, view.order[0]
    rounds = 1 + (view.time - view.count) / 2
    x = math.log(405.5 * view.count * rounds**1.1 / algorithm.delta)
    rate = {
        "kl2013": x + math.log(x),
        "log": math.log(rounds / algorithm.delta),
        "heuristic": math.log((1 + math.log(view.time)) / algorithm.delta),
    }[algorithm.exploration]
    J = view.top(view.mean[0], algorithm.m, order)
    rest = [arm for arm in range(view.count) if arm not in J]
    own = np.where(np.isin(np.arange(view.count), J), view.mean[0], b - view.mean[0])
    lower = np.asarray([kl_lower(p, rate / n) for p, n in zip(own / b, view.pulls[0], strict=True)])
    # How far from its end a bound is, in digits: 1 - 1e-9 and 1 - 1e-10 are told apart.
    weak = -np.log(np.maximum(lower, 1e-37))
    h = J[view.first(weak[J], order[J])]
    l = rest[view.first(weak[rest], order[rest])]  # noqa: E741
    return [h, l], set(J), float(b * (1 - lower[l] - lower[h]))


def lucb_plus_plus(view: View, algorithm: Any) -> Said:
    b, m, order = algorithm.b or view.b, algorithm.m, view.order[0]
    J = view.top(view.mean[0], m, order)
    rest = [arm for arm in range(view.count) if arm not in J]

    def radius(delta: float) -> np.ndarray:
        beta = math.log(1 / delta) + 3 * math.log(math.log(1 / delta)) + 1.5 * np.log(np.log(math.e * view.pulls[0]))
        return np.sqrt(2 * (b / 2) ** 2 * beta / view.pulls[0])

    lower = view.mean[0] - radius(algorithm.delta / (2 * (view.count - m)))
    upper = view.mean[0] + radius(algorithm.delta / (2 * m))
    h = J[view.first(-lower[J], order[J])]
    l = rest[view.first(upper[rest], order[rest])]  # noqa: E741
    return [h, l], set(J), float(upper[l] - lower[h])


def lil_ucb(view: View, algorithm: Any) -> Said:
    b, pulls, nu = algorithm.b or view.b, view.pulls[0], algorithm.delta
    if algorithm.heuristic:
        eps, beta, factor, delta = 0, 0.5, 1 + 10 / view.count, nu / 5
        grown = pulls + 2
    else:
        eps, beta, factor = 0.01, 1, 9
        delta = (math.sqrt(1 + nu) - 1) ** 2 / (4 * (2 + eps) / eps * (1 / math.log(1 + eps)) ** (1 + eps))
        grown = (1 + eps) * pulls
    spread = 2 * (b / 2) ** 2 * (1 + eps) * np.log(np.log(grown) / delta) / pulls
    index = view.mean[0] + (1 + beta) * (1 + math.sqrt(eps)) * np.sqrt(spread)
    most = view.first(pulls, view.order[0])
    left = 1 + factor * (view.time - round(pulls[most])) - round(pulls[most])  # 0 or less: it stops
    return [view.first(index, view.order[0])], {most}, left


def clucb(view: View, algorithm: Any) -> Said:
    b, k, order = algorithm.b or view.b, algorithm.k, view.order[0]
    radius = b / 2 * np.sqrt(2 * np.log(4 * view.count * view.time**3 / algorithm.delta) / view.pulls[0])
    M = view.top(view.mean[0], k, order)
    moved = view.mean[0] + np.where(np.isin(np.arange(view.count), M), -1, 1) * radius
    rival = view.top(moved, k, order)
    doubt = sorted({*M} ^ {*rival})
    pull = [doubt[view.first(radius[doubt], order[doubt])]] if doubt else []
    return pull, set(M), float(moved[rival].sum() - moved[M].sum()) / k


def survivors(
    view: View,
    algorithm: Any,
    decide: Callable[..., list[int]],
    contribution: Callable[..., float],
    estimator: Callable[[list[float]], float] = lambda values: np.sum(values) / max(len(values), 1),
) -> Said:
    """Elimination: the arms that are left are pulled in turn, and `decide` says after each round which stay."""
    memory = view.memory
    alive = memory.setdefault("alive", list(range(view.count)))
    forget = memory.setdefault("forget", 0)

    def estimates() -> np.ndarray:
        values = [[contribution(x, i) for i, x in enumerate(view.rewards[arm], 1)][forget:] for arm in alive]
        return np.asarray([estimator(x) + 1e-11 * scrambled(np.sum(x)) for x in values])

    rounds = {len(view.rewards[arm]) for arm in alive}
    if len(rounds) == 1 and (t := rounds.pop()) > memory.get("seen", 0) and len(alive) > 1:
        memory["seen"] = t
        values = estimates()
        stay = decide(view, algorithm, t, values, view.order[0][alive], memory)
        if len(stay) < len(alive):
            alive[:] = sorted(alive[i] for i in stay)
            if getattr(algorithm, "reuse", True) is False:
                forget = memory["forget"] = t
        memory["near"] = memory.get("near", False) or view.near
    view.near |= memory.get("near", False)
    answer = alive[view.first(estimates(), view.order[0][alive])]
    following = min(alive, key=lambda arm: (len(view.rewards[arm]), view.order[0][arm]))
    return [following], {answer}, None


def successive_elimination(view: View, algorithm: Any) -> Said:
    level, p = np.log(2 * view.count / algorithm.delta), algorithm.p
    batches = math.ceil(8 * level)

    def looked_at(t: int) -> bool:
        if algorithm.estimator == "mom":
            return t % batches == 0 and grown(t // batches)
        return algorithm.estimator != "catoni" or (grown(t) and t >= level * (p / (p - 1)) ** 2)

    def radius(t: int) -> float:
        if algorithm.estimator == "ea":
            return (2 * view.count * algorithm.moment_c / (t ** (p - 1) * algorithm.delta)) ** (1 / p)
        if algorithm.estimator == "tea":
            return 5 * algorithm.moment_b ** (1 / p) * (level / t) ** ((p - 1) / p)
        if algorithm.estimator == "mom":
            return (12 * algorithm.moment_c / (t // batches) ** (p - 1)) ** (1 / p)
        if algorithm.estimator == "catoni":
            alpha, spread = catoni_scale(level, t, p, algorithm.moment_c), 2 ** (2 - p) * algorithm.moment_c
            return optimize.brentq(
                lambda r: level / (t * alpha) + alpha ** (p - 1) * (spread + r**p) / p - r, 0, 1 / alpha
            )
        return algorithm.b * np.sqrt(np.log(4 * view.count * t**2 / algorithm.delta) / (2 * t))

    def contribution(x: float, i: int) -> float:
        keep = algorithm.estimator != "tea" or abs(x) <= (algorithm.moment_b * i / level) ** (1 / p)
        return x if keep else 0.0

    def estimator(values: list[float]) -> float:
        if algorithm.estimator == "mom":
            return float(np.median([np.mean(values[batch::batches]) for batch in range(min(batches, len(values)))]))
        if algorithm.estimator == "catoni":
            finished = min(len(values), view.memory.get("seen", 0))
            t = max((t for t in range(1, finished + 1) if looked_at(t)), default=0)
            return catoni_root(values[:t], catoni_scale(level, t, p, algorithm.moment_c), p) if t else values[0]
        return np.sum(values) / len(values)

    def decide(view, _, t, values, order, memory):
        if not looked_at(t):
            return list(range(len(values)))
        distance = values.max() - values
        view.near |= bool((np.abs(distance - 2 * radius(t)) < NEAR).any())
        return [i for i in range(len(values)) if distance[i] <= 2 * radius(t)]

    return survivors(view, algorithm, decide, contribution, estimator)


def grown(number: int) -> bool:
    powers = [math.floor(math.log(x) / math.log(1.1)) for x in (number, max(number - 1, 1))]
    return number == 1 or powers[0] > powers[1]


def catoni_scale(level: float, t: int, p: float, spread: float) -> float:
    return (p * level / ((p - 1) * t * spread * 2 ** (2 - p))) ** (1 / p)


def catoni_root(values: list[float], alpha: float, p: float) -> float:
    def total(y: float) -> float:
        x = alpha * (np.asarray(values) - y)
        return float(np.sum(np.sign(x) * np.log(1 + np.abs(x) + np.abs(x) ** p / p)))

    return min(values) if len(values) == 1 else optimize.brentq(total, min(values) - 1e-9, max(values) + 1e-9)


def successive_rejects(view: View, algorithm: Any) -> Said:
    count = view.count
    total = sum(1 / i for i in range(1, count + 1)) - (0.5 if algorithm.harmonic == "half" else 0)
    schedule = [math.ceil((algorithm.budget - count) / (total * (count + 1 - k)) - 1e-9) for k in range(1, count)]

    def decide(view, _, t, values, order, memory):
        left = count - sum(n <= t for n in schedule)
        worst = view.top(-values, len(values) - left, order) if left < len(values) else []
        return [i for i in range(len(values)) if i not in worst]

    def contribution(x: float, i: int) -> float:
        return x if algorithm.estimator != "tea" or abs(x) <= algorithm.threshold else 0.0

    def median(values: list[float]) -> float:
        batches = min(algorithm.batches, len(values))
        return float(np.median([np.mean(values[batch::batches]) for batch in range(batches)]))

    if algorithm.estimator == "mom":
        return survivors(view, algorithm, decide, contribution, median)
    return survivors(view, algorithm, decide, contribution)


def sequential_halving(view: View, algorithm: Any) -> Said:
    phases = math.ceil(math.log2(view.count))

    def decide(view, _, t, values, order, memory):
        target = memory.setdefault("target", algorithm.budget // (view.count * phases))
        if t < target:
            return list(range(len(values)))
        left = math.ceil(len(values) / 2)
        memory["target"] = t + algorithm.budget // (left * phases)
        return view.top(values, left, order)

    return survivors(view, algorithm, decide, lambda x, i: x)


REFERENCES: dict[type, Callable[[View, Any], Said]] = {
    jb.Uniform: uniform, jb.UGapEc: ugape, jb.UGapEb: ugape, jb.GapE: gap_e, jb.UCBE: ucb_e, jb.LUCB: lucb,
    jb.SuccessiveElimination: successive_elimination, jb.SuccessiveRejects: successive_rejects,
    jb.SequentialHalving: sequential_halving, jb.CLUCB: clucb, jb.KLLUCB: kl_lucb, jb.LUCBPlusPlus: lucb_plus_plus,
    jb.LilUCB: lil_ucb,
}  # fmt: skip
REFERENCES |= {rule: module.reference for rule, module in references.MODULES.items()}

COINS = jb.bernoulli([0.5, 0.4, 0.4, 0.3, 0.2, 0.6])
SMOOTH = jb.gaussian([0.5, 0.4, 0.4, 0.3, 0.6], [0.3, 0.1, 0.5, 0.2, 0.2])
HEAVY = jb.student_t([0.5, 0.4, 0.4, 0.3, 0.6], 2.1, 0.3)
BETWEEN = jb.rademacher([0.4, 0.3, 0.2, 0.0], [0.9, 0.7, 0.7, 0.8])
SEVERAL = jb.gabillon(1)
SPREAD = jb.gaussian([[0.5, 0.4, 0.1], [0.9, 0.2, 0.0], [0.3, 0.25, 0.2]], [[0.3] * 3, [0.1] * 3, [0.2] * 3])

CASES = {
    "uniform": (jb.Uniform(budget=140), COINS),
    "uniform of three": (jb.Uniform(budget=140, m=3), COINS),
    "uniform over bandits": (jb.Uniform(budget=140), SEVERAL),
    "ugape-c": (jb.UGapEc(epsilon=0.3, delta=0.1), COINS),
    "ugape-c of two, small c": (jb.UGapEc(epsilon=0.15, delta=0.1, m=2, c=0.05), COINS),
    "ugape-c with variance": (jb.UGapEc(epsilon=0.5, delta=0.1, variance=True), SMOOTH),
    "ugape-c of two with variance": (jb.UGapEc(epsilon=0.2, delta=0.1, m=2, variance=True), SMOOTH),
    "ugape-c over bandits": (jb.UGapEc(epsilon=0.4, delta=0.2, c=0.1), SEVERAL),
    "ugape-c of two over bandits": (jb.UGapEc(epsilon=0.3, delta=0.2, m=2, c=0.1), SEVERAL),
    "ugape-b, a given": (jb.UGapEb(budget=140, a=1.5), COINS),
    "ugape-b, true gaps": (jb.UGapEb(budget=140, epsilon=0.1, b=1.0), COINS),
    "ugape-b of two, true gaps": (jb.UGapEb(budget=140, epsilon=0.05, m=2, b=0.7), COINS),
    "ugape-b adaptive": (jb.UGapEb(budget=140, adaptive=True), COINS),
    "ugape-b of three adaptive, last": (jb.UGapEb(budget=140, adaptive=True, m=3, last=True), COINS),
    "ugape-b with variance": (jb.UGapEb(budget=140, epsilon=0.1, variance=True), SMOOTH),
    "ugape-b adaptive with variance": (jb.UGapEb(budget=140, adaptive=True, variance=True, last=True), SMOOTH),
    "ugape-b over bandits": (jb.UGapEb(budget=140, adaptive=True), SEVERAL),
    "gap-e": (jb.GapE(budget=140, eta=4.0), SEVERAL),
    "gap-e, the theorem's a": (jb.GapE(budget=140), jb.bernoulli([0.7, 0.5, 0.4, 0.2])),
    "gap-e, a given": (jb.GapE(budget=140, a=0.5, b=2.0), COINS),
    "gap-e adaptive": (jb.GapE(budget=140, adaptive=True), SEVERAL),
    "gap-e adaptive with eta": (jb.GapE(budget=140, adaptive=True, eta=0.5), SEVERAL),
    "gap-e with variance": (jb.GapE(budget=140, variance=True), SPREAD),
    "gap-e adaptive with variance": (jb.GapE(budget=140, variance=True, adaptive=True, eta=1.0), SPREAD),
    "ucb-e": (jb.UCBE(budget=140), jb.bernoulli([0.3, 0.5, 0.7, 0.3, 0.4])),
    "ucb-e with eta": (jb.UCBE(budget=140, eta=2.0, b=1.5), jb.bernoulli([0.3, 0.5, 0.7, 0.3, 0.4])),
    "ucb-e adaptive": (jb.UCBE(budget=140, adaptive=True), jb.bernoulli([0.3, 0.5, 0.9, 0.2, 0.4])),
    "ucb-e adaptive with eta": (jb.UCBE(budget=150, adaptive=True, eta=0.4, b=1.5), SMOOTH),
    "ucb-e, a given": (jb.UCBE(budget=140, a=2.0), COINS),
    "successive elimination, ea": (jb.SuccessiveElimination(delta=0.2, estimator="ea", moment_c=0.01), SMOOTH),
    "successive elimination, ea, p": (
        jb.SuccessiveElimination(delta=0.2, estimator="ea", p=1.5, moment_c=0.02),
        SMOOTH,
    ),
    "successive elimination, tea": (jb.SuccessiveElimination(delta=0.2, estimator="tea", moment_b=0.02), HEAVY),
    "successive elimination, tea, p": (
        jb.SuccessiveElimination(delta=0.2, estimator="tea", p=1.7, moment_b=0.015),
        HEAVY,
    ),
    "successive elimination, mom": (
        jb.SuccessiveElimination(delta=0.9, estimator="mom", moment_c=3e-4),
        HEAVY,
    ),
    "successive elimination, mom, p": (
        jb.SuccessiveElimination(delta=0.9, estimator="mom", p=1.6, moment_c=1e-3),
        HEAVY,
    ),
    "successive elimination, catoni": (
        jb.SuccessiveElimination(delta=0.5, estimator="catoni", moment_c=0.01),
        HEAVY,
    ),
    "successive elimination, catoni, p": (
        jb.SuccessiveElimination(delta=0.5, estimator="catoni", p=1.6, moment_c=0.01),
        HEAVY,
    ),
    "successive rejects, mom": (jb.SuccessiveRejects(budget=140, estimator="mom", batches=4), HEAVY),
    "successive elimination, hoeffding": (jb.SuccessiveElimination(delta=0.2, estimator="hoeffding", b=0.3), COINS),
    "successive rejects": (jb.SuccessiveRejects(budget=120, harmonic="full"), COINS),
    "successive rejects, half": (jb.SuccessiveRejects(budget=140, harmonic="half"), HEAVY),
    "successive rejects, tea": (jb.SuccessiveRejects(budget=140, estimator="tea", threshold=1.0), HEAVY),
    "sequential halving": (jb.SequentialHalving(budget=140), HEAVY),
    "sequential halving, forgetting": (jb.SequentialHalving(budget=140, reuse=False), SMOOTH),
    "lucb": (jb.LUCB(epsilon=0.5, delta=0.1), COINS),
    "lucb of two": (jb.LUCB(epsilon=0.6, delta=0.1, m=2), COINS),
    "lucb, kl2013": (jb.LUCB(epsilon=0.7, delta=0.1, exploration="kl2013"), COINS),
    "kl-lucb": (jb.KLLUCB(epsilon=0.7, delta=0.1), COINS),
    "kl-lucb of two, log": (jb.KLLUCB(epsilon=0.3, delta=0.1, m=2, exploration="log"), COINS),
    "kl-lucb, heuristic": (jb.KLLUCB(epsilon=0.2, delta=0.05, exploration="heuristic"), BETWEEN),
    "kl-lucb of three, a wider range": (jb.KLLUCB(epsilon=0.6, delta=0.1, m=3, b=1.5), COINS),
    "lucb-pp": (jb.LUCBPlusPlus(epsilon=0.5, delta=0.1), COINS),
    "lucb-pp of two": (jb.LUCBPlusPlus(epsilon=0.6, delta=0.1, m=2), SMOOTH),
    "lil-ucb": (jb.LilUCB(delta=0.1), COINS),
    "lil-ucb, heuristic": (jb.LilUCB(delta=0.3, heuristic=True), jb.bernoulli([0.9, 0.3, 0.2, 0.1])),
    "clucb": (jb.CLUCB(k=1, epsilon=0.3, delta=0.2), COINS),
    "clucb of three": (jb.CLUCB(k=3, epsilon=0.0, delta=0.5, b=0.4), COINS),
}


@recent_programs(100, "steps")
def watch(algorithm, problem, keys, steps):
    """Pulls after every step, returned arms and whether a run has ended: `(run, step, …)`."""

    def one(key):
        history = jb.trajectory(algorithm, problem, key, steps)
        return history.pulls, history.answer, history.ended

    return jax.vmap(one)(keys)


def numbers_only(tree):
    """With arrays for numbers: cases that differ in nothing else share a program."""
    return jax.tree.map(lambda x: np.asarray(x, np.int32 if isinstance(x, int) else np.asarray(x).dtype), tree)


for module in references.MODULES.values():
    assert not CASES.keys() & module.CASES.keys()
    CASES |= module.CASES


# Each time, of each algorithm: the plainest case. Those of a kind that has another are slow tests altogether, and what
# is another setting.
OFTEN = (
    "uniform", "ugape-c", "ugape-b, a given", "gap-e", "ucb-e", "successive elimination, hoeffding",
    "successive rejects", "sequential halving", "lucb", "lucb of two", "kl-lucb", "lucb-pp", "lil-ucb",
    "clucb of three", "anytime eb-tc, ids", "apgai-b", "apgai-c", "apt", "apt-g", "beta top two", "betting race",
    "cr-a", "doubling", "fc2fb", "hdoc", "hdoc-first", "lin-gap-e", "lsa", "lucb-g", "ocba", "sh-ada-var", "sh-var",
    "st2",
)  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in OFTEN)) for n in CASES])
def test_every_decision_is_that_of_the_reference(name):
    algorithm, problem = CASES[name]
    reference = REFERENCES[type(algorithm)]
    steps = STEPS // 2 if isinstance(algorithm, LUCBRounds) else STEPS
    keys = jax.random.split(jax.random.key(len(name)), RUNS)

    unnamed = dataclasses.replace(problem, name="")
    pulls, returned, done = map(
        np.asarray, watch(numbers_only(algorithm.resolved(problem)), unnamed, keys, steps=steps)
    )
    table, orders = map(np.asarray, tables(unnamed, keys, pulls=STEPS + 2))
    table = table.astype(np.float64)
    decisions = skipped = answers = 0
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    for run in range(RUNS):
        rewards = [[table[run, pull, arm] for pull in range(pulls[run, 0, arm])] for arm in range(problem.arms)]
        smallest, kept, kept_near, memory = np.inf, None, False, {"key": keys[run]}
        for step in range(steps):
            view = View(rewards, orders[run], problem, memory)
            wanted, answer, statistic = reference(view, algorithm)
            if getattr(algorithm, "eliminates", False):
                if not view.near:
                    assert done[run, step] == (len(memory["alive"]) == 1)
            elif isinstance(statistic, bool):
                if not view.near:
                    assert done[run, step] == statistic
            elif getattr(algorithm, "budget", None) is None:
                epsilon = getattr(algorithm, "epsilon", 0)
                if abs(statistic - epsilon) > NEAR:
                    assert done[run, step] == (statistic < epsilon)
            else:
                assert done[run, step] == (view.time >= algorithm.budget)
            keeps_smallest = isinstance(algorithm, jb.UGapEb) and not algorithm.last
            if keeps_smallest:
                if not done[run, step]:  # J(t) is looked at before pull t
                    kept_near = (
                        (kept_near or view.near)
                        if statistic > smallest + NEAR
                        else (view.near or (smallest != np.inf and abs(statistic - smallest) <= NEAR))
                    )
                    if statistic < smallest:
                        smallest, kept = statistic, answer
                if kept is not None and not kept_near:
                    assert set(np.flatnonzero(returned[run, step])) == kept
                    answers += 1
            elif not view.near:
                assert set(np.flatnonzero(returned[run, step])) == answer
                answers += 1
            pulled = pulls[run, step + 1] - pulls[run, step]
            if done[run, step]:
                assert not pulled.any()
                break
            decisions += 1
            if isinstance(wanted, np.ndarray):
                drawn.append((wanted, pulled))
                assert pulled.sum() == 1
            elif view.near:
                skipped += 1
            else:
                assert np.flatnonzero(pulled).tolist() == sorted(wanted), (run, step)
            assert isinstance(wanted, np.ndarray) or pulled.sum() == len(wanted)
            for arm in np.flatnonzero(pulled):
                rewards[arm].append(table[run, len(rewards[arm]), arm])
    assert decisions > 20 * RUNS
    assert skipped < 0.1 * decisions
    assert answers > 0.3 * decisions
    if drawn:
        assert_drawn(*map(np.asarray, zip(*drawn, strict=True)))


def assert_drawn(law: np.ndarray, pulled: np.ndarray) -> None:
    """Each arm is pulled as often as its probabilities say, `(N, K)`: by Freedman's inequality, wrong once in 10^8."""
    level = np.log(2e8 * law.shape[1])
    spread = np.sum(law * (1 - law), axis=0)
    assert np.all(np.abs(np.sum(pulled - law, axis=0)) < level / 3 + np.sqrt(level**2 / 9 + 2 * spread * level))


def test_every_built_in_algorithm_has_a_reference():
    there = set(jb.algorithms.REGISTRY.values())
    # test_top_k, test_baselines, test_mab_ppr
    elsewhere = {cls for cls in there if issubclass(cls, Rule) and cls.traits.in_batches}
    elsewhere |= {jb.SAR}  # test_sar
    elsewhere |= {cls for cls in there if issubclass(cls, BudgetIndex)}  # test_budgeted
    elsewhere |= {cls for cls in there if issubclass(cls, GLRStopped)}  # test_glr_stopped
    assert there - elsewhere == set(REFERENCES) == {type(algorithm) for algorithm, _ in CASES.values()}


def test_a_wrong_formula_would_be_caught():
    """The reference with an exploration term 3% too large pulls another arm somewhere."""
    algorithm, problem = CASES["ugape-b, a given"]
    CASES["wrong"] = (algorithm, problem)
    wrong = dataclasses.replace(algorithm, a=algorithm.a * 1.06)
    right = REFERENCES[jb.UGapEb]
    try:
        REFERENCES[jb.UGapEb] = lambda view, _: right(view, wrong)
        with pytest.raises(AssertionError):
            test_every_decision_is_that_of_the_reference("wrong")
    finally:
        REFERENCES[jb.UGapEb] = right
        del CASES["wrong"]


def exact_uniform_error(p, budget):
    """Probability that uniform sampling of two Bernoulli arms returns the second, by all reward sequences.

    The arm that is first in the tie order gets the odd pull and wins ties of the means.
    """
    error = 0.0
    for first in (0, 1):
        counts = [budget // 2 + (budget % 2 if arm == first else 0) for arm in range(2)]
        for rewards in itertools.product((0, 1), repeat=budget):
            sums = [sum(rewards[: counts[0]]), sum(rewards[counts[0] :])]
            probability = np.prod([p[arm] ** sums[arm] * (1 - p[arm]) ** (counts[arm] - sums[arm]) for arm in range(2)])
            difference = sums[1] * counts[0] - sums[0] * counts[1]
            wrong = difference > 0 or (difference == 0 and first == 1)
            error += probability / 2 * wrong
    return error


@pytest.mark.parametrize("budget", [2, 3, 6, 7])
def test_uniform_sampling_of_two_arms_errs_as_often_as_counting_says(budget):
    """False alarm 1e-8 for each budget; an error 1% off would be seen."""
    p = [float(np.float32(x)) for x in (0.6, 0.35)]
    runs = 100_000
    data = jb.simulate(jb.Uniform(budget=budget), jb.bernoulli(p), seeds=runs, root_seed=budget)
    assert stats.binomtest(int((~data.correct).sum()), runs, exact_uniform_error(p, budget)).pvalue > 1e-8
