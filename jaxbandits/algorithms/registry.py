"""The algorithms: a line each.

Public names, command line, specifications, documentation and tests follow from it. To add one: write a module like
`apt.py` (the head of `protocol.py` has the protocol on one screen), then add its line here, the name on the command
line and `module:class`.
"""

import re

from jaxbandits.errors import unknown_name
from jaxbandits.registry import Registry

__all__ = ["REGISTRY", "normal_name"]

REGISTRY = Registry(
    "jaxbandits.algorithms",
    {
        "uniform": "uniform:Uniform",
        "ugape-c": "ugape_c:UGapEc",
        "ugape-b": "ugape_b:UGapEb",
        "gap-e": "gape:GapE",
        "ucb-e": "ucb_e:UCBE",
        "apt": "apt:APT",
        "lucb": "lucb:LUCB",
        "kl-lucb": "kl_lucb:KLLUCB",
        "lucb-pp": "lucb_plus_plus:LUCBPlusPlus",
        "lil-ucb": "lil_ucb:LilUCB",
        "successive-elimination": "successive_elimination:SuccessiveElimination",
        "successive-rejects": "successive_rejects:SuccessiveRejects",
        "sequential-halving": "sequential_halving:SequentialHalving",
        "sar": "sar:SAR",
        "adaptive-top-k": "adaptive_top_k:AdaptiveTopK",
        "improved-top-k": "improved_top_k:ImprovedTopK",
        "opt-mai": "opt_mai:OptMAI",
        "clucb": "clucb:CLUCB",
        "mab-ppr": "mab_ppr:MABPPR",
        "median-elimination": "median_elimination:MedianElimination",
        "exp-gap-elimination": "exp_gap_elimination:ExpGapElimination",
        "union-bound": "union_bound:UnionBound",
        "hoeffding-race": "hoeffding_race:HoeffdingRace",
        "bernstein-race": "bernstein_race:BernsteinRace",
        "kl-race": "kl_race:KLRace",
        "rcb": "rcb:RCB",
        "rcb-i": "rcb:RCBI",
        "rcb-air": "rcb:RCBAIR",
        "ucb-v-inf": "ucb_infinite:UCBVInf",
        "ucb-air": "ucb_infinite:UCBAIR",
        "epsilon-first": "budget_baselines:EpsilonFirst",
        "kube": "budget_baselines:KUBE",
        "budgeted-thompson": "budget_baselines:BudgetedThompson",
        "siri": "siri:SiRI",
        "uniform-glr": "uniform_glr:UniformGLR",
        "best-challenger": "best_challenger:BestChallenger",
        "track-and-stop": "track_and_stop:TrackAndStop",
        "ttts": "ttts:TTTS",
        "t3c": "t3c:T3C",
        "eb-tc": "eb_tc:EBTC",
        "eb-tci": "eb_tci:EBTCI",
        "ttucb": "ttucb:TTUCB",
    },
)


def normal_name(name: str) -> str:
    """An algorithm's name on the command line, however it was written.

    Raises:
        UsageError: if there is none, with the nearest name there is.
    """
    normal = re.sub(r"[_\s]+", "-", name.strip().lower())
    if normal not in REGISTRY:
        raise unknown_name("algorithm", name, REGISTRY)
    return normal
