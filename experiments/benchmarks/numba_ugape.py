r"""A hand-written numba loop of UGapEc on Bernoulli arms: the speed bar of a compiled loop on a processor.

UGapEc (Gabillon, Ghavamzadeh and Lazaric, 2012) for one best arm, with c = 1/2 and b = 1. With N_k pulls of arm k,
t pulls in all and the radius r_k = sqrt(0.5 ln(4 K t^3 / delta) / N_k), the bounds are U_k, L_k = mean_k +- r_k and
the gap index is B_k = max_{i != k} U_i - L_k. J minimises B, u has the largest U but for J, the run stops and
recommends J when B_J < epsilon, and otherwise pulls whichever of J and u has the larger radius (at random on ties).

Everything here is special to this rule, this reward and m = 1. What was tried, in millions of pulls a second on a
two-core AMD EPYC (Zen 4, AVX-512; numba 0.68), delta = 0.05 and epsilon = 0.1, for K = 10 with the means
(0.7, 0.5 x 9) and for K = 50 with 50 means evenly from 0.9 to 0.1:

==============================================================================================  ======  ======
on one thread                                                                                   K = 10  K = 50
==============================================================================================  ======  ======
one run per loop, the rule as written: logarithm, roots and divisions at each pull, float64       13.2     5.9
one run per loop, cached means and 1 / sqrt(N), tables of radii, one branchy pass, float64        50.9    19.0
the same in float32 (``kernel="single"``)                                                         51.6    19.2
the same in float32, selections in place of branches                                              48.0    17.6
one run per loop, SIMD over its arms, float32: bound by the latency of the reductions             30.6    27.6
SIMD across 64 runs, float32, the choice of the arm and the reward left to a scalar loop         115.1    71.2
SIMD across runs, everything but the look-ups in SIMD (``kernel="lanes"``)                       255.8   115.2
==============================================================================================  ======  ======

``kernel="contract"`` is the same with two properties that this package has. The random words of a pull are Threefry's
(20 rounds) of the run, the arm and its number of pulls. Bounds are compared exactly, with their arms beside them. On
one thread without AVX-512, "lanes" made 141 at K = 10 and 76 at K = 50, and "contract" 98 and 43; in other
calls "contract" made 83 to 98 and 43 to 58.

On two threads, "lanes" made 505 at K = 10 and "single" 40.2 at K = 50. The other two were only measured while other
work had one of the two cores; per second of processor time they made 122 ("lanes", K = 50) and 54 ("single", K = 10)
on each thread, hence about 244 and 108 on two, which is an extrapolation. Not tried: several runs interleaved without
SIMD, and leaving arms out of a pass by bounds that hold over several pulls.

The fastest, and the default, is SIMD across runs: a thread holds 64 or 128 runs side by side, one per lane; a run
that stops is replaced at once by the next one, from a counter that the threads share; and only the gathers and the
scatter of the arms in play are scalar. Few lanes expose the latency of a step (16 lanes made well under half of what
64 made), and more than the default gained nothing. What took it from 115 to 256 at K = 10: no branch on the reward,
which is mispredicted every other time, and every other loop in a form that LLVM vectorises, with 32-bit integers
throughout and one scratch array so that no two arrays can alias; then unsigned indices, which numba does not wrap.
At K = 50, keeping the upper bounds as integers brought 8 per cent. A bound carries its arm in its low bits, so that a
maximum needs no index beside it, and only mean_k and 1 / sqrt(N_k) are stored: N_k and the sum of rewards come back
exactly by rounding, up to 2.9 million pulls of an arm.

The index in the low bits limits the comparison of two bounds to a relative 2^-19 (K = 10) or 2^-17 (K = 50); the
stopping test is on the unpacked float32 values. Mean stopping times with their standard errors, at K = 10: "lanes"
6490.7 +- 1.9, "single" 6493.6 +- 3.5, the rule as written in float64 6491.4 +- 6.1; at K = 50: 28050 +- 12,
28060 +- 27 and 28082 +- 43.
"""

import functools
import math
import time

import numba
import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.extending import intrinsic

F32, I32, U32, U64 = np.float32, np.int32, np.uint32, np.uint64

# No NaN or infinity arises, and the sign of zero does not matter, which lets LLVM turn comparisons into maxima.
# Reassociation and approximate reciprocals stay off: the pull count is recovered by rounding 1 / (1 / sqrt(N))^2.
_OPTIONS = {
    "fastmath": {"contract", "nsz", "nnan", "ninf"},
    "error_model": "numpy",
    "boundscheck": False,
    "nogil": True,
}

_RADIUS_TABLE = 1 << 17
_RECIPROCAL_TABLE = 1 << 14


@intrinsic
def _float_bits(_typing_context, value):  # noqa: ARG001 - numba reads the signature
    """The bits of a float32 as an int32."""

    def generate(_context, builder, _signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.int32(types.float32), generate


@intrinsic
def _bits_float(_typing_context, value):  # noqa: ARG001 - numba reads the signature
    """The float32 with the bits of an int32."""

    def generate(_context, builder, _signature, arguments):
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@intrinsic
def _round(_typing_context, value):  # noqa: ARG001 - numba reads the signature
    """A float32 rounded to the nearest integer, as a float32: one instruction, unlike numpy's under numba."""

    def generate(_context, builder, _signature, arguments):
        return builder.call(builder.module.declare_intrinsic("llvm.rint", [ir.FloatType()]), [arguments[0]])

    return types.float32(types.float32), generate


@intrinsic
def _shift_right(_typing_context, value, places):  # noqa: ARG001 - numba reads the signature
    """An arithmetic shift that stays in 32 bits: numba's own widens to 64, which halves the lanes."""

    def generate(_context, builder, _signature, arguments):
        return builder.ashr(arguments[0], arguments[1])

    return types.int32(types.int32, types.int32), generate


@intrinsic
def _take_ticket(_typing_context, counter):
    """The counter's value before one is added to it atomically: the next run for whichever thread asks."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counter), generate


@njit(inline="always")
def splitmix(state):
    """The next 64-bit state and word of SplitMix64 (Steele, Lea, Flood 2014)."""
    state = state + U64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> U64(27))) * U64(0x94D049BB133111EB)
    return state, mixed ^ (mixed >> U64(31))


@njit(inline="always")
def _turned(first, second, places):
    """One round of Threefry: add, rotate, combine."""
    first = U32(first + second)
    second = U32(second << U32(places)) | U32(second >> U32(32 - places))
    return first, U32(second ^ first)


@njit(inline="always")
def _threefry(key_0, key_1, first, second):
    """Threefry of 2 words and 20 rounds (Salmon, Moraes, Dror, Shaw 2011)."""
    key_2 = U32(key_0 ^ key_1 ^ U32(0x1BD11BDA))
    first, second = U32(first + key_0), U32(second + key_1)
    for group in range(5):
        if group % 2 == 0:
            first, second = _turned(first, second, 13)
            first, second = _turned(first, second, 15)
            first, second = _turned(first, second, 26)
            first, second = _turned(first, second, 6)
        else:
            first, second = _turned(first, second, 17)
            first, second = _turned(first, second, 29)
            first, second = _turned(first, second, 16)
            first, second = _turned(first, second, 24)
        key_0, key_1, key_2 = key_1, key_2, key_0
        first, second = U32(first + key_0), U32(second + key_1 + U32(group + 1))
    return first, second


@njit(inline="always")
def run_seed(seed, run):
    """A generator's state for one run, so that a run's result does not depend on its lane or its thread."""
    _, mixed = splitmix(U64(seed) * U64(0xD1342543DE82EF95) + U64(run) * U64(0x2545F4914F6CDD1D))
    return mixed


def _block_size(arms):
    """How many arms one unrolled pass takes: few enough to unroll fully, and with the least padding."""
    if arms <= 12:
        return arms
    return min((5, 6, 7, 8, 4), key=lambda block: -(-arms // block) * block)


@functools.cache
def _lanes_kernel(arms, lanes, contract):
    """The loop that steps ``lanes`` runs at once, compiled for one number of arms."""
    block = _block_size(arms)
    blocks = -(-arms // block)
    padded = blocks * block
    index_bits = max(1, (padded - 1).bit_length())
    index_mask = I32((1 << index_bits) - 1)
    index_mask_unsigned = U32((1 << index_bits) - 1)
    bound_mask = I32(~index_mask)

    # One array holds everything, each quantity at a constant offset: LLVM then proves that the loops' reads and
    # writes do not overlap, where separate arrays would each need a check at run time, or stay scalar.
    mean_at, inverse_root_at = 0, padded * lanes
    offsets = iter(range(2 * padded * lanes, 2 * padded * lanes + 28 * lanes, lanes))
    scale_at, first_upper_at, second_upper_at, first_lower_at = (next(offsets) for _ in range(4))
    count_at, margin_at, bits_at, threshold_at = (next(offsets) for _ in range(4))
    state_0_at, state_1_at, state_2_at, state_3_at = (next(offsets) for _ in range(4))
    best_mean_at, best_inverse_root_at, other_mean_at, other_inverse_root_at = (next(offsets) for _ in range(4))
    other_at, lower_wins_at, pulled_at = (next(offsets) for _ in range(3))
    new_mean_at, new_inverse_root_at, increment_at = (next(offsets) for _ in range(3))
    first_arm_at, second_arm_at, lower_arm_at = (next(offsets) for _ in range(3))
    size = next(offsets)
    # Where the arms are: beside their bounds, or in the low bits of them.
    best_at, second_at, rival_at = first_upper_at, second_upper_at, first_lower_at
    if contract:
        best_at, second_at, rival_at = first_arm_at, second_arm_at, lower_arm_at
    stride, to_inverse_root = U64(lanes), U64(inverse_root_at)

    zero, one, two = F32(0), F32(1), F32(2)
    third, fifth, seventh = F32(1 / 3), F32(1 / 5), F32(1 / 7)
    log_two, three_halves = F32(math.log(2)), F32(1.5)
    root_half_bits, mantissa_bits = I32(0x3F3504F3), I32(23)
    lowest, padding_mean = F32(-1e9), F32(-1e6)

    @njit(inline="always")
    def start(values, unsigned, means, lane, state):
        state, first = splitmix(state)
        state, second = splitmix(state)
        unsigned[state_0_at + lane] = U32(first & U64(0xFFFFFFFF))
        unsigned[state_1_at + lane] = U32(first >> U64(32))
        unsigned[state_2_at + lane] = U32(second & U64(0xFFFFFFFF))
        unsigned[state_3_at + lane] = U32((second >> U64(32)) | U64(1))
        for arm in range(arms):
            state, draw = splitmix(state)
            values[mean_at + arm * lanes + lane] = one if (draw >> U64(11)) * 2.0**-53 < means[arm] else zero
            values[inverse_root_at + arm * lanes + lane] = one
        for arm in range(arms, padded):
            # Never among the best: the bits of a negative upper bound are a negative integer, and real lower bounds
            # are far above this one.
            values[mean_at + arm * lanes + lane] = padding_mean
            values[inverse_root_at + arm * lanes + lane] = zero
        values[count_at + lane] = F32(arms)

    @njit(**_OPTIONS)
    def work(means, thresholds, epsilon, log_start, seed, counter, pulls, recommended):
        values = np.zeros(size, np.float32)
        signed, unsigned = values.view(np.int32), values.view(np.uint32)
        runs = len(pulls)
        run_of = np.full(lanes, -1, np.int64)
        live = 0
        for lane in range(lanes):
            run = _take_ticket(counter)
            if run < runs:
                run_of[lane] = run
                live += 1
            start(values, unsigned, means, lane, run_seed(seed, run))
        while live > 0:
            # scale = sqrt(0.5 ln(4 K t^3 / delta)). The logarithm is the exponent's and, for the mantissa in
            # [sqrt(1/2), sqrt(2)), the series of atanh, whose first term left out is below float32's precision.
            for lane in range(lanes):
                bits = _float_bits(values[count_at + lane])
                exponent = _shift_right(I32(bits - root_half_bits), mantissa_bits)
                mantissa = _bits_float(I32(bits - I32(exponent << mantissa_bits)))
                ratio = (mantissa - one) / (mantissa + one)
                square = ratio * ratio
                series = one + square * (third + square * (fifth + square * seventh))
                logarithm = two * ratio * series + F32(exponent) * log_two
                values[scale_at + lane] = np.sqrt(log_start + three_halves * logarithm)
            if contract:
                for block_index in range(blocks):
                    for lane in range(lanes):
                        scale = values[scale_at + lane]
                        if block_index == 0:
                            upper_1, upper_2, lower_1 = lowest, lowest, lowest
                            arm_1, arm_2, arm_lower = I32(0), I32(0), I32(0)
                        else:
                            upper_1, arm_1 = values[first_upper_at + lane], signed[first_arm_at + lane]
                            upper_2, arm_2 = values[second_upper_at + lane], signed[second_arm_at + lane]
                            lower_1, arm_lower = values[first_lower_at + lane], signed[lower_arm_at + lane]
                        for within in range(block):
                            arm = block_index * block + within
                            mean = values[mean_at + arm * lanes + lane]
                            radius = values[inverse_root_at + arm * lanes + lane] * scale
                            upper, lower = mean + radius, mean - radius
                            largest, larger, low = upper > upper_1, upper > upper_2, lower > lower_1
                            arm_2 = arm_1 if largest else (I32(arm) if larger else arm_2)
                            upper_2 = upper_1 if largest else (upper if larger else upper_2)
                            arm_1 = I32(arm) if largest else arm_1
                            upper_1 = upper if largest else upper_1
                            arm_lower = I32(arm) if low else arm_lower
                            lower_1 = lower if low else lower_1
                        values[first_upper_at + lane], signed[first_arm_at + lane] = upper_1, arm_1
                        values[second_upper_at + lane], signed[second_arm_at + lane] = upper_2, arm_2
                        values[first_lower_at + lane], signed[lower_arm_at + lane] = lower_1, arm_lower
            else:
                # The two largest U and the largest L, each with its arm in the low bits. Positive floats are ordered as
                # their bits are, and integer maxima leave the floating-point pipes to the multiplications.
                for block_index in range(blocks):
                    for lane in range(lanes):
                        scale = values[scale_at + lane]
                        if block_index == 0:
                            first_upper, second_upper, first_lower = I32(0), I32(0), lowest
                        else:
                            first_upper = signed[first_upper_at + lane]
                            second_upper = signed[second_upper_at + lane]
                            first_lower = values[first_lower_at + lane]
                        for within in range(block):
                            arm = block_index * block + within
                            mean = values[mean_at + arm * lanes + lane]
                            radius = values[inverse_root_at + arm * lanes + lane] * scale
                            upper = I32((_float_bits(mean + radius) & bound_mask) | I32(arm))
                            lower = _bits_float((_float_bits(mean - radius) & bound_mask) | I32(arm))
                            smaller = upper if upper < first_upper else first_upper
                            first_upper = upper if upper > first_upper else first_upper
                            second_upper = smaller if smaller > second_upper else second_upper
                            first_lower = lower if lower > first_lower else first_lower
                        signed[first_upper_at + lane] = first_upper
                        signed[second_upper_at + lane] = second_upper
                        values[first_lower_at + lane] = first_lower
            # J is the arm of the largest U or that of the largest L: for any other arm, B is U_best - L_k, smallest
            # where L_k is largest. The pair {J, u} holds the arm of the largest U ("best") and one other.
            for lane in range(lanes):
                index = U64(U32(unsigned[best_at + lane] & index_mask_unsigned)) * stride + U64(lane)
                values[best_mean_at + lane] = values[index]
                values[best_inverse_root_at + lane] = values[index + to_inverse_root]
            for lane in range(lanes):
                scale = values[scale_at + lane]
                best_lower = values[best_mean_at + lane] - scale * values[best_inverse_root_at + lane]
                best = signed[best_at + lane] & index_mask
                second = signed[second_at + lane] & index_mask
                rival = signed[rival_at + lane] & index_mask
                rival_gap = values[first_upper_at + lane] - values[first_lower_at + lane]
                rival_wins = (rival != best) & (rival_gap < values[second_upper_at + lane] - best_lower)
                signed[other_at + lane] = rival if rival_wins else second
                values[lower_wins_at + lane] = one if rival_wins else zero
            for lane in range(lanes):
                index = U64(unsigned[other_at + lane]) * stride + U64(lane)
                values[other_mean_at + lane] = values[index]
                values[other_inverse_root_at + lane] = values[index + to_inverse_root]
            for lane in range(lanes):
                best_mean, other_mean = values[best_mean_at + lane], values[other_mean_at + lane]
                best_inverse_root = values[best_inverse_root_at + lane]
                other_inverse_root = values[other_inverse_root_at + lane]
                # B_J = U_u - L_J: the two radii, and the difference of the means in the order J gives.
                difference = best_mean - other_mean
                difference = difference if values[lower_wins_at + lane] > zero else -difference
                gap = difference + values[scale_at + lane] * (best_inverse_root + other_inverse_root)
                values[margin_at + lane] = gap - epsilon
                # xoshiro128++ (Blackman and Vigna), Threefry below: bit 0 breaks a tie, the upper 31 draw the reward.
                if contract:
                    draw = unsigned[state_2_at + lane]  # the last block's second word
                else:
                    state_0, state_1 = unsigned[state_0_at + lane], unsigned[state_1_at + lane]
                    state_2, state_3 = unsigned[state_2_at + lane], unsigned[state_3_at + lane]
                    draw = U32(state_0 + state_3)
                    draw = U32(U32(U32(draw << U32(7)) | U32(draw >> U32(25))) + state_0)
                    shifted = U32(state_1 << U32(9))
                    state_2 = U32(state_2 ^ state_0)
                    state_3 = U32(state_3 ^ state_1)
                    unsigned[state_1_at + lane] = U32(state_1 ^ state_2)
                    unsigned[state_0_at + lane] = U32(state_0 ^ state_3)
                    unsigned[state_2_at + lane] = U32(state_2 ^ shifted)
                    unsigned[state_3_at + lane] = U32(U32(state_3 << U32(11)) | U32(state_3 >> U32(21)))
                    unsigned[bits_at + lane] = U32(draw >> U32(1))
                # 1 / sqrt(N) is never negative: with the sign turned, the tie test fails and the other arm is taken.
                tie_breaker = other_inverse_root if U32(draw & U32(1)) != U32(0) else -other_inverse_root
                take_best = (best_inverse_root > other_inverse_root) | (best_inverse_root == tie_breaker)
                best = signed[best_at + lane] & index_mask
                signed[pulled_at + lane] = best if take_best else signed[other_at + lane]
                mean = best_mean if take_best else other_mean
                inverse_root = best_inverse_root if take_best else other_inverse_root
                arm_pulls = _round(one / (inverse_root * inverse_root))
                if contract:
                    block_words = _threefry(
                        unsigned[state_0_at + lane],
                        unsigned[state_1_at + lane],
                        unsigned[pulled_at + lane],
                        U32(I32(arm_pulls)),
                    )
                    unsigned[bits_at + lane] = U32(block_words[0] >> U32(1))
                    unsigned[state_2_at + lane] = block_words[1]
                reciprocal = one / (arm_pulls + one)
                values[new_mean_at + lane] = _round(mean * arm_pulls) * reciprocal
                values[new_inverse_root_at + lane] = np.sqrt(reciprocal)
                values[increment_at + lane] = reciprocal
                values[count_at + lane] += one
            # Any lane below its tolerance shows in the sign bit of the lanes' margins taken together.
            any_sign = I32(0)
            for lane in range(lanes):
                any_sign = I32(any_sign | signed[margin_at + lane])
            if any_sign < 0:
                for lane in range(lanes):
                    if signed[margin_at + lane] < 0:
                        if run_of[lane] >= 0:
                            # This step's pull does not happen, hence the one taken off.
                            pulls[run_of[lane]] = np.int64(values[count_at + lane]) - 1
                            best = signed[best_at + lane] & index_mask
                            rival_won = values[lower_wins_at + lane] > zero
                            recommended[run_of[lane]] = signed[other_at + lane] if rival_won else best
                            live -= 1
                        run = _take_ticket(counter)
                        run_of[lane] = -1
                        if run < runs:
                            run_of[lane] = run
                            live += 1
                        # Without a run left, the lane plays on unrecorded until the other lanes are done.
                        start(values, unsigned, means, lane, run_seed(seed, run))
                        # The write below must leave the fresh lane as it is: arm 0 gets what it already has.
                        values[new_mean_at + lane] = values[mean_at + lane]
                        values[new_inverse_root_at + lane] = values[inverse_root_at + lane]
                        signed[pulled_at + lane] = I32(0)
                        values[increment_at + lane] = zero
            # Look-up, addition and scatter as three loops: together they make one scalar loop, and there the reward
            # becomes a branch that is mispredicted every other time.
            for lane in range(lanes):
                signed[threshold_at + lane] = thresholds[U64(unsigned[pulled_at + lane])]
            for lane in range(lanes):
                rewarded = signed[bits_at + lane] < signed[threshold_at + lane]
                values[new_mean_at + lane] += values[increment_at + lane] if rewarded else zero
            for lane in range(lanes):
                index = U64(unsigned[pulled_at + lane]) * stride + U64(lane)
                values[index] = values[new_mean_at + lane]
                values[index + to_inverse_root] = values[new_inverse_root_at + lane]

    @njit(parallel=True, **_OPTIONS)
    def share(means, thresholds, epsilon, log_start, seed, counter, pulls, recommended, threads):
        for _thread in prange(threads):
            work(means, thresholds, epsilon, log_start, seed, counter, pulls, recommended)

    return share


@njit(inline="always")
def _xoroshiro(first, second):
    """One step of xoroshiro128+ (Blackman and Vigna)."""
    draw = first + second
    second ^= first
    first = ((first << U64(24)) | (first >> U64(40))) ^ second ^ (second << U64(16))
    return first, (second << U64(37)) | (second >> U64(27)), draw


@njit(**_OPTIONS)
def _single_work(means, epsilon, log_start, seed, counter, pulls, recommended, scales, reciprocals, inverse_roots):
    """One run after another, each in one loop: the means and 1 / sqrt(N) are kept, so a pass only multiplies."""
    arms = U64(len(means))
    mean, inverse_root = np.empty(arms, np.float32), np.empty(arms, np.float32)
    counts, sums, thresholds = np.empty(arms, np.int64), np.empty(arms, np.int64), np.empty(arms, np.uint64)
    for arm in range(arms):
        thresholds[arm] = U64(means[arm] * 2.0**53)
    while True:
        run = _take_ticket(counter)
        if run >= len(pulls):
            break
        state, first = splitmix(run_seed(seed, run))
        state, second = splitmix(state)
        for arm in range(arms):
            first, second, draw = _xoroshiro(first, second)
            counts[arm] = 1
            sums[arm] = np.int64((draw >> U64(11)) < thresholds[arm])
            mean[arm] = F32(sums[arm])
            inverse_root[arm] = F32(1)
        total = np.int64(arms)
        while True:
            scale = scales[total] if total < len(scales) else F32(math.sqrt(log_start + 1.5 * math.log(total)))
            first_upper, second_upper, first_lower = F32(-1e9), F32(-1e9), F32(-1e9)
            best, runner_up, rival = U64(0), U64(0), U64(0)
            for arm in range(arms):
                radius = scale * inverse_root[arm]
                upper, lower = mean[arm] + radius, mean[arm] - radius
                # Most arms fail this one test, and the branch is then predicted: faster than moving without one.
                if upper > second_upper:
                    if upper > first_upper:
                        second_upper, runner_up = first_upper, best
                        first_upper, best = upper, arm
                    else:
                        second_upper, runner_up = upper, arm
                if lower > first_lower:
                    first_lower, rival = lower, arm
            leader, challenger = best, runner_up
            gap = second_upper - (mean[best] - scale * inverse_root[best])
            if rival != best and first_upper - first_lower < gap:
                leader, challenger, gap = rival, best, first_upper - first_lower
            if gap < epsilon:
                break
            first, second, draw = _xoroshiro(first, second)
            leader_pulls, challenger_pulls = counts[leader], counts[challenger]
            # The tie takes bit 10, below the 53 bits of the reward; the lowest bit of this generator is weak.
            heads = ((draw >> U64(10)) & U64(1)) != U64(0)
            take_leader = leader_pulls < challenger_pulls or (leader_pulls == challenger_pulls and heads)
            pulled = leader if take_leader else challenger
            count = counts[pulled] + 1
            counts[pulled] = count
            total += 1
            reward_sum = sums[pulled] + np.int64((draw >> U64(11)) < thresholds[pulled])
            sums[pulled] = reward_sum
            if count < len(reciprocals):
                mean[pulled] = F32(reward_sum) * reciprocals[count]
                inverse_root[pulled] = inverse_roots[count]
            else:
                mean[pulled] = F32(reward_sum) / F32(count)
                inverse_root[pulled] = F32(1) / F32(math.sqrt(F32(count)))
        pulls[run] = total
        recommended[run] = leader


@njit(parallel=True, **_OPTIONS)
def _single_share(
    means, epsilon, log_start, seed, counter, pulls, recommended, scales, reciprocals, inverse_roots, threads
):
    for _thread in prange(threads):
        _single_work(means, epsilon, log_start, seed, counter, pulls, recommended, scales, reciprocals, inverse_roots)


def stopping_times(means, epsilon, delta, runs, seed, threads=2, kernel="lanes", lanes=None):
    """Runs UGapEc with Bernoulli rewards until it stops, many times over.

    Args:
        means: The arms' means, each in [0, 1].
        epsilon: The accuracy at which a run stops.
        delta: The allowed probability of recommending an arm further than epsilon from the best.
        runs: How many independent runs.
        seed: An integer; a run's result depends on it and on the run's number only.
        threads: How many threads share the runs.
        kernel: "lanes" for SIMD across runs, "contract" for the same with this package's random words and exact
            comparisons, "single" for one run per loop.
        lanes: How many runs a thread steps at once, a multiple of 16; by default what fits the first-level cache.

    Returns:
        The pulls of each run and the arm it recommended, two int64 arrays of length ``runs``.
    """
    means = np.ascontiguousarray(means, dtype=np.float64)
    arms = len(means)
    if arms < 2:
        raise ValueError(f"two arms at least, not {arms}")
    if threads > numba.config.NUMBA_NUM_THREADS:
        raise ValueError(f"at most {numba.config.NUMBA_NUM_THREADS} threads, not {threads}")
    numba.set_num_threads(threads)
    pulls, recommended = np.empty(runs, np.int64), np.empty(runs, np.int64)
    counter = np.zeros(1, np.int64)
    log_start = 0.5 * math.log(4 * arms / delta)
    if kernel in ("lanes", "contract"):
        if lanes is None:
            lanes = 128 if arms <= 16 else 64 if arms <= 64 else 32
        thresholds = np.minimum(np.rint(means * 2.0**31), 2.0**31 - 1).astype(np.int32)
        share = _lanes_kernel(arms, lanes, kernel == "contract")
        share(means, thresholds, F32(epsilon), F32(log_start), seed, counter, pulls, recommended, threads)
    elif kernel == "single":
        scales, reciprocals, inverse_roots = _tables(log_start)
        share = _single_share
        share(
            means,
            F32(epsilon),
            log_start,
            seed,
            counter,
            pulls,
            recommended,
            scales,
            reciprocals,
            inverse_roots,
            threads,
        )
    else:
        raise ValueError(f'kernel is "lanes", "contract" or "single", not {kernel!r}')
    return pulls, recommended


@functools.cache
def _tables(log_start):
    """The radius scale by t, and 1 / n and 1 / sqrt(n) by n; entry 0 of each is not used."""
    times = np.maximum(np.arange(_RADIUS_TABLE, dtype=np.float64), 1)
    counts = np.maximum(np.arange(_RECIPROCAL_TABLE, dtype=np.float64), 1)
    scales = np.sqrt(log_start + 1.5 * np.log(times))
    return scales.astype(F32), (1 / counts).astype(F32), (1 / np.sqrt(counts)).astype(F32)


def main(threads=2, repeats=2, scale=1.0):
    """Prints mean stopping times and pulls per second of the kernels on both problems."""
    problems = (
        ("K=10", np.array([0.7] + [0.5] * 9), {"lanes": 12_000, "contract": 4_000, "single": 4_000}),
        ("K=50", np.linspace(0.9, 0.1, 50), {"lanes": 3_000, "contract": 1_000, "single": 400}),
    )
    for name, means, sizes in problems:
        for kernel, runs in sizes.items():
            runs = max(1, int(runs * scale))
            stopping_times(means, 0.1, 0.05, 1, 0, threads, kernel)
            best, everything = 0.0, []
            for repeat in range(repeats):
                begin = time.perf_counter()
                pulls, recommended = stopping_times(means, 0.1, 0.05, runs, 1 + repeat, threads, kernel)
                best = max(best, pulls.sum() / (time.perf_counter() - begin))
                everything.append(pulls)
            everything = np.concatenate(everything)
            error = everything.std() / math.sqrt(len(everything))
            wrong = np.mean(means[recommended] < means.max() - 0.1)
            print(
                f"{name} {kernel:8s} {threads} thread(s): {best / 1e6:6.1f} M pulls/s; "
                f"mean {everything.mean():.1f} +- {error:.1f}; wrong {wrong:.4f}"
            )


if __name__ == "__main__":
    main()
