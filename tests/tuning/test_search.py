"""`jb.tune` finds what is known to be best, goes on where it stopped, and judges on instances that no step has seen."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import xarray as xr
from scipy import stats

import jaxbandits as jb
from jaxbandits.engine.binding import accept
from jaxbandits.report import formatting
from jaxbandits.tuning.bijectors import Coordinate, coordinates
from jaxbandits.tuning.estimates import mean_and_error
from jaxbandits.tuning.instance_parameters import INSTANCE, instances_of


class Seen(NamedTuple):
    x: jax.Array
    luck: jax.Array


@jb.algorithm
class Dial:
    """Pulls every arm once, and errs with probability exp(-x)."""

    x: float
    shuffle_arms = False

    def init(self, arms, key):
        return Seen(jnp.asarray(self.x, jnp.float32), jax.random.uniform(key))

    def update(self, state, arms, arm, reward):
        return state

    def select(self, state, arms, key):
        return 0

    def done(self, state, arms):
        return jnp.asarray(True)

    def recommend(self, state, arms):
        return jnp.where(state.luck < jnp.exp(-state.x), 1, 0)


@jb.algorithm
class Endless(Dial):
    """Pulls on and on."""

    def done(self, state, arms):
        return jnp.asarray(False)


@jb.algorithm
class Tolerant(Dial):
    """Is right if its arm is at most x below the best."""

    traits = jb.Traits(tolerance="x")


@jb.algorithm
class TwoDials(Dial):
    """Has a whole number too."""

    turns: int


@jb.algorithm
class AtLeast(Dial):
    """Is tuned by a logarithm."""

    x: float = jb.parameter("positive")


def square(problem, state, recommended):
    return (state.own.x - 3 * problem.mean[0]) ** 2


def itself(problem, state, recommended):
    return state.own.x


def draw(random):
    return jb.bernoulli([random.uniform(0.7, 0.9), 0.5])


def quickly(algorithm, objective, **options):
    given = {"wrt": ["x"], "steps": 60, "instances": 8, "seeds": 20, "held_out": 20} | options
    return jb.tune(algorithm, draw, objective, **given)


def test_the_least_of_a_known_function_is_found():
    """E (x - 3 mu)^2 for mu uniform on [.7, .9] is least at 2.4; the average of 240 instances has an sd of .011."""
    found = quickly(Dial(1.0), square)
    assert found.algorithm.x == pytest.approx(2.4, abs=0.1)
    assert type(found.algorithm.x) is float
    objective = found.held_out.objective
    assert float(objective.sel(algorithm="tuned")) < 0.2 * float(objective.sel(algorithm="start"))
    assert float(found.held_out.difference_low.sel(algorithm="start")) > 0
    assert float(found.held_out.difference.sel(algorithm="tuned")) == 0


@pytest.mark.slow
def test_a_constraint_holds_with_equality_where_it_costs():
    """The least x with exp(-x) <= .1 is ln 10 = 2.30."""
    found = quickly(Dial(1.0), itself, error_at_most=0.1, steps=200, seeds=200, held_out_seeds=1000)
    assert found.algorithm.x == pytest.approx(np.log(10), rel=0.1)
    tuned = found.held_out.sel(algorithm="tuned")
    assert float(tuned.error) == pytest.approx(np.exp(-found.algorithm.x), abs=0.01)
    assert float(tuned.error_low) < np.exp(-found.algorithm.x) < float(tuned.error_high)
    assert float(found.history.multiplier[-1]) > 0


@pytest.mark.slow
def test_a_picture_names_what_was_found_and_not_where_the_search_was():
    """With a limit on errors the title named the average of the late steps, before the move back to fewer errors."""
    said = []
    found = quickly(
        Dial(1.0), itself, error_at_most=0.5, steps=4, optimizer=optax.sgd(0.1), held_out_seeds=400, on_step=said.append
    )
    assert found.algorithm.x > float(found.history["value"][-1, 0])  # moved back
    shown = [formatting.value(float(found.held_out.objective.sel(algorithm=name))) for name in ("start", "tuned")]
    assert jb.plot.tuning(found.history).get_suptitle().replace("\n", " ") == (
        f"x from 1 to {formatting.value(found.algorithm.x)}: itself from {shown[0]} to {shown[1]} on instances that no "
        "step has seen"
    )
    last = formatting.value(float(said[-1]["value"][-1, 0]))
    assert jb.plot.tuning(said[-1]).get_suptitle() == f"The search reached x = {last} in step 4"


def test_a_search_goes_on_where_it_stopped():
    whole = quickly(Dial(1.0), square, steps=6)
    said = []
    first = quickly(Dial(1.0), square, steps=4, on_step=lambda history: said.append(history.sizes["step"]))
    rest = quickly(Dial(1.0), square, steps=6, history=first.history, on_step=said.append)
    assert said[:4] == [1, 2, 3, 4]
    assert len(said) == 6
    assert rest.history.identical(whole.history)
    assert rest.held_out.identical(whole.held_out)
    assert rest.algorithm == whole.algorithm
    for changed, message in (
        ({"seeds": 21}, "other arguments: seeds is 20 there and 21 here"),
        ({"optimizer": optax.sgd(0.3)}, "another optimizer"),
        ({"error_at_most": 0.1}, "error_at_most is not given there and 0.1 here"),
    ):
        with pytest.raises(jb.UsageError, match=message):
            quickly(Dial(1.0), square, steps=6, history=first.history, **changed)
    with pytest.raises(jb.UsageError, match=r"algorithm.*is"):
        quickly(Dial(2.0), square, steps=6, history=first.history)
    broken = first.history.assign_attrs(spec="{")
    for other in (
        first.held_out,
        "history.nc",
        broken,
        first.history.isel(step=0),
        first.history.drop_vars("error_se"),
    ):
        with pytest.raises(jb.UsageError, match=r"^this is no history of jb\.tune"):
            quickly(Dial(1.0), square, steps=6, history=other)
        with pytest.raises(jb.UsageError, match=r"^this is no history of jb\.tune"):
            jb.plot.tuning(other)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (jb.poisson, 'problem.0.name is "bernoulli" there and "poisson" here'),
        (lambda means: jb.with_costs(jb.bernoulli(means), "reward"), 'costs is not given there and "reward" here'),
    ],
)
def test_a_history_of_other_problems_with_the_same_means_is_refused(family, message):
    """Only the numbers were compared, so that the objective of the other problems was returned."""
    first = quickly(Dial(1.0), square, steps=2)
    arguments = {"wrt": ["x"], "instances": 8, "seeds": 20, "held_out": 4, "steps": 3, "history": first.history}
    with pytest.raises(jb.UsageError, match=message):
        jb.tune(Dial(1.0), lambda random: family([random.uniform(0.7, 0.9), 0.5]), square, **arguments)


def test_a_history_of_another_distribution_with_the_same_first_problems_is_refused():
    """Only the problems of the first step were compared, and a distribution's rare problems may come later."""
    steps = [0]

    def rarely(means):
        def draw(random):
            steps[0] += 1
            return jb.bernoulli(means if steps[0] == 2 else [0.8, 0.5])

        steps[0] = -1  # the first problem is drawn once more, for the record
        return draw

    given = {"wrt": ["x"], "instances": 1, "seeds": 20, "held_out": 2}
    first = jb.tune(Dial(1.0), rarely([0.9, 0.5]), square, steps=2, **given).history
    again = jb.tune(Dial(1.0), rarely([0.9, 0.5]), square, steps=2, history=first, **given)
    assert again.history.identical(first)
    with pytest.raises(jb.UsageError, match="another distribution: other problems are drawn in step 1"):
        jb.tune(Dial(1.0), rarely([0.7, 0.5]), square, steps=3, history=first, **given)
    old = first.drop_vars("drawn")  # as earlier versions wrote it
    assert jb.tune(Dial(1.0), rarely([0.9, 0.5]), square, steps=2, history=old, **given).history.identical(old)


@pytest.mark.slow
def test_a_history_of_a_list_with_another_problem_is_refused():
    """Only the problems of the first step were compared."""
    problems = [jb.bernoulli([0.7 + 0.01 * number, 0.5]) for number in range(12)]
    given = {"wrt": ["x"], "instances": 2, "seeds": 20, "held_out": 4, "steps": 2}
    first = jb.tune(Dial(1.0), problems, square, **given)
    again = jb.tune(Dial(1.0), problems, square, history=first.history, **given)
    assert again.history.identical(first.history)
    in_training = instances_of(problems, 0).training
    seen = {id(problem) for problem in instances_of(problems, 0).of_step(0, 2)}
    place = next(i for i, one in enumerate(problems) if id(one) in set(map(id, in_training)) - seen)
    problems[place] = jb.bernoulli([0.9, 0.8])
    with pytest.raises(jb.UsageError, match="other arguments: training_problems is"):
        jb.tune(Dial(1.0), problems, square, history=first.history, **given)


@pytest.mark.slow
def test_a_built_in_algorithm_is_tuned_beside_others():
    start = jb.UGapEb(budget=60, a=20.0)
    found = jb.tune(
        start, draw, "simple_regret", wrt="a", steps=3, instances=3, seeds=20, held_out=4,
        against={"adaptive": jb.UGapEb(budget=60, adaptive=True)},
    )  # fmt: skip
    assert found.held_out["algorithm"].values.tolist() == ["start", "tuned", "adaptive"]
    assert found.algorithm.budget == 60
    assert found.algorithm.a != start.a
    assert found.history["value"].dims == ("step", "parameter")
    assert float(found.history["value"][0, 0]) == pytest.approx(20.0)
    assert (found.held_out.error_high > found.held_out.error_low).all()
    picture = jb.plot.tuning(found.history)
    picture.canvas.draw()
    assert "a from" in picture.get_suptitle()
    with pytest.raises(jb.UsageError, match="no history"):
        jb.plot.tuning(found.held_out)


@pytest.mark.parametrize(
    ("kept", "seeds"), [*(pytest.param(*of, marks=pytest.mark.slow) for of in ((2, 40), (5, 40))), (40, 3)]
)
def test_intervals_from_few_instances_or_seeds_are_students(kept, seeds):
    """With 1.96 standard errors, those from two instances held for 72% of the searches."""
    judged = quickly(Dial(1.0), square, steps=1, held_out=kept, held_out_seeds=seeds).held_out
    quantile = stats.t(min(kept, seeds) - 1).ppf(0.975)
    for name in ("objective", "difference"):
        half = quantile * judged[f"{name}_se"]
        np.testing.assert_allclose(judged[f"{name}_high"], judged[name] + half, rtol=1e-6)
        np.testing.assert_allclose(judged[f"{name}_low"], judged[name] - half, rtol=1e-6)
    middle, half = judged.error, quantile * judged.error_se
    assert (judged.error_high >= np.minimum(middle + half, 1)).all()
    assert (judged.error_low <= np.maximum(middle - half, 0)).all()


def test_errors_have_one_interval_also_as_the_objective():
    """As the objective they had [0, 0] where no run erred, and so had the difference to another rule."""
    judged = quickly(
        Dial(20.0), "error", steps=1, held_out=4, held_out_seeds=10, against={"other": Dial(21.0)}
    ).held_out  # fmt: skip
    for end in ("", "_se", "_low", "_high"):
        np.testing.assert_array_equal(judged[f"objective{end}"], judged[f"error{end}"])
    np.testing.assert_allclose(judged.objective_high, 1 - 0.025 ** (1 / 40))
    ends = {
        name: [float(judged[f"difference_{end}"].sel(algorithm=name)) for end in ("low", "high")]
        for name in ("tuned", "other")
    }
    assert ends["tuned"] == [0, 0]
    tango = stats.norm.ppf(0.975) ** 2
    np.testing.assert_allclose(ends["other"], [-tango / (40 + tango), tango / (40 + tango)])


def test_truncated_runs_are_counted():
    """Pulls at the limit looked like those of runs that had ended."""
    given = {"instances": 3, "held_out": 4, "max_pulls": 5}
    found = quickly(Endless(1.0), itself, steps=1, **given)
    assert found.history.truncated.values.tolist() == [2 * 3 * 20]
    assert found.held_out.truncated.values.tolist() == [4 * 20] * 2
    assert found.history.truncated.dtype == found.held_out.truncated.dtype == np.int64
    old = found.history.drop_vars("truncated")  # as earlier versions wrote it
    assert quickly(Endless(1.0), itself, steps=1, history=old, **given).history.identical(old)


def test_no_instance_of_a_list_both_tunes_and_judges():
    problems = [jb.bernoulli([p, 0.1]) for p in np.linspace(0.2, 0.9, 9)]
    drawn = instances_of(problems, root_seed=4)
    judges = {float(problem.mean[0]) for problem in drawn.held_out(100)}
    trained = {float(problem.mean[0]) for step in range(20) for problem in drawn.of_step(step, 3)}
    assert len(judges) == 4
    assert len(trained) == 5
    assert not judges & trained


def test_instances_of_a_step_do_not_depend_on_other_steps():
    drawn = instances_of(draw, root_seed=1)
    means = [[float(p.mean[0]) for p in drawn.of_step(step, 3)] for step in (0, 1, 0)]
    assert means[0] == means[2] != means[1]
    assert not set(means[0]) & {float(p.mean[0]) for p in drawn.held_out(50)}


@pytest.mark.slow
def test_standard_errors_are_neither_too_small_nor_twice_too_large():
    """Sums of an instance's, a seed's and their own noise; 2 000 means have their variance within 12% (3.8 sd)."""
    random, found = np.random.default_rng(0), []
    for _ in range(2000):
        values = random.normal(size=(12, 1)) + 0.5 * random.normal(size=(1, 30)) + 2 * random.normal(size=(12, 30))
        found.append(mean_and_error(xr.DataArray(values, dims=(INSTANCE, "seed"))))
    variance = np.var([one.mean for one in found])
    assert variance == pytest.approx(1 / 12 + 0.25 / 30 + 4 / 360, rel=0.12)
    assert 0.95 * variance < np.mean([one.se**2 for one in found]) < 1.3 * variance


@pytest.mark.parametrize(
    ("low", "high", "value"), [(0.0, 1.0, 0.05), (0.0, np.inf, 3.0), (1.0, np.inf, 1.3), (-np.inf, np.inf, -2.0)]
)
def test_coordinates_stay_in_range(low, high, value):
    at = Coordinate("x", value, low, high)
    assert at.value(at.point(value)) == pytest.approx(value)
    assert all(low < at.value(at.point(value) + step) < high for step in (-5, -0.1, 0.1, 5))
    assert at.value(at.point(value) + 0.1) > value


@pytest.mark.parametrize(("low", "high", "value"), [(0.0, 1.0, 0.5), (0.0, np.inf, 3.0), (1.0, np.inf, 1.3)])
@pytest.mark.parametrize("point", [-1e6, -800.0, 800.0, 1e6, np.nan])
def test_a_point_beyond_the_numbers_is_not_reached(low, high, value, point):
    """The exponential overflowed, with a traceback."""
    at = Coordinate("x", value, low, high)
    at.value(point)
    assert not at.reaches(point, 0.1)
    assert at.reaches(at.point(value), 0.1)


BAD = [
    ({"wrt": []}, "names of parameters"),
    ({"wrt": ["y"]}, "Dial"),
    ({"wrt": ["x", "x"]}, "each once"),
    ({"wrt": None}, "names of parameters, each once, got None"),
    ({"wrt": [["x"]]}, r"names of parameters, each once, got \[\['x'\]\]"),
    ({"steps": 0}, "steps must be a whole number"),
    ({"error_at_most": 1.0}, "strictly between 0 and 1"),
    ({"against": {"tuned": Dial(2.0)}}, "must not use the names 'start' and 'tuned'"),
    ({"optimizer": optax.sgd(float("inf"))}, "smaller learning rate"),
    ({"algorithm": AtLeast(1.0), "optimizer": optax.sgd(-1e6)}, "tuning led x to .*a smaller learning rate may help"),
    ({"held_out": 1}, "at least 2"),
    ({"against": [Dial(2.0)]}, "against must be algorithms by their names"),
    (
        {"against": {"grid": Dial(jb.axis([1.0, 2.0]))}},
        "against, 'grid': tuning needs one algorithm: x must be one value",
    ),
    ({"objective": lambda problem, state, recommended: state.pulls}, r"one number of a run here, got int32 \(2,\)"),
    ({"algorithm": Tolerant(0.1), "objective": "error"}, "x says what counts as an error of Tolerant: it cannot be"),
    ({"algorithm": Tolerant(0.1), "error_at_most": 0.2}, "x says what counts as an error of Tolerant: it cannot be"),
    (
        {"against": {"other": Tolerant(0.1)}},
        "against, 'other': its errors are judged with a tolerance of 0.1, those of the start with 0.0: ask both",
    ),
    (
        {"against": {"above": jb.APT(budget=60, threshold=0.5)}},
        "against, 'above': its errors are judged with the criterion 'above-threshold', those of the start with 'eps",
    ),
    (
        {"error_at_most": 0.02, "held_out": 9},
        "9 instances .held_out. x 20 runs of each .* cannot show an error of at most 0.02: at least 183 runs are ",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_input(options, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        quickly(**({"algorithm": Dial(1.0), "objective": square, "steps": 2} | options))
    assert "\n" not in str(error.value)


def test_an_objective_that_is_no_number_is_said():
    with pytest.raises(jb.UsageError, match="the objective is nan on average at x = 1: tuning needs a finite one"):
        quickly(Dial(1.0), lambda *told: square(*told) * np.nan, steps=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jb.tune(jb.UGapEb(budget=60), draw, wrt="a"), "one value of a to start from, UGapEb has none"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), draw, wrt="budget"), "which is an integer or a choice"),
        (lambda: jb.tune(TwoDials(x=1.0, turns=3), draw, wrt="turns"), "which is an integer or a choice"),
        (
            lambda: jb.tune(TwoDials(x=1.0, turns=jb.axis([3, 4])), draw, wrt="x"),
            "turns must be one value, not an axis",
        ),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), draw, wrt="epsilon"), "start it elsewhere, got 0.0"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=jb.axis([1, 2])), draw, wrt="a"), "one value of a"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), draw, wrt="aa"), "did you mean 'a'"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), jb.bernoulli([0.5, 0.4]), wrt="a"), "needs a distribution"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), [jb.bernoulli([0.5, 0.4])], wrt="a"), "at least 4"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), lambda random: [0.5], wrt="a"), "must give a problem"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), lambda random: random.random(9), wrt="a"), "must give a problem"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), np.full((9, 9), 0.5), wrt="a"), "needs a distribution"),
        (lambda: jb.tune(jb.UGapEb(budget=60, a=1.0), draw, "errors", wrt="a"), "did you mean 'error'"),
    ],
)
def test_what_cannot_be_tuned_is_said_in_one_line(call, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_probabilities_of_errors_are_tuned():
    (where,) = coordinates(accept(jb.UGapEc(epsilon=0.1, delta=0.05)), ["delta"])
    assert (where.low, where.high) == (0.0, 1.0)
    assert where.value(where.point(0.05)) == pytest.approx(0.05)
