"""The pay-per-reward figures into a folder: `python experiments/pay_per_reward.py OUT [quick|paper]`."""

import sys
from pathlib import Path

import jaxbandits as jb
from jaxbandits.experiments import reproduce

if __name__ == "__main__":
    jb.use_all_cores()
    out, scale = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"), (sys.argv[2:] or ["quick"])[0]
    print(reproduce(["pay-per-reward"], scale, out))
