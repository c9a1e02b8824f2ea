"""What comes in where a problem or an algorithm is needed, and is none: one line that names what to use."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

import jaxbandits as jb

UGAPE, ARMS, KEY = jb.UGapEc(epsilon=0.3, delta=0.1), jb.bernoulli([0.3, 0.8]), jax.random.key(0)
GRID, FAMILY = jb.UGapEc(epsilon=jb.axis([0.3, 0.4]), delta=0.1), jb.one_sparse(n=jb.axis([3, 4]))


def one_line(call, match):
    with pytest.raises(jb.UsageError, match=match) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("problem", "match"),
    [
        (lambda arm: 0.5, r"got a function: for rewards that you measure there is jb\.AskTell"),
        ("bernoulli:0.7,0.5", r"got the text 'bernoulli:0.7,0.5': .*in Python jb\.bernoulli\(…\)"),
        ("two-group", r"in Python jb\.two_group\(…\)"),
        ("nothing", "got the text 'nothing': texts are for the command line$"),
        ([0.7, 0.5], r"such as jb\.bernoulli\(\[0\.7, 0\.5\]\), got \[0\.7, 0\.5\]"),
        (None, "got None"),
    ],
)
def test_no_problem(problem, match):
    for call in (
        lambda: jb.simulate(UGAPE, problem, seeds=2),
        lambda: jb.run(UGAPE, problem, KEY),
        lambda: jb.trajectory(UGAPE, problem, KEY, 2),
    ):
        one_line(call, match)
    if not callable(problem):
        one_line(lambda: jb.with_costs(problem, 1.0), "a problem is needed")


@pytest.mark.parametrize(
    ("algorithm", "match"),
    [
        ("ugape-c", r"an algorithm is needed, jb\.UGapEc\(epsilon=…, delta=…\), got the text 'ugape-c'"),
        ("UGapEc", r"jb\.UGapEc\(epsilon=…, delta=…\)"),
        ("adaptive_top_k", r"jb\.AdaptiveTopK\(k=…\)"),
        ("nothing", r"such as jb\.UGapEc\(epsilon=0\.1, delta=0\.05\), got the text 'nothing'"),
        (jb.UGapEc, r"UGapEc\(…\), not its class"),
        (lambda state: 0, "an algorithm is needed, such as"),
        (None, "got None"),
        (ARMS, r"got the problem bernoulli \(2 arms\): the algorithm comes first"),
    ],
)
def test_no_algorithm(algorithm, match):
    for call in (
        lambda: jb.simulate(algorithm, ARMS, seeds=2),
        lambda: jb.run(algorithm, ARMS, KEY),
        lambda: jb.AskTell(algorithm, arms=2),
        lambda: jb.gradients.expected("pulls", algorithm, ARMS, seeds=2),
        lambda: jb.tune(algorithm, lambda random: ARMS, "pulls", wrt=["epsilon"]),
        lambda: jb.adversary(algorithm, ARMS),
    ):
        one_line(call, match)


def test_one_run_is_no_grid():
    for call in (lambda *given: jb.run(*given, KEY), lambda *given: jb.trajectory(*given, KEY, 3)):
        one_line(lambda call=call: call(GRID, ARMS), "makes one run, and epsilon of UGapEc is an axis.*jb.sweep")
        one_line(lambda call=call: call(UGAPE, FAMILY), "makes one run, and n of the problem is an axis.*jb.sweep")


def test_one_run_is_refused_what_many_are():
    """An m of all arms, and several bandits for a rule of one, were run."""
    one_line(
        lambda: jb.run(jb.LUCB(epsilon=0.1, delta=0.1, m=2), ARMS, KEY), "m must be smaller than the number of arms"
    )
    one_line(lambda: jb.run(UGAPE, jb.reservoir(beta=1), KEY), "give reservoir.* arms=|needs prices=unit")
    one_line(lambda: jb.trajectory(jb.Uniform(budget=1), ARMS, KEY, 2), "the budget must cover 2 first pulls")


@pytest.mark.parametrize("key", [0, jax.random.PRNGKey(0), jax.random.split(KEY, 3), None])
def test_one_run_has_one_key(key):
    one_line(lambda: jb.run(UGAPE, ARMS, key), "the key must be one typed key, such as jax.random.key")


@pytest.mark.parametrize("wrong", [-1, 1.5, "3"])
def test_counts_of_one_run_are_whole_numbers(wrong):
    one_line(lambda: jb.run(UGAPE, ARMS, KEY, max_pulls=wrong), "max_pulls must be a whole number from 1")
    one_line(lambda: jb.trajectory(UGAPE, ARMS, KEY, wrong), "steps must be a whole number from 0")


def family(**changes):
    """A family of the user's own: arms that pay with a probability."""
    methods = {
        "parameters": ("chance",),
        "integer_rewards": True,
        "mean": property(lambda self: self.chance),
        "variance": property(lambda self: self.chance * (1 - self.chance)),
        "reward_range": property(lambda self: jnp.float32(1)),
        "sample": classmethod(lambda cls, words, chance: (words[0] < chance * 2.0**32).astype(jnp.int32)),
        "__annotations__": {"chance": jax.Array},
    }
    return dataclasses.dataclass(frozen=True)(type("Own", (jb.Problem,), methods | changes))


def test_a_family_that_is_not_registered_is_one_line():
    made = family()(jnp.asarray([0.3, 0.8]), name="own")
    for call in (lambda: jb.simulate(UGAPE, made, seeds=2), lambda: jb.run(UGAPE, made, KEY)):
        one_line(call, r"Own is not a pytree: put @jb\.problems\.register_problem above its @dataclasses")
    registered = jb.problems.register_problem(family())(jnp.asarray([0.3, 0.8]), name="own")
    assert jb.simulate(UGAPE, registered, seeds=2).sizes["arm"] == 2


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"integer_rewards": False}, r"Own\.rewards must be float32 \(2,\), got int32"),
        (
            {"sample": classmethod(lambda cls, words, chance: chance * 1.0)},
            r"Own\.rewards must be int32 \(2,\), as integer_rewards says, got float32",
        ),
        (
            {"sample": classmethod(lambda cls, words, chance: words[0] < chance * 2.0**32)},
            r"Own\.rewards must be int32 .* got bool \(2,\), which sample returned",
        ),
        ({"variance": property(lambda self: jnp.float32(1))}, r"Own\.variance must be float32 \(2,\), got"),
        (
            {"sample": classmethod(lambda cls, words, chance: 1 if words[0] < 9 else 0)},
            r"Own, line \d+ of .*test_problem_border\.py .*needs one value.*jnp\.where",
        ),
    ],
)
def test_what_the_methods_of_a_family_return_is_looked_at(changes, match):
    made = jb.problems.register_problem(family(**changes))(jnp.asarray([0.3, 0.8]), name="own")
    for call in (lambda: jb.simulate(UGAPE, made, seeds=2), lambda: jb.run(UGAPE, made, KEY)):
        one_line(call, match)


def test_a_parameter_of_a_family_is_an_array():
    made = jb.problems.register_problem(family())([0.3, 0.8], name="own")
    one_line(lambda: jb.run(UGAPE, made, KEY), r"Own\.chance must be an array of a value for each arm, got")
    one_line(lambda: jb.simulate(UGAPE, made, seeds=2), r"Own\.chance must be an array of a value for each arm, got")


def test_parameters_of_a_family_have_one_length():
    """They ended in JAX's TypeError of shapes."""
    changes = {"parameters": ("chance", "width"), "__annotations__": {"chance": jax.Array, "width": jax.Array}}
    changes["sample"] = classmethod(lambda cls, words, chance, width: (chance * width > 0.5).astype(jnp.int32))
    made = jb.problems.register_problem(family(**changes))(jnp.asarray([0.3, 0.8]), jnp.ones(3), name="own")
    for call in (lambda: jb.simulate(UGAPE, made, seeds=2), lambda: jb.run(UGAPE, made, KEY)):
        one_line(call, r"^Own\.width must have a value for each of the 2 arms of chance, got 3$")


def test_parameters_of_a_family_have_one_value_for_each_arm():
    """A row for each arm ended in JAX's ValueError of shapes."""
    made = jb.problems.register_problem(family())(jnp.asarray([[0.3, 0.7], [0.8, 0.2]]), name="own")
    for call in (lambda: jb.simulate(UGAPE, made, seeds=2), lambda: jb.run(UGAPE, made, KEY)):
        one_line(
            call, r"^Own\.chance must have one value for each arm, got the shape \(2, 2\): make each column a field"
        )


def declared(name, value):
    """A family of one's own, of rewards in [0, width], that declares something else."""
    members = {
        "parameters": ("width",),
        "__annotations__": {"width": jax.Array},
        "sample": classmethod(lambda cls, words, width: width * (words[0].astype(jnp.float32) * jnp.float32(2.0**-32))),
        "mean": property(lambda self: self.width / 2),
        "variance": property(lambda self: self.width**2 / 12),
        "reward_range": property(lambda self: jnp.max(self.width)),
    } | {name: property(value)}
    made = type("Declared", (jb.problems.Problem,), members)
    return jb.problems.register_problem(dataclasses.dataclass(frozen=True)(made))(jnp.asarray([1.0, 0.5], jnp.float32))


@pytest.mark.parametrize("found", [0.0, -1.0, float("nan")])
def test_a_range_of_ones_own_is_positive_and_a_variance_is_not_negative(found):
    problem = declared("reward_range", lambda self: jnp.float32(found))
    one_line(lambda: jb.simulate(UGAPE, problem, seeds=2), r"Declared\.reward_range must be positive, got")
    problem = declared("variance", lambda self: jnp.full_like(self.width, found) - 1)
    one_line(lambda: jb.simulate(UGAPE, problem, seeds=2), "variance")
    assert jb.simulate(UGAPE, declared("name_of_law", lambda self: "uniform"), seeds=2).pulls.min() > 0


def test_a_family_made_from_one_without_a_range_has_none():
    """Its NaN, which says so, was refused as a range that is not positive."""

    class Own(jb.problems.Exponential):
        pass

    made = jb.problems.register_problem(dataclasses.dataclass(frozen=True)(Own))(jnp.asarray([1.0, 0.5]), name="own")
    assert (jb.simulate(jb.Uniform(budget=6), made, seeds=2).pulls == 6).all()
    one_line(lambda: jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), made, seeds=2), "b")
