"""Settings for every test, made before JAX starts: two CPU devices, no windows, compiled programs kept for the session.

Every worker keeps its own: JAX does not write a kept program in one piece, and reading half of one crashes.

Rank promotion stays allowed: arms first, runs last rests on it, `(R,)` broadcasting with `(K, R)`.
"""

import os
import tempfile

_PROGRAMS = tempfile.TemporaryDirectory(prefix="jaxbandits-tests-")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["JAX_COMPILATION_CACHE_DIR"] = _PROGRAMS.name
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
