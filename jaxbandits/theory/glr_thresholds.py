"""Thresholds of generalised likelihood ratio tests, which stop a run with its empirical best arms, and their proofs.

Sources:
- Garivier, Kaufmann 2016, "Optimal best arm identification with fixed confidence";
- Kaufmann, Koolen 2021, "Mixture martingales revisited with applications to sequential tests and confidence
  intervals", JMLR 22 (the paper itself could not be consulted: its two thresholds are proved again below);
- Jourdan, Degenne, Baudry, de Heide, Kaufmann 2022, "Top two algorithms revisited";
- Jourdan, Degenne, Kaufmann 2023, "Dealing with unknown variances in best-arm identification" (its thresholds could not
  be consulted: the one here is proved below, from the invariance argument of Lai 1976, "On confidence sequences").
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, Rule, whole_rule
from jaxbandits.errors import check_text, unknown_name
from jaxbandits.statistics.glr_boundaries import THRESHOLDS
from jaxbandits.theory._checks import SOME, as_float, check, log_of

__all__ = ["glr_threshold"]

_SEVERAL = Rule("must be finite and at least 2", lambda x: (x >= 2) & (x < float("inf")))


def glr_threshold(t: ArrayLike, arms: ArrayLike, delta: ArrayLike, name: str = "kk21", m: ArrayLike = 1) -> jax.Array:
    """Return what the statistic of the test must exceed after t pulls of K arms, for an error of at most delta.

    The statistic is the least over the arms a of the answer, the m empirical best ones, and the others b of inf over
    lambda_b >= lambda_a + epsilon of N_a d(mu_a, lambda_a) + N_b d(mu_b, lambda_b). Here mu are the empirical means, N
    the numbers of pulls, t their sum. The proofs hold for every sampling rule that depends on the past only, and every
    epsilon >= 0. Let S be m arms with the largest true means. An answer that is not (epsilon, m)-optimal has an arm
    whose true mean is less, by more than epsilon, than that of an arm left out. Then it is not S. No mean in S is less
    than one outside. So the returned arm a with the least mean may be taken outside S, and the arm b left out with the
    largest mean in S. Take these true means for lambda: they lie in the range of the infimum. The statistic is then at
    most N_a d(mu_a, true_a) + N_b d(mu_b, true_b). There are M = m (K - m) pairs of an arm outside S and
    one in S; for m = 1, M is K - 1. So it is enough that each pair has such a sum above the threshold, at any time,
    with probability at most delta / M.

    By name:

    - "heuristic", log((1 + log t) / delta): used in experiments (Garivier and Kaufmann 2016, section 6). Nothing is
      proved, and it depends on neither K nor m. To find 3 of 6 arms that lead the others by just more than epsilon,
      `EBTCI` errs with it in 14% of runs at delta = 0.1 (measured).
    - "gk16", log(2 t M / delta): proved for Bernoulli rewards (Garivier and Kaufmann 2016, Theorem 10, for m = 1).
      Proof: the mixture by Krichevsky and Trofimov of the likelihoods of N rewards of an arm is at least the largest of
      them over 2 sqrt(N). The product of two arms' mixtures over the true likelihoods is a martingale. So the sum
      exceeds x + log(4 sqrt(N_a N_b)) <= x + log(2 t) at some time with probability at most exp(-x).
    - "kk21-gaussian", 2 C_G(log(M/delta) / 2) + 4 log(4 + log(t/2)): for normal rewards of known variance and, with
      a bound of it in its place, sub-Gaussian ones. Proof: let S be the centred sum of N rewards of variance 1. The
      mixture of exp(lambda S - lambda^2 N / 2) over a normal lambda of variance 1/c is a martingale. Its logarithm is
      log(c / (N + c)) / 2 + N/(N + c) N d(mu, true). Mix over c_i = e^(4(i-1)) (1 - l)/l with weights i^(-2l)/zeta(2l).
      At N in [e^(4(i-1)), e^(4i)), i <= (4 + log N)/4, the logarithm is at least l (N d - 2 log(4 + log N)) - g'(l).
      Here g'(l) = log(1 - l + l e^4)/2 - log(1 - l)/2 - 2l log 4 + log zeta(2l). The paper's g(l) = 2l - 2l log(4l) +
      log zeta(2l) - log(1 - l)/2 is no less. The product of two arms' martingales exceeds exp(x) with probability at
      most exp(-x). C_G(x) = min over l in (1/2, 1) of (g(l) + x)/l. x = log(M/delta) is shared among M pairs, and
      log(4 + log N) is concave.
    - "kk21", 2 T(log(M/delta) / 2) + 6 log(1 + log(t/2)): for every exponential family with one parameter
      (Bernoulli, normal, Poisson, exponential, …) and, with Bernoulli's d, for all rewards in [0, 1]. Proof: let u > 0
      and z in (1, 3/2]. For each i = 1, 2, …, mix the likelihood ratios of two tilts with weights 3/(pi i)^2. The means
      of the i-th are at d(mean, true) = l_i/z^i on both sides, l_i = z (u + log(2 zeta(2)) + 2 log i). If
      N d(mu, true) >= l_i at some N in [z^(i-1), z^i), the i-th is at least exp(l_i/z) times its weight, exp(u). Let
      Y = (N d - 3 log(1 + log N))/z - log(2 zeta(2)) - 2 log(1/log z). As log i <= log(1 + log N) + log(1/log z), a
      martingale is at least exp(u) wherever Y >= u. Mix it over u with density (1 - l) exp(-(1 - l) u), and with the
      constant 1 in the proportions l and 1 - l. The mixture is at least (1 - l) exp(l Y). For two arms' product the
      least of (x/2 - log(1 - l))/l over l is
      h^-1(1 + x/2), h(y) = y - log y, and T takes the best z. Bounded rewards: E exp(s X) is at most Bernoulli's.
    - "lucb1", log(5 K t^4 / (4 delta)), and "ugape", log(4 K t^3 / delta): exploration rates beta of the intervals mean
      +- b sqrt(beta / (2 N)) of (b/2)-sub-Gaussian rewards. The statistic is then not a likelihood ratio but the rate
      up to which epsilon separates two intervals, 2 (mu_a - mu_b + epsilon)^2 / (b^2 (1/sqrt(N_a) + 1/sqrt(N_b))^2)
      (Kalyanakrishnan et al. 2012, "PAC subset selection in stochastic multi-armed bandits"; Gabillon et al. 2012,
      "Best arm identification: a unified approach", eq. 4). Proof: a wrong answer takes an upper end of an arm of S, or
      a lower one of another, that errs at some t and N < t: K ends, whatever m. So does the elimination of an arm of S,
      below all m arms of an answer, as one of these is not in S. With none eliminated, epsilon separates b from a. One
      end errs with probability exp(-beta) by Hoeffding's inequality, and the sum over t of K t exp(-beta) is at most
      4/5 zeta(3) delta, or zeta(2)/4 delta.
    - "bounded", log(M/delta) + 2 + 2 log(1 + t/2): proved for rewards in [0, 1] with K_inf, the least divergence of
      the empirical law from laws with a given mean, in place of d (Jourdan et al. 2022, as quoted in later papers; it
      could not be consulted). Proof: N K_inf is at most the largest sum of log(1 + s (X - true)) over the s for which
      no reward makes the factors negative, an interval. Mixed uniformly over it, their products are a martingale. Let
      s* be the best s and u = 1/(N+1). The s = (1 - u) s* + u s' are a part u of the interval. Their factors are at
      least 1 - u times those of s*. So the mixture is at least exp(N K_inf) (1 - u)^N / (N+1) >=
      exp(N K_inf - 1) / (N+1). The product of two arms' exceeds exp(x) with probability at most exp(-x), and
      (N_a + 1) (N_b + 1) <= (1 + t/2)^2. Bernoulli's d of the empirical mean is no more than K_inf: log of 1 - l(X - x)
      is concave in X, so its mean is the least for rewards 0 and 1. The test with it errs no more often.
    - "student-mixture", the u >= 0 with (1 + u) exp(-u) = delta / M: for normal rewards of unknown variances. Let
      W be the min over lambda of the sum of the two arms' l = N/2 log(1 + (mu - lambda)^2 / s^2), s^2 the mean of
      squared deviations. The statistic is not W but D = W - g(W, min(N_a, N_b)) - log(1 + N_a/c)/2 -
      log(1 + N_b/c)/2. Here g(l, N) = N/2 log(1 + c/(N + c) (e^(2l/N) - 1)) and c = 4. The threshold does not depend on
      t: D depends on the pulls of either arm, as Student's law requires. Proof: let Y be the rewards of an arm less its
      true mean, sigma^2 their variance. The ratios Y_i / |Y_1| have a law that is free of sigma. Take their likelihood
      ratio of Y with a normal mean of variance sigma^2/c to Y with the mean 0. It is a martingale that begins with 1 at
      N = 1. With the right Haar measure over sigma it is M_N = (1 + N/c)^(-1/2) ((s^2 + d^2) /
      (s^2 + d^2 c/(N + c)))^(N/2), d the mean of Y. So log M_N = l - g(l, N) - log(1 + N/c)/2 at lambda = the true
      mean. By Ville's inequality its supremum over all N exceeds e^x with probability at most e^-x. The rewards of two
      arms are independent, whichever are pulled when. So the sum of the two suprema exceeds u with probability at most
      (1 + u) e^-u. That sum is at least D. For g is convex in l and 0 at 0, so that g(l_a, n) + g(l_b, n) <=
      g(l_a + l_b, n). It falls as N grows: 2 g / N is the logarithm of E e^(y B), y = 2l/N, of a B that is 1 with
      probability c/(N + c), and E[e^(y B)]^(1/y) grows with y. l - g(l, n) grows with l, and W <= l_a + l_b.

    Args:
        t: pulls so far of all arms, at least 2, shape `(…)`.
        arms: K, at least 2, shape `()` or `(…)`.
        delta: probability of error, in (0, 1), shape `()` or `(…)`.
        name: of the threshold.
        m: number of arms to find, in [1, K-1], shape `()` or `(…)`.

    Returns:
        Shape `(…)`; differentiable in t, K and delta.

    Raises:
        UsageError: a value outside its range, an unknown name.

    Example:
        >>> round(float(jb.theory.glr_threshold(1000, 3, 0.05, "heuristic")), 2)
        5.06
    """
    check_text("threshold", name)
    if name not in THRESHOLDS:
        raise unknown_name("threshold", name, THRESHOLDS)
    check("t", t, _SEVERAL)
    check("the number of arms", arms, _SEVERAL)
    check("delta", delta, INSIDE_UNIT)
    check("m", m, whole_rule(1))
    check("the number of arms left out", jnp.asarray(arms) - jnp.asarray(m), SOME)
    chosen = THRESHOLDS[name]
    events, log_delta = jnp.broadcast_arrays(chosen.events(as_float(arms), as_float(m)), log_of(delta))
    return chosen.constant(events, log_delta) + chosen.growth(as_float(t))
