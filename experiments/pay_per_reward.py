"""The pay-per-reward figures into a folder: `python experiments/pay_per_reward.py OUT [quick|paper] [CLICKS.csv …]`.

Tables with columns impressions and clicks, a row per arm, make a figure each.
"""

import functools
import sys
from pathlib import Path

import jaxbandits as jb
from jaxbandits.experiments import REGISTRY, pay_per_reward, reproduce

if __name__ == "__main__":
    jb.use_all_cores()
    out, scale = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"), (sys.argv[2:3] or ["quick"])[0]
    REGISTRY["pay-per-reward"] = functools.partial(pay_per_reward.run, tables=sys.argv[3:])
    print(reproduce(["pay-per-reward"], scale, out))
