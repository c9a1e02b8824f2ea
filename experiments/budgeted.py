"""The figures on budgets into a folder: `python experiments/budgeted.py OUT [quick|paper] [PRICES.csv …]`.

Tables with columns reward and cost, a row per arm, make a figure each.
"""

import functools
import sys
from pathlib import Path

import jaxbandits as jb
from jaxbandits.experiments import REGISTRY, budgeted, reproduce

if __name__ == "__main__":
    jb.use_all_cores()
    out, scale = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"), (sys.argv[2:3] or ["quick"])[0]
    REGISTRY["budgeted"] = functools.partial(budgeted.run, tables=sys.argv[3:])
    print(reproduce(["budgeted"], scale, out))
