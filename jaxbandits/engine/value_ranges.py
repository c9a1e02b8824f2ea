"""Ranges of the numbers that a rule reads: its parameters, and the statistics of the arms.

The transformation uses them (`transform/ranges.py`). The ends are powers of 2^8, so that other values of a parameter
rarely need another program.
"""

import math
from typing import NamedTuple

import jax
import numpy as np

from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.statistics.arm_statistics import LARGEST_MEAN, LARGEST_SQUARE
from jaxbandits.transform import Known
from jaxbandits.transform.operation import Range

__all__ = ["Facts", "ranges_of_values", "what_is_known"]

_STEP = 8


class Facts(NamedTuple):
    """Properties of the numbers that a rule computes with, known before the runs; part of the program."""

    rule: tuple[Range | None, ...]  # of each leaf of the rule
    reward_range: Range | None


def ranges_of_values(tree: object) -> tuple[Range | None, ...]:
    """Return a range for each leaf of a tree of numbers on the host: powers of 2^8 around them, or 0."""
    return tuple(_around(np.asarray(leaf)) for leaf in jax.tree.leaves(tree))


def _around(values: np.ndarray) -> Range | None:
    if values.dtype.kind not in "iuf" or not values.size or not np.all(np.isfinite(values)):
        return None
    lo, hi, whole = float(np.min(values)), float(np.max(values)), values.dtype.kind != "f"
    return (-_power(-lo, up=True) if lo < 0 else _power(lo, up=False, whole=whole)), (
        -_power(-hi, up=False, whole=whole) if hi < 0 else _power(hi, up=True)
    )


def _power(size: float, *, up: bool, whole: bool = True) -> float:
    """Return the next power of 2^8, up or down; 0 for 0. Rounding down, a float that is a power gives the one below."""
    if size == 0:
        return 0.0
    steps = math.log2(size) / _STEP
    exponent = (math.ceil(steps) - (not up) if up or not whole else math.floor(steps)) * _STEP
    return float(2.0**exponent) if -149 < exponent < 128 else (math.inf if exponent > 0 else 0.0)


def what_is_known(arms: Arms, rule: Rule, least: int, reward_range: Range | None) -> list[Known]:
    """Return the known properties of each leaf of the arms that a rule sees.

    Args:
        arms: the arms.
        rule: the rule.
        least: smallest number of pulls of an arm.
        reward_range: the range of the values of b, the range of the rewards.
    """
    ranges: dict[str, Range | None] = {
        "pulls": (least, MAX_COUNT),
        "mean": (-LARGEST_MEAN, LARGEST_MEAN),
        "inverse_root": (2.0**-16, 1.0),
        "time": (least, MAX_COUNT),
        "count": (1, len(arms)),
        "b": reward_range,
        "cells": (1, MAX_COUNT),
        "costs.mean": (0.0, LARGEST_MEAN),
        "squares": (0.0, LARGEST_SQUARE * 2.0**31),
    }
    if rule.eliminates:  # called before the first pull, too, and with dropped arms
        ranges |= {"pulls": (0, MAX_COUNT), "time": (0, MAX_COUNT), "round": (0, MAX_COUNT), "left": (0, len(arms))}
        ranges["mean"], least = None, 0
    root = arms.inverse_root if least else None

    def known(name: str) -> Known:
        return Known(ranges.get(name), root if name == "pulls" else None, name == "count")

    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(arms)]
    return [known(jax.tree_util.keystr(path, simple=True, separator=".")) for path in paths]
