"""Written by `python tests/test_generated.py` from the registries."""

from jaxbandits import gradients as gradients
from jaxbandits import problems as problems
from jaxbandits import theory as theory
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
from jaxbandits.algorithms.parameters import parameter as parameter
from jaxbandits.algorithms.protocol import algorithm as algorithm
from jaxbandits.algorithms.structured.lin_game import LinGame as LinGame
from jaxbandits.algorithms.structured.lin_gap_e import LinGapE as LinGapE
from jaxbandits.algorithms.structured.pareto_game import ParetoGame as ParetoGame
from jaxbandits.algorithms.structured.question import Question as Question
from jaxbandits.algorithms.structured.threshold_game import ThresholdGame as ThresholdGame
from jaxbandits.algorithms.structured.top_m_game import TopMGame as TopMGame
from jaxbandits.algorithms.told_arms import Arms as Arms
from jaxbandits.algorithms.told_arms import Batches as Batches
from jaxbandits.algorithms.top_k.adaptive_top_k import AdaptiveTopK as AdaptiveTopK
from jaxbandits.algorithms.top_k.clucb import CLUCB as CLUCB
from jaxbandits.algorithms.top_k.improved_top_k import ImprovedTopK as ImprovedTopK
from jaxbandits.algorithms.top_k.opt_mai import OptMAI as OptMAI
from jaxbandits.algorithms.traits import Traits as Traits
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
from jaxbandits.arrays.pytrees import pytree as pytree
from jaxbandits.ask_tell.session import AskTell as AskTell
from jaxbandits.axes import Axis as Axis
from jaxbandits.axes import axis as axis
from jaxbandits.axes import zip_axes as zip_axes
from jaxbandits.comparison.result import Comparison as Comparison
from jaxbandits.comparison.run_rows import compare as compare
from jaxbandits.comparison.theory_overlay import with_theory as with_theory
from jaxbandits.counts.count_plan import CountPlan as CountPlan
from jaxbandits.counts.from_counts import plan as plan
from jaxbandits.engine.devices import use_all_cores as use_all_cores
from jaxbandits.engine.driver import Progress as Progress
from jaxbandits.engine.metric import Metric as Metric
from jaxbandits.engine.single_runs import run as run
from jaxbandits.engine.single_runs import trajectory as trajectory
from jaxbandits.errors import UsageError as UsageError
from jaxbandits.problems.base import Problem as Problem
from jaxbandits.problems.correlation import estimate_correlation as estimate_correlation
from jaxbandits.problems.distributions.bernoulli_and_normal import bernoulli as bernoulli
from jaxbandits.problems.distributions.bernoulli_and_normal import gaussian as gaussian
from jaxbandits.problems.distributions.beta_and_two_point import beta as beta
from jaxbandits.problems.distributions.beta_and_two_point import rademacher as rademacher
from jaxbandits.problems.distributions.categorical_arms import categorical as categorical
from jaxbandits.problems.distributions.correlated_normal import correlated_gaussian as correlated_gaussian
from jaxbandits.problems.distributions.exponential_arms import exponential as exponential
from jaxbandits.problems.distributions.mixture_arms import gaussian_mixture as gaussian_mixture
from jaxbandits.problems.distributions.negative_binomial_arms import negative_binomial as negative_binomial
from jaxbandits.problems.distributions.poisson_arms import poisson as poisson
from jaxbandits.problems.instances.crowd_workers import rte_workers as rte_workers
from jaxbandits.problems.instances.crowd_workers import workers_from_csv as workers_from_csv
from jaxbandits.problems.instances.heavy_instances import log_normal as log_normal
from jaxbandits.problems.instances.heavy_instances import pareto as pareto
from jaxbandits.problems.instances.heavy_instances import s1 as s1
from jaxbandits.problems.instances.heavy_instances import s2 as s2
from jaxbandits.problems.instances.heavy_instances import student_t as student_t
from jaxbandits.problems.instances.heavy_instances import symmetric_pareto as symmetric_pareto
from jaxbandits.problems.instances.heavy_instances import weibull as weibull
from jaxbandits.problems.instances.karnin_instances import karnin as karnin
from jaxbandits.problems.instances.paper_instances import abm as abm
from jaxbandits.problems.instances.paper_instances import gabillon as gabillon
from jaxbandits.problems.instances.paper_instances import linear as linear
from jaxbandits.problems.instances.paper_instances import one_sparse as one_sparse
from jaxbandits.problems.instances.paper_instances import polynomial as polynomial
from jaxbandits.problems.instances.paper_instances import random_uniform as random_uniform
from jaxbandits.problems.instances.ppr_instances import click_rates as click_rates
from jaxbandits.problems.instances.ppr_instances import ppr as ppr
from jaxbandits.problems.instances.ppr_instances import ppr_unbounded as ppr_unbounded
from jaxbandits.problems.instances.top_k_instances import c_spread as c_spread
from jaxbandits.problems.instances.top_k_instances import random_beta as random_beta
from jaxbandits.problems.instances.top_k_instances import random_truncated_normal as random_truncated_normal
from jaxbandits.problems.instances.top_k_instances import synthetic as synthetic
from jaxbandits.problems.instances.top_k_instances import two_group as two_group
from jaxbandits.problems.instances.top_k_instances import uniform_means as uniform_means
from jaxbandits.problems.pull_costs import with_costs as with_costs
from jaxbandits.problems.reservoirs.ratio_reservoirs import reservoir as reservoir
from jaxbandits.problems.reservoirs.table_reservoirs import reservoir_from_csv as reservoir_from_csv
from jaxbandits.problems.tables.empirical_arms import empirical as empirical
from jaxbandits.problems.tables.empirical_arms import empirical_from_csv as empirical_from_csv
from jaxbandits.problems.tables.empirical_arms import empirical_from_data as empirical_from_data
from jaxbandits.problems.tables.joint_pulls import blocks as blocks
from jaxbandits.problems.tables.joint_pulls import one_click as one_click
from jaxbandits.problems.tables.score_matrix import matrix as matrix
from jaxbandits.report import plots
from jaxbandits.report.best_candidates import find_best as find_best
from jaxbandits.report.paired_differences import difference as difference
from jaxbandits.report.paired_differences import ratio as ratio
from jaxbandits.report.seed_numbers import seeds_needed as seeds_needed
from jaxbandits.report.study_tables import table as table
from jaxbandits.report.summaries import summary as summary
from jaxbandits.storage.compaction import compact as compact
from jaxbandits.sweeps.merging import merge as merge
from jaxbandits.sweeps.rerun import repeat as repeat
from jaxbandits.sweeps.run import simulate as simulate
from jaxbandits.sweeps.run import sweep as sweep
from jaxbandits.tuning.adversarial import adversary as adversary
from jaxbandits.tuning.search import tune as tune

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
    "Arms",
    "AskTell",
    "Axis",
    "Batches",
    "BernsteinRace",
    "BestChallenger",
    "BetaTopTwo",
    "BettingRace",
    "BudgetedThompson",
    "Comparison",
    "ContinuousRejects",
    "CountPlan",
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
    "Metric",
    "OCBAm",
    "OptMAI",
    "PairedRace",
    "ParetoGame",
    "Problem",
    "Progress",
    "Question",
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
    "Traits",
    "UCBVInf",
    "UGapEb",
    "UGapEc",
    "Uniform",
    "UniformGLR",
    "UnionBound",
    "UsageError",
    "abm",
    "adversary",
    "algorithm",
    "axis",
    "bernoulli",
    "beta",
    "blocks",
    "c_spread",
    "categorical",
    "click_rates",
    "compact",
    "compare",
    "correlated_gaussian",
    "difference",
    "empirical",
    "empirical_from_csv",
    "empirical_from_data",
    "estimate_correlation",
    "exponential",
    "find_best",
    "gabillon",
    "gaussian",
    "gaussian_mixture",
    "gradients",
    "karnin",
    "linear",
    "log_normal",
    "matrix",
    "merge",
    "negative_binomial",
    "one_click",
    "one_sparse",
    "parameter",
    "pareto",
    "plan",
    "plot",
    "poisson",
    "polynomial",
    "ppr",
    "ppr_unbounded",
    "problems",
    "pytree",
    "rademacher",
    "random_beta",
    "random_truncated_normal",
    "random_uniform",
    "ratio",
    "repeat",
    "reservoir",
    "reservoir_from_csv",
    "rte_workers",
    "run",
    "s1",
    "s2",
    "seeds_needed",
    "simulate",
    "student_t",
    "summary",
    "sweep",
    "symmetric_pareto",
    "synthetic",
    "table",
    "theory",
    "trajectory",
    "tune",
    "two_group",
    "uniform_means",
    "use_all_cores",
    "weibull",
    "with_costs",
    "with_theory",
    "workers_from_csv",
    "zip_axes",
]

plot = plots
__version__: str
