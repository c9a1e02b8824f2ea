"""SHAdaVar, pull by pull: Lalitha et al. (2023)."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.programs import one_halving, reference_of

RULE = jb.SHAdaVar
SPREAD = jb.gaussian([0.5, 0.4, 0.4, 0.3, 0.6], [0.3, 0.1, 0.5, 0.2, 0.2])
CASES = {
    "sh-ada-var": (jb.SHAdaVar(budget=159, level=0.5), SPREAD),
    "sh-ada-var, equal pulls": (jb.SHAdaVar(budget=140), SPREAD),
}
TIES = [jb.SHAdaVar(budget=36, level=0.9)]


def program(view, algorithm):
    log_level = np.log(1 / algorithm.level)

    def wanted(fresh, alive):
        pulls = np.asarray([len(seen) for seen in fresh])
        few = pulls <= 4 * log_level + 1
        if few[alive].any():
            return np.where(few, 1e3 - pulls, -1e3)
        upper = np.zeros(view.count)
        for arm in alive:
            room = 1 - 2 * np.sqrt(log_level / (pulls[arm] - 1))
            upper[arm] = 1e4 * np.var(fresh[arm], ddof=1) / room / pulls[arm]
        return upper

    return one_halving(view, algorithm.budget, wanted)


reference = reference_of(program)
