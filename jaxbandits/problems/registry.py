"""Families and named instances of problems: a line each.

Public names, the command line, specifications and the documentation follow from this registry. To add a problem,
write its constructor with `varying` above it (`constructors.py`), in a new module or beside similar ones. Then add
its line here: its name on the command line and `module:constructor`.
"""

from jaxbandits.registry import Registry

__all__ = ["REGISTRY"]

REGISTRY = Registry(
    "jaxbandits.problems",
    {
        "bernoulli": "families:bernoulli",
        "gaussian": "families:gaussian",
        "poisson": "poisson_arms:poisson",
        "exponential": "exponential_arms:exponential",
        "beta": "beta_and_two_point:beta",
        "rademacher": "beta_and_two_point:rademacher",
        "student-t": "heavy_instances:student_t",
        "pareto": "heavy_instances:pareto",
        "symmetric-pareto": "heavy_instances:symmetric_pareto",
        "log-normal": "heavy_instances:log_normal",
        "weibull": "heavy_instances:weibull",
        "s1": "heavy_instances:s1",
        "s2": "heavy_instances:s2",
        "abm": "instances:abm",
        "gabillon": "instances:gabillon",
        "karnin": "karnin_instances:karnin",
        "one-sparse": "instances:one_sparse",
        "linear": "instances:linear",
        "polynomial": "instances:polynomial",
        "random-uniform": "instances:random_uniform",
        "two-group": "top_k_instances:two_group",
        "uniform": "top_k_instances:uniform_means",
        "synthetic": "top_k_instances:synthetic",
        "random-truncated-normal": "top_k_instances:random_truncated_normal",
        "random-beta": "top_k_instances:random_beta",
        "c-spread": "top_k_instances:c_spread",
        "rte-workers": "crowd_workers:rte_workers",
        "workers": "crowd_workers:workers_from_csv",
        "one-click": "joint:one_click",
        "blocks": "joint:blocks",
        "ppr": "pay_per_reward:ppr",
        "ppr-unbounded": "pay_per_reward:ppr_unbounded",
        "clicks": "pay_per_reward:click_rates",
        "reservoir": "ratio_reservoirs:reservoir",
        "reservoir-table": "table_reservoirs:reservoir_from_csv",
        "empirical": "empirical_arms:empirical",
        "csv": "empirical_arms:empirical_from_csv",
        "data": "empirical_arms:empirical_from_data",
    },
)
