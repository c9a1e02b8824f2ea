"""Gradients in a list of parameters: those that each has on its own, in one Dataset."""

import numpy as np
import pytest

import jaxbandits as jb

UGAPE, ARMS, SEEDS = jb.UGapEc(epsilon=0.3, delta=0.1), jb.bernoulli([0.8, 0.4]), 60


def test_each_is_as_on_its_own():
    both = jb.gradients.expected("pulls", UGAPE, ARMS, wrt=["mean", "epsilon"], seeds=SEEDS)
    for name in ("mean", "epsilon"):
        one = jb.gradients.expected("pulls", UGAPE, ARMS, wrt=name, seeds=SEEDS)
        np.testing.assert_array_equal(both[f"gradient_{name}"], one.gradient)
        np.testing.assert_array_equal(both[f"gradient_{name}_se"], one.gradient_se)
        assert both[f"gradient_{name}"].attrs["estimator"] == one.attrs["estimator"]
        assert float(both.value) == float(one.value)
    assert both.gradient_mean.dims == ("arm",)
    assert both.attrs["wrt"] == "mean, epsilon"


@pytest.mark.parametrize("wrt", [[], None, 3, ["mean", "mean"], [["mean"]], ["mean", 3]])
def test_what_is_no_list_of_names_is_one_line(wrt):
    with pytest.raises(jb.UsageError, match="wrt must be the name of a parameter, or a list of different names"):
        jb.gradients.expected("pulls", UGAPE, ARMS, wrt=wrt, seeds=SEEDS)


def test_axes_are_not_called_like_a_gradient():
    grid = jb.UGapEc(epsilon=jb.axis([0.3, 0.4], name="value"), delta=0.1)
    with pytest.raises(jb.UsageError, match="an axis cannot be called 'value'"):
        jb.gradients.expected("pulls", grid, ARMS, wrt="mean", seeds=SEEDS)
