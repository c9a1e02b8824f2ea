"""Ask and tell: a built-in algorithm in a live experiment, where a user, not a simulated problem, supplies the rewards.

The session takes the same two halves as the simulation, `select`/`update` or `request`/`absorb`, so it pulls the arms
that `jb.run` would pull had its reward table held the same rewards. An algorithm that asks for many pulls at once is
asked for them one by one. Everything a session knows fits in one JSON text.
"""

import functools
import importlib.metadata
import json
import operator
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.admission import admitted, check
from jaxbandits.engine.border import check_result
from jaxbandits.errors import UsageError
from jaxbandits.live.live_problem import LiveProblem
from jaxbandits.live.moments import Moment, advance, begin
from jaxbandits.live.plain_states import from_plain, to_plain
from jaxbandits.random.bits import key_words
from jaxbandits.random.streams import MOST_ARMS, root_key
from jaxbandits.random.ties import tie_order, tie_words
from jaxbandits.sweeps.spec import build_algorithm, describe_algorithm

__all__ = ["AskTell"]

_KEYS = ["version", "algorithm", "arms", "key", "reward_range", "bounded"]
_KEYS += ["asked", "counts", "sums", "told", "done", "recommended", "state"]


class AskTell:
    """A live experiment: ask for an arm, pull it, tell its reward, until done.

    Every arm is asked first (once, or twice with `variance=True`) in a random order, by algorithms that begin so.
    Rewards are kept as float32, the sums of a batch in double precision until it is complete. Where a budget of cost is
    spent, what the pull cost is told with its reward.

        session = AskTell(UGapEc(epsilon=0.1, delta=0.05), arms=3)
        while not session.done:
            arm = session.ask()
            session.tell(arm, measure(arm))
        session.recommendation
    """

    def __init__(
        self,
        algorithm: BuiltIn,
        arms: int,
        *,
        key: jax.Array | int = 0,
        reward_range: float | None = None,
        bounded: bool = True,
    ) -> None:
        """Start a session; nothing is asked yet.

        Args:
            algorithm: a built-in algorithm, or a class of your own with the same two halves.
            arms: number of arms K, at least 2; they are numbered from 0.
            key: typed key of the session's own randomness (the order of the first pulls, ties), shape `()`, or a seed.
            reward_range: b; None for the algorithm's own, or 1.
            bounded: whether every reward lies in [0, b], and any other is refused. If not, any finite reward is taken,
                and the algorithm's guarantee needs (b/2)-sub-Gaussian rewards, such as normal ones with a standard
                deviation of b/2.

        Raises:
            UsageError: an algorithm or a number that cannot be used, or an algorithm that needs the true means.
        """
        known = admitted(algorithm)
        if known.base is None:
            raise UsageError(
                "ask and tell needs an algorithm with select and update, or request and absorb (built in, or derived "
                "from Sequential, RoundBased, BatchBased, JointBatches or IndexWithBudget), got "
                f"{known.name}"
            )
        for name in known.axes:
            raise UsageError(f"a session runs one algorithm, not a grid: {name} is an axis")
        check(known)
        algorithm = known.base.prepared()
        self._algorithm = algorithm
        self._arms = _whole("arms", arms, 2, MOST_ARMS)
        algorithm.check(self._arms, bandits=1)
        algorithm.check_live()
        self._reward_range = _reward_range(algorithm, reward_range)
        self._bounded = bool(bounded)
        self._key = _key(key)
        order = np.argsort(np.asarray(_tie_order(self._key, self._arms)))
        self._asked: list[int] = np.tile(order, algorithm.initial_pulls).tolist()
        self._counts: list[int] = [1] * len(self._asked)  # pulls of each arm in `asked`
        self._sums: list[float] = []  # of the rewards told for the first arms in `asked`
        self._told = 0  # how many rewards these are
        self._state: Any = None  # until every arm has its initial pulls
        self._done = False
        self._recommended = np.zeros(self._arms, bool)
        self._classes = classes(algorithm)
        first = functools.partial(begin, classes=self._classes)
        # Also, does the algorithm begin without a problem?
        moment = jax.eval_shape(first, algorithm, self._live_problem(), self._key)
        check_result(f"{type(algorithm).__name__}.recommend", moment.recommended, bool, (self._arms,))
        check_result(f"{type(algorithm).__name__}.done", moment.done, bool, ())
        self._shapes = moment.state
        self._width = moment.counts.shape[0]  # entries that a request may have
        if algorithm.initial_pulls == 0:
            self._enter(first(algorithm, self._live_problem(), self._key))

    @property
    def done(self) -> bool:
        """Whether the algorithm has stopped."""
        return self._done

    @property
    def recommendation(self) -> np.ndarray:
        """Mask of the arms to return, bool `(K,)`: the answer when done, before that the best guess.

        All false until every arm has had its initial pulls.
        """
        return self._recommended.copy()

    def ask(self) -> int:
        """The arm to pull next, in [0, K); the same one until its reward is told.

        Raises:
            UsageError: the session is done.
        """
        if self._done:
            raise UsageError("the session is done: there is no arm to pull, read its recommendation")
        return self._asked[self._place()]

    def _place(self) -> int:
        """The place in `asked` of the next arm to pull."""
        return int(np.searchsorted(np.cumsum(self._counts), self._told, side="right"))

    def tell(self, arm: int, reward: float, cost: float | None = None) -> None:
        """The reward of the arm that was asked; a refused one changes nothing.

        Args:
            arm: the arm that `ask` returns. No other is accepted: the guarantees are for the algorithm's own choices.
            reward: a finite number, in [0, b] unless the session was made with `bounded=False`.
            cost: what the pull cost, in [0, 1], where the algorithm spends a budget of cost; None for 1.

        Raises:
            UsageError: another arm, a reward that cannot be, or a session that is done.
        """
        asked = self.ask()
        if _whole("an arm", arm, 0, self._arms - 1) != asked:
            raise UsageError(f"the session asked for arm {asked}, not for arm {arm}: tell the reward of arm {asked}")
        value, place = self._checked(reward), self._place()
        if cost is not None and not self._algorithm.takes_costs:
            raise UsageError(
                f"{type(self._algorithm).__name__} spends no budget of cost: a pull's cost means nothing to it"
            )
        price = self._checked_cost(1.0 if cost is None else cost)
        told = [*self._sums[:place], sum(self._sums[place:], value)]
        if self._told + 1 < sum(self._counts):
            self._sums, self._told = told, self._told + 1
            return
        sums = np.asarray(told, np.float32)
        if self._state is None:
            problem = self._live_problem(sums)
            self._enter(begin(self._algorithm, problem, self._key, classes=self._classes))
        else:
            self._enter(self._after(self._state, self._asked, self._counts, sums, price))

    def _after(self, state: Any, asked: Any, counts: Any, sums: Any, cost: float = 1.0) -> Moment:
        """The moment after rewards; what was asked for is filled up to the width of all requests."""
        full = [np.zeros(self._width, dtype) for dtype in (np.int32, np.int32, np.float32)]
        for entry, values in zip(full, (asked, counts, sums), strict=True):
            entry[: len(values)] = values
        return advance(self._algorithm, state, *full, np.float32(cost), classes=self._classes)

    def to_json(self) -> str:
        """The session as JSON text, from which `from_json` continues as if nothing had happened."""
        data = {
            "version": importlib.metadata.version("jaxbandits"),
            "algorithm": self._spec(),
            "arms": self._arms,
            "key": [int(word) for word in key_words(self._key)],
            "reward_range": self._reward_range,
            "bounded": self._bounded,
            "asked": self._asked,
            "counts": self._counts,
            "sums": self._sums,
            "told": self._told,
            "done": self._done,
            "recommended": self._recommended.tolist(),
            "state": None if self._state is None else [to_plain(leaf) for leaf in jax.tree.leaves(self._state)],
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, algorithm: BuiltIn | None = None) -> Self:
        """A session from the text of `to_json`.

        Args:
            text: the JSON text.
            algorithm: the algorithm the session was made with, where it is not one of the package's.

        Raises:
            UsageError: text that is not a saved session, is of another algorithm, or of a version of the package whose
                states look different.
        """
        try:
            data = json.loads(text)
        except (TypeError, ValueError):
            raise UsageError("a saved session must be the JSON text of to_json()") from None
        if not isinstance(data, dict) or set(data) != set(_KEYS):
            raise UsageError(f"a saved session must have the entries {', '.join(_KEYS)}")
        try:
            return cls._restored(data, algorithm)
        except UsageError:
            raise
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise UsageError(
                f"the saved session is damaged, or of a version ({data['version']}) whose states look different"
            ) from None

    @classmethod
    def _restored(cls, data: dict[str, Any], algorithm: BuiltIn | None) -> Self:
        key = jax.random.wrap_key_data(jnp.asarray(data["key"], jnp.uint32), impl="threefry2x32")
        session = cls(
            build_algorithm(data["algorithm"]) if algorithm is None else algorithm,
            data["arms"],
            key=key,
            reward_range=data["reward_range"],
            bounded=data["bounded"],
        )
        if session._spec() != data["algorithm"]:
            raise UsageError(f"the session was saved with {data['algorithm']}, not with {session._spec()}")
        if data["state"] is None:
            if (data["asked"], data["counts"]) != (session._asked, session._counts):
                raise ValueError("other first pulls")
        else:
            # What was asked and recommended stays, should this machine round an index to another arm.
            leaves, structure = jax.tree.flatten(session._shapes)
            state = [from_plain(plain, leaf) for plain, leaf in zip(data["state"], leaves, strict=True)]
            moment = Moment(
                state=jax.tree.unflatten(structure, state),
                asked=np.asarray([_whole("an arm", arm, 0, session._arms - 1) for arm in data["asked"]], np.int32),
                counts=np.asarray([_whole("a count", count, 1, MAX_COUNT) for count in data["counts"]], np.int32),
                done=np.bool_(data["done"]),
                recommended=np.asarray(data["recommended"], bool),
            )
            if moment.recommended.shape != (session._arms,):
                raise ValueError("other arms")
            session._enter(moment)
        if len(session._asked) != len(session._counts):
            raise ValueError("other counts")
        session._sums = [float(total) for total in data["sums"]]
        session._told = _whole("rewards", data["told"], 0, MAX_COUNT)
        counts = np.asarray(session._counts, np.int64)
        number = np.clip(session._told - (np.cumsum(counts) - counts), 0, counts)  # of rewards in each sum
        for total, rewards in zip(session._sums, number[number > 0], strict=True):
            session._checked(total / rewards)
        if session._told >= max(counts.sum(), 1):
            raise ValueError("more rewards than pulls")
        return session

    def _enter(self, moment: Moment) -> None:
        """Take over a new state; the values are fetched first, so that an interrupt leaves the old one whole."""
        while not np.any(moment.counts) and not moment.done:  # a budget can leave a round without a pull
            moment = self._after(moment.state, [], [], [])
        pulled = np.asarray(moment.counts) > 0
        asked, counts = np.asarray(moment.asked)[pulled].tolist(), np.asarray(moment.counts)[pulled].tolist()
        done, recommended = bool(moment.done), np.asarray(moment.recommended)
        self._asked, self._counts, self._sums, self._told = asked, counts, [], 0
        self._state, self._done, self._recommended = moment.state, done, recommended

    def _spec(self) -> dict[str, Any]:
        return describe_algorithm(admitted(self._algorithm))

    def _live_problem(self, told: np.ndarray | None = None) -> LiveProblem:
        """The stand-in for a problem, with the rewards of the initial pulls in the order they were asked."""
        first = np.zeros((self._arms, self._algorithm.initial_pulls), np.float32)
        if told is not None:
            first[self._asked[: self._arms]] = told.reshape(-1, self._arms).T
        return LiveProblem(jnp.asarray(first), jnp.float32(self._reward_range), name=type(self._algorithm).__name__)

    def _checked_cost(self, cost: Any) -> float:
        value = _number("a cost", cost)
        if not 0 <= value <= 1:
            raise UsageError(f"the cost {cost} lies outside [0, 1]: scale it, and the budget with it")
        return value

    def _checked(self, reward: Any) -> float:
        value = _number("a reward", reward)
        if self._bounded and not 0 <= value <= np.float32(self._reward_range):
            raise UsageError(
                f"the reward {reward} lies outside [0, {self._reward_range:g}], which the session was promised: "
                "scale it, or make the session with another reward_range or bounded=False"
            )
        return value


def _number(what: str, given: Any) -> float:
    value = np.asarray(given)
    if value.ndim or value.dtype.kind not in "biuf":
        raise UsageError(f"{what} must be one number, got {given!r}")
    with np.errstate(over="ignore"):
        value = value.astype(np.float32)
    if not np.isfinite(value):
        raise UsageError(f"{what} must be a finite float32, got {given!r}")
    return float(value)


_tie_order = jax.jit(lambda key, arms: tie_order(tie_words(key), arms), static_argnums=1)


def _key(given: jax.Array | int) -> jax.Array:
    """A typed key of shape `()`, given as such or as a seed."""
    if not isinstance(given, jax.Array):
        return root_key(_whole("key", given, 0, 2**64 - 1))
    if not jnp.issubdtype(given.dtype, jax.dtypes.prng_key) or given.shape:
        raise UsageError("key must be one typed key, such as jax.random.key(0), or a seed")
    return given


def _whole(name: str, value: Any, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{name} must be a whole number, got {value!r}") from None
    if not least <= number <= most:
        raise UsageError(f"{name} must be between {least} and {most}, got {number}")
    return number


def _reward_range(algorithm: BuiltIn, given: float | None) -> float:
    own = algorithm.given("b")
    if own is None:
        own = 1.0 if given is None else given
    b = float(own)
    if not 0 < b < float("inf"):
        raise UsageError(f"reward_range must be positive and finite, got {b:g}")
    if given is not None and given != b:
        raise UsageError(f"reward_range={given:g} contradicts the algorithm's b={b:g}: give one of them")
    return b
