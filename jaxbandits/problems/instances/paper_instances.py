"""Named problems of the papers, and common spreads of means. Best arms come first, as printed."""

import jax
import numpy as np

from jaxbandits import checks
from jaxbandits.errors import UsageError
from jaxbandits.problems.argument_checks import arm_count
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli, bernoulli
from jaxbandits.problems.distributions.beta_and_two_point import TwoPoint, rademacher
from jaxbandits.random.streams import root_key

__all__ = ["abm", "gabillon", "linear", "one_sparse", "polynomial", "random_uniform"]


@varying
def abm(number: int) -> Bernoulli:
    """Return one of experiments 1 to 7 of Audibert, Bubeck, Munos (2010), section 6: Bernoulli, best mean 1/2.

    Args:
        number: 1 one group of bad arms (K = 20); 2 two groups (20); 3 geometric (4); 4 three groups of six arms (6).
            Further, 5 arithmetic (15); 6 two good arms and many bad ones (20); 7 three groups (30).

    Raises:
        UsageError: another number.

    Example:
        >>> print(jb.abm(4).mean)
        [0.5  0.42 0.4  0.4  0.35 0.35]
    """
    others = {
        1: [0.4] * 19,
        2: [0.42] * 5 + [0.38] * 14,
        3: [0.5 - 0.37**i for i in (2, 3, 4)],
        4: [0.42, 0.4, 0.4, 0.35, 0.35],
        5: [0.5 - 0.025 * i for i in range(2, 16)],
        6: [0.48] + [0.37] * 18,
        7: [0.45] * 5 + [0.43] * 14 + [0.38] * 10,
    }
    if not checks.is_number(number) or number not in others:
        raise UsageError(f"abm has the experiments 1 to 7, got {number}")
    return bernoulli([0.5, *others[number]], name=f"abm:{number:g}")


@varying
def gabillon(number: int) -> Bernoulli | TwoPoint:
    """Return one of problems 1 to 3 of Gabillon et al. (2011), section 6: several bandits of four arms each.

    Args:
        number: 1 two Bernoulli bandits of different gaps; 2 two bandits of Rademacher arms of different variances; 3
            four of them.

    Raises:
        UsageError: another number.

    Example:
        >>> jb.gabillon(1).bandits
        2
    """
    pairs = {
        2: [
            [(0, 1), (0.45, 0.45), (0.25, 0.65), (0, 0.9)],
            [(0.4, 0.6), (0.45, 0.45), (0.35, 0.55), (0.25, 0.65)],
        ],
        3: [
            [(0.4, 0.85), (0.25, 0.9), (0.2, 0.95), (0.1, 1)],
            [(0, 1), (0, 0.8), (0, 0.5), (0.3, 0.4)],
            [(0.4, 1), (0, 0.5), (0.1, 0.5), (0.2, 0.5)],
            [(0, 1), (0, 0.8), (0.45, 0.45), (0.45, 0.45)],
        ],
    }
    if not checks.is_number(number) or number not in (1, *pairs):
        raise UsageError(f"gabillon has the problems 1 to 3, got {number}")
    name = f"gabillon:{number:g}"
    if number == 1:
        return bernoulli([[0.5, 0.45, 0.4, 0.3], [0.5, 0.3, 0.2, 0.1]], name=name)
    values = np.asarray(pairs[number], np.float64)
    return rademacher(values[..., 0], values[..., 1], name=name)


@varying
def one_sparse(n: int = 10, best: float = 0.6, rest: float = 0.5) -> Bernoulli:
    """Return one Bernoulli arm with mean `best` among n - 1 with mean `rest`.

    Example:
        >>> print(jb.one_sparse(n=3, best=0.7).mean)
        [0.7 0.5 0.5]
    """
    n = arm_count("n", n)
    means = np.where(np.arange(n) == 0, best, rest)
    return bernoulli(means, name=f"one-sparse:n={n},best={best:g},rest={rest:g}")


@varying
def linear(n: int = 10, high: float = 0.9, low: float = 0.1) -> Bernoulli:
    """Return Bernoulli arms with means evenly spaced from `high` down to `low`.

    Example:
        >>> print(jb.linear(n=5).mean)
        [0.9 0.7 0.5 0.3 0.1]
    """
    n = arm_count("n", n)
    means = np.float32(np.linspace(high, low, n))
    return bernoulli(means, name=f"linear:n={n},high={high:g},low={low:g}")


@varying
def polynomial(n: int = 10, power: float = 2.0, high: float = 0.9, low: float = 0.1) -> Bernoulli:
    """Return Bernoulli arms with gaps (high - low) ((i - 1)/(n - 1))^power for arm i.

    A larger power has more near-best arms.

    Raises:
        UsageError: power <= 0.

    Example:
        >>> print(jb.polynomial(n=3).mean)
        [0.9 0.7 0.1]
    """
    n = arm_count("n", n)
    checks.number("polynomial: power", power, checks.POSITIVE)
    means = np.float32(high - (high - low) * (np.arange(n) / (n - 1)) ** power)
    return bernoulli(means, name=f"polynomial:n={n},power={power:g},high={high:g},low={low:g}")


@varying
def random_uniform(n: int = 10, seed: int = 0) -> Bernoulli:
    """Return Bernoulli arms with means drawn uniformly from [0, 1] by the seed, below 2^32, largest first.

    Example:
        >>> means = jb.random_uniform(n=5, seed=1).mean
        >>> bool((means[:-1] >= means[1:]).all())
        True
    """
    n = arm_count("n", n)
    seed = checks.seed("random-uniform: seed", seed, bits=32)
    means = np.sort(np.asarray(jax.random.uniform(root_key(seed), (n,), np.float32)))[::-1]
    return bernoulli(means, name=f"random-uniform:n={n},seed={seed}")
