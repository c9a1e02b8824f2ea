"""One run to R runs: a function of one run, evaluated for R runs in the layout and the arithmetic of the engine.

`map_runs` is the entry point; `map_step` is the one for steps that some runs do not make. They do what `jax.vmap` does,
with two differences. The runs are on the last axis of everything. And each run has the same bits for any neighbours
(`products.py`, `rewrites.py`, `functions.py` and `reductions.py` say how).
"""

from jaxbandits.transform.equations import map_runs, results_of
from jaxbandits.transform.growing_numbers import UnpaddableError
from jaxbandits.transform.operation import Known
from jaxbandits.transform.padding import Padded, with_numbers_of_arms
from jaxbandits.transform.shared_traces import traced_once
from jaxbandits.transform.steps import map_step

__all__ = [
    "Known",
    "Padded",
    "UnpaddableError",
    "map_runs",
    "map_step",
    "results_of",
    "traced_once",
    "with_numbers_of_arms",
]
