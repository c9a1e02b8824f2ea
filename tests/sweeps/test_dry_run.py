"""The dry run of an uneven grid, the order of its jobs, and its lanes: longest first, and not more than stay busy."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.engine.job_queue import JobQueue
from jaxbandits.engine.program import Placement
from jaxbandits.sweeps import dry_run
from jaxbandits.sweeps.dry_run import estimated
from jaxbandits.sweeps.lane_schedule import schedule
from jaxbandits.sweeps.length_guesses import rough_lengths
from jaxbandits.sweeps.plan import make_plan
from jaxbandits.sweeps.plan_runs import make_runs

EPSILON = [0.05, 0.09, 0.16, 0.3, 0.6]
ONE = np.ones(1)


def uneven(seeds=200, best=0.6, epsilon=EPSILON):
    """Runs of 3 and of 30 arms in one program, of which some are a hundred times as long as others."""
    return jb.UGapEc(epsilon=jb.axis(epsilon), delta=0.05), jb.one_sparse(n=jb.axis([3, 30]), best=best), seeds


def test_a_schedule_of_equal_jobs_and_of_one_long_one():
    found = schedule(np.asarray([10.0]), np.asarray([40]), ONE, 8, 0.5, shrinks=True)
    assert found == (25.0, 1.0)
    # One job of 100 steps, and 800 of one step beside it on the other seven lanes.
    found = schedule(np.asarray([1.0, 100.0]), np.asarray([350, 1]), ONE, 8, 0.01, shrinks=False)
    assert found.seconds == pytest.approx(1.0)
    assert found.busy == pytest.approx(450 / 800)
    found = schedule(np.asarray([1.0, 100.0]), np.asarray([1_000_000, 1]), ONE, 8, 0.01, shrinks=False)
    assert found.seconds == pytest.approx(1_000_100 / 8 / 100)
    assert found.busy == pytest.approx(1.0)


def test_a_schedule_with_fewer_lanes_at_the_end():
    """A lane in eight works for 1000 s more: an eighth of the time, and the compiler's."""
    all_lanes, fewer = (
        schedule(np.asarray([1.0, 10_000.0]), np.asarray([70, 1]), ONE, 8, 0.1, shrinks=shrinks) for shrinks in (0, 1)
    )
    assert all_lanes.seconds == pytest.approx(1000, rel=1e-3)
    assert fewer.seconds == pytest.approx(1000 / 8 + 4, rel=0.02)


def test_jobs_are_placed_as_one_by_one():
    random = np.random.default_rng(2)
    for _ in range(20):
        lengths, jobs = random.uniform(1, 1000, 12), random.integers(1, 50, 12)
        found = schedule(lengths, jobs, ONE, 16, 1.0, shrinks=False)
        free = np.zeros(16)
        for length in np.sort(np.repeat(lengths, jobs))[::-1]:
            free[free.argmin()] += length
        assert found.seconds == pytest.approx(free.max())
        assert found.busy == pytest.approx(free.sum() / free.max() / 16)


@pytest.mark.slow
def test_guesses_put_the_longest_cells_first():
    algorithm, problem, seeds = uneven()
    plan = make_plan(algorithm, problem, seeds)
    lengths = rough_lengths(plan.cells, 10**9)
    means = jb.sweep(algorithm, problem, 20).pulls.mean("seed").to_numpy().ravel()
    assert np.corrcoef(np.log(lengths), np.log(means))[0, 1] > 0.97
    budgets = make_plan(jb.Uniform(budget=jb.axis([10, 40])), jb.bernoulli([0.7, 0.5]), 3)
    assert rough_lengths(budgets.cells, 30).tolist() == [10, 30]
    spends = make_plan(jb.KUBE(budget=jb.axis([10.0, 40.0])), jb.with_costs(jb.bernoulli([0.7, 0.5]), 2.0), 3)
    assert rough_lengths(spends.cells, 10**9).tolist() == [10, 40]
    same = make_plan(jb.LUCB(epsilon=0.0, delta=jb.axis([0.1, 0.01])), jb.bernoulli([0.5, 0.5]), 3)
    few, more = rough_lengths(same.cells, 10**18)
    assert 0 < few < more < 10**18


def test_a_queue_of_unknown_cells_goes_by_the_guesses():
    queue = JobQueue([[(0, 10)] for _ in range(3)], rough=np.asarray([1.0, 5.0, 3.0]))
    assert queue.longest_left == 18
    window = queue.deal(1, 30)
    assert window.cell[0, :30].tolist() == [1, 2, 0] + [1] * 9 + [2] * 9 + [0] * 9  # one of each, then the longest
    queue.loaded([4])
    seen = queue.seen()
    assert seen.jobs.tolist() == [10, 10, 10]
    assert seen.loaded.tolist() == [1, 2, 1]
    queue.saw(np.asarray([1]), np.asarray([7.0]))
    assert queue.seen().ended.tolist() == [0, 1, 0]
    cells = queue.deal(1, 30).cell[0, :26].tolist()
    assert cells == [2] * 9 + [0] * 9 + [1] * 8  # of 2 and 0 none has ended: they may be longer
    assert JobQueue([[(0, 10)], []]).longest_left == 10
    assert JobQueue([[], []]).longest_left == 0


@pytest.mark.slow
@pytest.mark.bits
def test_uneven_grids_have_busy_lanes_and_the_same_bits():
    seen = []
    ds = jb.sweep(*uneven(), on_progress=seen.append)
    assert seen[-1].steps / seen[-1].lane_steps > 0.6  # with the usual lanes, which an even grid has, 0.4
    xr.testing.assert_identical(ds.drop_attrs(), jb.sweep(*uneven(), lanes=37, chunk=16).drop_attrs())


@pytest.mark.slow
@pytest.mark.bits  # compiled as users have it: its time is compared
def test_an_uneven_grid_is_estimated(monkeypatch):
    """A dry run ends before the runs do. Seconds are compared roughly, since this machine may be busy."""
    monkeypatch.setattr(dry_run, "_SECONDS", 3.0)
    algorithm, problem, seeds = uneven(seeds=800, best=0.55)
    plan, placement = make_plan(algorithm, problem, seeds), Placement(None, None, None)
    found = estimated(plan, placement)
    made = make_runs(plan, [[(0, seeds)]] * len(plan.cells), placement, lambda runs: None)
    assert 1 / 1.5 < found.pulls / made.progress.pulls < 1.5
    assert abs(found.busy - made.progress.steps / made.progress.lane_steps) < 0.2
    assert 0.1 < found.seconds / made.seconds < 10


def test_programs_for_which_there_is_no_time_are_estimated_from_others(monkeypatch):
    monkeypatch.setattr(dry_run, "_ALTOGETHER", -1e9)
    sizes = make_plan(jb.UGapEc(epsilon=0.2, delta=0.1), jb.two_group(n=jb.axis([3, 4]), k=1), 50)
    monkeypatch.setattr(type(sizes), "groups", lambda self, cells: [[cell] for cell in cells])
    found = estimated(sizes, Placement(None, None, None))
    assert found.programs == 2
    made = jb.sweep(jb.UGapEc(epsilon=0.2, delta=0.1), jb.two_group(n=jb.axis([3, 4]), k=1), 50)
    assert 0.5 < found.pulls / float(made.pulls.sum()) < 2


@pytest.mark.slow
def test_the_command_says_why_lanes_are_idle(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(
        '[algorithm]\nname = "ugape-c"\ndelta = 0.1\nepsilon = { axis = [0.05, 0.6] }\n'
        '[problem]\nname = "one-sparse"\nn = { axis = [3, 30] }\n[run]\nseeds = 60'
    )
    assert main(["sweep", "grid.toml", "--out", "grid.zarr", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "% busy" in told
    assert " lanes wait for the longest runs (epsilon=0.05, n=30), " in told
    assert "times the mean: more seeds keep them busy" in told
    Path("grid.toml").write_text(
        '[algorithm]\nname = "uniform"\nbudget = 2000\n[problem]\nname = "one-sparse"\nn = { axis = [3, 30] }'
    )
    assert main(["sweep", "grid.toml", "--out", "grid.zarr", "--dry-run"]) == 0
    assert "45% of the work is padding: problems of 3 arms run beside 30" in capsys.readouterr().out
