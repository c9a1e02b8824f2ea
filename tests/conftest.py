"""Settings for every test, made before JAX starts: two CPU devices, no windows, compiled programs kept for all workers.

Rank promotion stays allowed: arms first, runs last rests on it, `(R,)` broadcasting with `(K, R)`.
"""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(tempfile.gettempdir()) / "jaxbandits-compiled-tests"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
