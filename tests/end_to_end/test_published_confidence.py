"""KL-LUCB, LUCB and LUCB++ against published numbers of pulls until they stop.

Kaufmann, Kalyanakrishnan (2013), Figure 1a: means drawn uniformly from [0, 1], m = K/5, epsilon = delta = 0.1, both
with the rate `kl2013`: found are 0.90 to 1.09 of the published means, with standard errors of 2% to 5% by the 150
instances drawn. Garivier, Kaufmann (2016), Table 1: means (.5, .45, .43, .4), delta = 0.1, the rate ln((1 + ln t) /
delta): 8437, found 8408 +- 82. Simchowitz, Jamieson, Recht (2017), Table 1: 5 of n normal arms of variance 1 have mean
.75, the others .25; LUCB there has the bounds of LUCB++ with delta/n for every arm, and takes .99, 1.17, 1.5 times its
pulls with n = 10, 100, 1000: found 1.00, 1.20, 1.49 (with the bounds of LUCB1 3.1 and 3.9). Intervals are of six
standard errors, and of 4% for what is read from a figure or rounded: false alarms have a probability below 1e-7.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.statistics.confidence import iterated_level

pytestmark = [pytest.mark.slow, pytest.mark.bits]

INSTANCES = 150
FIGURE = {
    "lucb": {10: 0.57, 20: 1.04, 30: 1.59, 40: 2.07, 50: 2.62, 60: 3.09},
    "kl-lucb": {10: 0.32, 20: 0.62, 30: 0.96, 40: 1.35, 50: 1.61, 60: 1.89},
}


@pytest.mark.parametrize(("name", "arms"), [(name, arms) for name in FIGURE for arms in (10, 20, 40)])
def test_pulls_on_random_means(name, arms):
    values = {"epsilon": 0.1, "delta": 0.1, "m": arms // 5}
    algorithm = jb.KLLUCB(**values) if name == "kl-lucb" else jb.LUCB(**values, exploration="kl2013")
    problem = jb.random_uniform(n=arms, seed=jb.axis(list(range(INSTANCES)), name="instance"))
    data = jb.sweep(algorithm, problem, seeds=4)
    assert (data.status == 0).all()
    means = data.pulls.mean("seed").values / 1e4
    # The figure is an average over some 1000 instances of its own.
    error = means.std() * np.sqrt(1 / INSTANCES + 1 / 1000)
    assert abs(means.mean() - FIGURE[name][arms]) < 6 * error + 0.04 * FIGURE[name][arms]


def test_kl_lucb_of_garivier_and_kaufmann():
    algorithm = jb.KLLUCB(epsilon=0, delta=0.1, exploration="heuristic")
    data = jb.simulate(algorithm, jb.bernoulli([0.5, 0.45, 0.43, 0.4]), seeds=2000)
    pulls = data.pulls.values
    assert abs(pulls.mean() - 8437) < 6 * pulls.std() * np.sqrt(1 / 2000 + 1 / 3000)
    assert abs(pulls.mean() / 8437 - 1) < 0.05


@jb.algorithm
class LUCBOfTheTable(jb.LUCBPlusPlus):
    """The bounds of LUCB++ with delta / n for every arm."""

    n: int = 1

    def _level(self, others):
        return iterated_level(log_of(self.delta) - jnp.log(self.n))


@pytest.mark.parametrize(("n", "ratio", "runs"), [(10, 0.99, 400), (100, 1.17, 60)])
def test_lucb_over_lucb_plus_plus(n, ratio, runs):
    problem, values = jb.gaussian([0.75] * 5 + [0.25] * (n - 5), 1.0), {"epsilon": 0, "delta": 0.05, "m": 5}
    pulls = [
        jb.simulate(algorithm, problem, seeds=runs).pulls.values
        for algorithm in (LUCBOfTheTable(**values, n=n), jb.LUCBPlusPlus(**values))
    ]
    error = sum((x.std() / x.mean()) ** 2 / runs for x in pulls) ** 0.5
    assert abs(pulls[0].mean() / pulls[1].mean() / ratio - 1) < 6 * error + 0.04


@pytest.mark.parametrize("means", [[0.6, 0.5, 0.4], [0.1, 0.05, 0.02, 0.01]])
def test_kl_lucb_keeps_to_its_bound(means):
    algorithm = jb.KLLUCB(epsilon=0.02, delta=0.1)
    theorem = algorithm.theorem(np.asarray(means), np.zeros(1), 1.0, delta=0.1, epsilon=0.02, m=1)
    assert theorem is not None
    bound = float(theorem.formula(*theorem.arguments))
    pulls = jb.simulate(algorithm, jb.bernoulli(means), seeds=300).pulls.values
    assert pulls.max() < bound < 60 * pulls.mean()
