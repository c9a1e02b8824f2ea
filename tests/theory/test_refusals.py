"""What no formula can use is refused in one line: masks, texts where numbers belong, and constants that are none."""

import dataclasses

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

MEANS = [0.7, 0.5, 0.4]
BANDITS = [[0.7, 0.5, 0.4], [0.3, 0.6, 0.2]]
PRACTICAL = theory.PPR_PRACTICAL
NO_MASKS = ["text", ["a", "b", "c"], {}, object(), float("nan"), True, [0.5, 1, 1], [2, 1, 0]]


@pytest.mark.parametrize("mask", NO_MASKS, ids=lambda mask: type(mask).__name__)
def test_what_is_no_mask(mask):
    for call in (
        lambda: theory.gaps(MEANS, 1, mask),
        lambda: theory.h_epsilon_variance(MEANS, [0.2] * 3, 0.1, mask=mask),
        lambda: theory.h_t_epsilon(MEANS, 0.1, 1, mask),
        lambda: theory.pulls_lower_bound(MEANS, 0.1, mask=mask),
        lambda: theory.gape_h(MEANS, mask=mask),
    ):
        with pytest.raises(jb.UsageError, match=r"^mask must have true or false for each arm, got "):
            call()


def test_masks_of_ones_and_zeros_are_masks():
    assert theory.h1([*MEANS, 9.0], mask=[1, 1, 1, 0]) == theory.h1(MEANS)
    assert theory.gape_h([*MEANS, 9.0], mask=np.array([1.0, 1.0, 1.0, 0.0])) == theory.gape_h(MEANS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.gape_h(BANDITS, mask=[True, False]), r"^mask of shape \(2,\) needs means of that shape"),
        (lambda: theory.gape_largest_a("text", 100), "^means must be numbers, got 'text'$"),
        (lambda: theory.gape_variance_error_bound([1, "a"], [0.1, 0.2], 100), "^means must be numbers, got "),
        (lambda: theory.gape_error_bound(np.zeros((0, 3)), 100), "^means must be a list of arms"),
        (lambda: theory.characteristic_time(MEANS, epsilon=[1, "a"]), "^epsilon must be numbers, got "),
        (lambda: theory.pulls_lower_bound(MEANS, 0.1, sd=[1, "a"]), "^sd must be numbers, got "),
        (lambda: theory.characteristic_time(MEANS, share=["a", "b"]), "^share must be numbers, got "),
        (lambda: theory.pulls_lower_bound(MEANS, 0.1, [1, 2]), r"^m must be a whole number, got array\(\[1, 2\]\)$"),
        (lambda: theory.best_arm_error_lower_bound(MEANS, 100, sd="text"), "^sd must be numbers, got 'text'$"),
        (lambda: theory.h_all_good(MEANS, 0.1, "no"), "^multiplicative is true or false, got 'no'$"),
        (lambda: theory.all_good_pulls_lower_bound(MEANS, 0.1, 0.1, [True, False]), "^multiplicative is true or false"),
        (lambda: theory.glr_threshold(10, 3, 0.1, {}), "^unknown threshold of type dict: it must be a text$"),
        (lambda: theory.ppr_crossing_arms(0.1, 0.1, 1.0, PRACTICAL, 0.4, []), "^unknown rival of type ndarray"),
        (lambda: theory.ppr_crossing_arms(0.1, "text", 1.0, PRACTICAL, 0.4), "^delta must be numbers, got 'text'$"),
        (lambda: theory.ppr_crossing_arms(0.1, 0.1, 1.0, None, 0.4), "^constants must be PPRConstants, got None$"),
        (lambda: theory.ppr_round(1, 0.1, 0.1, 1.0, 3.0), r"^constants must be PPRConstants, got 3\.0$"),
        (lambda: theory.ppr_cost_bound(0.1, 0.1, 1.0, {}, 0.4), "^constants must be PPRConstants, got {}$"),
        (lambda: theory.ppr_conditions("practical"), "^constants must be PPRConstants, got 'practical'$"),
        (lambda: theory.ppr_conditions(PRACTICAL, 3), "^proof must be PPRProof, got 3$"),
        (lambda: theory.ppr_constants([], 0.1), "^epsilon must be a number, got "),
        (lambda: theory.ppr_constants(0.1, [0.1, 0.2]), "^delta must be a number, got "),
        (lambda: theory.ppr_median_of_means_cost(0.1, 0.1, 9, 1.0, float("nan")), "^the factor must be positive"),
        (lambda: theory.ppr_median_of_means_cost(0.1, 0.1, 9, 1.0, c3=-1.0), "^c3 must be positive and finite, got -1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(jb.UsageError, match=message):
        call()


@pytest.mark.parametrize(
    ("name", "value"), [("rho", 1.5), ("theta", 1.0), ("n_final", 0.5), ("cq", -1.0), ("c1", float("nan"))]
)
def test_constants_outside_their_range_give_no_number(name, value):
    constants = dataclasses.replace(PRACTICAL, **{name: value})
    with pytest.raises(jb.UsageError, match=f"^{name} must "):
        theory.ppr_round(1, 0.1, 0.1, 1.0, constants)
    with pytest.raises(jb.UsageError, match=f"^{name} must "):
        theory.ppr_cost_bound(0.1, 0.1, 1.0, constants, 0.4)
