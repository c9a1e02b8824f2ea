"""Jobs that wait: each is dealt out once, the longest first, and lanes are busy until the end."""

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine.job_queue import JobQueue


def dealt(window):
    """Jobs of all devices, in the order in which each of them loads its own."""
    for device, count in enumerate(window.jobs):
        yield from zip(window.cell[device, :count].tolist(), window.seed[device, :count].tolist(), strict=True)


def test_every_job_is_loaded_once():
    random = np.random.default_rng(0)
    pending = [[(0, 7), (20, 31)], [], [(3, 4)], [(0, 40)]]
    queue, loaded = JobQueue(pending), []
    assert queue.left == 59
    while queue.left:
        window = queue.deal(3, 5)
        counts = [int(random.integers(0, jobs + 1)) for jobs in window.jobs]
        for device, count in enumerate(counts):
            loaded += zip(window.cell[device, :count].tolist(), window.seed[device, :count].tolist(), strict=True)
        queue.loaded(counts)
        cells = np.asarray([cell for cell, _ in loaded[-sum(counts) :]] if sum(counts) else [], int)
        queue.saw(cells, np.ones(cells.size))
    expected = [(cell, seed) for cell, ranges in enumerate(pending) for a, b in ranges for seed in range(a, b)]
    assert sorted(loaded) == sorted(expected)


def test_every_cell_starts_and_then_come_the_longest():
    queue = JobQueue([[(0, 50)] for _ in range(4)])
    first = list(dealt(queue.deal(1, 4)))
    assert sorted(cell for cell, _ in first) == [0, 1, 2, 3]
    queue.loaded([4])
    queue.saw(np.asarray([0, 1, 2]), np.asarray([10, 300, 20]))  # of cell 3 none has ended
    cells = [cell for cell, _ in dealt(queue.deal(1, 120))]
    assert cells == [3] * 49 + [1] * 49 + [2] * 22
    assert queue.still(np.asarray([1, 1, 3]), np.asarray([100, 400, 70])).tolist() == [200, 400, 70]


@pytest.mark.slow
@pytest.mark.bits
def test_lanes_are_busy_on_a_grid_of_runs_of_very_different_length():
    """Runs of one cell are 500 times those of another, and come last in the grid."""
    seen = []
    ds = jb.sweep(
        jb.UGapEc(epsilon=jb.axis([0.6, 0.4, 0.2, 0.1, 0.05, 0.03]), delta=0.1), jb.bernoulli([0.5, 0.5, 0.5]), 150,
        lanes=16, chunk=16, on_progress=seen.append,
    )  # fmt: skip
    lengths = ds.pulls.mean("seed")
    assert lengths.max() > 200 * lengths.min()
    assert seen[-1].runs == 900
    assert seen[-1].steps == ds.steps.sum()
    assert seen[-1].pulls == ds.pulls.sum()  # with the first pulls
    assert seen[-1].steps / seen[-1].lane_steps > 0.9
    assert all(progress.steps <= progress.lane_steps for progress in seen)
