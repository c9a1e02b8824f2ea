"""The algorithms, and the registry from which the command line, the tests and the README's table take them.

To add one: write a module like `uniform.py` (the head of `protocol.py` has the protocol), then add its class here.
"""

import re

from jaxbandits.algorithms.adaptive_top_k import AdaptiveTopK, ImprovedTopK
from jaxbandits.algorithms.bases.joint_batches import JointBatches
from jaxbandits.algorithms.bases.protocol import Algorithm, BatchBased, BuiltIn, RoundBased, Sequential
from jaxbandits.algorithms.budget_baselines import KUBE, BudgetedThompson, EpsilonFirst
from jaxbandits.algorithms.clucb import CLUCB
from jaxbandits.algorithms.gape import GapE
from jaxbandits.algorithms.lucb import LUCB
from jaxbandits.algorithms.mab_ppr import MABPPR
from jaxbandits.algorithms.median_elimination import ExpGapElimination, MedianElimination
from jaxbandits.algorithms.opt_mai import OptMAI
from jaxbandits.algorithms.racing import BernsteinRace, HoeffdingRace
from jaxbandits.algorithms.rcb import RCB, RCBAIR, RCBI
from jaxbandits.algorithms.sar import SAR
from jaxbandits.algorithms.sequential_halving import SequentialHalving
from jaxbandits.algorithms.siri import SiRI
from jaxbandits.algorithms.successive_elimination import SuccessiveElimination
from jaxbandits.algorithms.successive_rejects import SuccessiveRejects
from jaxbandits.algorithms.ucb_e import UCBE
from jaxbandits.algorithms.ucb_infinite import UCBAIR, UCBVInf
from jaxbandits.algorithms.ugape import UGapEb, UGapEc
from jaxbandits.algorithms.uniform import Uniform
from jaxbandits.algorithms.union_bound import UnionBound
from jaxbandits.errors import unknown_name

__all__ = [
    "CLUCB",
    "KUBE",
    "LUCB",
    "MABPPR",
    "RCB",
    "RCBAIR",
    "RCBI",
    "REGISTRY",
    "SAR",
    "UCBAIR",
    "UCBE",
    "AdaptiveTopK",
    "Algorithm",
    "BatchBased",
    "BernsteinRace",
    "BudgetedThompson",
    "BuiltIn",
    "EpsilonFirst",
    "ExpGapElimination",
    "GapE",
    "HoeffdingRace",
    "ImprovedTopK",
    "JointBatches",
    "MedianElimination",
    "OptMAI",
    "RoundBased",
    "Sequential",
    "SequentialHalving",
    "SiRI",
    "SuccessiveElimination",
    "SuccessiveRejects",
    "UCBVInf",
    "UGapEb",
    "UGapEc",
    "Uniform",
    "UnionBound",
    "algorithm_class",
]

#: Names on the command line, the kebab-case of the class as the field writes it.
REGISTRY: dict[str, type[BuiltIn]] = {
    "uniform": Uniform,
    "ugape-c": UGapEc,
    "ugape-b": UGapEb,
    "gap-e": GapE,
    "ucb-e": UCBE,
    "lucb": LUCB,
    "successive-elimination": SuccessiveElimination,
    "successive-rejects": SuccessiveRejects,
    "sequential-halving": SequentialHalving,
    "sar": SAR,
    "adaptive-top-k": AdaptiveTopK,
    "improved-top-k": ImprovedTopK,
    "opt-mai": OptMAI,
    "clucb": CLUCB,
    "mab-ppr": MABPPR,
    "median-elimination": MedianElimination,
    "exp-gap-elimination": ExpGapElimination,
    "union-bound": UnionBound,
    "hoeffding-race": HoeffdingRace,
    "bernstein-race": BernsteinRace,
    "rcb": RCB,
    "rcb-i": RCBI,
    "rcb-air": RCBAIR,
    "ucb-v-inf": UCBVInf,
    "ucb-air": UCBAIR,
    "epsilon-first": EpsilonFirst,
    "kube": KUBE,
    "budgeted-thompson": BudgetedThompson,
    "siri": SiRI,
}


def algorithm_class(name: str) -> type[BuiltIn]:
    """The class of an algorithm's command-line name.

    Raises:
        UsageError: if there is none, with the nearest name there is.
    """
    normal = re.sub(r"[_\s]+", "-", name.strip().lower())
    if normal not in REGISTRY:
        raise unknown_name("algorithm", name, REGISTRY)
    return REGISTRY[normal]
