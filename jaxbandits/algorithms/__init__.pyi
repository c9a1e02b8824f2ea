"""Written by `python tests/test_generated.py` from the registries."""

from jaxbandits.algorithms.adaptive_top_k import AdaptiveTopK as AdaptiveTopK
from jaxbandits.algorithms.apt import APT as APT
from jaxbandits.algorithms.bases.batch_based import BatchBased as BatchBased
from jaxbandits.algorithms.bases.built_in import BuiltIn as BuiltIn
from jaxbandits.algorithms.bases.protocol import Algorithm as Algorithm
from jaxbandits.algorithms.bases.sequential import Sequential as Sequential
from jaxbandits.algorithms.bernstein_race import BernsteinRace as BernsteinRace
from jaxbandits.algorithms.best_challenger import BestChallenger as BestChallenger
from jaxbandits.algorithms.budget_baselines import KUBE as KUBE
from jaxbandits.algorithms.budget_baselines import BudgetedThompson as BudgetedThompson
from jaxbandits.algorithms.budget_baselines import EpsilonFirst as EpsilonFirst
from jaxbandits.algorithms.clucb import CLUCB as CLUCB
from jaxbandits.algorithms.eb_tc import EBTC as EBTC
from jaxbandits.algorithms.eb_tci import EBTCI as EBTCI
from jaxbandits.algorithms.exp_gap_elimination import ExpGapElimination as ExpGapElimination
from jaxbandits.algorithms.gape import GapE as GapE
from jaxbandits.algorithms.hoeffding_race import HoeffdingRace as HoeffdingRace
from jaxbandits.algorithms.improved_top_k import ImprovedTopK as ImprovedTopK
from jaxbandits.algorithms.kl_lucb import KLLUCB as KLLUCB
from jaxbandits.algorithms.kl_race import KLRace as KLRace
from jaxbandits.algorithms.lil_ucb import LilUCB as LilUCB
from jaxbandits.algorithms.lucb import LUCB as LUCB
from jaxbandits.algorithms.lucb_plus_plus import LUCBPlusPlus as LUCBPlusPlus
from jaxbandits.algorithms.mab_ppr import MABPPR as MABPPR
from jaxbandits.algorithms.median_elimination import MedianElimination as MedianElimination
from jaxbandits.algorithms.opt_mai import OptMAI as OptMAI
from jaxbandits.algorithms.rcb import RCB as RCB
from jaxbandits.algorithms.rcb import RCBAIR as RCBAIR
from jaxbandits.algorithms.rcb import RCBI as RCBI
from jaxbandits.algorithms.registry import REGISTRY as REGISTRY
from jaxbandits.algorithms.sar import SAR as SAR
from jaxbandits.algorithms.sequential_halving import SequentialHalving as SequentialHalving
from jaxbandits.algorithms.siri import SiRI as SiRI
from jaxbandits.algorithms.successive_elimination import SuccessiveElimination as SuccessiveElimination
from jaxbandits.algorithms.successive_rejects import SuccessiveRejects as SuccessiveRejects
from jaxbandits.algorithms.t3c import T3C as T3C
from jaxbandits.algorithms.track_and_stop import TrackAndStop as TrackAndStop
from jaxbandits.algorithms.ttts import TTTS as TTTS
from jaxbandits.algorithms.ttucb import TTUCB as TTUCB
from jaxbandits.algorithms.ucb_e import UCBE as UCBE
from jaxbandits.algorithms.ucb_infinite import UCBAIR as UCBAIR
from jaxbandits.algorithms.ucb_infinite import UCBVInf as UCBVInf
from jaxbandits.algorithms.ugape_b import UGapEb as UGapEb
from jaxbandits.algorithms.ugape_c import UGapEc as UGapEc
from jaxbandits.algorithms.uniform import Uniform as Uniform
from jaxbandits.algorithms.uniform_glr import UniformGLR as UniformGLR
from jaxbandits.algorithms.union_bound import UnionBound as UnionBound

__all__ = [
    "APT",
    "CLUCB",
    "EBTC",
    "EBTCI",
    "KLLUCB",
    "KUBE",
    "LUCB",
    "MABPPR",
    "RCB",
    "RCBAIR",
    "RCBI",
    "REGISTRY",
    "SAR",
    "T3C",
    "TTTS",
    "TTUCB",
    "UCBAIR",
    "UCBE",
    "AdaptiveTopK",
    "Algorithm",
    "BatchBased",
    "BernsteinRace",
    "BestChallenger",
    "BudgetedThompson",
    "BuiltIn",
    "EpsilonFirst",
    "ExpGapElimination",
    "GapE",
    "HoeffdingRace",
    "ImprovedTopK",
    "KLRace",
    "LUCBPlusPlus",
    "LilUCB",
    "MedianElimination",
    "OptMAI",
    "Sequential",
    "SequentialHalving",
    "SiRI",
    "SuccessiveElimination",
    "SuccessiveRejects",
    "TrackAndStop",
    "UCBVInf",
    "UGapEb",
    "UGapEc",
    "Uniform",
    "UniformGLR",
    "UnionBound",
]
