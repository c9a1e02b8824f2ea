"""The heavy-tailed figures into a folder: `python experiments/heavy_tailed.py OUT [quick|paper] [RETURNS.csv …]`.

Tables of returns, a column per arm, take the place of the bundled ones.
"""

import functools
import sys
from pathlib import Path

import jaxbandits as jb
from jaxbandits.experiments import REGISTRY, heavy_tailed, reproduce

if __name__ == "__main__":
    jb.use_all_cores()
    out, scale = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"), (sys.argv[2:3] or ["quick"])[0]
    REGISTRY["heavy-tailed"] = functools.partial(heavy_tailed.run, tables=sys.argv[3:])
    print(reproduce(["heavy-tailed"], scale, out))
