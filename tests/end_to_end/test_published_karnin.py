"""Successive Rejects and Sequential Halving on setups 1 to 3 of Karnin, Koren, Somekh (2013), Figure 1.

The budget is the sum of 1/gap^2 over all arms but the best. The errors of Successive Rejects are the published ones,
for which 1000 runs are granted. Those of Sequential Halving, with estimates that keep the rewards of earlier phases,
are up to .05 above the published ones: .300, .338, .366 (setup 1, n = 20, 40, 80; published .255, .322, .332), .290,
.285, .308 (.265, .273, .296), .292, .294, .316 (.242, .267, .313); so says another program, by 20 000 runs, and this
one agrees. Intervals are of six standard deviations: if all is right, the file fails with a probability below 1e-7.
"""

import numpy as np
import pytest

import jaxbandits as jb

pytestmark = [pytest.mark.slow, pytest.mark.bits]

REJECTS = {1: (0.206, 0.208, 0.211), 2: (0.233, 0.287, 0.364), 3: (0.236, 0.304, 0.376)}
HALVING = {1: (0.300, 0.338, 0.366), 2: (0.290, 0.285, 0.308), 3: (0.292, 0.294, 0.316)}
PUBLISHED_HALVING = {1: (0.255, 0.322, 0.332), 2: (0.265, 0.273, 0.296), 3: (0.242, 0.267, 0.313)}
SIZES, PUBLISHED_RUNS, WORK = (20, 40, 80), 1000, 6e7
CASES = [(number, n) for number in REJECTS for n in SIZES if (number, n) != (3, 80)]


def errors(cls, number, n):
    problem = jb.karnin(number, n=n)
    mean = np.asarray(problem.mean, np.float64)
    budget = int(np.sum((mean[0] - mean[1:]) ** -2) + 0.5)
    runs = int(min(4000, WORK / budget))
    return 1 - float(jb.simulate(cls(budget=budget), problem, seeds=runs, root_seed=number).correct.mean()), runs


@pytest.mark.parametrize(("number", "n"), CASES)
def test_successive_rejects(number, n):
    found, runs = errors(jb.SuccessiveRejects, number, n)
    published = REJECTS[number][SIZES.index(n)]
    assert abs(found - published) < 6 * np.sqrt(0.25 * (1 / runs + 1 / PUBLISHED_RUNS))


@pytest.mark.parametrize(("number", "n"), CASES)
def test_sequential_halving(number, n):
    found, runs = errors(jb.SequentialHalving, number, n)
    place = SIZES.index(n)
    assert abs(found - HALVING[number][place]) < 6 * np.sqrt(0.25 * (1 / runs + 1 / 20_000))
    assert 0 < HALVING[number][place] - PUBLISHED_HALVING[number][place] < 0.051
