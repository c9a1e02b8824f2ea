"""OCBA-m, increment by increment: Chen, He, Fu, Lee (2008)."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.programs import reference_of
from tests.algorithms.references.ocba import SPREAD, of_distances, program_of

RULE = jb.OCBAm
CASES = {
    "ocba-m of one": (jb.OCBAm(budget=140), SPREAD),
    "ocba-m of two": (jb.OCBAm(budget=140, m=2, increment=13), SPREAD),
}
TIES = [jb.OCBAm(budget=31, initial=2, m=2)]


def shares(view, algorithm, means, variances, pulls):
    order = view.order[0]
    chosen = view.top(means, algorithm.m, order)
    rest = [arm for arm in range(view.count) if arm not in chosen]
    last, following = chosen[np.argmin(means[chosen])], rest[np.argmax(means[rest])]
    view.near |= means[last] - means[following] < 1e-3  # float32 does not know so small a distance well
    error = np.sqrt(variances / pulls)
    border = (error[following] * means[last] + error[last] * means[following]) / (error[last] + error[following])
    return of_distances(np.abs(means - border), variances), last


reference = reference_of(program_of(shares))
