"""A hand-written numba loop of RCB on a reservoir: the speed bar of a compiled loop on a processor.

RCB (Li and Xia, 2017): every arm once, and then the arm with the largest min(r + E, 1) / max(c - E, 0), where E =
sqrt(log(t) / (2 T)) after t pulls, T of that arm; ties at random; until a pull costs more than is left of the budget.
Costs and rewards are 0 or 1, and every run draws its arms from the reservoir: ratios 1 - U^(1 / beta), expected costs
uniform on [0.2, 1].

Everything here is special to this rule and these arms. A run is one loop: means and 1 / sqrt(T) are kept, so a pass
over the arms has one division and no root; the pass is written so that LLVM makes vectors of it (a maximum, and then
its place), and tables hold log(t) and 1 / T. Tried on one thread for 112 arms, nanoseconds a pass while other work had
the machine: a branchy pass that compares products in place of ratios 760, the maximum as floats, which LLVM leaves
scalar, 240 to 300, as integers 85 to 110 (``_best``). Not tried: SIMD across runs, and leaving arms out of a pass by
bounds that hold over several pulls.
"""

import math

import numba
import numpy as np
from numba import njit, prange
from numba_ugape import _float_bits, run_seed, splitmix

F32, I32, U32, U64 = np.float32, np.int32, np.uint32, np.uint64

# No NaN arises, and the sign of zero does not matter, which lets LLVM turn comparisons into maxima. Infinities do.
_OPTIONS = {"fastmath": {"contract", "nsz", "nnan"}, "error_model": "numpy", "boundscheck": False, "nogil": True}
_VECTOR = 16


@njit(inline="always")
def _xoroshiro(first, second):
    """One step of xoroshiro128+ (Blackman and Vigna)."""
    draw = first + second
    second ^= first
    first = ((first << U64(24)) | (first >> U64(40))) ^ second ^ (second << U64(16))
    return first, (second << U64(37)) | (second >> U64(27)), draw


@njit(inline="always")
def _uniform(state):
    """A uniform number in (0, 1)."""
    state, word = splitmix(state)
    return state, ((word >> U64(12)) + 0.5) * 2.0**-52


@njit(**_OPTIONS)
def _best(index, mean, inverse_root, mean_cost, scale):
    """The largest index as an integer, how many arms have it, and which one if it is one."""
    largest = I32(0)
    for arm in range(len(index)):
        radius = scale * inverse_root[arm]
        upper, lower = min(mean[arm] + radius, F32(1)), max(mean_cost[arm] - radius, F32(0))
        # The bits of numbers that are not negative are in their order; LLVM makes vectors of a maximum of integers.
        bits = _float_bits(upper / lower)
        index[arm] = bits
        largest = max(largest, bits)
    equals, place = U32(0), U32(0)
    for arm in range(len(index)):
        equal = index[arm] == largest
        equals += U32(equal)
        place += U32(arm) if equal else U32(0)
    return largest, equals, place


@njit(parallel=True, **_OPTIONS)
def _runs(arms, beta, budget, seed, pulls, rewards, scales, reciprocals, inverse_roots):
    last_time, last_count = len(scales) - 1, len(reciprocals) - 1
    padded = (arms + _VECTOR - 1) // _VECTOR * _VECTOR
    for run in prange(len(pulls)):
        state, first = splitmix(run_seed(seed, run))
        state, second = splitmix(state)
        reward_threshold, cost_threshold = np.empty(arms, np.uint64), np.empty(arms, np.uint64)
        for arm in range(arms):
            state, u = _uniform(state)
            state, v = _uniform(state)
            price = 0.2 + 0.8 * v
            reward_threshold[arm] = U64((1 - u ** (1 / beta)) * price * 2.0**32)
            cost_threshold[arm] = U64(price * 2.0**32)
        counts, reward_sums, cost_sums = np.zeros(arms, I32), np.zeros(arms, I32), np.zeros(arms, I32)
        # Arms that fill up a vector have index 0, below any other.
        mean, inverse_root, mean_cost = np.zeros(padded, F32), np.zeros(padded, F32), np.ones(padded, F32)
        index = np.empty(padded, I32)
        time, paid, earned = 0, 0, 0
        while True:
            first, second, draw = _xoroshiro(first, second)
            if time < arms:
                arm = time
            else:
                largest, equals, place = _best(index, mean, inverse_root, mean_cost, scales[min(time, last_time)])
                arm = np.int64(place)
                if equals > 1:
                    state, word = splitmix(state)
                    arm, passed = np.int64(-1), U64(((word >> U64(32)) * U64(equals)) >> U64(32)) + U64(1)
                    while passed > U64(0):
                        arm += 1
                        passed -= U64(index[arm] == largest)
            reward = I32((draw >> U64(32)) < reward_threshold[arm])
            cost = I32((draw & U64(0xFFFFFFFF)) < cost_threshold[arm])
            time += 1
            paid += cost
            if paid > budget:  # this pull pays nothing
                break
            earned += reward
            counts[arm] += I32(1)
            reward_sums[arm] += reward
            cost_sums[arm] += cost
            count = min(counts[arm], last_count)
            mean[arm] = F32(reward_sums[arm]) * reciprocals[count]
            mean_cost[arm] = F32(cost_sums[arm]) * reciprocals[count]
            inverse_root[arm] = inverse_roots[count]
        pulls[run], rewards[run] = time, earned


def reservoir_runs(arms, beta, budget, runs, seed, threads=2):
    """Runs of RCB on so many arms of a reservoir, until the budget is spent.

    Args:
        arms: How many arms a run draws.
        beta: The reservoir's regularity.
        budget: What may be spent.
        runs: How many independent runs.
        seed: An integer; a run's result depends on it and on the run's number only.
        threads: How many threads share the runs.

    Returns:
        The pulls of each run, that which overshot the budget included, and its reward, two int64 arrays.
    """
    numba.set_num_threads(threads)
    pulls, rewards = np.empty(runs, np.int64), np.empty(runs, np.int64)
    # No cost is below 0.2 on average: so many pulls are not reached.
    times = np.maximum(np.arange(int(6 * budget) + 1000, dtype=np.float64), 1)
    tables = np.sqrt(np.log(times) / 2), 1 / times, 1 / np.sqrt(times)
    _runs(arms, float(beta), float(budget), seed, pulls, rewards, *(table.astype(F32) for table in tables))
    return pulls, rewards


def rcb_i_arms(budget, beta):
    """K(B): B^(beta / 2) below beta = 1, B^(beta / (1 + beta)) from there on."""
    return max(2, math.ceil(budget ** (beta / 2 if beta < 1 else beta / (1 + beta)) * (1 - 1e-12)))
