"""Ask and tell: an algorithm in a live experiment, where a user, not a simulated problem, supplies the rewards.

The session uses the same two halves as the simulation, `select`/`update` or `request`/`absorb`. So it pulls the arms
that `jb.run` would pull with the same rewards in its reward table. The complete state of a session fits in one JSON
text. It is a function of the session's arguments and the messages that it got: pulls asked, told and forgotten.
"""

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from jaxbandits import checks
from jaxbandits.ask_tell.arm_changes import ArmChanges
from jaxbandits.ask_tell.handed_out import Ids, Pull, ids_of
from jaxbandits.ask_tell.live_run import LiveRun, Slot
from jaxbandits.ask_tell.validation import cost_of, reward_of
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.compilation_cache import kept_programs
from jaxbandits.errors import UsageError, named_arguments

__all__ = ["AskTell"]


@named_arguments
class AskTell(ArmChanges):
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

        Several pulls at once, whose rewards come in any order:

        >>> session = jb.AskTell(jb.UGapEc(epsilon=0.1, delta=0.1), arms=3)
        >>> first, second = session.ask(2)
        >>> session.tell(second, 1.0), session.tell(second.id, 1.0), session.tell(first.id, 0.0)
        (True, False, True)
    """

    def __repr__(self) -> str:
        """Return the algorithm and how far the session is, on one line."""
        answer, made, flying = np.flatnonzero(self.recommendation).tolist(), int(self.pulls.sum()), len(self.in_flight)
        return (
            f"<AskTell: {checks.shown(self._known)}, {self._arms} arms, {made} pulls, {flying} in flight, "
            f"{'done' if self.done else 'not done'}, recommends {answer}>"
        )

    def __copy__(self) -> Self:
        """Return a session that goes on by itself: what one of the two is told, the other is not."""
        return copy.deepcopy(self)

    @overload
    def ask(self) -> int: ...

    @overload
    def ask(self, n: int) -> list[Pull]: ...

    @own_settings()
    def ask(self, n: int | None = None) -> int | list[Pull]:
        """Return the arm to pull next, or hand out pulls.

        `ask()` hands nothing out: it returns the same arm until a reward is told, or a pull handed out.

        Args:
            n: None for one arm. Or how many pulls to hand out at most, from 1: there are fewer, or none, where the
                algorithm waits for rewards, as it does for the first pulls of all arms, a batch or a round. Algorithms
                that select arms one by one never wait after their first pulls: a pull in flight counts for them as
                one that gave the mean of its arm. Where pulls have costs, one is in flight at a time.

        Returns:
            The arm, in [0, K); or the pulls, a list of `(id, arm)`.

        Raises:
            UsageError: the session is done; or without n, the algorithm waits for rewards.
        """
        if n is None:
            self._check_open()
            return self._next()[2]
        (self._run, slots), arms = self._handed(n)
        return [Pull(self._handed_out.add(slot), arm) for slot, arm in zip(slots, arms, strict=True)]

    @overload
    def tell(self, pull: int, reward: float, cost: float | None = None) -> None: ...

    @overload
    def tell(self, pull: str | Pull, reward: float, cost: float | None = None) -> bool: ...

    @overload
    def tell(self, pull: Ids, reward: ArrayLike, cost: ArrayLike | None = None) -> np.ndarray: ...

    @own_settings()
    def tell(self, pull: int | Ids, reward: ArrayLike, cost: ArrayLike | None = None) -> bool | np.ndarray | None:
        """Take the reward of a pull, or those of several in this order; a refused message changes nothing.

        A reward that comes after the end is counted in `pulls` and `means`, and the recommendation stays.

        Args:
            pull: the arm that `ask()` returns, and no other: the guarantees are for the algorithm's own choices. Or a
                pull of `ask(n)`, or its id; or a list of N of them.
            reward: a finite number, in [0, b] unless the session was made with `bounded=False`; N of them for a list.
            cost: what the pull cost, in [0, 1], where the algorithm spends a budget of cost; None for 1.

        Returns:
            Whether the reward counts, bool, or bool `(N,)` for a list: not if it was told before, or its pull was
            forgotten. None for an arm.

        Raises:
            UsageError: another arm, an unknown id, another reward for this pull than before, an invalid
                reward, an arm after the end, or rewards so far from 0 that float32 loses their differences.
        """
        if not self._bounded:
            self._told.check_resolved()
            self._warn_of_range()
        if isinstance(pull, str | Pull):
            return self._tell_pulls([pull], [reward], [cost])[0]
        if isinstance(pull, list | tuple) or (isinstance(pull, np.ndarray) and pull.ndim):
            rewards, costs = (_listed(x, len(pull)) for x in (reward, cost))
            return np.asarray(self._tell_pulls(pull, rewards, costs), bool)
        arm = checks.index("an arm", pull, 0, self._arms - 1)
        if self._run.done:
            raise UsageError("the session is done: it takes no reward of an arm, read its recommendation")
        run, slot, asked = self._next()
        if arm != asked:
            raise UsageError(f"the session asked for arm {asked}, not for arm {arm}: tell the reward of arm {asked}")
        value, price = self._checked(reward, cost)
        self._take(run, slot, arm, value, price, reward)
        return None

    def _take(self, run: LiveRun, slot: Slot, arm: int, reward: float, cost: float, given: Any) -> None:
        """Take the reward of a pull that a run has handed out, rounded and as given."""
        self._run = run if run.done or slot.number < 0 else run.with_reward(slot, reward, cost)
        self._told.add(arm, reward, float(given))
        if arm in self._joining:
            self._joining = [other for other in self._joining if other != arm]
            self._go_on_with([*self._present, arm])

    def _tell_pulls(self, pulls: Ids, rewards: Sequence[object], costs: Sequence[object]) -> list[bool]:
        """Take the rewards of pulls; return which of them count."""
        names, found = ids_of(pulls), []
        checked = [self._checked(*one) for one in zip(rewards, costs, strict=True)]
        self._handed_out.check(names, [value for value, _ in checked])
        for name, (value, price), given in zip(names, checked, rewards, strict=True):
            slot = self._handed_out.slots.get(number := self._handed_out.number_of(name))
            found.append(slot is not None)
            if slot is not None:
                self._take(self._run, slot, self._arm_of(slot), value, price, given)
                self._handed_out.tell(number, value)
        return found

    def _checked(self, reward: object, cost: object) -> tuple[float, float]:
        """Return a reward and a cost that can be."""
        value = reward_of(reward, self._reward_range, self._bounded)
        if cost is not None and not self._algorithm.takes_costs:
            raise UsageError(f"{type(self._algorithm).__name__} spends no budget of cost: it takes no cost of a pull")
        return value, cost_of(1.0 if cost is None else cost)

    @own_settings()
    def forget(self, pulls: Ids) -> bool | np.ndarray:
        """Give up pulls whose rewards will not come; a reward that is told later is ignored.

        A pull that a request needs is handed out again: one of the first pulls, of a batch, of a round, or of a step
        with several arms. Any other is dropped. Forget by a rule that does not depend on the reward, such as a fixed
        waiting time: otherwise the means are biased.

        Args:
            pulls: a pull of `ask(n)`, or its id; or a list of N of them.

        Returns:
            Whether the pull was in flight, bool, or bool `(N,)` for a list.

        Raises:
            UsageError: an unknown id; nothing is then forgotten.
        """
        numbers = [self._handed_out.number_of(name) for name in ids_of(pulls)]
        found = [self._forget(number) for number in numbers]
        return found[0] if isinstance(pulls, str | Pull) else np.asarray(found, bool)

    @own_settings()
    def warm_up(self) -> None:
        """Compile what `ask` and `tell` run, in seconds; otherwise the first calls do. Nothing else changes.

        Call it after `add_arm`, and before the reward of the added arm is told: this needs programs for one more arm.
        The programs are stored on disk, where those of simulations are: another process loads them.
        """
        with kept_programs():
            self._run.warm_up()
            for more in range(1, len(self._joining) + 1):
                dataclasses.replace(self._blank(len(self._present) + more)[0], known=self._told).warm_up()

    def _forget(self, number: int) -> bool:
        slot = self._handed_out.slots.pop(number, None)
        if slot is not None and slot.number >= 0 and not self._run.done:
            self._run = self._run.forgotten(slot)
        return slot is not None

    def _next(self) -> tuple[LiveRun, Slot, int]:
        """Return the run with one more pull handed out, its slot and its arm."""
        if (step := self._next_pull(self._run, self._taken)) is None:
            raise UsageError("the session waits for the rewards of pulls in flight: tell one of them, or forget it")
        return *step, self._arm_of(step[1], step[0])


def _listed(values: Any, number: int) -> list[Any]:
    """Return rewards or costs of several pulls, one of each; None for each where there are none."""
    if values is None:
        return [None] * number
    if np.ndim(values) != 1 or len(values) != number:
        raise UsageError(f"{number} pulls need a list of {number} rewards, or costs, got {checks.shown(values)}")
    return list(values)
