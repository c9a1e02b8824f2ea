"""The list of the algorithms, one line each.

Public names, command line, specifications, documentation and tests follow from it. To add an algorithm, write a module
like `apt.py`; the head of `protocol.py` has the protocol. Then add its line here: the name on the command line and
`module:class`.
"""

import re

from jaxbandits.errors import unknown_name
from jaxbandits.lazy_registry import Registry

__all__ = ["REGISTRY", "normal_name"]

REGISTRY = Registry(
    "jaxbandits.algorithms",
    {
        "uniform": "uniform_sampling.uniform:Uniform",
        "ugape-c": "confidence_bounds.ugape_c:UGapEc",
        "ugape-b": "confidence_bounds.ugape_b:UGapEb",
        "gap-e": "confidence_bounds.gape:GapE",
        "ucb-e": "confidence_bounds.ucb_e:UCBE",
        "apt": "confidence_bounds.apt:APT",
        "lsa": "confidence_bounds.lsa:LSA",
        "hdoc": "good_arms.hdoc:HDoC",
        "hdoc-first": "good_arms.hdoc_first:HDoCFirst",
        "lucb-g": "good_arms.lucb_g:LUCBG",
        "apt-g": "good_arms.apt_g:APTG",
        "apgai-b": "good_arms.apgai:APGAIb",
        "apgai-c": "good_arms.apgai:APGAIc",
        "st2": "good_arms.st2:ST2",
        "fareast": "good_arms.fareast:FAREAST",
        "lucb": "confidence_bounds.lucb:LUCB",
        "at-lucb": "confidence_bounds.at_lucb:ATLUCB",
        "fc2fb": "confidence_bounds.fc2fb:FC2FB",
        "kl-lucb": "confidence_bounds.kl_lucb:KLLUCB",
        "lucb-pp": "confidence_bounds.lucb_plus_plus:LUCBPlusPlus",
        "lil-ucb": "confidence_bounds.lil_ucb:LilUCB",
        "successive-elimination": "elimination.successive_elimination:SuccessiveElimination",
        "continuous-rejects": "elimination.continuous_rejects:ContinuousRejects",
        "successive-rejects": "elimination.successive_rejects:SuccessiveRejects",
        "sequential-halving": "elimination.sequential_halving:SequentialHalving",
        "sh-var": "elimination.shvar:SHVar",
        "sh-ada-var": "elimination.shadavar:SHAdaVar",
        "bayes-elim": "elimination.bayes_elim:BayesElim",
        "doubling-sequential-halving": "elimination.doubling_sequential_halving:DoublingSequentialHalving",
        "sar": "elimination.sar:SAR",
        "ocba": "budget_allocation.ocba:OCBA",
        "ocba-m": "budget_allocation.ocba_m:OCBAm",
        "adaptive-top-k": "top_k.adaptive_top_k:AdaptiveTopK",
        "improved-top-k": "top_k.improved_top_k:ImprovedTopK",
        "opt-mai": "top_k.opt_mai:OptMAI",
        "clucb": "top_k.clucb:CLUCB",
        "mab-ppr": "uniform_sampling.mab_ppr:MABPPR",
        "median-elimination": "uniform_sampling.median_elimination:MedianElimination",
        "exp-gap-elimination": "uniform_sampling.exp_gap_elimination:ExpGapElimination",
        "union-bound": "uniform_sampling.union_bound:UnionBound",
        "hoeffding-race": "uniform_sampling.hoeffding_race:HoeffdingRace",
        "bernstein-race": "uniform_sampling.bernstein_race:BernsteinRace",
        "kl-race": "uniform_sampling.kl_race:KLRace",
        "betting-race": "uniform_sampling.betting_race:BettingRace",
        "paired-race": "uniform_sampling.paired_race:PairedRace",
        "kn": "indifference_zone.kn:KN",
        "kn-pp": "indifference_zone.kn:KNPlusPlus",
        "rinott": "indifference_zone.rinott:Rinott",
        "rcb": "cost_budget.rcb:RCB",
        "rcb-i": "cost_budget.rcb:RCBI",
        "rcb-air": "cost_budget.rcb:RCBAIR",
        "ucb-v-inf": "cost_budget.ucb_infinite:UCBVInf",
        "ucb-air": "cost_budget.ucb_infinite:UCBAIR",
        "epsilon-first": "cost_budget.budget_baselines:EpsilonFirst",
        "kube": "cost_budget.budget_baselines:KUBE",
        "budgeted-thompson": "cost_budget.budget_baselines:BudgetedThompson",
        "siri": "cost_budget.siri:SiRI",
        "uniform-glr": "likelihood_ratio.uniform_glr:UniformGLR",
        "best-challenger": "likelihood_ratio.best_challenger:BestChallenger",
        "track-and-stop": "likelihood_ratio.track_and_stop:TrackAndStop",
        "tri-bbai": "likelihood_ratio.tri_bbai:TriBBAI",
        "opt-bbai": "likelihood_ratio.opt_bbai:OptBBAI",
        "ttts": "likelihood_ratio.ttts:TTTS",
        "beta-top-two": "likelihood_ratio.beta_top_two:BetaTopTwo",
        "t3c": "likelihood_ratio.t3c:T3C",
        "eb-tc": "likelihood_ratio.eb_tc:EBTC",
        "anytime-eb-tc": "likelihood_ratio.anytime_eb_tc:AnytimeEBTC",
        "eb-tci": "likelihood_ratio.eb_tci:EBTCI",
        "ttucb": "likelihood_ratio.ttucb:TTUCB",
        "threshold-game": "structured.threshold_game:ThresholdGame",
        "lin-game": "structured.lin_game:LinGame",
        "lin-gap-e": "structured.lin_gap_e:LinGapE",
        "top-m-game": "structured.top_m_game:TopMGame",
        "pareto-game": "structured.pareto_game:ParetoGame",
    },
)


def normal_name(name: str) -> str:
    """Return an algorithm's name on the command line from any spelling of it.

    Raises:
        UsageError: the name is unknown; the message has the nearest known name.
    """
    normal = re.sub(r"[_\s]+", "-", name.strip().lower())
    if normal not in REGISTRY:
        raise unknown_name("algorithm", name, REGISTRY)
    return normal
