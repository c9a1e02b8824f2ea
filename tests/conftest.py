"""Settings for every test, made before JAX starts: two CPU devices, no windows, no compiled programs kept on disk.

JAX 0.10.2 now and then aborts while it writes or reads kept CPU programs, which takes a worker and its tests down.

Rank promotion stays allowed: arms first, runs last rests on it, `(R,)` broadcasting with `(K, R)`.
"""

import os

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"
