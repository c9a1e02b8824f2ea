"""Numbers of a formula belong to runs, whatever the number of arms: compared with one call for each run."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

MEANS = np.array([0.9, 0.7, 0.4])
EPSILON, DELTA = np.array([0.02, 0.05, 0.3]), np.array([0.1, 0.01, 0.2])
OF_MEANS = [
    f
    for name, f in vars(theory).items()
    if inspect.isfunction(f) and next(iter(inspect.signature(f).parameters)) == "means" and not name.startswith("gape")
]


@pytest.mark.parametrize(
    ("formula", "numbers"),
    [
        (theory.gaps, {"m": np.array([1, 2, 1])}),
        (theory.h_epsilon, {"epsilon": EPSILON}),
        (theory.h_epsilon_variance, {"variances": MEANS * 0.1, "epsilon": EPSILON, "b": np.array([1.0, 2.0, 3.0])}),
        (theory.h_t_epsilon, {"epsilon": EPSILON, "k": np.array([1, 2, 2])}),
        (theory.exp_gap_elimination_pulls_rate, {"delta": DELTA}),
        (theory.threshold_pulls_lower_bound, {"delta": DELTA, "threshold": np.array([0.3, 0.5, 0.8])}),
        (theory.characteristic_time, {"epsilon": EPSILON}),
        (theory.h2_p, {"p": np.array([1.2, 1.6, 2.0])}),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_as_many_numbers_as_arms_are_runs(formula, numbers):
    found = formula(MEANS, **numbers)
    for run in range(3):
        own = {k: x if k == "variances" else x[run].item() for k, x in numbers.items()}
        for several, one in zip(jax.tree.leaves(found), jax.tree.leaves(formula(MEANS, **own)), strict=True):
            assert several.shape == (*np.shape(one), 3)
            np.testing.assert_allclose(several[..., run], one, rtol=1e-7)


def test_axes_of_numbers_come_before_those_of_the_means():
    means = np.stack([MEANS, MEANS / 2], axis=1)
    found = theory.h_epsilon(means, EPSILON[:, None])
    assert found.shape == (3, 2)
    for i, j in np.ndindex(3, 2):
        np.testing.assert_allclose(found[i, j], theory.h_epsilon(means[:, j], EPSILON[i].item()), rtol=1e-12)


def test_arms_of_a_mask_and_of_variances_are_those_of_the_means():
    mask = np.array([[True, True], [True, False], [True, True]])
    time, proportions = theory.characteristic_time(MEANS, mask=mask)
    np.testing.assert_allclose(time[0], theory.characteristic_time(MEANS)[0], rtol=1e-7)
    np.testing.assert_allclose(time[1], theory.characteristic_time(MEANS[[0, 2]])[0], rtol=1e-7)
    assert proportions[1, 1] == 0
    three = np.stack([MEANS, MEANS / 2, MEANS / 3], axis=1)
    same = theory.h_epsilon_variance(three, np.tile([[0.1], [0.2], [0.3]], 3), 0.1)
    np.testing.assert_allclose(theory.h_epsilon_variance(three, [0.1, 0.2, 0.3], 0.1), same, rtol=1e-12)


def test_traced_numbers_are_runs_too():
    together = jax.jit(theory.h_epsilon)(jnp.asarray(MEANS), jnp.asarray(EPSILON))
    np.testing.assert_allclose(together, theory.h_epsilon(MEANS, EPSILON), rtol=1e-5)
    slopes = jax.jacobian(theory.h_epsilon, argnums=1)(jnp.asarray(MEANS), jnp.asarray(EPSILON))
    np.testing.assert_array_equal(slopes != 0, np.eye(3, dtype=bool))


@pytest.mark.parametrize("formula", OF_MEANS, ids=lambda f: f.__name__)
def test_shapes_that_do_not_broadcast_are_refused_in_one_line(formula):
    names = [n for n in inspect.signature(formula).parameters if n not in ("means", "multiplicative", "family")]
    for name in names:
        others = {n: 0.1 for n in names if n != name}
        with pytest.raises(jb.UsageError, match=rf"^arms come first, then runs, .* means \(3, 4\), {name} \(2,\)$"):
            formula(np.ones((3, 4)), **others, **{name: np.ones(2)})


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: theory.gape_h(MEANS, [1.0, 2.0, 3.0]), r"^b of shape \(3,\) needs means \(bandits, arms, …\) with"),
        (lambda: theory.gape_h_variance(MEANS, [0.1, 0.2]), r"^variances of shape \(2,\) need means of that shape"),
        (lambda: theory.h_epsilon([[0.7, 0.5], [0.4]], 0.1), r"^rows must have one length, got \[\[0\.7, 0\.5\], "),
        (lambda: theory.characteristic_time(MEANS, family=["gaussian"]), r"^family must be .* got array"),
    ],
)
def test_other_shapes_are_refused_in_one_line(call, line):
    with pytest.raises(jb.UsageError, match=line):
        call()
