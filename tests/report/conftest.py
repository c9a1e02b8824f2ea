"""Hand-made Datasets, shaped like those of a sweep."""

import json

import numpy as np
import pytest
import xarray as xr


def runs(dims: dict[str, list], seeds: int = 40, root: int = 0, **attrs) -> xr.Dataset:
    """Runs over a grid: pulls of different sizes, a few failures."""
    rng = np.random.default_rng(root)
    shape = (*(len(v) for v in dims.values()), seeds)
    level = np.arange(1, int(np.prod(shape[:-1], dtype=int)) + 1).reshape(*shape[:-1], 1)
    pulls = (100 * level * rng.uniform(0.5, 1.5, shape)).astype(np.int64)
    names = (*dims, "seed")
    axes = {name: {"axis": list(values)} for name, values in dims.items()}
    of_problem = {"n", "dof"} & axes.keys()
    spec = {"algorithm": {"name": "ugape-c"}, "problem": {"name": "linear"}}
    for name, axis in axes.items():
        spec["problem" if name in of_problem else "algorithm"][name] = axis
    return xr.Dataset(
        {
            "pulls": (names, pulls),
            "cost": (names, pulls.astype(float)),
            "recommended": ((*names, "arm"), rng.uniform(size=(*shape, 3)) < 0.5),
            "correct": (names, rng.uniform(size=shape) < 0.8, {"criterion": "the best arm"}),
            "simple_regret": (names, rng.uniform(0, 0.1, shape).astype(np.float32)),
            "status": (names, np.zeros(shape, np.int8)),
        },
        {**dims, "seed": np.arange(seeds)},
        {"algorithm": "UGapEc", "spec": json.dumps(spec), **attrs},
    )


@pytest.fixture
def make():
    return runs


@pytest.fixture
def grid():
    return runs({"epsilon": [0.05, 0.1, 0.2], "n": [4, 8]})
