"""SHVar, pull by pull: Lalitha et al. (2023)."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.programs import one_halving, reference_of

RULE = jb.SHVar
SPREAD = jb.gaussian([0.5, 0.4, 0.4, 0.3, 0.6], [0.31, 0.13, 0.47, 0.22, 0.19])
CASES = {
    "sh-var": (jb.SHVar(budget=140), SPREAD),
    "sh-var, variances given": (jb.SHVar(budget=97, variances=[1.03, 2.09, 3.01, 0.53, 2.57]), SPREAD),
}
TIES = [jb.SHVar(budget=24)]


def program(view, algorithm):
    variances = np.asarray(view.problem.variance if algorithm.variances is None else algorithm.variances, np.float64)

    def wanted(fresh, alive):
        del alive
        return [1e4 * variance / len(seen) if seen else 1e9 for variance, seen in zip(variances, fresh, strict=True)]

    return one_halving(view, algorithm.budget, wanted)


reference = reference_of(program)
