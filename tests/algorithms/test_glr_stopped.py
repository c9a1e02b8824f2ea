"""Rules that a likelihood ratio test stops, against a slow reference in double precision, decision for decision.

The reference sees the rewards that the run has seen so far and must choose the arm that the run pulls next, and whether
it stops. What is drawn, both draw alike. Exact ties fall by the order in which the run sees its arms; where values that
decide differ by less than float32 and a few rounds for w* can tell, the decision is not compared, and there must be few
of them.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, special

import jaxbandits as jb
from jaxbandits.algorithms.likelihood_ratio.glr_stopping import GLRStopped
from jaxbandits.algorithms.likelihood_ratio.optimal_tracking import Tracked
from jaxbandits.algorithms.likelihood_ratio.posterior_leader import words_of
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.random.arm_orders import ArmOrder
from jaxbandits.random.streams import step_key
from jaxbandits.random.threefry import open_uniform
from jaxbandits.statistics.posteriors import posterior_draws
from tests.reward_tables import tables

RUNS, STEPS = 3, 80
UNKNOWN = "gaussian-unknown-variance"


def divergence(family, mean, x):
    if family == "gaussian":
        return (mean - x) ** 2 / 2
    if family == "bernoulli":
        return special.rel_entr(mean, x) + special.rel_entr(1 - mean, 1 - x)
    if family == "poisson":
        return special.rel_entr(mean, x) + x - mean
    return mean / x - 1 - np.log(mean / x)


def cost(family, best, other, weight, other_weight, epsilon=0.0):
    """The cheapest alternative to the best arm's lead, and the best arm's part of it."""
    if best - other + epsilon <= 0:
        return 0.0, None

    def parts(x):
        return weight * divergence(family, best, x), other_weight * divergence(family, other, x + epsilon)

    if epsilon == 0 or family == "gaussian":
        at = (weight * best + other_weight * (other - epsilon)) / (weight + other_weight)
    else:
        low, high = max(other - epsilon, 0.0), min(best, 1 - epsilon if family == "bernoulli" else np.inf)
        found = optimize.minimize_scalar(
            lambda x: sum(parts(x)), bounds=(low, high), method="bounded", options={"xatol": 1e-11}
        )
        at = min((low, high, found.x), key=lambda x: sum(parts(x)))
    ours, theirs = parts(at)
    return ours + theirs, ours / (ours + theirs) if ours + theirs > 0 else 0.5


def optimal(family, means, epsilon=0.0):
    """w*, by nested bisections (Garivier and Kaufmann 2016, Theorem 5); of normal rewards with any epsilon."""
    best = np.flatnonzero(means == means.max())
    if len(best) > 1 and epsilon == 0:
        return np.isin(np.arange(len(means)), best) / len(best)
    first = best[0]
    top, others = means[first] + epsilon, np.delete(means, first)

    def both(x):
        middle = (top + x * others) / (1 + x)
        return divergence(family, top, middle), divergence(family, others, middle)

    def ratios(y):
        low, high = np.full(len(others), -30.0), np.full(len(others), 30.0)  # of log x
        for _ in range(45):
            middle = (low + high) / 2
            of_top, of_others = both(np.exp(middle))
            high, low = (
                np.where(of_top + np.exp(middle) * of_others > y, middle, high),
                np.where(of_top + np.exp(middle) * of_others > y, low, middle),
            )
        return np.exp(low)

    low, high = 0.0, min(float(divergence(family, top, others).min()), 50.0)
    for _ in range(40):
        middle = (low + high) / 2
        of_top, of_others = both(ratios(middle))
        low, high = (low, middle) if (of_top / of_others).sum() > 1 else (middle, high)
    ratio = np.insert(ratios(low), first, 1.0)
    return ratio / ratio.sum()


def optimal_unlike(means, variances, epsilon):
    """w* of normal arms with these variances: the others' pulls given the best arm's, which are searched for.

    With gap^2 / 2 = s_1^2 / w_1 + s_a^2 / w_a for every arm a, and (1 + x) times the least that w_1 can be for w_1.
    """
    best = np.flatnonzero(means == means.max())
    if len(best) > 1 and epsilon == 0:
        return np.isin(np.arange(len(means)), best) / len(best)
    first, variances = best[0], np.maximum(variances, 1e-6 * variances.max())
    gaps, nearest = means[first] - means + epsilon, (means[first] - np.delete(means, first)).min() + epsilon

    def pulls(x):
        w = 2 * variances * (1 + x) / ((gaps - nearest) * (gaps + nearest) + gaps**2 * x)
        w[first] = 2 * variances[first] * (1 + x) / nearest**2
        return w

    found = optimize.minimize_scalar(
        lambda y: np.log(pulls(np.exp(y)).sum()), bounds=(-25, 25), method="bounded", options={"xatol": 1e-9}
    )
    w = pulls(np.exp(found.x))
    return w / w.sum()


@functools.cache
def thresholds(word, delta, arms, m):
    return np.asarray(jax.jit(lambda t: jb.theory.glr_threshold(t, arms, delta, word, m))(2.0 + np.arange(2 * STEPS)))


def threshold(algorithm, arms, time):
    m = int(getattr(algorithm, "m", 1))
    return float(thresholds(algorithm.threshold_word, algorithm.delta, arms, m)[time - 2])


def cost_of_unknown(way, ours, theirs):
    """Of (pulls, variance) each: the least over a fine grid of where the two meet, and the best arm's part."""
    if way <= 0:
        return 0.0, None
    y = np.linspace(0, 1, 100_001)
    of_best, of_other = (n / 2 * np.log1p((way * x) ** 2 / s) for (n, s), x in ((ours, y), (theirs, 1 - y)))
    at = (of_best + of_other).argmin()
    both = of_best[at] + of_other[at]
    return both, of_best[at] / both


def rest_of(costs, best, pulls):
    """What the threshold `student-mixture` is for."""
    fewer = np.minimum(pulls, pulls[best])
    with np.errstate(invalid="ignore", over="ignore"):
        heavy = fewer / 2 * np.log1p(4 / (fewer + 4) * np.expm1(2 * costs / fewer))
        rest = costs - heavy - np.log1p(pulls / 4) / 2 - np.log1p(pulls[best] / 4) / 2
    return np.where(costs < np.inf, rest, np.inf)


class View:
    """What a run has seen."""

    def __init__(self, algorithm, problem, rewards, order, key, memory):
        self.algorithm, self.problem, self.order, self.memory = algorithm, problem, order, memory
        self.pulls = np.asarray([len(seen) for seen in rewards], float)
        self.time, self.arms = int(self.pulls.sum()), len(rewards)
        self.sums = np.asarray([np.sum(seen) for seen in rewards])
        self.raw = self.sums / self.pulls
        self.variance = np.asarray([np.var(seen) for seen in rewards])
        self.b = algorithm.b or float(problem.reward_range)
        unit = {"gaussian": 2 / self.b, "bernoulli": 1 / self.b}.get(algorithm.family, 1.0)
        self.unit, self.mean = unit, self.raw * unit
        self.key, self.near = step_key(key, jnp.int32(self.time)), False

    def first(self, values, near=1e-5, order=None):
        """The position of the largest value, ties by the order."""
        best = values.max()
        self.near |= bool(((values != best) & (values > best - near * max(1, abs(best)))).any())
        return int(np.where(values == best, self.order if order is None else order, np.inf).argmin())

    def best(self):
        return self.first(self.raw)

    def answer(self):
        """The m best-looking arms."""
        values, found = self.raw.copy(), []
        for _ in range(int(getattr(self.algorithm, "m", 1))):
            found.append(self.first(values))
            values[found[-1]] = -np.inf
        return found

    def pairs(self):
        """Costs of telling each arm of the answer from every arm, `(m, K)`, infinite for arms of it; and shares."""
        answer = self.answer()
        costs, shares = zip(*(self.against(arm, self.algorithm.epsilon) for arm in answer), strict=True)
        costs = np.asarray(costs)
        costs[:, answer] = np.inf
        return costs, shares

    def against(self, arm, epsilon):
        """Costs of telling an arm from the others, and its shares."""
        if self.algorithm.family == UNKNOWN:
            each = list(zip(self.pulls, self.variance, strict=True))
            ways = self.raw[arm] - self.raw + epsilon
            found = [
                (np.inf, None) if other == arm else cost_of_unknown(ways[other], each[arm], each[other])
                for other in range(self.arms)
            ]
            return np.asarray([x[0] for x in found]), [x[1] for x in found]
        found = [
            (np.inf, None)
            if other == arm
            else cost(
                self.algorithm.family, self.mean[arm], self.mean[other], self.pulls[arm], self.pulls[other],
                epsilon * self.unit,
            )
            for other in range(self.arms)
        ]  # fmt: skip
        return np.asarray([x[0] for x in found]), [x[1] for x in found]

    def rival(self, costs):
        """The position of the least cost. Costs of unlike arms may tie by chance, which float32 does not see."""
        found = self.first(-costs)
        tied = np.flatnonzero(costs == costs[found])
        self.near |= costs[found] > 0 and len({(self.pulls[arm], self.sums[arm]) for arm in tied}) > 1
        return found

    def share(self, leader, other, shares):
        if self.algorithm.share != "ids":
            return self.algorithm.share
        if self.algorithm.family == "gaussian":
            return self.pulls[other] / (self.pulls[leader] + self.pulls[other])
        return 0.5 if shares[other] is None else shares[other]

    def forced(self):
        least = self.first(-self.pulls)
        return least if self.pulls[least] < np.sqrt(self.time) - self.arms / 2 else None

    def heads(self, share, key):
        chance = open_uniform(jax.random.bits(key))
        self.near |= bool(abs(chance - share) < 1e-5)
        return bool(chance <= np.float32(share))

    def best_of_draw(self, key, attempt):
        seen = np.argsort(self.order)  # the arms as the run sees them
        drawn = drawn_means(self.algorithm.family, key, self.pulls[seen], self.sums[seen], attempt, self.b)
        return self.first(np.asarray(drawn, float)[self.order])


@functools.partial(jax.jit, static_argnums=0)
def drawn_means(family, key, pulls, sums, attempt, b):
    pulls, sums = jnp.asarray(pulls, jnp.int32), jnp.asarray(sums, jnp.float32)
    known = jb.Arms(
        pulls=pulls,
        mean=sums / pulls,
        inverse_root=1 / jnp.sqrt(pulls),
        total=sums,
        time=pulls.sum(),
        count=jnp.int32(len(pulls)),
        b=jnp.float32(b),
    )
    return posterior_draws(family, words_of(key, known, attempt), known, jnp.float32(b))


def uniform(view):
    return view.first(-view.pulls)


def weights_now(view):
    """w*, at the times at which it is computed."""
    due = view.memory.setdefault("due", 0)
    if view.time >= due:
        epsilon = view.algorithm.epsilon * view.unit
        if view.algorithm.family == UNKNOWN:
            view.memory["w"] = optimal_unlike(view.mean, view.variance, epsilon)
        else:
            view.memory["w"] = optimal(view.algorithm.family, view.mean, epsilon)
        view.memory["due"] = view.time + max(view.time // 64, 1) if view.algorithm.lazy else 0
    return view.memory["w"]


def at_least(weights, floor):
    """The nearest point in the largest coordinate, its entries at least the floor, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(weights - middle, floor).sum() > 1 else (low, middle)
    return np.maximum(weights - low, floor)


def track_and_stop(view):
    weights = weights_now(view)
    if view.algorithm.tracking == "c":
        total = view.memory.setdefault("total", np.ones(view.arms))
        total += at_least(weights, 0.5 / np.sqrt(view.arms**2 + view.time))
        return view.first(total - view.pulls, near=3e-5 * view.time)
    forced = view.forced()
    return view.first(view.time * weights - view.pulls, near=3e-5 * view.time) if forced is None else forced


def best_challenger(view):
    weights, forced = weights_now(view), view.forced()
    best = view.best()
    rival = view.rival(view.against(best, view.algorithm.epsilon)[0])
    if forced is not None:
        return forced
    share, wanted = (x[best] / (x[best] + x[rival]) for x in (view.pulls, weights))
    view.near |= abs(share - wanted) < 1e-5
    return best if share < wanted else rival


def owed(view, entry, share):
    """Whether an account is paid a pull, which it is credited with the share."""
    sums, paid = view.memory.setdefault("shares", {}), view.memory.setdefault("paid", {})
    sums[entry] = sums.get(entry, 0.0) + share
    view.near |= abs(paid.get(entry, 0) - sums[entry]) < 1e-5 and view.algorithm.share == "ids"
    pull = paid.get(entry, 0) <= sums[entry] + 1e-9
    paid[entry] = paid.get(entry, 0) + pull
    return pull


def eb_tc(view):
    best = view.best()
    costs, shares = view.against(best, view.algorithm.slack)
    rival = view.rival(costs)
    return rival if owed(view, (best, rival), 1 - view.share(best, rival, shares)) else best


def eb_tci(view):
    costs, shares = view.pairs()
    rival = view.first(-costs.min(axis=0) - np.log(view.pulls))
    # Of arms that are equally near, the one with the larger mean; they come in that order.
    nearest = view.first(-costs[:, rival], order=np.arange(len(costs)))
    best = view.answer()[nearest]
    return best if view.heads(view.share(best, rival, shares[nearest]), view.key) else rival


def ttucb(view):
    known = {"bernoulli": view.b / 2, "gaussian": view.b / 2, UNKNOWN: np.sqrt(view.variance)}
    spread = known[view.algorithm.family] if view.algorithm.family in known else np.sqrt(view.mean)
    leader = view.first(view.raw + spread * np.sqrt(2 * 1.2 * 2.2 * np.log(view.time + 1) / view.pulls))
    costs, shares = view.against(leader, view.algorithm.epsilon)
    rival = view.rival(costs)
    return leader if owed(view, leader, view.share(leader, rival, shares)) else rival


def thompson(view):
    ttts = isinstance(view.algorithm, jb.TTTS)
    draws, *_, toss = jax.random.split(view.key, 3 if ttts else 2)
    leader = view.best_of_draw(draws, 0)
    costs, shares = view.against(leader, view.algorithm.epsilon)
    rival = view.rival(costs)
    for attempt in range(1, 1 + view.algorithm.resamplings) if ttts else ():
        found = view.best_of_draw(draws, attempt)
        if found != leader:
            rival = found
            break
    else:
        view.near |= ttts  # the rule draws this challenger directly: test_posterior_tilts.py compares its law
    return leader if view.heads(view.share(leader, rival, shares), toss) else rival


REFERENCES = {
    jb.UniformGLR: uniform, jb.TrackAndStop: track_and_stop, jb.BestChallenger: best_challenger, jb.EBTC: eb_tc,
    jb.EBTCI: eb_tci, jb.TTUCB: ttucb, jb.T3C: thompson, jb.TTTS: thompson,
}  # fmt: skip
COINS = jb.bernoulli([0.5, 0.4, 0.2, 0.75])
SMOOTH = jb.gaussian([0.5, 0.3, 0.3, 0.9], 0.6)
UNLIKE = jb.gaussian([0.5, 0.3, 0.2, 0.9], [0.6, 0.2, 1.0, 0.4])
CASES = {
    "uniform": (jb.UniformGLR(delta=0.2, epsilon=0.1, threshold="gk16"), COINS),
    "uniform, sub-Gaussian": (jb.UniformGLR(delta=0.3, family="gaussian"), COINS),
    "track-and-stop": (jb.TrackAndStop(delta=0.2, threshold="heuristic"), COINS),
    "track-and-stop, normal": (jb.TrackAndStop(delta=0.2, epsilon=0.1), SMOOTH),
    "track-and-stop, c": (jb.TrackAndStop(delta=0.2, tracking="c", threshold="gk16"), COINS),
    "track-and-stop, lazy": (jb.TrackAndStop(delta=0.2, lazy=True), COINS),
    "track-and-stop, unknown variances": (jb.TrackAndStop(delta=0.3, epsilon=0.2, family=UNKNOWN), UNLIKE),
    "track-and-stop, c, unknown variances": (jb.TrackAndStop(delta=0.3, tracking="c", family=UNKNOWN), UNLIKE),
    "best challenger, unknown variances": (jb.BestChallenger(delta=0.3, family=UNKNOWN, lazy=True), UNLIKE),
    "best challenger": (jb.BestChallenger(delta=0.2), COINS),
    "eb-tc": (jb.EBTC(delta=0.2, epsilon=0.05), SMOOTH),
    "eb-tc, ids": (jb.EBTC(delta=0.2, share="ids", slack=0.2), COINS),
    "eb-tci": (jb.EBTCI(delta=0.2), COINS),
    "eb-tci, ids": (jb.EBTCI(delta=0.2, share="ids"), SMOOTH),
    "ttucb": (jb.TTUCB(delta=0.2, share=0.375), SMOOTH),
    "ttucb, ids": (jb.TTUCB(delta=0.2, share="ids", epsilon=0.1), COINS),
    "ttucb, poisson": (jb.TTUCB(delta=0.2, family="poisson"), COINS),
    "uniform, two arms": (jb.UniformGLR(delta=0.2, epsilon=0.2, m=2), COINS),
    "uniform, three arms": (jb.UniformGLR(delta=0.3, epsilon=0.1, m=3), SMOOTH),
    "eb-tci, two arms": (jb.EBTCI(delta=0.2, share="ids", m=2), COINS),
    "eb-tci, three arms": (jb.EBTCI(delta=0.2, epsilon=0.1, m=3), SMOOTH),
    "eb-tci, two arms, unknown variances": (jb.EBTCI(delta=0.3, epsilon=0.2, family=UNKNOWN, m=2), UNLIKE),
    "uniform, unknown variances": (jb.UniformGLR(delta=0.3, epsilon=0.3, family=UNKNOWN), UNLIKE),
    "eb-tc, unknown variances": (jb.EBTC(delta=0.3, epsilon=0.2, family=UNKNOWN), UNLIKE),
    "eb-tci, unknown variances": (jb.EBTCI(delta=0.3, family=UNKNOWN, share="ids"), UNLIKE),
    "ttucb, unknown variances": (jb.TTUCB(delta=0.3, family=UNKNOWN, threshold="heuristic"), UNLIKE),
    "t3c": (jb.T3C(delta=0.2), COINS),
    "t3c, normal": (jb.T3C(delta=0.2), SMOOTH),
    "t3c, exponential": (jb.T3C(delta=0.2, family="exponential"), jb.beta([2.0, 1.0, 1.0], [1.0, 1.0, 3.0])),
    "ttts": (jb.TTTS(delta=0.2, resamplings=200), COINS),
    "ttts, poisson": (jb.TTTS(delta=0.2, resamplings=200, family="poisson"), COINS),
}
EACH_TIME = ("track-and-stop, normal", "ttucb")


@recent_programs(100, "steps")
def watch(algorithm, problem, keys, steps):
    """Pulls after every step, returned arms, whether a run has ended and its statistic: `(run, step, …)`."""

    def one(key):
        history = jb.trajectory(algorithm, problem, key, steps)
        seen = ArmOrder.draw(key, problem.arms, None).by_place(jnp.arange(problem.arms))
        names = [name for name in ("pulls", "mean", "inverse_root", "squares") if getattr(history, name) is not None]
        arms = {name: getattr(history, name)[:, seen] for name in names}  # as the run sees them
        statistic = jax.vmap(algorithm.statistic)(history.own, dataclasses.replace(history, **arms))
        return history.pulls, history.answer, history.ended, statistic

    return jax.vmap(one)(keys)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in EACH_TIME)) for name in CASES]
)
def test_every_decision_is_that_of_the_reference(name):
    algorithm, problem = CASES[name]
    algorithm = algorithm.resolved(problem)
    # Bisections take long.
    runs, steps = (1 if name in EACH_TIME and isinstance(algorithm, Tracked) else RUNS), STEPS
    keys = jax.random.split(jax.random.key(len(name)), RUNS)[:runs]
    pulls, returned, done, least = map(np.asarray, watch(algorithm, problem, keys, steps=steps))
    table, orders = map(np.asarray, tables(problem, keys, pulls=STEPS + 2))
    compared = skipped = 0
    for run in range(runs):
        rewards = [[float(x) for x in table[run, : algorithm.initial_pulls, arm]] for arm in range(problem.arms)]
        memory = {}
        for step in range(steps):
            view = View(algorithm, problem, rewards, orders[run], keys[run], memory)
            answer, tested = view.answer(), view.pairs()[0]
            if algorithm.threshold_word == "student-mixture":
                tested = np.asarray([rest_of(c, arm, view.pulls) for c, arm in zip(tested, answer, strict=True)])
            if not view.near:
                assert least[run, step] == pytest.approx(tested.min(), rel=1e-4, abs=1e-4)
            evidence = tested.min() - threshold(algorithm, view.arms, view.time)
            if not view.near and abs(evidence) > 1e-4:
                assert done[run, step] == (evidence > 0)
                assert np.flatnonzero(returned[run, step]).tolist() == sorted(answer)
            pulled = pulls[run, step + 1] - pulls[run, step]
            if done[run, step]:
                assert not pulled.any()
                break
            wanted = REFERENCES[type(algorithm)](view)
            compared += 1
            skipped += view.near
            if not view.near:
                assert np.flatnonzero(pulled).tolist() == [wanted], (run, step)
            elif "paid" in memory and pulled.argmax() != wanted:
                break  # from here on the accounts are others
            (arm,) = np.flatnonzero(pulled)
            rewards[arm].append(float(table[run, len(rewards[arm]), arm]))
    assert compared > 20 * runs
    assert skipped < 0.15 * compared


def test_every_rule_has_a_reference():
    assert {cls for cls in jb.algorithms.REGISTRY.values() if issubclass(cls, GLRStopped)} == set(REFERENCES)


def test_a_wrong_formula_would_be_caught(monkeypatch):
    def wrong(view):
        view.algorithm = dataclasses.replace(view.algorithm, epsilon=0.05)
        return ttucb(view)

    monkeypatch.setitem(REFERENCES, jb.TTUCB, wrong)
    with pytest.raises(AssertionError):
        test_every_decision_is_that_of_the_reference("ttucb")
