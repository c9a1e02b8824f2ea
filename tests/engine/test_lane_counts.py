"""How many lanes, by platform, arms and jobs."""

import pytest

import jaxbandits as jb
from jaxbandits.engine.lane_counts import block_length, lane_count

MANY = 10**7


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
@pytest.mark.parametrize("arms", [2, 10, 1000])
def test_an_accelerator_never_has_more_lanes_than_jobs(platform: str, arms: int) -> None:
    usual = lane_count(jb.UGapEc(epsilon=0.1, delta=0.1), arms, MANY, 1, platform)
    assert usual >= 1000
    for jobs, devices in ((1, 1), (1, 4), (7, 4), (1000, 1), (1000, 3), (MANY, 4)):
        lanes = lane_count(jb.UGapEc(epsilon=0.1, delta=0.1), arms, jobs, devices, platform)
        assert 1 <= lanes <= usual
        assert (lanes - 1) * devices < jobs  # no device has a lane without a job
        assert lanes * devices >= min(jobs, usual * devices)


def test_a_cpu_has_as_many_lanes_as_were_measured_to_be_best() -> None:
    ugape = jb.UGapEc(epsilon=0.1, delta=0.1)
    assert [lane_count(ugape, arms, MANY, 2, "cpu") for arms in (2, 10, 50, 1000)] == [592, 592, 336, 80]
    assert lane_count(ugape, 10, 1, 1, "cpu") == 1
    assert lane_count(ugape, 10, 100, 2, "cpu") == 144
    # 500 a device: three times 176, or four times 144.
    assert [lane_count(ugape, 100, jobs, 2, "cpu") for jobs in (250, 1000, MANY)] == [144, 176, 176]


def test_blocks_are_longer_where_the_host_is_asked_after_each() -> None:
    assert block_length("cpu", in_batches=False) == 16
    assert block_length("gpu", in_batches=False) == block_length("rocm", in_batches=False) == 32
    assert block_length("tpu", in_batches=True) == block_length("gpu", in_batches=True) == 1
