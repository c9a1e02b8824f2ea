"""What theorems promise is computed without a word of the compiler among the rows of `compare`."""

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.comparison.guarantees import number

RACES = [theory.hoeffding_race_pulls_bound, theory.bernstein_race_pulls_bound]


@pytest.mark.parametrize("bound", RACES, ids=lambda bound: bound.__name__)
@pytest.mark.parametrize(("arms", "epsilon"), [(3, 0.0), (3, 0.01), (10, 0.1)])
def test_the_compiler_is_silent(bound, arms, epsilon, capfd):
    found = number(bound, np.linspace(0.9, 0.1, arms, dtype=np.float32), epsilon, 0.05, 1, 1.0, 1.3 + epsilon / 7)
    assert float(found) == pytest.approx(
        float(bound(np.linspace(0.9, 0.1, arms), epsilon, 0.05, 1, 1.0, 1.3 + epsilon / 7)), rel=1e-5
    )
    assert not capfd.readouterr().err


def test_rows_of_a_comparison_have_nothing_between_them(capfd):
    for _, algorithm in (("hoeffding", jb.HoeffdingRace), ("bernstein", jb.BernsteinRace), ("kl", jb.KLRace)):
        theorem = algorithm(epsilon=0.07, delta=0.03).theorem(
            np.float32([0.8, 0.6, 0.3, 0.1]), np.float32([0.16, 0.24, 0.21, 0.09]), 1.0, delta=0.03, epsilon=0.07, m=1
        )
        assert float(number(theorem.formula, *theorem.arguments)) > 0
    assert not capfd.readouterr().err
