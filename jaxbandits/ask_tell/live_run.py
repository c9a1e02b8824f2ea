"""A rule in a live experiment: which pulls it asks for next, and what it knows after a reward.

Pulls are handed out one after another, and their rewards come in any order. What a rule asks for at once is a request:

* the first pulls of all arms, and what a rule in batches requests. The next request follows when all its rewards have
  been told;
* a round of a rule that eliminates arms: each survivor once. The rule sees the rewards in the order of the round;
* a step of any other rule, which is one arm or several. It needs not wait for the rewards of earlier steps: the rule
  selects with the pulls in flight counted (`jaxbandits/engine/pulls_in_flight.py`), and sees each step when all of its
  rewards have been told. The key of the step is that of the run at its time, which counts pulls told and in flight.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.ask_tell.open_requests import OpenRequests, Request
from jaxbandits.ask_tell.placeholder_problem import LiveProblem
from jaxbandits.ask_tell.snapshot import Moment, advance, begin, decided, first_order, look, resume
from jaxbandits.ask_tell.told_rewards import ToldRewards
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.rule_states import RunState
from jaxbandits.users_code.cache_key import code_of

__all__ = ["LiveRun", "Slot"]


class Slot(NamedTuple):
    """Where the reward of a pull belongs: the number of a request, and an entry of it."""

    number: int
    entry: int


@dataclasses.dataclass(frozen=True)
class LiveRun:
    """The run of a rule, after some rewards; methods return another one.

    Attributes:
        runs: the mapped rule.
        key: the session's typed key `()`.
        first: the placeholder for the problem, without rewards.
        width: entries that a request may have.
        requests: the open requests.
        opened: the number of requests so far.
        moment: the rule's state; None until the first pulls have been told.
        known: rewards from before, of which only numbers and sums are known; None for none. They count for the rule.
        fresh: whether what the moment asks for takes all pulls in flight into account, and is not handed out yet.
    """

    runs: MappedAlgorithm
    key: jax.Array
    first: LiveProblem
    width: int
    requests: OpenRequests
    opened: int = 0
    moment: Moment | None = None
    fresh: bool = False
    known: ToldRewards | None = None

    def begun(self) -> "LiveRun":
        """Return the run with its first request."""
        each, arms = self.runs.rule.initial_pulls, self.arms
        order = np.tile(np.argsort(np.asarray(first_order(self.key, arms=arms))), each)
        if self.known is not None:  # pulls that are missing
            order = order[np.repeat(np.arange(each), arms) >= self.known.pulls[order]]
            if not len(order):
                return self.resumed(self.known, int(self.known.pulls.sum()))
        if not each:
            return self._entered(self._begin(np.zeros((arms, 0), np.float32)))
        return self._with_request(order, np.ones_like(order))

    def resumed(self, known: ToldRewards, time: int) -> "LiveRun":
        """Return the run of a rule without a state of its own after all these rewards, and `time` pulls in all."""
        high = known.sums.astype(np.float32)
        sums = CompensatedSum(*jax.device_put((high, (known.sums - high).astype(np.float32))))
        numbers = known.pulls.astype(np.int32), sums, np.int32(time)
        return self._entered(self._moment(resume(self.runs, self.first, self.key, *numbers, code=code_of(self.runs))))

    @property
    def arms(self) -> int:
        """Return the number of arms."""
        return int(self.first.first.shape[0])

    @property
    def done(self) -> bool:
        """Return whether no pull follows: the rule has stopped, or cannot go on."""
        return self.moment is not None and bool(self.moment.done)

    @property
    def decided(self) -> bool:
        """Return whether the rule itself has stopped."""
        moment = self.moment
        return moment is not None and self.done and bool(decided(self.runs, moment.state, code=code_of(self.runs)))

    @property
    def waiting(self) -> int:
        """Return the number of rewards that were told, and that the rule has not seen yet."""
        return sum(int(request.told[request.absorbed :].sum()) for request in self.requests.by_number.values())

    @property
    def by_steps(self) -> bool:
        """Return whether the rule selects arms step by step."""
        return not (self.runs.rule.in_batches or self.runs.rule.eliminates)

    def next_pull(self) -> "tuple[LiveRun, Slot] | None":
        """Return the run with one more pull handed out, and its slot; None where all wait for rewards."""
        run = self if self.requests.unasked or not self._may_open else self._with_step()
        if (found := run.requests.next_pull) is None:
            return None
        slot = Slot(*found)
        return run._with(slot.number, run.requests.by_number[slot.number].with_handed(slot.entry)), slot

    def arm_of(self, slot: Slot) -> int:
        """Return the arm of a slot."""
        return int(self.requests.by_number[slot.number].arms[slot.entry])

    def with_reward(self, slot: Slot, reward: float, cost: float = 1.0) -> "LiveRun":
        """Return the run after the reward of a pull that was handed out.

        Raises:
            UsageError: the rule then requests an arm that does not exist.
        """
        request = self.requests.by_number[slot.number].with_reward(slot.entry, reward)
        run = self._with(slot.number, request)
        if self.moment is not None and self.runs.rule.eliminates:
            return run._round(slot.number)
        if not request.complete:
            return run
        run = run._without(slot.number)
        sums = request.sums.astype(np.float32)
        if self.moment is None and self.known is not None:
            known = self.known.plus(request.arms, request.sums)
            return run.resumed(known, int(known.pulls.sum()))
        if self.moment is None:
            rewards = np.zeros(self.first.first.shape, np.float32)
            rewards[request.arms[: self.arms]] = sums.reshape(-1, self.arms).T
            return run._entered(run._begin(rewards))
        return run._entered(run._after(self.moment.state, request.arms, request.counts, sums, cost))

    def forgotten(self, slot: Slot) -> "LiveRun":
        """Return the run without a pull in flight: dropped if it is a whole step, or else handed out once more."""
        request = self.requests.by_number[slot.number]
        if self.by_steps and self.moment is not None and len(request.arms) == 1:
            return dataclasses.replace(self._without(slot.number), fresh=False)
        return self._with(slot.number, request.with_handed(slot.entry, -1))

    def warm_up(self) -> None:
        """Compile all programs: call each, and forget what it returns."""
        ones = ToldRewards.of_sums(*np.ones((2, self.arms)))
        rewards = np.zeros(self.first.first.shape, np.float32)
        moment = self._begin(rewards) if self.known is None else self.resumed(ones, self.arms).moment
        assert moment is not None
        self._after(moment.state, [], [], [])

    @property
    def _may_open(self) -> bool:
        """Return whether another step may begin; not where a budget is spent with the pulls in flight, or may be."""
        if not self.by_steps or self.moment is None or self.done:
            return False
        return not self.requests.by_number or not (self.runs.rule.takes_costs or self._budget_is_spent)

    @property
    def _budget_is_spent(self) -> bool:
        """Return whether the pulls that were made and those in flight use up the rule's budget."""
        budget = vars(self.runs.rule).get("budget")  # of a user's rule, too
        if budget is None:
            return False
        assert self.moment is not None
        return int(self.moment.state.time) + int(self.requests.pulls.sum()) >= float(budget)

    def _with_step(self) -> "LiveRun":
        """Return the run with the next step among its requests."""
        assert self.moment is not None
        moment = self.moment if self.fresh else self._moment(self.moment.state)
        return dataclasses.replace(self._with_request(moment.asked, moment.counts), fresh=False)

    def _with_request(self, asked: ArrayLike, counts: ArrayLike) -> "LiveRun":
        request = Request.of(asked, counts, self.arms, self.first.name)
        return dataclasses.replace(self._with(self.opened, request), opened=self.opened + 1)

    def _with(self, number: int, request: Request) -> "LiveRun":
        return dataclasses.replace(self, requests=self.requests.with_request(number, request))

    def _without(self, number: int) -> "LiveRun":
        return dataclasses.replace(self, requests=self.requests.without(number))

    def _round(self, number: int) -> "LiveRun":
        """Return the run after the rule has seen the next rewards of a round that are there."""
        request, moment = self.requests.by_number[number], self.moment
        assert moment is not None
        waiting = np.flatnonzero(request.told[request.absorbed :] == 0)
        end = request.absorbed + int(waiting[0]) if len(waiting) else len(request.arms)
        if end == request.absorbed:
            return self
        now = slice(request.absorbed, end)
        moment = self._after(moment.state, request.arms[now], request.told[now], request.sums[now].astype(np.float32))
        if end == len(request.arms) and not moment.done:
            return self._without(number)._entered(moment)
        return dataclasses.replace(self._with(number, request._replace(absorbed=end)), moment=moment)

    def _entered(self, moment: Moment) -> "LiveRun":
        """Return the run with another state, and with what it requests where this needs no other pull."""
        while not np.any(moment.counts) and not moment.done:  # a budget can leave a round without a pull
            moment = self._after(moment.state, [], [], [])
        run = dataclasses.replace(self, moment=moment, fresh=True)
        Request.of(moment.asked, moment.counts, self.arms, self.first.name)
        return run if self.by_steps or moment.done else run._with_request(moment.asked, moment.counts)

    def _pending(self) -> np.ndarray:
        """Return the pulls in flight of each arm, int32 `(K,)`."""
        if not self.by_steps or self.moment is None:
            return np.zeros(self.arms, np.int32)
        return np.minimum(self.requests.pulls, MAX_COUNT).astype(np.int32)

    def _begin(self, rewards: np.ndarray) -> Moment:
        """Return the moment after the initial pulls; their rewards are float32 `(K, P)`."""
        first = dataclasses.replace(self.first, first=jax.device_put(rewards))
        return self._moment(begin(self.runs, first, self.key, code=code_of(self.runs)))

    def _after(self, state: RunState, asked: Any, counts: Any, sums: Any, cost: float = 1.0) -> Moment:
        """Return the moment after rewards; the requests are padded to the width of all requests."""
        full = [np.zeros(self.width, dtype) for dtype in (np.int32, np.int32, np.float32)]
        for entry, values in zip(full, (asked, counts, sums), strict=True):
            entry[: len(values)] = values
        return self._moment(advance(self.runs, state, *full, np.float32(cost), code=code_of(self.runs)))

    def _moment(self, state: RunState) -> Moment:
        """Return a state with what a session reads from it, on the host: an interrupt leaves the old one intact."""
        return Moment(state, *jax.device_get(look(self.runs, state, self._pending(), code=code_of(self.runs))))
