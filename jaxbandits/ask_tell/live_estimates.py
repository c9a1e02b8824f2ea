"""What a session says of its arms: intervals that hold at all times, confidence, shares of traffic, pulls to come."""

import collections

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import checks
from jaxbandits.algorithms.indifference_zone.zone_checks import ZoneRule
from jaxbandits.algorithms.inherited_claims import claims
from jaxbandits.algorithms.likelihood_ratio.glr_families import UNKNOWN_VARIANCE
from jaxbandits.algorithms.structured.lin_gap_e import LinGapE
from jaxbandits.algorithms.traits import tolerance_of
from jaxbandits.ask_tell.remaining_pulls import RemainingPulls, estimated_problem, simulate_rest
from jaxbandits.ask_tell.session_state import SessionState
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import UsageError, warn
from jaxbandits.statistics.bernoulli_bounds import kl_lower_bound, kl_upper_bound
from jaxbandits.statistics.family_intervals import interval_by_divergence
from jaxbandits.statistics.glr_boundaries import exponential_family_level
from jaxbandits.statistics.glr_unknown_variance import radius_at_all_times

__all__ = ["Estimates"]

# Without a delta of the algorithm.
_DELTA = 0.05
# Halvings of the interval that holds the confidence, and the largest ln(K / delta) in it.
_HALVINGS, _FAR = 40, 80.0


class Estimates(SessionState):
    """A session with its estimates."""

    @property
    def pulls(self) -> np.ndarray:
        """Return the number of rewards told for each arm, int64 `(K,)`, prior ones and those after the end too."""
        return self._told.pulls.copy()

    @property
    def means(self) -> np.ndarray:
        """Return the mean of the rewards told for each arm, float64 `(K,)`; nan where there are none."""
        return self._told.means

    @own_settings()
    def intervals(self, delta: float | None = None) -> np.ndarray:
        """Return an interval for the mean of each arm, from the rewards told; all hold at all times at once.

        With probability at least 1 - delta, no mean ever lies outside the interval of its arm, however the arms were
        chosen and whenever you look. Of N rewards with mean m, the interval is

            {q: N d(m, q) <= 3 ln(1 + ln N) + T(ln(K / delta))},

        where d is the divergence of Bernoulli laws on [0, b], or that of normal laws with standard deviation b/2 if
        rewards are not bounded (Kaufmann, Koolen 2021, Theorem 7, for one arm, shared among K arms). If they are not,
        and neither the session nor the algorithm has a range, d is that of the algorithm's family, Poisson or
        exponential. Without a family they are taken for normal with unknown variances. The interval is then that of
        Lai's martingale with the same share (`statistics.glr_unknown_variance`): infinite for the first few rewards of
        an arm. It is no part of the algorithm, which has bounds of its own.

        Args:
            delta: in (0, 1); None for the algorithm's own, or 0.05.

        Returns:
            float64 `(K, 2)`: the lower and the upper ends; [0, b] or infinite for an arm without a reward.

        Raises:
            UsageError: a delta outside (0, 1).
        """
        if delta is None:
            delta = self._own_delta or _DELTA
        checks.number("delta", delta, checks.INSIDE_UNIT)
        self._warn_of_range()
        return self._intervals(np.log(self._arms / delta))

    @property
    def confidence(self) -> float:
        """Return the confidence in the recommendation, in [0, 1]: that it is right within the algorithm's tolerance.

        It is 1 - delta for the smallest delta at which `intervals(delta)` puts each recommended arm above all others
        that are there, up to epsilon. This holds at all times: a wrong recommendation ever has a confidence of
        1 - delta with probability delta at most. After the end it is at least the 1 - delta of an algorithm with a
        proof, unless arms came or went, or the proof is for a best arm that leads by epsilon, as with `jb.KN`. There is
        none where a budget ends the run, for constants that the page of the algorithm does not cover, or for rewards of
        a larger range than that page says. A class of your own that is made from one with a proof has one if it says
        so, `proved = True`.

        Raises:
            UsageError: the algorithm has another criterion than the largest means.
        """
        criterion, mask = self._algorithm.traits.criterion, self.recommendation
        if criterion not in ("epsilon-m", "exact", "aggregate"):
            raise UsageError(f"{type(self._algorithm).__name__} has another criterion than the largest means")
        if not mask.any():
            return 0.0
        self._warn_of_range()
        # Or else its proof is for other arms or rewards, or for a best arm that leads by epsilon.
        same, known = self._first_arms == self._arms == len(self._present), self._algorithm
        bounded = self._bounded or not known.given("variance")  # as Bernstein's radii need it
        suited = bounded and self._reward_range <= known.traits.proof_range and not isinstance(known, ZoneRule)
        proved = self._run.decided and same and suited and known.proved and claims(known, "proved")
        least = 1 - (self._own_delta or 1.0) if proved else 0.0
        if proved and isinstance(known, LinGapE):
            known.check_norm(self.means)
        epsilon = 0.0 if criterion == "exact" else tolerance_of(self._algorithm)
        others = [arm for arm in (*self._present, *self._joining) if not mask[arm]]

        def parted(level: float) -> bool:
            ends = self._intervals(level)
            return bool(np.min(ends[mask, 0]) >= np.max(ends[others, 1], initial=-np.inf) - epsilon)

        low, high = float(np.log(self._arms)), _FAR
        if not parted(low):
            return least
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if parted(middle) else (low, middle)
        return max(least, float(1 - self._arms * np.exp(-low)))

    @own_settings()
    def probabilities(self, n: int = 100) -> np.ndarray:
        """Return the shares of the arms among the next n pulls, for a platform that splits traffic by shares.

        They are the pulls that `ask(n)` would hand out now, which no reward interrupts; nothing is handed out. A rule
        that draws its arms at random has drawn n times. Where the algorithm waits for rewards after fewer pulls, these
        count, and all shares are 0 if there is none.

        Args:
            n: number of pulls, at least 1.

        Returns:
            float64 `(K,)`, with the sum 1.

        Raises:
            UsageError: the session is done.
        """
        arms = collections.Counter(self._handed(n)[1])
        shares = np.asarray([float(arms[arm]) for arm in range(self._arms)])
        return shares / max(shares.sum(), 1.0)

    @own_settings()
    def expected_pulls(self, seeds: int = 200, most: int = 1_000_000) -> RemainingPulls:
        """Simulate the rest of the experiment: return how many more rewards it takes.

        Each run goes on from the session's state, with the means estimated so far for the true ones, and one pull at a
        time. Rewards are 0 or b, or of the law that `intervals` names, with the variances so far where those are
        unknown. So the interval says how runs differ, and not how wrong the estimates may be: early on, it says little.
        It compiles, in seconds. Runs are long where two estimated means are nearly equal: with rules that take long to
        decide, such as TTTS, choose fewer seeds or a smaller `most`. Ctrl-C ends them.

        Args:
            seeds: the number of runs.
            most: pulls after which a run is truncated.

        Returns:
            A tuple of floats: `mean`, the quantiles `low` (5%) and `high` (95%), and the share `truncated`.

        Raises:
            UsageError: not all arms have had their first pulls; pulls have costs; or a variance is needed, and an arm
                has no two rewards that differ.
        """
        checks.whole("seeds", seeds, 1, 2**20)
        checks.whole("most", most, 1, 2**30)
        if self.done:
            return RemainingPulls(0.0, 0.0, 0.0, 0.0)
        moment = self._run.moment
        if self._algorithm.takes_costs:
            raise UsageError("expected_pulls cannot be simulated where pulls have costs: these are not known")
        if moment is None or self._joining or not self.pulls[self._present].all():
            raise UsageError("expected_pulls needs a reward of each arm: tell the first pulls")
        told = self._told.of(self._present)
        if self._law == UNKNOWN_VARIANCE and not np.all(told.squares > 0):
            raise UsageError("expected_pulls needs two rewards of each arm that differ: its variance is not known")
        sd = told.spread if self._law == UNKNOWN_VARIANCE else np.full(len(told.pulls), self._reward_range / 2)
        problem = estimated_problem(self._law, told.means, sd)
        found = simulate_rest(self._run.runs, moment.state, problem, self._key, seeds=seeds, most=most)
        waiting = self._run.waiting  # told, and not seen by the rule
        mean, low, high = (max(number - waiting, 0.0) for number in found[:3])
        return RemainingPulls(mean, low, high, found.truncated)

    @property
    def _own_delta(self) -> float | None:
        delta = self._algorithm.given("delta")
        return None if delta is None else float(delta)

    def _warn_of_range(self) -> None:
        """Warn once of rewards that vary by more than the range allows."""
        sd = self._reward_range / 2
        if self._law != "gaussian" or self._warned or not (beyond := self._told.exceed(sd)).any():
            return
        self._warned, arm = True, int(np.argmax(beyond))
        warn(
            f"the rewards of arm {arm} have a standard deviation of {self._told.spread[arm]:.3g}, and the session "
            f"counts on at most {sd:.3g}, half of reward_range: its confidence does not hold"
        )

    def _intervals(self, level: float) -> np.ndarray:
        """Return the intervals at ln(K / delta)."""
        told, law, b, sides = self._told, self._law, self._reward_range, np.asarray([-1, 1])
        if law == UNKNOWN_VARIANCE:  # from the rewards told one by one: how prior ones vary is not known
            return told.centre[:, None] + radius_at_all_times(told.single, told.squares, level)[:, None] * sides
        means, number = np.nan_to_num(self.means), np.maximum(self.pulls, 1)
        ends = jax.device_get(_ends(np.float32(level), number.astype(np.float32), (means / b).astype(np.float32)))
        radius = np.asarray(ends[2], float)
        if law == "bernoulli":
            found, widest = b * np.asarray(ends[:2], float).T, (0.0, b)
        elif law == "gaussian":
            found, widest = means[:, None] + b * radius[:, None] * sides, (-np.inf, np.inf)
        else:
            divergence = 2 * radius**2
            found, widest = np.stack(interval_by_divergence(law, means, divergence), axis=1), (0.0, np.inf)
        return np.where((self.pulls > 0)[:, None], found, np.asarray(widest))


@recent_programs(4)
def _ends(level: jax.Array, number: jax.Array, mean: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the ends by the Bernoulli divergence, and the radius by the normal one of standard deviation 1/2."""
    divergence = (3 * jnp.log1p(jnp.log(number)) + exponential_family_level(level)) / number
    return kl_lower_bound(mean, divergence), kl_upper_bound(mean, divergence), jnp.sqrt(divergence / 2)
