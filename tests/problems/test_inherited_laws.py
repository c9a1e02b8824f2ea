"""A family made from another one with a `sample` of its own takes over nothing that is known of the other law."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.problems import register_problem


@register_problem
@dataclasses.dataclass(frozen=True)
class Clipped(jb.problems.Gaussian):
    """Normal rewards around 0, clipped there."""

    mean = property(lambda self: self.sd / np.float32(np.sqrt(2 * np.pi)))
    variance = property(lambda self: self.sd**2 * np.float32(0.5 - 0.5 / np.pi))

    @classmethod
    def sample(cls, words, location, sd):
        return jnp.maximum(super().sample(words, location, sd), 0)


CLIPPED = Clipped(jnp.zeros(2), jnp.asarray([1.0, 2.0]), name="clipped")


def test_sums_are_those_of_its_own_rewards():
    """They were those of the normal law, whose mean is 0. Within 5.5 standard errors: a false alarm in 10^7."""
    sums = {"of_arms": lambda problem, state, returned: state.total}
    runs = jb.simulate(jb.SuccessiveElimination(delta=0.1, b=8.0), CLIPPED, 40, max_pulls=400, metrics=sums)
    metrics = sums | {"n": lambda p, s, r: s.pulls}
    with pytest.warns(UserWarning, match="delta is proved for rewards of range 1, not of 4"):
        one = jb.simulate(jb.AdaptiveTopK(k=1, epsilon=0.6), CLIPPED, 40, metrics=metrics)
    assert (runs.of_arms >= 0).all()
    total, pulls = (one[name].sum("seed").to_numpy() for name in ("of_arms", "n"))
    error = np.sqrt(np.asarray(CLIPPED.variance) / pulls)
    assert (np.abs(total / pulls - np.asarray(CLIPPED.mean)) < 5.5 * error).all()


def test_what_is_known_of_a_law_is_not_that_of_another():
    assert (CLIPPED.scored, CLIPPED.normal, CLIPPED.bound_law, CLIPPED.mean_is) == ((), False, None, "")
    for wrt in ("sd", "location"):
        with pytest.raises(jb.UsageError, match="clipped has no score in"):
            jb.gradients.expected("error", jb.Uniform(budget=20), CLIPPED, wrt=wrt, seeds=20)


def test_what_a_family_states_or_does_not_change_stays():
    @register_problem
    @dataclasses.dataclass(frozen=True)
    class Stated(Clipped):
        sample = jb.problems.Gaussian.sample
        scored = ("sd",)
        normal = True

    @register_problem
    @dataclasses.dataclass(frozen=True)
    class Renamed(jb.problems.Poisson):
        unit = "orders"

    assert (Stated.scored, Stated.normal, Stated.bound_law) == (("sd",), True, jb.problems.Problem.bound_law)
    for name in ("scored", "bound_law", "has_moments", "sums", "mean_is"):
        assert getattr(Renamed, name) == getattr(jb.problems.Poisson, name)


def test_moments_are_those_of_the_pieces_that_it_states():
    """Without pieces of its own there are none; they were those of the law it is made from."""

    @register_problem
    @dataclasses.dataclass(frozen=True)
    class Shifted(jb.problems.LogNormal):
        mean = property(lambda self: jb.problems.LogNormal.mean.fget(self) + 1)

        @classmethod
        def sample(cls, words, mu, sigma):
            return super().sample(words, mu, sigma) + 1

    @register_problem
    @dataclasses.dataclass(frozen=True)
    class Known(Shifted):
        has_moments = True

    assert (Shifted.has_moments, Known.has_moments, jb.problems.LogNormal.has_moments) == (False, True, True)
    made = Shifted(jnp.zeros(2), jnp.ones(2), name="own")
    np.testing.assert_array_equal(made.exact_mean, made.mean)
