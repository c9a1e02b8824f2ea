"""Top-two Thompson sampling with Beta priors: the law of each pull, by quadrature."""

import numpy as np
from scipy import stats

import jaxbandits as jb

RULE = jb.BetaTopTwo
COINS = jb.bernoulli([0.5, 0.4, 0.6, 0.3])
PRIORS = {"prior_a": np.asarray([1.0, 4.0, 0.5, 6.0]), "prior_b": np.asarray([1.0, 2.0, 0.5, 3.0])}
CASES = {
    "beta top two": (jb.BetaTopTwo(budget=140, resamplings=2000), COINS),
    "beta top two, priors of arms": (jb.BetaTopTwo(budget=140, share=0.3, resamplings=2000, **PRIORS), COINS),
}
TIES = [jb.BetaTopTwo(budget=12, prior_a=0.5, prior_b=2.0, resamplings=3)]


def reference(view, algorithm):
    pulls, total = np.asarray([[len(rewards), sum(rewards)] for rewards in view.rewards]).T
    a, b = algorithm.prior_a + total, algorithm.prior_b + pulls - total
    x = np.linspace(0, 1, 4001)[1:-1]
    below, density = stats.beta.cdf(x[:, None], a, b), stats.beta.pdf(x[:, None], a, b)
    best = np.asarray([np.sum(density[:, i] * np.delete(below, i, 1).prod(1)) for i in range(view.count)])
    best /= best.sum()
    second = best * (np.sum(best / (1 - best)) - best / (1 - best))
    law = algorithm.share * best + (1 - algorithm.share) * second
    return law, {view.first(a / (a + b), view.order[0])}, None
