"""One run serves every delta of a sampling rule that does not know it, and each has the bits of a run of its own."""

import functools

import jax.numpy as jnp
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.engine.binding import accept
from jaxbandits.engine.program import Runs
from jaxbandits.sweeps.grid import expand
from jaxbandits.sweeps.plan import make_plan
from jaxbandits.sweeps.shared_trajectories import next_cells, share_trajectories

PROBLEM = jb.gaussian([0.7, 0.4, 0.1], sd=0.5)
DELTAS, EPSILONS, SEEDS, LIMIT = [0.001, 0.1, 0.01], [0.0, 0.2], 30, 250


def sweep(delta=DELTAS, epsilon=EPSILONS, seeds=SEEDS, **options):
    algorithm = jb.TTUCB(delta=jb.axis(delta), epsilon=jb.axis(epsilon))
    return jb.sweep(algorithm, PROBLEM, seeds, max_pulls=LIMIT, **options)


@pytest.fixture(scope="module")
def found():
    """The grid, and what was pulled for it."""
    told = []
    return sweep(on_progress=told.append), told[-1]


@pytest.mark.slow
@pytest.mark.bits
def test_each_has_the_bits_of_a_run_of_its_own(found):
    """Also where the limit has stopped it, which then stops all that would go on."""
    grid, _ = found
    assert 0 < int((grid.status == 1).sum()) < grid.status.size / 2
    for delta in DELTAS:
        for epsilon in EPSILONS:
            alone = jb.sweep(jb.TTUCB(delta=delta, epsilon=epsilon), PROBLEM, SEEDS, max_pulls=LIMIT)
            assert "one_trajectory" not in alone.attrs
            cell = grid.sel(delta=delta, epsilon=epsilon, drop=True)
            xr.testing.assert_equal(cell.drop_attrs(), alone.drop_attrs())


def test_the_dataset_says_so_and_only_the_longest_run_is_made(found):
    grid, progress = found
    assert grid.attrs["one_trajectory"] == "delta"
    assert progress.runs == grid.pulls.size
    assert progress.pulls == float(grid.pulls.max("delta").sum())
    assert progress.steps == float(grid.steps.max("delta").sum())


@pytest.mark.slow
def test_speed_settings_change_no_bit(found):
    xr.testing.assert_equal(sweep(lanes=3, chunk=5, devices=1).drop_attrs(), found[0].drop_attrs())


def test_a_store_gains_deltas_seeds_and_parts(found, tmp_path):
    """Runs that are there are not made again: those of another delta then start from the beginning."""
    store = tmp_path / "grid.zarr"
    sweep(delta=[0.01], store=store)
    sweep(store=store, part=(1, 2))
    sweep(store=store, part=(2, 2))
    there = sweep(store=store)
    assert there.attrs["one_trajectory"] == "delta"
    xr.testing.assert_equal(there.load().drop_attrs(), found[0].drop_attrs())


def test_runs_stay_apart_where_they_have_to():
    """With reward tables of their own, along curves, and where something else varies with delta."""

    def told(algorithm, **options):
        return make_plan(algorithm, PROBLEM, 2, **options).attrs

    rule = jb.TTUCB(delta=jb.axis(DELTAS))
    assert told(rule)["one_trajectory"] == "delta"
    assert "one_trajectory" not in told(rule, independent=True)
    assert "one_trajectory" not in told(rule, checkpoints=[50, 100])
    assert "one_trajectory" not in told(jb.UGapEc(epsilon=0.3, delta=jb.axis(DELTAS)))
    both = jb.axis([0.1, 0.2], name="x")
    assert "one_trajectory" not in told(jb.TTUCB(delta=both, epsilon=both))


def test_chains_are_those_of_like_cells_in_falling_order():
    """By the content of a problem, whatever its cells' order; a cell that stands there twice follows itself."""
    grid = expand(accept(jb.TTUCB(delta=jb.axis([0.01, 0.1, 0.05]))), jb.linear(n=jb.axis([3, 4])))
    runs = Runs(5, 0, 100, independent=False)
    assert share_trajectories(grid.cells, runs, 0) == ("delta", [[2, 4, 0], [3, 5, 1]])
    assert share_trajectories(grid.cells, runs, 3) == (None, [[place] for place in range(6)])
    one, found = [[(0, 5)]] * 6, share_trajectories(grid.cells, runs, 0).places
    assert next_cells(found, range(6), one).tolist() == [-1, -1, 4, 5, 0, 1]
    one[4] = [(2, 5)]  # runs that are to be made of some seeds only
    assert next_cells(found, range(6), one).tolist() == [-1, -1, 0, 5, -1, 1]
    assert next_cells(found, [0, 1], one[:2]) is None  # the places of a part


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (jb.EBTC, PROBLEM),
        (jb.UniformGLR, PROBLEM),
        (functools.partial(jb.UniformGLR, m=2), PROBLEM),
        (jb.EBTC, jb.bernoulli([0.7, 0.4, 0.1])),
    ],
)
def test_one_run_serves_every_epsilon_of_a_rule_that_does_not_sample_by_it(rule, problem):
    """Also where deltas vary, by the axis that saves most; rules that sample by epsilon have runs of their own."""
    epsilons, deltas = [0.1, 0.0, 0.3, 0.02], [0.1, 0.01]
    told = []
    algorithm = rule(delta=jb.axis(deltas), epsilon=jb.axis(epsilons))
    grid = jb.sweep(algorithm, problem, SEEDS, max_pulls=LIMIT, on_progress=told.append)
    assert grid.attrs["one_trajectory"] == "epsilon"
    assert told[-1].pulls == float(grid.pulls.max("epsilon").sum())
    assert 0 < int((grid.status == 1).sum()) < grid.status.size
    for epsilon in epsilons:
        alone = jb.sweep(rule(delta=jb.axis([0.1]), epsilon=epsilon), problem, SEEDS, max_pulls=LIMIT)
        cell = grid.sel(delta=[0.1], epsilon=epsilon).drop_vars("epsilon")
        xr.testing.assert_equal(cell.drop_attrs(), alone.drop_attrs())


def test_rules_that_sample_by_epsilon_are_not_chained_by_it():
    for cls in (jb.TTUCB, jb.EBTCI, jb.T3C, jb.TTTS, jb.TrackAndStop, jb.BestChallenger):
        assert cls.traits.stops_by == ("delta",)
        assert "one_trajectory" not in make_plan(cls(delta=0.1, epsilon=jb.axis(EPSILONS)), PROBLEM, 2).attrs


@jb.algorithm
class Patient:
    """Samples uniformly until a gap is wide enough for delta."""

    delta: float
    haste: float = 0.0
    traits = jb.Traits(stops_by=("delta",))

    def select(self, arms, key):
        return jnp.argmin(arms.pulls - self.haste * arms.mean)

    def done(self, arms):
        top = jnp.sort(arms.mean)[-2:]
        return (top[1] - top[0]) ** 2 * arms.time > 2 * jnp.log(arms.time / self.delta)

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


@pytest.mark.slow
@pytest.mark.bits
def test_a_users_rule_may_say_that_only_its_stopping_rule_knows_a_field():
    grid = jb.sweep(Patient(delta=jb.axis(DELTAS)), PROBLEM, SEEDS, max_pulls=LIMIT)
    assert grid.attrs["one_trajectory"] == "delta"
    for delta in DELTAS:
        alone = jb.sweep(Patient(delta=delta), PROBLEM, SEEDS, max_pulls=LIMIT)
        xr.testing.assert_equal(grid.sel(delta=delta, drop=True).drop_attrs(), alone.drop_attrs())


def test_a_field_that_the_sampling_rule_knows_is_refused():
    class Hasty(Patient):
        traits = jb.Traits(stops_by=("haste",))

    with pytest.raises(
        jb.UsageError, match=r"Hasty: only done and recommend may depend on haste, which traits\.stops_by names"
    ) as e:
        jb.simulate(jb.algorithm(Hasty)(delta=0.1), PROBLEM, 2)
    assert "\n" not in str(e.value)
