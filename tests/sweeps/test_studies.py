"""Sweeps of several algorithms and problems: the Dataset, its bits, and what single sweeps have in place of it."""

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.engine.compilation import compile_clock, make_room
from jaxbandits.sweeps.plan import make_plan

DELTAS = jb.axis([0.1, 0.01])
FIXED_CONFIDENCE = jb.LUCB(epsilon=0.1, delta=DELTAS)
FIXED_BUDGET = jb.SuccessiveRejects(budget=jb.axis([50, 90]))
FEW, MANY = jb.bernoulli([0.9, 0.5, 0.4]), jb.gaussian([0.9, 0.5, 0.4, 0.3, 0.2])


@jb.algorithm
class OwnUniform:
    budget: int

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def study(**options):
    return jb.sweep([FIXED_CONFIDENCE, FIXED_BUDGET], [FEW, MANY], seeds=20, **options)


def test_each_cell_has_the_bits_of_a_sweep_of_its_algorithm_and_problem():
    ds = study()
    assert dict(ds.sizes) == {"algorithm": 2, "problem": 2, "delta": 2, "budget": 2, "seed": 20, "arm": 5}
    assert ds.algorithm.values.tolist() == ["lucb", "successive-rejects"]
    assert ds.problem.values.tolist() == ["bernoulli", "gaussian"]
    for algorithm, lacks in ((FIXED_CONFIDENCE, "budget"), (FIXED_BUDGET, "delta")):
        for problem, name in ((FEW, "bernoulli"), (MANY, "gaussian")):
            alone = jb.sweep(algorithm, problem, seeds=20)
            mine = ds.sel(algorithm=ds.algorithm[int(lacks == "delta")].item(), problem=name)
            for place in range(2):  # along the axis that it lacks, its runs are repeated
                part = mine.isel({lacks: place, "arm": slice(alone.sizes["arm"])})
                for variable in alone:
                    np.testing.assert_array_equal(part[variable], alone[variable])


def test_masks_are_padded_and_say_how_many_arms_there_are():
    ds = study()
    assert not ds.recommended.sel(problem="bernoulli").isel(arm=slice(3, None)).any()
    assert ds.recommended.attrs["arms"] == "3 (bernoulli); 5 (gaussian)"


def test_a_single_sweep_is_as_it_was():
    ds = jb.sweep(FIXED_CONFIDENCE, FEW, seeds=5)
    assert ds.pulls.dims == ("delta", "seed")
    assert (ds.attrs["algorithm"], ds.attrs["problem"]) == ("LUCB", "bernoulli (3 arms)")
    assert "arms" not in ds.recommended.attrs


def test_a_list_of_one_is_a_dimension():
    ds = jb.sweep([FIXED_CONFIDENCE], FEW, seeds=5)
    assert ds.pulls.dims == ("algorithm", "delta", "seed")
    assert "algorithm" not in ds.attrs


def test_names():
    def names(algorithms, problems=FEW):
        plan = make_plan(algorithms, problems, 2)
        return [
            list(plan.layout.dimensions[name]) for name in ("algorithm", "problem") if name in plan.layout.dimensions
        ]

    uniform = jb.Uniform(budget=20)
    assert names({"mine": uniform, "of three": jb.Uniform(budget=30)}) == [["mine", "of three"]]
    assert names([uniform, jb.Uniform(budget=30), OwnUniform(9)]) == [
        ["uniform budget=20", "uniform budget=30", "OwnUniform"]
    ]
    problems = [jb.bernoulli([0.5, 0.4]), jb.bernoulli([0.6, 0.4]), jb.abm(1), jb.bernoulli([0.9, 0.8], name="near")]
    assert names([uniform], problems)[1] == [
        "bernoulli means=0.5,0.4",
        "bernoulli means=0.6,0.4",
        "abm",
        "near",
    ]


@pytest.mark.slow
def test_several_programs_and_no_more():
    """Classes of algorithms times families of rewards times numbers of arms within a power of two."""
    algorithms = [jb.LUCB(epsilon=0.1, delta=DELTAS), jb.Uniform(budget=50), jb.LilUCB(delta=0.1), OwnUniform(50)]
    problems = [jb.bernoulli(np.linspace(0.9, 0.1, k), name=f"b{k}") for k in (3, 4)]
    problems += [jb.gaussian(np.linspace(0.9, 0.1, k), name=f"g{k}") for k in (3, 4)]
    make_room()
    with compile_clock() as clock:
        ds = jb.sweep(algorithms, problems, seeds=4)
    assert clock.programs == 4 * 2
    assert ds.sizes["problem"] == 4


def test_each_class_has_the_limit_of_its_single_sweep():
    batches = jb.MedianElimination(epsilon=0.3, delta=0.1)
    plan = make_plan([FIXED_CONFIDENCE, batches], FEW, 2)
    limits = {plan.runs_of([cell]).max_pulls for cell in plan.cells if isinstance(cell.algorithm, jb.MedianElimination)}
    assert limits == {make_plan(batches, FEW, 2).runs.max_pulls} != {10**9}
    assert plan.runs_of(plan.cells[:1]).max_pulls == 10**9
    assert "max_pulls" not in plan.spec["run"]
    assert make_plan([FIXED_CONFIDENCE, batches], FEW, 2, max_pulls=10**6).spec["run"]["max_pulls"] == 10**6


def test_what_an_algorithm_does_not_measure_is_nan():
    problem = jb.with_costs(jb.bernoulli([0.9, 0.4]), [1.0, 2.0])
    ds = jb.sweep([jb.KUBE(budget=30.0), jb.LUCB(epsilon=0.2, delta=0.1)], problem, seeds=5)
    assert ds.reward.sel(algorithm="kube").notnull().all()
    assert ds.reward.sel(algorithm="lucb").isnull().all()
    assert ds.regret.sel(algorithm="lucb").isnull().all()
    known = jb.summary(ds)
    assert known.regret_mean.sel(algorithm="lucb").isnull()
    assert np.isfinite(known.regret_mean.sel(algorithm="kube"))


@pytest.mark.slow
def test_the_criterion_is_told_by_algorithm():
    ds = jb.sweep([jb.SAR(budget=40, m=2), jb.LUCB(epsilon=0.2, delta=0.1)], FEW, seeds=3)
    assert "(sar); " in ds.correct.attrs["criterion"]
    assert ds.correct.attrs["criterion"].endswith("(lucb)")


@pytest.mark.slow
def test_curves_of_several_algorithms():
    algorithms = [jb.LUCB(epsilon=0.1, delta=0.1), jb.TTUCB(delta=0.1)]
    ds = jb.sweep(algorithms, [FEW], seeds=5, checkpoints=[20, 60])
    alone = jb.sweep(algorithms[1], FEW, seeds=5, checkpoints=[20, 60])
    np.testing.assert_array_equal(ds.correct.sel(algorithm="ttucb", problem="bernoulli"), alone.correct)


@pytest.mark.slow
def test_independent_cells_have_the_runs_of_single_sweeps():
    ds = study(independent=True)
    alone = jb.sweep(FIXED_BUDGET, MANY, seeds=20, independent=True)
    mine = ds.sel(algorithm="successive-rejects", problem="gaussian").isel(delta=1)
    np.testing.assert_array_equal(mine.correct, alone.correct)


@pytest.mark.slow
def test_problems_of_one_bandit_and_of_several():
    problems = {"several": jb.gabillon(1), "one": FEW}
    ds = jb.sweep([jb.GapE(budget=300, b=1.0)], problems, seeds=10)
    assert ds.recommended.attrs["arms"] == "4 (several); 3 (one)"
    alone = jb.simulate(jb.GapE(budget=300, b=1.0), FEW, seeds=10)
    mine = ds.sel(algorithm="gap-e", problem="one")
    np.testing.assert_array_equal(mine.correct, alone.correct)
    np.testing.assert_array_equal(mine.recommended.isel(bandit=0, arm=slice(3)), alone.recommended)
    assert int(mine.recommended.sum()) == int(alone.recommended.sum())
    several = jb.simulate(jb.GapE(budget=300, b=1.0), jb.gabillon(1), seeds=10)
    np.testing.assert_array_equal(ds.recommended.sel(algorithm="gap-e", problem="several"), several.recommended)


@pytest.mark.slow
def test_metrics_of_the_user():
    def spread(problem, state, answer):
        return jnp.max(state.pulls) - jnp.min(state.pulls)

    ds = jb.sweep([jb.Uniform(budget=20), OwnUniform(20)], [FEW, MANY], seeds=5, metrics={"spread": spread})
    alone = jb.simulate(OwnUniform(20), MANY, seeds=5, metrics={"spread": spread})
    np.testing.assert_array_equal(ds.spread.sel(algorithm="OwnUniform", problem="gaussian"), alone.spread)


def test_a_metric_of_two_types_is_refused():
    def total(problem, state, answer):
        return state.total[0]  # whole numbers for Bernoulli arms only

    with pytest.raises(jb.UsageError, match="the metric 'total' has values of another type for OwnUniform on gaussian"):
        jb.sweep([OwnUniform(20)], [FEW, MANY], seeds=5, metrics={"total": total})


@pytest.mark.slow
def test_shared_trajectories_stay_within_an_algorithm():
    ds = jb.sweep([jb.TTUCB(delta=DELTAS), jb.T3C(delta=DELTAS), FIXED_CONFIDENCE], FEW, seeds=8)
    assert ds.attrs["one_trajectory"] == "delta of ttucb, delta of t3c"
    np.testing.assert_array_equal(ds.pulls.sel(algorithm="t3c"), jb.sweep(jb.T3C(delta=DELTAS), FEW, seeds=8).pulls)


def test_axes_that_go_together():
    together = jb.zip_axes(epsilon=[0.2, 0.3], delta=[0.1, 0.1])
    ds = jb.sweep([jb.LUCB(**together), jb.UGapEc(**together)], FEW, seeds=8)
    assert ds.epsilon_delta.values.tolist() == ["epsilon=0.2, delta=0.1", "epsilon=0.3, delta=0.1"]
    alone = jb.simulate(jb.UGapEc(epsilon=0.3, delta=0.1), FEW, seeds=8)
    np.testing.assert_array_equal(ds.pulls.sel(algorithm="ugape-c").isel(epsilon_delta=1), alone.pulls)
    xr.testing.assert_equal(jb.repeat(ds.isel(epsilon_delta=[1])), ds.isel(epsilon_delta=[1]))
    sizes = jb.zip_axes("size", n=[3, 6], budget=[30, 60])
    ds = jb.sweep(jb.Uniform(budget=sizes["budget"]), jb.linear(n=sizes["n"]), seeds=3)
    assert ds.pulls.dims == ("size", "seed")
    assert ds.pulls.isel(seed=0).values.tolist() == [30, 60]


def test_repeats_selections_of_a_study():
    ds = study()
    for part in (
        ds,
        ds.sel(algorithm="lucb"),
        ds.sel(problem=["gaussian"]).isel(delta=1, seed=[3, 7]),
        ds.isel(algorithm=[1], budget=0),
    ):
        again = jb.repeat(part)
        for name in ("pulls", "correct", "status"):
            xr.testing.assert_equal(again[name].transpose(*part[name].dims), part[name])


def test_repeats_a_users_own_algorithm_given_by_name():
    ds = jb.sweep([OwnUniform(20), FIXED_BUDGET], FEW, seeds=4)
    with pytest.raises(jb.UsageError, match="OwnUniform cannot be made again"):
        jb.repeat(ds)
    xr.testing.assert_equal(jb.repeat(ds, algorithm={"OwnUniform": OwnUniform(20)}).pulls, ds.pulls)
    with pytest.raises(jb.UsageError, match="this is not the algorithm of the Dataset: algorithm"):
        jb.repeat(ds, algorithm={"OwnUniform": OwnUniform(30)})
    with pytest.raises(jb.UsageError, match="unknown algorithm of the Dataset 'OwnUnifrom'; did you mean 'OwnUniform'"):
        jb.repeat(ds, algorithm={"OwnUnifrom": OwnUniform(20)})


@pytest.mark.slow
def test_theory_is_nan_where_there_is_none():
    ds = jb.with_theory(study(), "lower_bound")
    assert ds.lower_bound.dims == ("algorithm", "problem", "delta", "budget")
    assert ds.lower_bound.sel(algorithm="successive-rejects").isnull().all()
    alone = jb.with_theory(jb.sweep(FIXED_CONFIDENCE, FEW, seeds=2), "lower_bound").lower_bound
    np.testing.assert_array_equal(ds.lower_bound.sel(algorithm="lucb", problem="bernoulli").isel(budget=0), alone)


@pytest.mark.slow
def test_comparisons_and_tables_take_a_study():
    ds = study().isel(budget=0)
    paired = jb.difference(ds, "pulls", along="algorithm", to="lucb")
    assert paired.difference.dims == ("algorithm", "problem", "delta")
    jb.ratio(ds, "pulls", along="algorithm", to="lucb")
    jb.find_best(ds, "pulls")
    table = jb.table(ds, rows="algorithm", columns=["problem", "delta"], format="latex")
    assert "successive-rejects & " in table


def test_merges_datasets_of_other_algorithms():
    one = jb.sweep([FIXED_CONFIDENCE], [FEW, MANY], seeds=20)
    two = jb.sweep([FIXED_BUDGET], [FEW, MANY], seeds=20)
    both = jb.merge([one, two])
    for name in ("pulls", "recommended"):
        xr.testing.assert_equal(both[name], study()[name])
    assert "answers" not in both.correct.attrs  # it differs between them
    xr.testing.assert_equal(jb.repeat(both).pulls, both.pulls)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jb.sweep([], FEW), "a sweep needs at least one algorithm, got []"),
        (lambda: jb.sweep([jb.Uniform(budget=9), jb.Uniform(budget=9)], FEW), "two algorithms are called 'uniform'"),
        (lambda: jb.sweep([FIXED_BUDGET], [FEW, FEW]), "two problems are called 'bernoulli'"),
        (lambda: jb.sweep({"": jb.Uniform(budget=9)}, FEW), "the name of an algorithm must be a text, got ''"),
        (lambda: jb.sweep([jb.Uniform(budget=9), "lucb"], FEW), "an algorithm is needed, jb.LUCB"),
        (lambda: jb.sweep(jb.Uniform(budget=9), [0.5, 0.4]), "a problem is needed"),
        (
            lambda: jb.sweep([FIXED_CONFIDENCE, jb.TTUCB(delta=jb.axis([0.1, 0.2]))], FEW),
            "two different axes are called 'delta': give one of them another name",
        ),
        (
            lambda: jb.sweep([jb.Uniform(budget=jb.axis([9, 10], name="problem"))], [FEW]),
            "an axis cannot be called 'problem': it is the dimension of a list",
        ),
        (lambda: jb.sweep([jb.KLLUCB(epsilon=0, delta=0.1)], [FEW, MANY]), "kl-lucb on gaussian: KLLUCB needs rewards"),
        (lambda: jb.sweep([FIXED_CONFIDENCE, FIXED_BUDGET], FEW, checkpoints=[9]), "SuccessiveRejects must know its"),
        (
            lambda: jb.sweep([jb.KUBE(budget=9.0), FIXED_BUDGET], FEW),
            "the budgets of successive-rejects are numbers of pulls, and those of kube are costs",
        ),
        (lambda: jb.zip_axes(epsilon=[0.1]), "zip_axes needs two fields or more that change together, got 1"),
        (lambda: jb.zip_axes(epsilon=[0.1], delta=[0.1, 0.2]), "equally many values, got 1 of epsilon, 2 of delta"),
        (lambda: jb.zip_axes(epsilon=[1, 1], delta=[2, 2]), "must not repeat a row, got epsilon=1, delta=2 twice"),
    ],
)  # fmt: skip
def test_bad_input_in_one_line(make, message):
    with pytest.raises(jb.UsageError) as error:
        make()
    assert str(error.value).startswith(message) or message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_cannot_be_merged_is_named():
    ds = jb.sweep(jb.Uniform(budget=jb.axis([20, 40])), FEW, seeds=3)
    for parts, said in {
        "list": (iter([ds, ds]), "a list of two or more"),
        "variable": ([ds, ds.pulls], "got DataArray"),
        "nothing": ([None, ds], "got NoneType"),
        "words": ([ds, ds.assign_coords(budget=["a", "b"])], "budget=a is not in the specification"),
        "numbers": ([ds, ds.assign_coords(budget=[20, 41])], "budget=41.0 is not in the specification"),
        "a new dimension": ([ds, ds.expand_dims(study=["a"])], "has a dimension 'study'"),
        "stacked": ([ds, ds.stack(cell=["budget"])], "has a dimension 'cell'"),
    }.values():
        with pytest.raises(jb.UsageError, match=said):
            jb.merge(parts)


def test_an_axis_of_a_jax_array_has_numbers():
    """Its dimension had texts, `'0.1'`, and sel(delta=0.1) failed; one number in an array was a TypeError."""
    assert jb.axis(jnp.asarray([0.25, 0.5])).values == (0.25, 0.5)
    assert jb.axis([np.asarray(2), jnp.asarray(4)]).values == (2, 4)
    ds = jb.sweep(jb.Uniform(budget=jb.axis(jnp.arange(4, 10, 2))), jb.bernoulli([0.7, 0.5]), seeds=2)
    assert ds.pulls.sel(budget=6).values.tolist() == [6, 6]
    with pytest.raises(jb.UsageError, match=r"an axis needs a list of values, got 0\.1"):
        jb.axis(np.asarray(0.1))
