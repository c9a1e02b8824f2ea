"""One run to R runs: a function of one run, evaluated for R runs in the layout and the arithmetic of the engine.

`map_runs` is the entry point, `map_step` that for steps of which some are not made. It does what `jax.vmap` does, with
the runs on the last axis of everything, and with the same bits for a run whatever its neighbours are (`products.py`,
`functions.py`, `reductions.py` say how).
"""

from jaxbandits.transform.equations import Known, map_runs, results_of
from jaxbandits.transform.padding import Padded, UnpaddableError
from jaxbandits.transform.steps import map_step

__all__ = ["Known", "Padded", "UnpaddableError", "map_runs", "map_step", "results_of"]
