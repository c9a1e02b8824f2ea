"""Families and named instances of problems: a line each.

Public names, the command line, specifications and the documentation follow from this registry. To add a problem,
write its constructor with `varying` above it (`constructors.py`), in a new module or beside similar ones. Then add
its line here: its name on the command line and `module:constructor`.
"""

from jaxbandits.lazy_registry import Registry

__all__ = ["REGISTRY"]

REGISTRY = Registry(
    "jaxbandits.problems",
    {
        "bernoulli": "distributions.bernoulli_and_normal:bernoulli",
        "gaussian": "distributions.bernoulli_and_normal:gaussian",
        "correlated-gaussian": "distributions.correlated_normal:correlated_gaussian",
        "poisson": "distributions.poisson_arms:poisson",
        "exponential": "distributions.exponential_arms:exponential",
        "negative-binomial": "distributions.negative_binomial_arms:negative_binomial",
        "categorical": "distributions.categorical_arms:categorical",
        "gaussian-mixture": "distributions.mixture_arms:gaussian_mixture",
        "beta": "distributions.beta_and_two_point:beta",
        "rademacher": "distributions.beta_and_two_point:rademacher",
        "student-t": "instances.heavy_instances:student_t",
        "pareto": "instances.heavy_instances:pareto",
        "symmetric-pareto": "instances.heavy_instances:symmetric_pareto",
        "log-normal": "instances.heavy_instances:log_normal",
        "weibull": "instances.heavy_instances:weibull",
        "s1": "instances.heavy_instances:s1",
        "s2": "instances.heavy_instances:s2",
        "abm": "instances.paper_instances:abm",
        "gabillon": "instances.paper_instances:gabillon",
        "karnin": "instances.karnin_instances:karnin",
        "one-sparse": "instances.paper_instances:one_sparse",
        "linear": "instances.paper_instances:linear",
        "polynomial": "instances.paper_instances:polynomial",
        "random-uniform": "instances.paper_instances:random_uniform",
        "two-group": "instances.top_k_instances:two_group",
        "uniform": "instances.top_k_instances:uniform_means",
        "synthetic": "instances.top_k_instances:synthetic",
        "random-truncated-normal": "instances.top_k_instances:random_truncated_normal",
        "random-beta": "instances.top_k_instances:random_beta",
        "c-spread": "instances.top_k_instances:c_spread",
        "rte-workers": "instances.crowd_workers:rte_workers",
        "workers": "instances.crowd_workers:workers_from_csv",
        "one-click": "tables.joint_pulls:one_click",
        "blocks": "tables.joint_pulls:blocks",
        "ppr": "instances.ppr_instances:ppr",
        "ppr-unbounded": "instances.ppr_instances:ppr_unbounded",
        "clicks": "instances.ppr_instances:click_rates",
        "reservoir": "reservoirs.ratio_reservoirs:reservoir",
        "reservoir-table": "reservoirs.table_reservoirs:reservoir_from_csv",
        "empirical": "tables.empirical_arms:empirical",
        "matrix": "tables.score_matrix:matrix",
        "csv": "tables.empirical_arms:empirical_from_csv",
        "data": "tables.empirical_arms:empirical_from_data",
    },
)
