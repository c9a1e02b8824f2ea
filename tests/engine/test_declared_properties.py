"""A user's own family whose mean, variance or range is not that of its rewards: one warning."""

import dataclasses
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine import declared_properties

UGAPE, KEY = jb.UGapEc(epsilon=0.3, delta=0.1), jax.random.key(0)
WIDTHS = jnp.asarray([1.0, 0.5], jnp.float32)


def family(width=WIDTHS, **changes):
    """Uniform rewards in [0, width], with other properties where they are given."""
    members = {
        "parameters": ("width",),
        "__annotations__": {"width": jax.Array},
        "in_interval": True,
        "sample": classmethod(lambda cls, words, width: width * (words[0].astype(jnp.float32) * jnp.float32(2.0**-32))),
        "mean": property(lambda self: self.width / 2),
        "variance": property(lambda self: self.width**2 / 12),
        "reward_range": property(lambda self: jnp.max(self.width)),
    }
    changes = {name: property(value) if callable(value) else value for name, value in changes.items()}
    made = dataclasses.dataclass(frozen=True)(type("Own", (jb.problems.Problem,), members | changes))
    return jb.problems.register_problem(made)(jnp.asarray(width), name="own")


WRONG = {
    "mean": ({"mean": lambda self: self.width / 3}, r"Own\.mean is not .*: 0\.333333 for arm 0, but .* mean 0\.(5|49)"),
    "mean of an arm": ({"mean": lambda self: jnp.asarray([0.5, 0.22])}, r"Own\.mean is not .* for arm 1"),
    "variance": ({"variance": lambda self: self.width / 12**0.5}, r"Own\.variance .*: 0\.288.* variance 0\.083"),
    "range": ({"reward_range": lambda self: self.width[1]}, r"Own\.reward_range .*: 0\.5 .* rewards differ by 0\.9"),
    "sub-Gaussian range": (
        {"reward_range": lambda self: self.width[1], "in_interval": False},
        r"Own\.reward_range .*: 0\.5 .* asks for at least 0\.57",
    ),
}


@pytest.mark.parametrize(
    ("changes", "match"),
    [pytest.param(*WRONG[n], id=n, marks=[pytest.mark.slow] * (n != "range")) for n in WRONG],
)
def test_what_rewards_contradict_is_said(changes, match):
    made = family(**changes)
    for call in (lambda: jb.simulate(UGAPE, made, seeds=2), lambda: jb.run(UGAPE, made, KEY)):
        with pytest.warns(UserWarning, match=match) as warned:
            call()
        assert len(warned) == 1
        assert "\n" not in str(warned[0].message)


def test_rewards_are_finite():
    sample = classmethod(lambda cls, words, width: jnp.where(words[0] < 2**22, jnp.nan, width / 2))
    with pytest.raises(jb.UsageError, match=r"Own\.sample must return finite rewards, got nan"):
        jb.run(UGAPE, family(sample=sample), KEY)


def whole(step, **changes):
    """Rewards 0 and `step`, as int32."""
    sample = classmethod(lambda cls, words, width: (words[0] >> 31).astype(jnp.int32) * step)
    return family(
        sample=sample,
        integer_rewards=True,
        mean=lambda self: jnp.full_like(self.width, step / 2),
        variance=lambda self: jnp.full_like(self.width, step**2 / 4),
        reward_range=lambda self: jnp.float32(step),
        **changes,
    )


@pytest.mark.parametrize(
    "rule", [jb.Uniform(budget=20_000), pytest.param(jb.SuccessiveRejects(budget=20_000), marks=pytest.mark.slow)],
    ids=lambda rule: type(rule).__name__,
)  # fmt: skip
def test_sums_of_whole_rewards_pass_the_range_of_int32(rule):
    """10,000 rewards of 0 or 500,000 add up to 2.5e9; as int32 they made the mean of an arm negative."""
    state = jb.run(rule, whole(500_000), KEY)
    assert min(state.pulls.tolist()) >= 9_999
    # The standard error is 2,500: P(a false alarm) < 1e-15.
    np.testing.assert_allclose(state.mean, 250_000, atol=8.5 * 2_500)


def test_sums_are_whole_numbers_for_rewards_0_and_1_only():
    declared_properties.check_declared_properties(whole(1, integer_sums=True))
    with pytest.warns(UserWarning, match=r"^Own\.integer_sums is for rewards 0 and 1, and one of its rewards is 2"):
        declared_properties.check_declared_properties(whole(2, integer_sums=True))


@pytest.mark.parametrize(("changed", "other"), [(("reward",), "rewards"), (("reward", "rewards"), "payoff")])
def test_all_methods_draw_the_same_rewards(changed, other):
    """Steps read one of the three: rules had runs on two problems, or on another than the one judged."""
    new = {
        "reward": lambda self, key, arm, pull: 1 - jb.problems.Bernoulli.reward(self, key, arm, pull),
        "rewards": lambda self, key, pull: 1 - jb.problems.Bernoulli.rewards(self, key, pull),
    }
    members = {name: new[name] for name in changed} | {"mean": property(lambda self: 1 - self.probability)}
    made = dataclasses.dataclass(frozen=True)(type("Inverted", (jb.problems.Bernoulli,), members))
    problem = jb.problems.register_problem(made)(jnp.asarray([0.1, 0.8]), name="own")
    with pytest.warns(UserWarning, match=rf"^Inverted\.{other} draws another reward than reward: \d and \d in pull"):
        declared_properties.check_declared_properties(problem)


def test_heavy_tails_have_a_mean_and_no_range():
    """Rewards u^(-1/1.5), of mean 3 and infinite variance; beside a finite one, 2 is no mean."""
    members = {
        "bounded": False,
        "sample": classmethod(lambda cls, words, width: width * (1 - words[0] * jnp.float32(2.0**-32)) ** (-1 / 1.5)),
        "mean": lambda self: 3 * self.width,
        "variance": lambda self: jnp.full_like(self.width, jnp.inf),
    }
    declared_properties.check_declared_properties(family(**members))
    with pytest.warns(UserWarning, match=r"Own\.mean is not that of its rewards"):
        declared_properties.check_declared_properties(
            family(**members | {"mean": lambda self: 2 * self.width, "variance": lambda self: self.width})
        )


@pytest.mark.parametrize(
    "problem",
    [
        jb.bernoulli([0.5, 1e-6, 1 - 1e-6, 0]), jb.gaussian([1e6, 0], sd=0.01), jb.pareto([1, 2], 1.5),
        jb.categorical([0, 1, 5], [[0.5, 0.5, 0]] * 2), jb.log_normal([1, 2], 2.0), jb.exponential([1, 50]),
        jb.s1(), jb.linear(3000),
    ],
    ids=lambda problem: problem.name,
)  # fmt: skip
def test_families_with_the_right_properties_are_taken(problem, monkeypatch):
    """False alarms have a probability below 1e-10 each, and are errors here; rewards are those of one key."""
    monkeypatch.setattr(declared_properties, "REGISTRY", types.SimpleNamespace(holds=lambda family: False))
    monkeypatch.setattr(declared_properties, "is_checked", lambda problem: False)
    declared_properties.check_declared_properties(problem)


def test_the_bound_of_a_sum_of_squares_is_reached_by_normal_rewards():
    """Where sd is b/2, normal rewards are (b/2)-sub-Gaussian, and their squares are the largest."""
    rewards = np.random.default_rng(0).normal(size=(64, 2**14))
    assert 1 < rewards.var(1).max() < 1 + 2 * np.sqrt(30 / 2**14)


def test_a_family_is_looked_at_once_and_again_when_its_code_has_changed(monkeypatch):
    drawn = []
    draw = declared_properties._draw
    monkeypatch.setattr(declared_properties, "_draw", lambda *args, **code: drawn.append(1) or draw(*args, **code))
    made = family(width=jnp.asarray([0.7, 0.3]))
    for _ in range(2):
        jb.run(UGAPE, made, KEY)
    assert len(drawn) == 1
    type(made).mean = property(lambda self: self.width / 4)
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"Own\.mean"):
            jb.run(UGAPE, made, KEY)
    assert len(drawn) == 2
