"""Arms that are added to a session while it runs, and arms that are withdrawn."""

import dataclasses

import numpy as np

from jaxbandits import checks
from jaxbandits.algorithms.arm_values import by_arm
from jaxbandits.ask_tell.live_estimates import Estimates
from jaxbandits.ask_tell.live_run import Slot
from jaxbandits.ask_tell.open_requests import OpenRequests, Request
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import UsageError

__all__ = ["ArmChanges"]


class ArmChanges(Estimates):
    """A session whose arms may change, where its algorithm decides by pulls and means alone.

    The algorithm then goes on with the arms that are there, as if it had begun with their rewards. The pulls of
    withdrawn arms still count in the time of its formulas, and in its budget. It is compiled again for each number of
    arms. With K arms now and K' arms that ever were, a proof for K arms that shares delta among them bounds the
    probability of an error by delta K' / (the fewest arms at a time).
    """

    @own_settings()
    def add_arm(self) -> int:
        """Add an arm, and return its number, the next one. Its first pull is handed out next.

        The algorithm sees the arm when the reward of that pull has been told.

        Raises:
            UsageError: the algorithm cannot go on with other arms, the first pulls are not told, or the session is
                done.
        """
        self._check_change("go on with another arm")
        self._algorithm.check(len(self._present) + len(self._joining) + 1, bandits=1)
        self._told = self._told.with_arm()
        self._joining = [*self._joining, self._arms - 1]
        return self._arms - 1

    @own_settings()
    def withdraw(self, arm: int) -> None:
        """Take an arm out: it is pulled no more, and never returned. Its rewards in flight count in `means` only.

        Raises:
            UsageError: as for `add_arm`; or there is no such arm, or only two are left.
        """
        self._check_change("go on without an arm")
        arm = checks.index("an arm", arm, 0, self._arms - 1)
        if arm in self._joining:
            self._joining = [other for other in self._joining if other != arm]
        elif arm not in self._present or len(self._present) <= 2:
            reason = "was withdrawn before" if arm not in self._present else "is one of the last two"
            raise UsageError(f"arm {arm} {reason}: it cannot be withdrawn")
        else:
            self._go_on_with([other for other in self._present if other != arm])

    def _check_change(self, what: str) -> None:
        """Refuse a change of the arms that cannot be made now."""
        self._check_open()
        self._check_counts(what)
        if self._run.width > 1 or any(by_arm(self._algorithm)):
            raise UsageError(f"{type(self._algorithm).__name__} selects several arms, or has values of arms: no {what}")
        if self._run.moment is None:
            raise UsageError("arms may change when all of them have had their first pulls: tell these rewards first")

    def _go_on_with(self, present: list[int]) -> None:
        """Go on with these arms; their pulls in flight stay in flight."""
        self._algorithm.check(len(present), bandits=1)
        run, shapes = self._blank(len(present))
        slots, requests = {}, {}
        for number, slot in self._handed_out.slots.items():
            if (arm := self._arm_of(slot)) in present and slot.number >= 0:
                asked = Request.of(np.asarray([present.index(arm)]), np.ones(1, int), len(present), "")
                requests[slot.number], slots[number] = asked.with_handed(0), slot._replace(entry=0)
            else:
                slots[number] = Slot(-1, arm)
        known = self._told.of(present)
        open_requests = OpenRequests.of(requests, len(present))
        run = dataclasses.replace(run, requests=open_requests, opened=self._run.opened, known=known)
        run = run.resumed(known, int(self._told.pulls.sum()))
        self._run, self._shapes, self._present, self._handed_out.slots = run, shapes, present, slots
