"""Ask and tell: an algorithm in a live experiment, where a user, not a simulated problem, supplies the rewards.

The session uses the same two halves as the simulation, `select`/`update` or `request`/`absorb`. So it pulls the arms
that `jb.run` would pull with the same rewards in its reward table. If an algorithm requests many pulls at once, `ask`
returns them one by one. The complete state of a session fits in one JSON text.
"""

import importlib.metadata
import json
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import checks
from jaxbandits.algorithms.parameters import axes_of, with_logarithms
from jaxbandits.ask_tell.pending_pulls import Requests
from jaxbandits.ask_tell.placeholder_problem import LiveProblem
from jaxbandits.ask_tell.saved_sessions import data_of, moment_of, rewarded
from jaxbandits.ask_tell.snapshot import Moment, advance, begin, first_order
from jaxbandits.ask_tell.state_text import to_plain
from jaxbandits.ask_tell.validation import arms_of, cost_of, key_of, range_of, reward_of
from jaxbandits.compilers.jax_settings import narrowed, own_settings
from jaxbandits.engine.binding import accept
from jaxbandits.engine.mapping import map_algorithm
from jaxbandits.engine.method_types import check_result
from jaxbandits.engine.protocol_checks import check_algorithm, check_methods
from jaxbandits.engine.rule_states import RunState
from jaxbandits.errors import UsageError
from jaxbandits.io.diff import difference, warn_of_doubts
from jaxbandits.random.threefry import key_words
from jaxbandits.sweeps.spec import build_algorithm, describe_algorithm
from jaxbandits.users_code.cache_key import code_of

__all__ = ["AskTell"]


class AskTell:
    """A live experiment: ask for an arm, pull it, tell its reward, until done.

    Algorithms that begin with all arms pull them in a random order. Where a budget of cost is spent, the cost of a pull
    is told with its reward.

    Example:
        >>> import jaxbandits as jb
        >>> session = jb.AskTell(jb.SuccessiveRejects(budget=30), arms=3)
        >>> while not session.done:
        ...     session.tell(arm := session.ask(), reward=float(arm == 2))
        >>> int(session.recommendation.argmax())
        2
    """

    @own_settings()
    def __init__(
        self,
        algorithm: object,
        arms: int,
        *,
        key: jax.Array | int = 0,
        reward_range: float | None = None,
        bounded: bool = True,
    ) -> None:
        """Start a session; no arm is pulled yet.

        Args:
            algorithm: one of the package's, or your own.
            arms: number of arms K, at least 2; they are numbered from 0.
            key: typed key of the session's own randomness (the order of the first pulls, ties), shape `()`, or a seed.
            reward_range: b; None for the algorithm's own, or 1.
            bounded: whether every reward lies in [0, b], and any other is refused. If not, any finite reward is
                accepted, and the algorithm's guarantee needs (b/2)-sub-Gaussian rewards, such as normal ones with a
                standard deviation of b/2.

        Raises:
            UsageError: an algorithm or a number that cannot be used, or an algorithm that needs the true means.
        """
        known = accept(algorithm)
        for name in axes_of(known):
            raise UsageError(f"a session runs one algorithm, not a grid: {name} is an axis")
        check_algorithm(known)
        algorithm = known.prepared()
        self._algorithm, self._runs = algorithm, narrowed(map_algorithm(with_logarithms(algorithm)))
        self._arms = arms_of(arms)
        algorithm.check(self._arms, bandits=1)
        algorithm.check_live()
        self._reward_range = range_of(algorithm, reward_range, bool(bounded))
        self._bounded = bool(bounded)
        self._key = key_of(key)
        order = np.argsort(np.asarray(first_order(self._key, arms=self._arms)))
        first_arms = np.tile(order, algorithm.initial_pulls).tolist()
        self._requests = Requests(first_arms, [1] * len(first_arms), [])
        self._state: RunState = None  # until the initial pulls of every arm have been told
        self._done, self._recommended = False, np.zeros(self._arms, bool)
        check_methods(known, self._live_problem(), self._key, judged=False)
        # This also checks that the algorithm can begin without a problem.
        moment = begin.eval_shape(self._runs, self._live_problem(), self._key, code=code_of(self._runs))
        check_result(f"{type(algorithm).__name__}.recommend", moment.recommended, bool, (self._arms,))
        check_result(f"{type(algorithm).__name__}.done", moment.done, bool, ())
        self._shapes = moment.state
        self._width = moment.counts.shape[0]  # entries that a request may have
        if algorithm.initial_pulls == 0:
            self._enter(begin(self._runs, self._live_problem(), self._key, code=code_of(self._runs)))

    @property
    def done(self) -> bool:
        """Return whether the algorithm has stopped."""
        return self._done

    @property
    def recommendation(self) -> np.ndarray:
        """Return the mask of the recommended arms, bool `(K,)`: the answer when done, before that the best guess.

        It is all false until every arm has had its initial pulls.
        """
        return self._recommended.copy()

    def ask(self) -> int:
        """Return the arm to pull next, in [0, K); the same one until its reward is told.

        Raises:
            UsageError: the session is done.
        """
        if self._done:
            raise UsageError("the session is done: there is no arm to pull, read its recommendation")
        return self._requests.next_arm

    @own_settings()
    def tell(self, arm: int, reward: float, cost: float | None = None) -> None:
        """Take the reward of the arm that `ask` returned; a refused reward changes nothing.

        Args:
            arm: the arm that `ask` returns. No other is accepted: the guarantees are for the algorithm's own choices.
            reward: a finite number, in [0, b] unless the session was made with `bounded=False`.
            cost: what the pull cost, in [0, 1], where the algorithm spends a budget of cost; None for 1.

        Raises:
            UsageError: another arm, an invalid reward, or a session that is done.
        """
        asked = self.ask()
        if checks.index("an arm", arm, 0, self._arms - 1) != asked:
            raise UsageError(f"the session asked for arm {asked}, not for arm {arm}: tell the reward of arm {asked}")
        requests = self._requests.with_reward(reward_of(reward, self._reward_range, self._bounded))
        if cost is not None and not self._algorithm.takes_costs:
            raise UsageError(f"{type(self._algorithm).__name__} spends no budget of cost: it takes no cost of a pull")
        price = cost_of(1.0 if cost is None else cost)
        if not requests.complete:
            self._requests = requests
            return
        sums = np.asarray(requests.sums, np.float32)
        if self._state is None:
            self._enter(begin(self._runs, self._live_problem(sums), self._key, code=code_of(self._runs)))
        else:
            self._enter(self._after(self._state, requests.arms, requests.counts, sums, price))

    def _after(self, state: RunState, asked: object, counts: object, sums: Any, cost: float = 1.0) -> Moment:
        """Return the moment after rewards; the requests are padded to the width of all requests."""
        full = [np.zeros(self._width, dtype) for dtype in (np.int32, np.int32, np.float32)]
        for entry, values in zip(full, (asked, counts, sums), strict=True):
            entry[: len(values)] = values
        return advance(self._runs, state, *full, np.float32(cost), code=code_of(self._runs))

    @own_settings()
    def to_json(self) -> str:
        """Return the session as JSON text, from which `from_json` continues it exactly."""
        data = {
            "version": importlib.metadata.version("jaxbandits"),
            "algorithm": self._spec(),
            "arms": self._arms,
            "key": [int(word) for word in key_words(self._key)],
            "reward_range": self._reward_range,
            "bounded": self._bounded,
            "asked": self._requests.arms,
            "counts": self._requests.counts,
            "sums": self._requests.sums,
            "told": self._requests.told,
            "done": self._done,
            "recommended": self._recommended.tolist(),
            "state": None if self._state is None else [to_plain(leaf) for leaf in jax.tree.leaves(self._state)],
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    @own_settings()
    def from_json(cls, text: str, algorithm: object = None) -> Self:
        """Return a session from the text of `to_json`.

        Args:
            text: the JSON text.
            algorithm: the algorithm of the session, where it is not one of the package's.

        Raises:
            UsageError: text that is not a saved session, is of another algorithm, or of a version of the package with
                other states.
        """
        data = data_of(text)
        try:
            return cls._restored(data, algorithm)
        except UsageError:
            raise
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise UsageError(
                f"the saved session is damaged, or of a version ({data['version']}) with other states"
            ) from None

    @classmethod
    def _restored(cls, data: dict[str, Any], algorithm: object) -> Self:
        session = cls(
            build_algorithm(data["algorithm"]) if algorithm is None else algorithm,
            data["arms"],
            key=jax.random.wrap_key_data(jnp.asarray(data["key"], jnp.uint32), impl="threefry2x32"),
            reward_range=data["reward_range"],
            bounded=data["bounded"],
        )
        here = json.loads(json.dumps(session._spec()))
        if found := difference(data["algorithm"], here, "algorithm"):
            raise UsageError(f"the session was saved with another algorithm: {found}")
        warn_of_doubts(data["algorithm"], here, "the saved session")
        if data["state"] is None:
            if (data["asked"], data["counts"]) != (session._requests.arms, session._requests.counts):
                raise ValueError("other first pulls")
        else:
            session._enter(moment_of(data, session._shapes, session._arms))
        session._requests = rewarded(session._requests, data)
        for mean in session._requests.means():
            reward_of(mean, session._reward_range, session._bounded)
        return session

    def _enter(self, moment: Moment) -> None:
        """Adopt a new state; the values are fetched first, so that an interrupt leaves the old state intact."""
        while not np.any(moment.counts) and not moment.done:  # a budget can leave a round without a pull
            moment = self._after(moment.state, [], [], [])
        requests = Requests.of(moment.asked, moment.counts, self._arms, type(self._algorithm).__name__)
        done, recommended = bool(moment.done), np.asarray(moment.recommended)
        self._requests = requests
        self._state, self._done, self._recommended = moment.state, done, recommended

    def _spec(self) -> dict[str, object]:
        return describe_algorithm(self._algorithm)

    def _live_problem(self, told: np.ndarray | None = None) -> LiveProblem:
        """Return the placeholder for a problem, with the rewards of the initial pulls in the order they were asked."""
        first = np.zeros((self._arms, self._algorithm.initial_pulls), np.float32)
        if told is not None:
            first[self._requests.arms[: self._arms]] = told.reshape(-1, self._arms).T
        return LiveProblem(jax.device_put(first), jnp.float32(self._reward_range), name=type(self._algorithm).__name__)
