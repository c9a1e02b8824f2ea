"""The state of a live experiment: what it was made with, what was told, and its text."""

import dataclasses
import importlib.metadata
import json
from collections.abc import Collection, Mapping
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from jaxbandits import checks
from jaxbandits.algorithms.parameters import axes_of, with_run_types
from jaxbandits.algorithms.reward_range import warn_beyond_proof
from jaxbandits.ask_tell.handed_out import HandedOut, Pull
from jaxbandits.ask_tell.live_run import LiveRun, Slot
from jaxbandits.ask_tell.open_requests import OpenRequests
from jaxbandits.ask_tell.placeholder_problem import LiveProblem
from jaxbandits.ask_tell.saved_sessions import algorithm_of, data_of, run_of, text_of, to_data
from jaxbandits.ask_tell.snapshot import begin, look
from jaxbandits.ask_tell.told_rewards import ToldRewards
from jaxbandits.ask_tell.validation import arms_of, key_of, law_of, prior_of, range_of
from jaxbandits.compilers.jax_settings import narrowed, own_settings
from jaxbandits.engine.binding import accept
from jaxbandits.engine.mapping import map_algorithm
from jaxbandits.engine.method_types import check_result
from jaxbandits.engine.protocol_checks import check_algorithm, check_methods
from jaxbandits.errors import UsageError
from jaxbandits.io.diff import difference, warn_of_doubts
from jaxbandits.random.threefry import key_words
from jaxbandits.sweeps.spec import describe_algorithm
from jaxbandits.users_code.cache_key import code_of

__all__ = ["SessionState"]


class SessionState:
    """A session with its arguments and its state; `AskTell` has the messages."""

    @own_settings()
    def __init__(
        self,
        algorithm: object,
        arms: int,
        *,
        key: jax.Array | int = 0,
        reward_range: float | None = None,
        bounded: bool = True,
        prior: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """Start a session; no arm is pulled yet.

        Args:
            algorithm: one of the package's, or your own.
            arms: number of arms K, at least 2; they are numbered from 0.
            key: typed key of the session's own randomness (the order of the first pulls, ties), shape `()`, or a seed.
            reward_range: b; None for the algorithm's own, or 1.
            bounded: whether every reward lies in [0, b], and any other is refused. If not, any finite reward is
                accepted. The guarantee of an algorithm that counts on b then needs (b/2)-sub-Gaussian rewards, such as
                normal ones with a standard deviation of b/2; a warning says where they vary by more. For other
                algorithms without a `reward_range`, the session's own `intervals` and `confidence` take rewards for
                normal with unknown variances, or for those of the algorithm's family (Poisson, exponential).
            prior: rewards from before, `{"pulls": (K,), "means": (K,)}`, or "sums" in place of "means", or a DataFrame
                with these columns. They count as pulls of the session, for a budget too; arms without one get their
                first pulls. The guarantee stays if each of those pulls was chosen by earlier rewards only. Only for
                algorithms that select arms one by one by pulls and means alone.

        Raises:
            UsageError: an algorithm or a number that cannot be used, an algorithm that needs the true means, one that
                cannot take prior rewards, or one that begins with more than 2^31 pulls.
        """
        known = accept(algorithm)
        for name in axes_of(known):
            raise UsageError(f"a session runs one algorithm, not a grid: {name} is an axis")
        check_algorithm(known)
        self._algorithm = known.prepared()
        self._first_arms, self._known = arms_of(arms), known
        self._algorithm.check(self._first_arms, bandits=1)
        self._algorithm.check_live()
        self._reward_range = range_of(self._algorithm, reward_range, bool(bounded))
        self._bounded = bool(bounded)
        self._warned = False
        self._law = law_of(self._algorithm, reward_range, bool(bounded))
        self._key = key_of(key)
        self._handed_out = HandedOut(self._key, self._first_arms)
        self._present, self._joining = list(range(self._first_arms)), list[int]()
        self._run, self._shapes = self._blank(self._first_arms)
        self._prior, self._told = None, ToldRewards.none(self._first_arms)
        if prior is not None:
            self._check_counts("take prior rewards")
            self._prior = prior_of(prior, self._first_arms, self._reward_range, self._bounded)
            self._told, self._run = self._prior.copy(), dataclasses.replace(self._run, known=self._prior)
        self._run = self._run.begun()
        if self.done and not self._run.decided:
            name = type(self._algorithm).__name__
            raise UsageError(f"{name} begins with more than 2^31 pulls: a larger epsilon or delta takes fewer")

    def _blank(self, arms: int) -> tuple[LiveRun, Any]:
        """Return a run of some arms before its first request, and the shapes and dtypes of its states."""
        runs, name = narrowed(map_algorithm(with_run_types(self._algorithm))), type(self._algorithm).__name__
        first = np.zeros((arms, self._algorithm.initial_pulls), np.float32)
        problem = LiveProblem(jax.device_put(first), jnp.float32(self._reward_range), name=name)
        warn_beyond_proof(self._algorithm, problem)
        check_methods(self._known, problem, self._key, judged=False)
        # This also checks that the algorithm can begin without a problem.
        state = begin.eval_shape(runs, problem, self._key, code=code_of(runs))
        pending = jax.ShapeDtypeStruct((arms,), jnp.int32)
        _, counts, done, recommended = look.eval_shape(runs, state, pending, code=code_of(runs))
        check_result(f"{name}.recommend", recommended, bool, (arms,))
        check_result(f"{name}.done", done, bool, ())
        return LiveRun(runs, self._key, problem, counts.shape[0], OpenRequests.of({}, arms)), state

    def _check_counts(self, what: str) -> None:
        """Refuse an algorithm that does not decide by pulls and means alone, as these come from elsewhere."""
        rule, why = self._algorithm, None
        if not self._run.by_steps:
            why = "pulls in rounds or batches"
        elif rule.takes_costs or rule.second_moments:
            why = "needs costs or variances"
        elif jax.tree.leaves(self._shapes.own):
            why = "keeps a state of its own beside the pulls and means"
        if why is not None:
            raise UsageError(f"{type(rule).__name__} {why}: it cannot {what}; UGapEc, EBTCI or TTTS can, for example")

    @property
    def done(self) -> bool:
        """Return whether the algorithm has stopped, or cannot go on: its next pulls would pass 2^31 of an arm."""
        return self._run.done

    @property
    def recommendation(self) -> np.ndarray:
        """Return the mask of the recommended arms, bool `(K,)`: the answer when done, before that the best guess.

        It is all false until every arm has had its initial pulls.
        """
        mask = np.zeros(self._arms, bool)
        if self._run.moment is not None:
            mask[self._present] = self._run.moment.recommended
        return mask

    @property
    def in_flight(self) -> list[Pull]:
        """Return the pulls that were handed out by `ask(n)`, and neither told nor forgotten; oldest first."""
        out = self._handed_out
        return [Pull(out.id_of(number), self._arm_of(slot)) for number, slot in out.slots.items()]

    @property
    def _arms(self) -> int:
        """Return the number of arms that there ever were."""
        return len(self._told.pulls)

    def _arm_of(self, slot: Slot, run: LiveRun | None = None) -> int:
        """Return the arm of a pull; a run that knows its slot, or None for the present one."""
        return slot.entry if slot.number < 0 else self._present[(run or self._run).arm_of(slot)]

    @property
    def _taken(self) -> set[Slot]:
        """Return the slots in flight, as a set that each message makes once; none where no arm was added."""
        return set(self._handed_out.slots.values()) if self._joining else set()

    def _next_pull(self, run: LiveRun, taken: Collection[Slot]) -> tuple[LiveRun, Slot] | None:
        """Return a run with one more pull handed out, and its slot; first of an arm that was added and is not taken."""
        for arm in self._joining:
            if (slot := Slot(-1, arm)) not in taken:
                return run, slot
        return run.next_pull()

    def _check_open(self) -> None:
        if self._run.done:
            raise UsageError("the session is done: there is no arm to pull, read its recommendation")

    def _handed(self, n: int) -> tuple[tuple[LiveRun, list[Slot]], list[int]]:
        """Return the run with n more pulls handed out, or fewer, and their slots; and their arms."""
        self._check_open()
        run, slots, taken = self._run, list[Slot](), self._taken
        for _ in range(checks.whole("n, the number of pulls to ask for,", n, 1, 2**31 - 1)):
            if (step := self._next_pull(run, taken)) is None:
                break
            run = step[0]
            slots.append(step[1])
            taken.add(step[1])
        return (run, slots), [self._arm_of(slot, run) for slot in slots]

    @own_settings()
    def to_json(self) -> str:
        """Return the session as JSON text, from which `from_json` continues it exactly."""
        data = {
            "version": importlib.metadata.version("jaxbandits"),
            "algorithm": describe_algorithm(self._algorithm),
            "arms": self._first_arms,
            "present": self._present,
            "joining": self._joining,
            "prior": None if self._prior is None else self._prior.to_data()[:2],
            "key": [int(word) for word in key_words(self._key)],
            "reward_range": self._reward_range if self._law in ("bernoulli", "gaussian") else None,
            "bounded": self._bounded,
            "told": self._told.to_data(),
        }
        return text_of(data | to_data(self._run) | self._handed_out.to_data())

    @classmethod
    @own_settings()
    def from_json(cls, text: str, algorithm: object = None) -> Self:
        """Return a session from the text of `to_json`.

        Args:
            text: the JSON text.
            algorithm: the algorithm of the session, where it is not one of the package's.

        Raises:
            UsageError: text that is not a saved session or was changed, or is of another algorithm, or of a version of
                the package with another schema or other states.
        """
        data = data_of(text)
        try:
            return cls._restored(data, algorithm)
        except UsageError:
            raise
        except (AttributeError, KeyError, IndexError, OverflowError, TypeError, ValueError):
            raise UsageError(
                f"the saved session is damaged, or of a version ({data['version']}) with other states"
            ) from None

    @classmethod
    def _restored(cls, data: dict[str, Any], algorithm: object) -> Self:
        session = cls(
            algorithm_of(data["algorithm"]) if algorithm is None else algorithm,
            data["arms"],
            key=jax.random.wrap_key_data(jnp.asarray(data["key"], jnp.uint32), impl="threefry2x32"),
            reward_range=data["reward_range"],
            bounded=data["bounded"],
            prior=None if data["prior"] is None else dict(zip(("pulls", "sums"), data["prior"], strict=True)),
        )
        here = json.loads(json.dumps(describe_algorithm(session._algorithm)))
        if found := difference(data["algorithm"], here, "algorithm"):
            raise UsageError(f"the session was saved with another algorithm: {found}")
        warn_of_doubts(data["algorithm"], here, "the saved session")
        present, arms = [int(arm) for arm in data["present"]], len(data["told"][0])
        session._told = ToldRewards.of_data(data["told"], arms)
        if arms < session._first_arms or not set(present) | set(data["joining"]) <= set(range(arms)):
            raise ValueError("other arms")
        if present != session._present:
            session._present = present
            session._run, session._shapes = session._blank(len(present))
            session._run = dataclasses.replace(session._run, known=session._told.of(present))
        session._run, session._joining = run_of(data, session._run, session._shapes), list(data["joining"])
        session._handed_out.read(data)
        return session
