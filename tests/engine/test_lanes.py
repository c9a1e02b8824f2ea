"""Results are a function of algorithm, problem and key: the same bits in every batch, grid and setting."""

import dataclasses
import functools

import jax
import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.engine.binding import accept
from jaxbandits.sweeps.grid import expand, hash_cells

pytestmark = pytest.mark.bits

MEANS = [0.7, 0.5, 0.5, 0.4, 0.3]
PROBLEM = jb.bernoulli(MEANS)
# One of each kind: the lanes are the same for all, and that each has the bits of its batch is tested with the protocol.
ALGORITHMS = {
    "ugape-c": jb.UGapEc(epsilon=0.2, delta=0.1),
    "ugape-b": jb.UGapEb(budget=150, adaptive=True),
    "lucb": jb.LUCB(epsilon=0.2, delta=0.1),
    "successive elimination, mom": jb.SuccessiveElimination(delta=0.9, estimator="mom", moment_c=2e-3),
    "adaptive top-k": jb.AdaptiveTopK(k=2, epsilon=0.2, delta=0.2),
    "clucb": jb.CLUCB(k=2, epsilon=0.1, delta=0.1),
    "sequential halving": jb.SequentialHalving(budget=150, reuse=False),
}
HEAVY = {
    "student-t": jb.student_t([0.5, 0.3, 0.0], 1.5),
    "pareto": jb.pareto([2.0, 1.5, 1.0], 1.4),
    "beta": jb.beta([2.0, 1.0, 0.5], 1.0),
    "empirical": jb.problems.empirical_from_data("market-returns", joint=True),
}


def same(left: xr.Dataset, right: xr.Dataset) -> None:
    for name in left.data_vars:
        np.testing.assert_array_equal(left[name].values, right[name].values, err_msg=name)


#: What most of these tests have in common, so that they share programs, which take most of their time.
SHARED = {"lanes": 48, "devices": 1}


@functools.cache
def reference(name: str) -> xr.Dataset:
    return jb.simulate(ALGORITHMS[name], PROBLEM, seeds=60, **SHARED)


SETTINGS = [(7, 1, 1), (64, 16, 2), (1000, 64, 2)]  # lanes, chunk, devices
# All of them for some, with the slow tests but for one.
KINDS = {"ugape-c"}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param(name, s, marks=[pytest.mark.slow] * (name not in KINDS or s != SETTINGS[0]))
        for name in ALGORITHMS
        for s in SETTINGS
        if s == SETTINGS[0] or name in KINDS
    ],
)
def test_speed_settings_change_no_bit(name: str, settings: tuple[int, int, int]) -> None:
    lanes, chunk, devices = settings
    found = jb.simulate(ALGORITHMS[name], PROBLEM, seeds=60, lanes=lanes, chunk=chunk, devices=devices)
    same(reference(name), found)


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAVY)
def test_rewards_of_every_family_have_the_same_bits_in_every_batch(name: str) -> None:
    """Down to the last bit of their sums."""

    def run(**settings: int) -> xr.Dataset:
        sums = {"sums": lambda problem, state, recommended: state.total}
        return jb.simulate(jb.Uniform(budget=3000), HEAVY[name], seeds=40, metrics=sums, **settings)

    first = run(devices=1)
    assert len(np.unique(first.sums)) > 20
    same(first, run(devices=2, lanes=7, chunk=5))


@pytest.mark.slow
def test_a_cell_does_not_see_its_neighbours() -> None:
    epsilons, ms = [0.1, 0.2, 0.5], [1, 2, 3]
    algorithm = jb.UGapEc(epsilon=jb.axis(epsilons), delta=jb.axis([0.01, 0.1]), m=jb.axis(ms))
    grid = jb.sweep(algorithm, PROBLEM, seeds=60)
    same(reference("ugape-c"), grid.sel(epsilon=0.2, delta=0.1, m=1))
    alone = jb.simulate(jb.UGapEc(epsilon=0.5, delta=0.01, m=3), PROBLEM, seeds=60)
    same(alone, grid.sel(epsilon=0.5, delta=0.01, m=3))


@pytest.mark.slow
def test_more_seeds_keep_the_first_ones() -> None:
    more = jb.simulate(ALGORITHMS["ugape-c"], PROBLEM, seeds=200, **SHARED)
    same(reference("ugape-c"), more.isel(seed=slice(60)))


def test_cells_share_their_rewards_unless_they_are_independent() -> None:
    # Two cells that differ in nothing that matters: the same runs with common random numbers, others without.
    algorithm = jb.UGapEc(epsilon=0.2, delta=jb.axis([0.1, 0.1 + 1e-8]))
    common = jb.sweep(algorithm, PROBLEM, seeds=60, **SHARED)
    np.testing.assert_array_equal(common.pulls[0], common.pulls[1])
    own = jb.sweep(algorithm, PROBLEM, seeds=60, independent=True, **SHARED)
    assert np.mean(own.pulls.values[0] == own.pulls.values[1]) < 0.5


def independent(algorithm: object, problem: object = PROBLEM) -> xr.Dataset:
    return jb.sweep(algorithm, problem, seeds=40, independent=True)


@pytest.mark.slow
def test_an_independent_cell_is_the_same_in_every_grid() -> None:
    """A cell's stream comes from its values: alone, in any order, beside another axis, and however they are given."""
    alone = independent(jb.UGapEc(epsilon=0.2, delta=0.1))
    grids = {
        "second": jb.UGapEc(epsilon=jb.axis([0.1, 0.2]), delta=0.1),
        "first": jb.UGapEc(epsilon=jb.axis([0.2, 0.3, 0.1]), delta=0.1),
        "beside another axis": jb.UGapEc(epsilon=jb.axis([0.1, 0.2], name="e"), delta=jb.axis([0.3, 0.1]), m=1, c=0.5),
        "float32": jb.UGapEc(epsilon=np.float32(0.2), delta=jb.axis([0.1])),
    }
    for name, algorithm in grids.items():
        grid = independent(algorithm, jb.bernoulli(MEANS, name=name))
        cell = {"epsilon": 0.2, "e": 0.2, "delta": 0.1}
        same(alone, grid.sel({axis: cell[axis] for axis in cell if axis in grid.dims}, drop=True))
    problems = independent(jb.UGapEc(epsilon=0.2, delta=0.1), jb.bernoulli(jb.axis([MEANS[::-1], MEANS]), name="x"))
    same(alone, problems.isel(means=1))
    assert np.mean(problems.pulls[0].values == alone.pulls.values) < 0.5
    same(independent(jb.UGapEc(epsilon=1, delta=0.1)), independent(jb.UGapEc(epsilon=1.0, delta=0.1)))


def test_identities_tell_apart_what_runs_can() -> None:
    """A hash of 64 bits: none of these meet by chance, but for one case in 10^16."""

    def identity(algorithm: object, problem: object) -> tuple[int, ...]:
        return tuple(map(int, hash_cells(expand(accept(algorithm), problem).cells)[:, 0]))

    ugape, arms = jb.UGapEc(epsilon=0.2, delta=0.1), [0.5, 0.4]
    different = [
        (ugape, jb.bernoulli(arms)),
        (ugape, jb.bernoulli(arms[::-1])),
        (ugape, jb.gaussian(arms)),
        (ugape, jb.with_costs(jb.bernoulli(arms), "reward")),
        (ugape, jb.with_costs(jb.bernoulli(arms), 0.5)),
        (ugape, jb.with_costs(jb.bernoulli(arms), 0.5, random=True)),
        (ugape, jb.empirical([[0, 1], [1, 2]])),
        (ugape, jb.empirical([[0, 1], [1, 2]], joint=True)),
        (ugape, jb.empirical([[0, 1], [1, 3]])),
        (ugape, jb.bernoulli([arms, arms])),
        (jb.LUCB(epsilon=0.2, delta=0.1), jb.bernoulli(arms)),
        (dataclasses.replace(ugape, variance=True), jb.bernoulli(arms)),
        (dataclasses.replace(ugape, delta=0.2), jb.bernoulli(arms)),
        (jb.Uniform(budget=2**24 + 1), jb.bernoulli(arms)),
        (jb.Uniform(budget=2**24), jb.bernoulli(arms)),
        (jb.Uniform(budget=2**24), jb.reservoir(prices="unit")),
        (jb.Uniform(budget=2**24), jb.reservoir(prices="unit", arms=9)),
    ]
    assert len({identity(*case) for case in different}) == len(different)
    equal = [
        (jb.Uniform(budget=100.0, m=1), jb.abm(1)),
        (jb.Uniform(budget=np.int64(100)), jb.bernoulli(np.asarray([0.5] + [0.4] * 19, np.float32), name="x")),
        (jb.Uniform(budget=jb.axis([100, 200])), jax.tree.map(np.asarray, jb.abm(jb.axis([1, 2])).make(1))),
    ]
    assert len({identity(*case) for case in equal}) == 1
    assert identity(*equal[0]) == (184778068, 695355116)  # the same in every process, and on every machine


def test_other_root_seeds_give_other_runs() -> None:
    other = jb.simulate(ALGORITHMS["ugape-c"], PROBLEM, seeds=60, root_seed=1, **SHARED)
    assert np.mean(other.pulls.values == reference("ugape-c").pulls.values) < 0.5


def test_checkpoints_look_at_the_same_runs() -> None:
    whole = reference("ugape-c")
    points = [5, 100, 1000, 10**8]
    looked = jb.simulate(ALGORITHMS["ugape-c"], PROBLEM, seeds=60, checkpoints=points, **SHARED)
    np.testing.assert_array_equal(looked.pulls.isel(checkpoint=3), whole.pulls)
    np.testing.assert_array_equal(looked.correct.isel(checkpoint=3), whole.correct)
    for i, point in enumerate(points[:3]):
        np.testing.assert_array_equal(looked.pulls.isel(checkpoint=i), np.minimum(point, whole.pulls))
        capped = jb.simulate(ALGORITHMS["ugape-c"], PROBLEM, seeds=60, max_pulls=point, **SHARED)
        np.testing.assert_array_equal(looked.recommended.isel(checkpoint=i), capped.recommended)
    assert not looked.status.any()


def test_the_last_checkpoint_ends_a_run() -> None:
    algorithm, equal = jb.UGapEc(epsilon=0.0, delta=0.1), jb.bernoulli([0.5] * 5)
    looked = jb.simulate(algorithm, equal, seeds=60, checkpoints=[10, 20, 100, 500], **SHARED)
    np.testing.assert_array_equal(looked.pulls.isel(checkpoint=3), 500)


@pytest.mark.slow
def test_max_pulls_is_exact_and_flagged() -> None:
    for chunk in (None, 1):  # that of `reference`, and of one step
        algorithm, equal = jb.UGapEc(epsilon=0.0, delta=0.1), jb.bernoulli([0.5] * 5)
        capped = jb.simulate(algorithm, equal, 60, max_pulls=777, chunk=chunk, **SHARED)
        np.testing.assert_array_equal(capped.pulls, 777)
        np.testing.assert_array_equal(capped.status, 1)
    ended = jb.simulate(jb.Uniform(budget=777), PROBLEM, 60, max_pulls=777)
    np.testing.assert_array_equal(ended.status, 0)


def test_more_jobs_than_the_log_holds() -> None:
    # 3 000 short runs through a log of 1 024 rows.
    short = jb.simulate(jb.Uniform(budget=jb.axis([5, 6, 7])), PROBLEM, seeds=1000, lanes=16, chunk=1)
    np.testing.assert_array_equal(short.pulls, np.asarray([5, 6, 7])[:, None].repeat(1000, 1))
    assert np.all(short.recommended.sum("arm") == 1)


def sparse(n: object) -> xr.Dataset:
    """Runs of a number of arms, or of an axis of them."""
    return jb.sweep(jb.UGapEc(epsilon=0.3, delta=0.1), jb.one_sparse(n=n, best=0.9), seeds=60, **SHARED)


@functools.cache
def of_several_sizes() -> xr.Dataset:
    return sparse(jb.axis([5, 7, 8, 3]))


def test_numbers_of_arms_are_padded_without_a_trace() -> None:
    grid = of_several_sizes()
    assert grid.sizes["arm"] == 8
    for n in (5, 7, 8, 3):
        cell = grid.sel(n=n)
        assert not cell.recommended.values[:, n:].any()
        assert np.all(cell.recommended.sum("arm") == 1)
    # The order of the same axis does not matter either.
    other = sparse(jb.axis([8, 3, 5, 7]))
    np.testing.assert_array_equal(grid.pulls.sel(n=7), other.pulls.sel(n=7))


def test_a_padded_cell_equals_the_problem_alone() -> None:
    grid, alone = of_several_sizes(), sparse(5)
    np.testing.assert_array_equal(grid.pulls.sel(n=5), alone.pulls)
    np.testing.assert_array_equal(grid.recommended.sel(n=5).values[:, :5], alone.recommended)


@pytest.mark.slow
def test_multi_bandit_results_have_bandits() -> None:
    ds = jb.simulate(jb.GapE(budget=200, eta=2.0), jb.gabillon(1), seeds=30)
    assert ds.recommended.dims == ("seed", "bandit", "arm")
    assert ds.recommended.shape == (30, 2, 4)
    np.testing.assert_array_equal(ds.recommended.sum("arm"), 1)
    best = ds.recommended.values[:, :, 0].all(axis=1)
    np.testing.assert_array_equal(ds.correct, best)


def test_memory_does_not_follow_the_number_of_jobs() -> None:
    from jaxbandits.engine import jobs, lane_state

    seen = []
    original = jobs.empty_carry

    def spy(cells: lane_state.Cells, settings: lane_state.Settings) -> lane_state.Carry:
        carry = original(cells, settings)
        seen.append(sum(leaf.size for leaf in jax.tree.leaves((cells, carry))) + settings.capacity)
        raise jb.UsageError("seen")

    from jaxbandits.engine import loop_start

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_start, "empty_carry", spy)
        for seeds in (2_000, 20_000):
            with pytest.raises(jb.UsageError, match="seen"):
                jb.simulate(jb.Uniform(budget=6), PROBLEM, seeds=seeds)
    assert seen[0] == seen[1]


def test_few_jobs_have_few_lanes() -> None:
    from jaxbandits.engine import lane_state, loop_start

    seen = []

    def spy(cells: lane_state.Cells, settings: lane_state.Settings) -> lane_state.Carry:
        seen.append(settings.lanes)
        raise jb.UsageError("seen")

    def lanes_of(algorithm: object, problem: jb.Problem, seeds: int) -> int:
        with pytest.raises(jb.UsageError, match="seen"):
            jb.simulate(algorithm, problem, seeds=seeds, devices=1)
        return seen[-1]

    number = [1, 2, 10, 100, 1000]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_start, "empty_carry", spy)
        assert [lanes_of(ALGORITHMS["lucb"], PROBLEM, seeds) for seeds in number] == [1, 48, 48, 144, 592]
        assert [lanes_of(ALGORITHMS["lucb"], jb.linear(n=100), seeds) for seeds in number] == [1, 4, 16, 144, 176]
        # A step of many arms with 16 lanes takes longer than two with 8.
        assert [lanes_of(ALGORITHMS["lucb"], jb.linear(n=1000), seeds) for seeds in number] == [1, 4, 8, 80, 80]
        # Few steps, which cost less than another program until there are very many arms.
        few = jb.MedianElimination(epsilon=0.1, delta=0.1)
        assert [lanes_of(few, PROBLEM, seeds) for seeds in number] == [592] * 5
        assert [lanes_of(few, jb.linear(n=40_000), seeds) for seeds in number] == [4, 4, 16, 80, 80]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 3, 49])
def test_few_jobs_are_the_first_of_many(seeds: int) -> None:
    """Each number has lanes of its own."""
    few = jb.simulate(ALGORITHMS["ugape-c"], PROBLEM, seeds=seeds, devices=1)
    same(few, reference("ugape-c").isel(seed=slice(seeds)))
