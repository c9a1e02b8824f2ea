"""Which answers are correct: in exact arithmetic, at every scale of the means, for answers of every size."""

import itertools
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.arrays.numerics import ROUNDING
from jaxbandits.sweeps import success
from jaxbandits.sweeps.success import judge_means

SCALES = [1e-30, 1e-7, 0.3, 1.0, 1e5, 1e30]
FIVE = jb.bernoulli([0.9, 0.8, 0.7, 0.3, 0.2])


@jb.algorithm
class Answers:
    """Answers the arms below a number, whatever it sees."""

    below: float = 1.0
    level: float = 0.6
    shuffle_arms = False

    def select(self, arms, key):
        return 0

    def done(self, arms):
        return arms.time > 0

    def recommend(self, arms):
        return jnp.arange(len(arms)) < self.below

    def is_right(self, problem, answer):
        """The answer is the arms with a mean above the level."""
        return jnp.all(answer == (problem.mean > self.level))


@pytest.mark.slow
def test_what_is_known_of_a_cell_is_looked_up_once(monkeypatch):
    """It was looked up for all cells with each part of the runs: half of the time of a sweep over 10,000 cells."""
    asked = []
    monkeypatch.setattr(success, "tolerance_of", lambda rule: asked.append(rule) or 0.0)
    parts = []
    monkeypatch.setattr(success, "judge_means", lambda *a, **k: parts.append(a) or judge_means(*a, **k))
    jb.sweep(jb.Uniform(budget=jb.axis(list(range(10, 50)))), [FIVE, jb.abm(4)], 200, lanes=8)
    assert len(parts) > 1
    assert len(asked) == 80


def answering(below=1.0, *, level=0.6, **traits):
    return jb.algorithm(type("Answers", (Answers,), {"traits": jb.Traits(**traits)}))(below, level)


def exactly(means, answer, epsilon, *, together):
    """Whether an answer is correct, in exact arithmetic and with no room for rounding."""
    means = [Fraction(float(mean)) for mean in means]
    best = sorted(means, reverse=True)[: len(answer)]
    own = sorted((means[arm] for arm in answer), reverse=True)
    lost = sum(best) - sum(own) if together else best[-1] - own[-1]
    return lost <= Fraction(epsilon) * (len(answer) if together else 1)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_answers_are_judged_as_in_exact_arithmetic(scale, together):
    """Means that differ by more than the rounding of the two, beside others of any size."""
    random = np.random.default_rng(3)
    for case in range(40):
        near = np.round(random.uniform(-1, 1, 3), 2) * scale
        far = random.choice([-1e8, 1e-9, 0.0, -3.0], 2) * scale
        means = np.concatenate([near, far]).astype(np.float32).astype(np.float64)
        epsilon = 0.0 if case % 2 else float(random.uniform(0, 1)) * scale
        for size in (1, 2, 3):
            answers = [*itertools.combinations(range(5), size)]
            masks = np.zeros((len(answers), 1, 5), bool)
            for mask, answer in zip(masks, answers, strict=True):
                mask[0, list(answer)] = True
            local = np.zeros(len(answers), int)
            simple, aggregate, correct = judge_means(means[None, None], local, masks, epsilon, together=together)
            best = np.sort(means)[::-1]
            for i, answer in enumerate(answers):
                assert correct[i] == exactly(means, answer, epsilon, together=together), (means, answer, epsilon)
                assert simple[i] == best[size - 1] - means[list(answer)].min()
                np.testing.assert_allclose(
                    aggregate[i], (best[:size].sum() - means[list(answer)].sum()) / size, atol=1e-15 * abs(means).max()
                )


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_means_a_few_spacings_apart_may_be_equal_and_no_others(scale, together):
    one = float(np.float32(scale))
    for factor, right in ((0.9, True), (1.1, False)):
        means = np.asarray([one, one * (1 - factor * ROUNDING), -1e9 * one])
        answer = np.asarray([False, True, False])
        assert judge_means(means[None, None], np.zeros(1, int), answer[None, None], 0.0, together=together)[2] == right
    # Two float32 numbers that stand for 0.7 and 0.6 in units of the scale, told apart by 0.1 of it.
    means = np.float32([0.7 * scale, 0.6 * scale]).astype(np.float64)
    answer = np.asarray([False, True])
    assert judge_means(means[None, None], np.zeros(1, int), answer[None, None], 0.1 * scale, together=together)[2]


@pytest.mark.parametrize(
    ("algorithm", "problem"),
    [
        (jb.Uniform(budget=30), jb.gaussian([0.5, 0.47, -3e4])),
        pytest.param(jb.Uniform(budget=2), jb.bernoulli([7e-7, 2e-7]), marks=pytest.mark.slow),
        pytest.param(jb.SAR(budget=40), jb.gaussian([0.31, 0.3, -7e6]), marks=pytest.mark.slow),
        pytest.param(jb.Uniform(budget=60), jb.gaussian([[0.5, 0.4], [1e6, -1e6]]), marks=pytest.mark.slow),
    ],
)
def test_a_mean_far_away_hides_no_error(algorithm, problem):
    found = jb.simulate(algorithm, problem, seeds=300)
    best = np.asarray(problem.mean).reshape(-1, problem.bandits).argmax(axis=0)
    returned = found["recommended"].to_numpy().reshape(300, problem.bandits, -1).argmax(axis=2)
    right = (returned == best).all(axis=1)
    assert 30 < right.sum() < 300
    np.testing.assert_array_equal(found["correct"], right)


@pytest.mark.parametrize("below", [0.0, 1.0, 2.0, 4.0, 5.0])
def test_an_answer_of_another_size_is_wrong_and_counted(below):
    ds = jb.simulate(answering(below), FIVE, seeds=4)
    known = jb.summary(ds)
    assert (ds["correct"] == (below == 1)).all()
    if below == 1:
        assert "wrong_size" not in known
        return
    assert known["wrong_size"] == 4
    assert "4 of 4 runs returned another number of arms than `answers`" in known.attrs["wrong_size"]


def test_the_number_of_arms_may_be_a_field_or_any():
    grid = jb.sweep(answering(jb.axis([1.0, 2.0, 3.0]), answers="below"), FIVE, seeds=2)
    assert grid["correct"].all()
    assert not grid["wrong_size"].any()
    assert jb.simulate(answering(2.0, answers=2), FIVE, seeds=2)["correct"].all()
    any_number = jb.simulate(answering(4.0, answers="any"), FIVE, seeds=2)
    assert any_number["correct"].all()
    assert "wrong_size" not in any_number


@pytest.mark.parametrize("keep", ["summary", "moments"])
def test_sums_of_runs_count_them_too(keep, tmp_path):
    grid = answering(jb.axis([1.0, 2.0]))
    kept = jb.sweep(grid, FIVE, seeds=6, store=tmp_path / "a.zarr", keep=keep).load()
    known = jb.summary(kept) if keep == "moments" else kept
    assert known["wrong_size"].values.tolist() == [0, 6]


@pytest.mark.parametrize(
    ("traits", "said"),
    [
        ({"answers": "arms"}, "'any', or the name of a field that holds one, got 'arms'"),
        ({"answers": "level"}, "the number of arms returned, level, must be a whole number, at least 1, got 0.6"),
        ({"criterion": lambda problem, answer: answer}, r"Answers: the criterion must be bool \(\), got bool \(5,\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_one_line(traits, said):
    with pytest.raises(jb.UsageError, match=said):
        jb.simulate(answering(**traits), FIVE, seeds=2)


def test_no_number_of_arms_is_refused():
    for wrong in (0, 1.5, True, None):
        with pytest.raises(jb.UsageError, match="answers, the number of arms returned, must be"):
            jb.Traits(answers=wrong)


def all_but_last(problem, answer):
    """All arms but the last are returned."""
    return jnp.all(answer[:-1]) & ~answer[-1]


def test_a_criterion_may_be_a_function():
    ds = jb.sweep(answering(jb.axis([3.0, 4.0, 5.0]), criterion=all_but_last, answers="any"), FIVE, seeds=3)
    assert ds["correct"].all("seed").values.tolist() == [False, True, False]
    assert not ds["correct"].any("seed").values[0]
    assert ds["correct"].attrs["criterion"] == "All arms but the last are returned."
    # Another size than declared is wrong whatever the function says.
    assert not jb.simulate(answering(4.0, criterion=all_but_last), FIVE, seeds=3)["correct"].any()


def test_a_criterion_that_is_a_method_knows_the_algorithm():
    """Whose parameters may have axes; and the arms that a reservoir gave the run."""
    grid = answering(3.0, level=jb.axis([0.1, 0.6, 0.75]), criterion=Answers.is_right, answers="any")
    assert jb.sweep(grid, FIVE, seeds=2)["correct"].all("seed").values.tolist() == [False, True, False]
    drawn = jb.reservoir(beta=1.0, arms=3, prices="unit")
    runs = jb.simulate(answering(1.0, level=0.5, criterion=Answers.is_right, answers="any"), drawn, seeds=300)
    share = float(runs["correct"].mean())
    # One arm above 1/2 and two below, the one that is returned: 1/8; beyond 6 standard errors with probability 2e-9.
    assert abs(share - 1 / 8) < 6 * (7 / 64 / 300) ** 0.5


@pytest.mark.slow
def test_a_criterion_of_an_elimination_is_told_the_arms_of_the_run_too():
    @jb.algorithm
    class Half:
        traits = jb.Traits(criterion=lambda problem, answer: jnp.sum(answer * problem.mean) == jnp.max(problem.mean))

        def rounds(self, arms):
            return 200

        def keep(self, arms, key):
            return arms.mean >= jnp.max(arms.mean)

    runs = jb.simulate(Half(), jb.reservoir(beta=1.0, arms=3, prices="unit"), seeds=100)
    assert runs["correct"].mean() > 0.5  # some nine in ten


@pytest.mark.slow
def test_a_reservoirs_answers_are_judged_by_the_size_declared():
    drawn = jb.reservoir(beta=1.0, arms=3, prices="unit")
    assert not jb.simulate(answering(2.0, criterion="ratio"), drawn, seeds=20)["correct"].any()
    some = jb.simulate(answering(1.0, criterion="ratio"), drawn, seeds=300)["correct"]
    assert 60 < some.sum() < 140  # a third


@pytest.mark.slow
@pytest.mark.parametrize("steps", [4, 6])
def test_the_smallest_gap_that_a_problem_may_have_is_judged(steps):
    """An arm that is worse by a few steps of float32 is wrong, at the rate of the normal law."""
    gap = steps * 2.0**-14  # the step at 1000
    sd = gap * np.sqrt(100 / 2) / 1.2816
    found = jb.simulate(jb.Uniform(budget=200), jb.gaussian([1000 + gap, 1000.0], sd=sd), seeds=4000)
    wrong = 1 - found.correct.to_numpy().mean()
    assert np.array_equal(found.correct, found.simple_regret == 0)
    # 0.1 expected, and rounding of the means to a step; five standard errors are 0.024.
    assert abs(wrong - 0.1) < 0.045
