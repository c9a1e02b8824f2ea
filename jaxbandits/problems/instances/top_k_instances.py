"""Bernoulli instances for finding the K best of many arms. Best arms come first, as printed.

Sources:
- Chen, Chen, Zhang, Zhou 2017, "Adaptive multiple-arm identification", section 3 and Definition 1;
- Zhou, Chen, Li 2014, "Optimal PAC multiple arm identification with applications to crowdsourcing", experiments
  and supplement (means drawn from a truncated normal law and from Beta(4, 1)).
"""

from collections.abc import Callable

import jax
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

from jaxbandits import checks
from jaxbandits.errors import UsageError
from jaxbandits.problems.argument_checks import arm_count
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli, bernoulli
from jaxbandits.random.streams import root_key

__all__ = ["c_spread", "random_beta", "random_truncated_normal", "synthetic", "two_group", "uniform_means"]


@varying
def two_group(n: int = 1000, k: int | None = None, high: float = 0.7, low: float = 0.3) -> Bernoulli:
    """Return TWOGROUP: the first k arms with mean `high`, the others with mean `low` (Chen et al. 2017, section 3).

    Args:
        n: number of arms, at least 2.
        k: number of good arms, 1 <= k < n; a tenth of the arms, at least 1, when not given.
        high: mean of the good arms, in [0, 1].
        low: mean of the others, in [0, high].

    Raises:
        UsageError: a number of arms that does not fit, or a mean outside its range.

    Example:
        >>> print(jb.two_group(n=4, k=1).mean)
        [0.7 0.3 0.3 0.3]
    """
    n = arm_count("n", n)
    k = _good_arms("two-group", k, n)
    if high < low:
        raise UsageError(f"two-group: high must not be below low={low:g}, got {high:g}")
    means = "" if (high, low) == (0.7, 0.3) else f",high={high:g},low={low:g}"
    return bernoulli(np.where(np.arange(n) < k, high, low), name=f"two-group:n={n},k={k}{means}")


@varying
def uniform_means(n: int = 1000) -> Bernoulli:
    """Return UNIFORM: means theta_i = 1 - i/n for i = 1..n, from 1 - 1/n down to 0 (Chen et al. 2017, section 3).

    Args:
        n: number of arms, at least 2.

    Raises:
        UsageError: fewer than two arms.

    Example:
        >>> print(jb.uniform_means(4).mean)
        [0.75 0.5  0.25 0.  ]
    """
    n = arm_count("n", n)
    return bernoulli(np.float32(1 - np.arange(1, n + 1) / n), name=f"uniform:n={n}")


@varying
def synthetic(p: float = 0.5, n: int = 1000, k: int | None = None) -> Bernoulli:
    """Return SYNTHETIC-p: means spread by a power law on both sides of 1 - k/n (Chen et al. 2017, section 3).

    The k-th best mean is 1 - k/n. The formula is illegible in the proceedings' text. This is the only power law with
    the properties that the text gives: p = 1 is UNIFORM, and the means span [0, 1]. Arms are closer to the border for
    p > 1 and farther from it for p < 1.

    Args:
        p: the power, positive.
        n: number of arms, at least 2.
        k: number of good arms, 1 <= k < n; a tenth of the arms, at least 1, when not given.

    Raises:
        UsageError: a power that is not positive and finite, or a number of arms that does not fit.

    Example:
        >>> jb.synthetic(p=1.0, n=10, k=2).arms
        10
    """
    n = arm_count("n", n)
    k = _good_arms("synthetic", k, n)
    checks.number("synthetic: p", p, checks.POSITIVE)
    i = np.arange(1, n + 1)
    border = 1 - k / n
    above = border + (k / n) * np.maximum(1 - i / k, 0) ** p  # theta_i, i <= K
    below = border - (1 - k / n) * (np.maximum(i - k, 0) / (n - k)) ** p  # theta_i, i > K
    return bernoulli(np.float32(np.where(i <= k, above, below)), name=f"synthetic:p={p:g},n={n},k={k}")


@varying
def random_truncated_normal(n: int = 1000, seed: int = 0, center: float = 0.5, sd: float = 0.2) -> Bernoulli:
    """Return arms with means drawn from a normal law cut off outside [0, 1], largest first (Zhou et al. 2014).

    The means are a function of the seed. The paper's TN(0.5, 0.2) is read as a standard deviation of 0.2 before the
    cut. The same seed draws the same quantiles as `random_uniform` and `random_beta`.

    Args:
        n: number of arms, at least 2.
        seed: seed of the means, from 0 to 2^32 - 1.
        center: mean before the cut, in [0, 1].
        sd: standard deviation before the cut, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> jb.random_truncated_normal(n=10, seed=1).arms
        10
    """
    checks.number("random-truncated-normal: center", center, checks.UNIT)
    checks.number("random-truncated-normal: sd", sd, checks.POSITIVE)
    seed = checks.seed("random-truncated-normal: seed", seed, bits=32)
    bottom, top = scipy.special.ndtr(np.array([0 - center, 1 - center]) / sd)

    def quantile(u: np.ndarray) -> np.ndarray:
        return np.clip(center + sd * scipy.special.ndtri(bottom + u * (top - bottom)), 0, 1)

    n = arm_count("n", n)
    name = f"random-truncated-normal:n={n},seed={seed},center={center:g},sd={sd:g}"
    return _drawn(n, seed, quantile, name)


@varying
def random_beta(n: int = 1000, seed: int = 0, a: float = 4.0, b: float = 1.0) -> Bernoulli:
    """Return arms with means drawn from Beta(a, b), largest first (Zhou et al. 2014: Beta(4, 1)).

    The means are a function of the seed. The same seed draws the same quantiles as `random_uniform` and
    `random_truncated_normal`.

    Args:
        n: number of arms, at least 2.
        seed: seed of the means, from 0 to 2^32 - 1.
        a: first shape parameter, positive; with b = 1, a larger one has more arms near 1.
        b: second shape parameter, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> jb.random_beta(n=10, seed=1).arms
        10
    """
    checks.number("random-beta: a", a, checks.POSITIVE)
    checks.number("random-beta: b", b, checks.POSITIVE)
    seed = checks.seed("random-beta: seed", seed, bits=32)
    n = arm_count("n", n)
    label = f"random-beta:n={n},seed={seed},a={a:g},b={b:g}"
    return _drawn(n, seed, lambda u: scipy.special.betaincinv(a, b, u), label)


@varying
def c_spread(c: float = 2.0, n: int = 1000) -> Bernoulli:
    """Return arms that are c-spread, no less: |i-j|/(cn) <= |theta_i-theta_j| <= c|i-j|/n (Chen et al. 2017).

    Definition 1 of Chen et al. (2017).

    Many such sets exist. This one follows the paper's idea: quantiles of a law of means with a bounded density,
    theta_i = F^-1(1 - i/n). The upper means are few and far from each other: density 1/c, the first n/(1+c) arms, c/n
    from one to the next. The lower ones are many and close: density c, 1/(cn) from one to the next. The means span [0,
    1] like those of UNIFORM, which is c = 1.

    Args:
        c: the spread, at least 1.
        n: number of arms, at least 2.

    Raises:
        UsageError: c below 1, or fewer than two arms.

    Example:
        >>> problem = jb.c_spread(c=2.0, n=10)
        >>> round(float(jb.theory.spread_constant(problem.mean)), 2) <= 2
        True
    """
    n = arm_count("n", n)
    checks.number("c-spread: c", c, checks.AT_LEAST_ONE)
    x = np.arange(1, n + 1) / n
    # F^-1(1 - x): slope -c above the mean 1/(1+c), slope -1/c below; the steeper line lies above the other first.
    return bernoulli(np.float32(np.maximum(1 - c * x, (1 - x) / c)), name=f"c-spread:c={c:g},n={n}")


def _good_arms(owner: str, k: float | None, n: int) -> int:
    """Return the number of good arms that a user gave; max(1, n // 10) without one."""
    if k is None:
        return max(1, n // 10)
    return checks.whole(f"{owner}: k", k, 1, n - 1, bound=f"smaller than n={n}")


def _drawn(n: int, seed: int, quantile: Callable[[np.ndarray], np.ndarray], name: str) -> Bernoulli:
    """Return arms with means from a law given by its quantiles."""
    uniform = np.asarray(jax.random.uniform(root_key(seed), (n,), np.float32), np.float64)
    means = np.sort(quantile(uniform))[::-1]
    means = np.where(means < np.finfo(np.float32).tiny, 0, means)  # devices flush subnormal numbers to 0
    return bernoulli(np.float32(means), name=name)
