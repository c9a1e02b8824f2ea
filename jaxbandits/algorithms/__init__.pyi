"""Written by `python tests/test_generated.py` from the registries."""

from jaxbandits.algorithms.budget_allocation.ocba import OCBA as OCBA
from jaxbandits.algorithms.budget_allocation.ocba_m import OCBAm as OCBAm
from jaxbandits.algorithms.confidence_bounds.apt import APT as APT
from jaxbandits.algorithms.confidence_bounds.at_lucb import ATLUCB as ATLUCB
from jaxbandits.algorithms.confidence_bounds.fc2fb import FC2FB as FC2FB
from jaxbandits.algorithms.confidence_bounds.gape import GapE as GapE
from jaxbandits.algorithms.confidence_bounds.kl_lucb import KLLUCB as KLLUCB
from jaxbandits.algorithms.confidence_bounds.lil_ucb import LilUCB as LilUCB
from jaxbandits.algorithms.confidence_bounds.lsa import LSA as LSA
from jaxbandits.algorithms.confidence_bounds.lucb import LUCB as LUCB
from jaxbandits.algorithms.confidence_bounds.lucb_plus_plus import LUCBPlusPlus as LUCBPlusPlus
from jaxbandits.algorithms.confidence_bounds.ucb_e import UCBE as UCBE
from jaxbandits.algorithms.confidence_bounds.ugape_b import UGapEb as UGapEb
from jaxbandits.algorithms.confidence_bounds.ugape_c import UGapEc as UGapEc
from jaxbandits.algorithms.cost_budget.budget_baselines import KUBE as KUBE
from jaxbandits.algorithms.cost_budget.budget_baselines import BudgetedThompson as BudgetedThompson
from jaxbandits.algorithms.cost_budget.budget_baselines import EpsilonFirst as EpsilonFirst
from jaxbandits.algorithms.cost_budget.rcb import RCB as RCB
from jaxbandits.algorithms.cost_budget.rcb import RCBAIR as RCBAIR
from jaxbandits.algorithms.cost_budget.rcb import RCBI as RCBI
from jaxbandits.algorithms.cost_budget.siri import SiRI as SiRI
from jaxbandits.algorithms.cost_budget.ucb_infinite import UCBAIR as UCBAIR
from jaxbandits.algorithms.cost_budget.ucb_infinite import UCBVInf as UCBVInf
from jaxbandits.algorithms.elimination.continuous_rejects import ContinuousRejects as ContinuousRejects
from jaxbandits.algorithms.elimination.doubling_sequential_halving import (
    DoublingSequentialHalving as DoublingSequentialHalving,
)
from jaxbandits.algorithms.elimination.sar import SAR as SAR
from jaxbandits.algorithms.elimination.sequential_halving import SequentialHalving as SequentialHalving
from jaxbandits.algorithms.elimination.shadavar import SHAdaVar as SHAdaVar
from jaxbandits.algorithms.elimination.shvar import SHVar as SHVar
from jaxbandits.algorithms.elimination.successive_elimination import SuccessiveElimination as SuccessiveElimination
from jaxbandits.algorithms.elimination.successive_rejects import SuccessiveRejects as SuccessiveRejects
from jaxbandits.algorithms.good_arms.apgai import APGAIb as APGAIb
from jaxbandits.algorithms.good_arms.apgai import APGAIc as APGAIc
from jaxbandits.algorithms.good_arms.apt_g import APTG as APTG
from jaxbandits.algorithms.good_arms.fareast import FAREAST as FAREAST
from jaxbandits.algorithms.good_arms.hdoc import HDoC as HDoC
from jaxbandits.algorithms.good_arms.hdoc_first import HDoCFirst as HDoCFirst
from jaxbandits.algorithms.good_arms.lucb_g import LUCBG as LUCBG
from jaxbandits.algorithms.good_arms.st2 import ST2 as ST2
from jaxbandits.algorithms.indifference_zone.kn import KN as KN
from jaxbandits.algorithms.indifference_zone.kn import KNPlusPlus as KNPlusPlus
from jaxbandits.algorithms.indifference_zone.rinott import Rinott as Rinott
from jaxbandits.algorithms.likelihood_ratio.anytime_eb_tc import AnytimeEBTC as AnytimeEBTC
from jaxbandits.algorithms.likelihood_ratio.best_challenger import BestChallenger as BestChallenger
from jaxbandits.algorithms.likelihood_ratio.beta_top_two import BetaTopTwo as BetaTopTwo
from jaxbandits.algorithms.likelihood_ratio.eb_tc import EBTC as EBTC
from jaxbandits.algorithms.likelihood_ratio.eb_tci import EBTCI as EBTCI
from jaxbandits.algorithms.likelihood_ratio.t3c import T3C as T3C
from jaxbandits.algorithms.likelihood_ratio.track_and_stop import TrackAndStop as TrackAndStop
from jaxbandits.algorithms.likelihood_ratio.ttts import TTTS as TTTS
from jaxbandits.algorithms.likelihood_ratio.ttucb import TTUCB as TTUCB
from jaxbandits.algorithms.likelihood_ratio.uniform_glr import UniformGLR as UniformGLR
from jaxbandits.algorithms.registry import REGISTRY as REGISTRY
from jaxbandits.algorithms.structured.lin_game import LinGame as LinGame
from jaxbandits.algorithms.structured.lin_gap_e import LinGapE as LinGapE
from jaxbandits.algorithms.structured.pareto_game import ParetoGame as ParetoGame
from jaxbandits.algorithms.structured.threshold_game import ThresholdGame as ThresholdGame
from jaxbandits.algorithms.structured.top_m_game import TopMGame as TopMGame
from jaxbandits.algorithms.top_k.adaptive_top_k import AdaptiveTopK as AdaptiveTopK
from jaxbandits.algorithms.top_k.clucb import CLUCB as CLUCB
from jaxbandits.algorithms.top_k.improved_top_k import ImprovedTopK as ImprovedTopK
from jaxbandits.algorithms.top_k.opt_mai import OptMAI as OptMAI
from jaxbandits.algorithms.uniform_sampling.bernstein_race import BernsteinRace as BernsteinRace
from jaxbandits.algorithms.uniform_sampling.betting_race import BettingRace as BettingRace
from jaxbandits.algorithms.uniform_sampling.exp_gap_elimination import ExpGapElimination as ExpGapElimination
from jaxbandits.algorithms.uniform_sampling.hoeffding_race import HoeffdingRace as HoeffdingRace
from jaxbandits.algorithms.uniform_sampling.kl_race import KLRace as KLRace
from jaxbandits.algorithms.uniform_sampling.mab_ppr import MABPPR as MABPPR
from jaxbandits.algorithms.uniform_sampling.median_elimination import MedianElimination as MedianElimination
from jaxbandits.algorithms.uniform_sampling.paired_race import PairedRace as PairedRace
from jaxbandits.algorithms.uniform_sampling.uniform import Uniform as Uniform
from jaxbandits.algorithms.uniform_sampling.union_bound import UnionBound as UnionBound

__all__ = [
    "APT",
    "APTG",
    "ATLUCB",
    "CLUCB",
    "EBTC",
    "EBTCI",
    "FAREAST",
    "FC2FB",
    "KLLUCB",
    "KN",
    "KUBE",
    "LSA",
    "LUCB",
    "LUCBG",
    "MABPPR",
    "OCBA",
    "RCB",
    "RCBAIR",
    "RCBI",
    "REGISTRY",
    "SAR",
    "ST2",
    "T3C",
    "TTTS",
    "TTUCB",
    "UCBAIR",
    "UCBE",
    "APGAIb",
    "APGAIc",
    "AdaptiveTopK",
    "AnytimeEBTC",
    "BernsteinRace",
    "BestChallenger",
    "BetaTopTwo",
    "BettingRace",
    "BudgetedThompson",
    "ContinuousRejects",
    "DoublingSequentialHalving",
    "EpsilonFirst",
    "ExpGapElimination",
    "GapE",
    "HDoC",
    "HDoCFirst",
    "HoeffdingRace",
    "ImprovedTopK",
    "KLRace",
    "KNPlusPlus",
    "LUCBPlusPlus",
    "LilUCB",
    "LinGame",
    "LinGapE",
    "MedianElimination",
    "OCBAm",
    "OptMAI",
    "PairedRace",
    "ParetoGame",
    "Rinott",
    "SHAdaVar",
    "SHVar",
    "SequentialHalving",
    "SiRI",
    "SuccessiveElimination",
    "SuccessiveRejects",
    "ThresholdGame",
    "TopMGame",
    "TrackAndStop",
    "UCBVInf",
    "UGapEb",
    "UGapEc",
    "Uniform",
    "UniformGLR",
    "UnionBound",
]
