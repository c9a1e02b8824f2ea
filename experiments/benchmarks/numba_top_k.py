"""A hand-written numba loop of AdaptiveTopK with fixed confidence on Bernoulli arms, drawing sums: the bar for top-K.

AdaptiveTopK (Chen, Chen, Zhang, Zhou 2017, Algorithm 1): round r pulls every active arm ceil(4^r ln(2 n r^2 / delta))
times. The pulls of a round are the same in all runs, so what a sampler computes from (pulls, mean) is tabled once. One
run after another on each thread; sums are whole numbers, so the order statistics come from a histogram.

Two samplers: the library's, and `transformed`, written for this job: BTRS of Hörmann (1993), "The generation of
binomial random variates", with Stirling's series for the acceptance, and sequential search where the mean of the rarer
outcome is below 10.
"""

import math

import numpy as np
from numba import njit, prange
from numba_ugape import run_seed, splitmix

_ROUNDS = 12
_SWITCH = 10.0
_OPTIONS = {"error_model": "numpy", "boundscheck": False}


@njit(inline="always", **_OPTIONS)
def uniform(state):
    """The next state, and a float64 in [0, 1)."""
    state, word = splitmix(state)
    return state, (word >> np.uint64(11)) * 2.0**-53


@njit(inline="always", **_OPTIONS)
def stirling(x):
    """What Stirling's formula leaves of ln x!."""
    y = x + 1.0
    square = y * y
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / y


@njit(**_OPTIONS)
def setup(n, p):
    """What the samplers need of the law; p <= 1/2."""
    q = 1 - p
    row = np.zeros(8)
    row[0], row[1] = n, p / q
    if n * p < _SWITCH:
        row[2] = q**n
        return row
    sd = math.sqrt(n * p * q)
    b = 1.15 + 2.53 * sd
    mode = math.floor((n + 1) * p)
    row[2], row[3] = b, -0.0873 + 0.0248 * b + 0.01 * p
    row[4], row[5] = n * p + 0.5, 0.92 - 4.2 / b
    row[6], row[7] = (2.83 + 5.1 / b) * sd, mode
    return row


@njit(inline="always", **_OPTIONS)
def search(state, row):
    """Sequential search from zero."""
    n, odds, term = row[0], row[1], row[2]
    state, u = uniform(state)
    k = 0
    while u > term and k < n:
        u -= term
        k += 1
        term *= (n - k + 1) / k * odds
    return state, k


@njit(**_OPTIONS)
def logarithm_of_ratio(k, n, mode, odds):
    """Logarithm of P(X = k) / P(X = mode)."""
    at_mode = (mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1))) + stirling(mode) + stirling(n - mode)
    there = (n + 1) * math.log((n - mode + 1) / (n - k + 1)) + (k + 0.5) * math.log((n - k + 1) * odds / (k + 1))
    return at_mode + there - stirling(k) - stirling(n - k)


@njit(inline="always", **_OPTIONS)
def transformed(state, row):
    """BTRS: transformed rejection with a squeeze."""
    n, odds, b, a, centre, squeeze = row[0], row[1], row[2], row[3], row[4], row[5]
    while True:
        state, v = uniform(state)
        state, u = uniform(state)
        u -= 0.5
        edge = 0.5 - abs(u)
        k = math.floor((2 * a / edge + b) * u + centre)
        if edge >= 0.07 and v <= squeeze:
            return state, k
        if k < 0 or k > n:
            continue
        v = math.log(v * row[6] / (a / (edge * edge) + b))
        if v <= logarithm_of_ratio(k, n, row[7], odds):
            return state, k


@njit(**_OPTIONS)
def tables(means, delta):
    """Pulls of every round, and the samplers' rows for them and every arm."""
    arms = means.size
    pulls, rows = np.zeros(_ROUNDS, np.int64), np.zeros((_ROUNDS, arms, 8))
    for r in range(1, _ROUNDS):
        pulls[r] = math.ceil(4.0**r * math.log(2 * arms * r * r / delta))
        for arm in range(arms):
            rows[r, arm] = setup(pulls[r], min(means[arm], 1 - means[arm]))
    return pulls, rows


@njit(parallel=True, **_OPTIONS)
def adaptive_top_k(means, pulls, rows, k, epsilon, runs, seed, library):
    """Pulls of runs, and the arms that they return.

    Args:
        means: float64 (n,), in [0, 1].
        pulls: of every round, from `tables`.
        rows: from `tables`.
        k: arms to return.
        epsilon: aggregate regret allowed.
        runs: how many.
        seed: an integer.
        library: whether draws are the library's.
    """
    arms = means.size
    totals, returned = np.zeros(runs, np.int64), np.zeros((runs, arms), np.bool_)
    for run in prange(runs):
        state = run_seed(seed, run)
        active, sums = np.arange(arms), np.zeros(arms, np.int64)
        count, left, total = arms, k, 0
        for r in range(1, _ROUNDS):
            m = pulls[r]
            histogram = np.zeros(m + 1, np.int32)
            for i in range(count):
                arm = active[i]
                p, row = means[arm], rows[r, arm]
                if library:
                    drawn = np.random.binomial(m, p)  # noqa: NPY002 - the one that numba has
                else:
                    if m * min(p, 1 - p) < _SWITCH:
                        state, few = search(state, row)
                    else:
                        state, few = transformed(state, row)
                    drawn = m - np.int64(few) if p > 0.5 else np.int64(few)
                sums[i] = drawn
                histogram[drawn] += 1
            total += m * count
            inner, above = m, np.int64(histogram[m])
            while above < left:
                inner -= 1
                above += histogram[inner]
            outer = inner
            if above == left:
                outer -= 1
                while histogram[outer] == 0:
                    outer -= 1
            width = 2 * 0.5**r * m
            kept = 0
            for i in range(count):
                if sums[i] - outer > width:
                    returned[run, active[i]] = True
                    left -= 1
                elif inner - sums[i] <= width:
                    active[kept], sums[kept] = active[i], sums[i]
                    kept += 1
            count = kept
            if left == 0 or left == count or 2 * 0.5**r * left <= epsilon * k:
                break
        # The best of those left; which of equals makes no difference to pulls, so the first do.
        above = 0
        for i in range(count):
            if sums[i] > inner and above < left:
                returned[run, active[i]] = True
                above += 1
        for i in range(count):
            if above < left and sums[i] == inner:
                returned[run, active[i]] = True
                above += 1
        totals[run] = total
    return totals, returned
