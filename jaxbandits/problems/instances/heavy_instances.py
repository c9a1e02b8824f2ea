"""Heavy-tailed problems given by their parameters, and the two of Yu, Shao, Lyu, King (2018)."""

import numpy as np
from jax.typing import ArrayLike

from jaxbandits.checks import ABOVE_ONE, POSITIVE, SUMMABLE, each
from jaxbandits.problems.argument_checks import check_spread, family_name, per_arm, per_arm_like
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.log_normal_and_weibull import LogNormal, Weibull
from jaxbandits.problems.distributions.power_tailed import Pareto, StudentT, SymmetricPareto

__all__ = ["log_normal", "pareto", "s1", "s2", "student_t", "symmetric_pareto", "weibull"]

_WITH_A_MEAN = ABOVE_ONE._replace(words="must be finite and above 1, or there is no mean")


@varying
def student_t(means: ArrayLike, dof: ArrayLike, scale: ArrayLike = 1.0, *, name: str = "") -> StudentT:
    """Return Student's t arms.

    Args:
        means: one per arm; or one row per bandit.
        dof: degrees of freedom, above 1; one for all arms or in the shape of `means`.
        scale: factor of the noise, positive; one for all arms or in the shape of `means`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or a value outside its range.

    Example:
        >>> jb.student_t([1.0, 0.5], dof=4.0).variance.tolist()
        [2.0, 2.0]
    """
    location, bandits = per_arm("Student t means", means)
    degrees, factor = per_arm_like("Student t dof", dof, means), per_arm_like("Student t scale", scale, means)
    each("Student t dof", degrees, _WITH_A_MEAN, "arm")
    each("Student t scale", factor, POSITIVE, "arm")
    each("Student t scale", factor, SUMMABLE, "arm")
    check_spread("Student t scale", factor, location)
    return StudentT(location, degrees, factor, bandits=bandits, name=name or family_name("student-t", means))


@varying
def pareto(means: ArrayLike, tail: ArrayLike, *, name: str = "") -> Pareto:
    """Return Pareto arms of given means: P(reward > x) is proportional to x^-tail from mean (1 - 1/tail) on.

    Args:
        means: positive, one per arm; or one row per bandit.
        tail: tail index, above 1; one for all arms or in the shape of `means`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or a value outside its range.

    Example:
        >>> print(jb.pareto([2.0, 1.0], 3.0).mean)
        [2. 1.]
    """
    average, bandits = per_arm("Pareto means", means)
    index = per_arm_like("Pareto tail", tail, means)
    each("Pareto means", average, POSITIVE, "arm")
    each("Pareto tail", index, _WITH_A_MEAN, "arm")
    return Pareto(average, index, bandits=bandits, name=name or family_name("pareto", means))


@varying
def symmetric_pareto(means: ArrayLike, tail: ArrayLike, scale: ArrayLike = 1.0, *, name: str = "") -> SymmetricPareto:
    """Return arms whose reward is the mean plus or minus a Pareto reward of least value `scale`.

    Args:
        means: one per arm; or one row per bandit.
        tail: tail index, above 1; one for all arms or in the shape of `means`.
        scale: positive; one for all arms or in the shape of `means`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or a value outside its range.

    Example:
        >>> print(jb.symmetric_pareto([1.0, 0.5], 3.0).mean)
        [1.  0.5]
    """
    location, bandits = per_arm("Symmetric Pareto means", means)
    index = per_arm_like("Symmetric Pareto tail", tail, means)
    factor = per_arm_like("Symmetric Pareto scale", scale, means)
    each("Symmetric Pareto tail", index, _WITH_A_MEAN, "arm")
    each("Symmetric Pareto scale", factor, POSITIVE, "arm")
    each("Symmetric Pareto scale", factor, SUMMABLE, "arm")
    check_spread("Symmetric Pareto scale", factor, location)
    label = name or family_name("symmetric-pareto", means)
    return SymmetricPareto(location, index, factor, bandits=bandits, name=label)


@varying
def log_normal(mu: ArrayLike, sigma: ArrayLike, *, name: str = "") -> LogNormal:
    """Return log-normal arms, exp(mu + sigma Z).

    Args:
        mu: means of the logarithm, one per arm; or one row per bandit.
        sigma: standard deviations of the logarithm, positive; one for all arms or in the shape of `mu`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or a value outside its range.

    Example:
        >>> print(jb.log_normal([0.0, -1.0], 0.5).mean)
        [1.1331484 0.416862 ]
    """
    center, bandits = per_arm("Log-normal mu", mu)
    spread = per_arm_like("Log-normal sigma", sigma, mu)
    each("Log-normal sigma", spread, POSITIVE, "arm")
    return LogNormal(center, spread, bandits=bandits, name=name or family_name("log-normal", mu))


@varying
def weibull(scale: ArrayLike, shape: ArrayLike, *, name: str = "") -> Weibull:
    """Return Weibull arms: P(reward > x) = exp(-(x/scale)^shape).

    Args:
        scale: positive, one per arm; or one row per bandit.
        shape: positive, heavy-tailed below 1; one for all arms or in the shape of `scale`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or a value outside its range.

    Example:
        >>> print(jb.weibull([1.0, 2.0], 1.0).mean)
        [1. 2.]
    """
    factor, bandits = per_arm("Weibull scale", scale)
    form = per_arm_like("Weibull shape", shape, scale)
    each("Weibull scale", factor, POSITIVE, "arm")
    each("Weibull shape", form, POSITIVE, "arm")
    return Weibull(factor, form, bandits=bandits, name=name or family_name("weibull", scale))


@varying
def s1() -> StudentT:
    """Return S1 of Yu et al. (2018), Table 2: means 2 and nine from 0.7 to 1.5, Student t noise with dof 3.

    Example:
        >>> jb.s1().arms
        10
    """
    return student_t([2.0, *np.linspace(0.7, 1.5, 9)], 3.0, name="s1")


@varying
def s2() -> StudentT:
    """Return S2 of Yu et al. (2018), Table 2: means 2 and nine from 1.0 to 1.8, Student t noise with dof 3.

    Example:
        >>> jb.s2().arms
        10
    """
    return student_t([2.0, *np.linspace(1.0, 1.8, 9)], 3.0, name="s2")
