"""Pulls that were handed out with an id: where their rewards belong, and which rewards were told."""

import array
import math
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxbandits import checks
from jaxbandits.ask_tell.live_run import Slot
from jaxbandits.ask_tell.saved_sessions import numbers_of, to_base64
from jaxbandits.errors import UsageError
from jaxbandits.random.threefry import key_words

__all__ = ["HandedOut", "Ids", "Pull", "ids_of"]


class Pull(NamedTuple):
    """A pull to make.

    Attributes:
        id: what names it when its reward is told, such as `"a3f0-17"`: a mark of the session, and a number from 0.
        arm: the arm, in [0, K).
    """

    id: str
    arm: int


#: More digits than the number of a pull has; Python refuses to read thousands of them.
_DIGITS = 20
#: The ids of some pulls, or pulls themselves.
Ids = str | Pull | Sequence[str | Pull] | np.ndarray


def ids_of(given: Any) -> list[str]:
    """Return the ids of pulls, given as one or several, as ids or as pulls."""
    several = [given] if isinstance(given, str | Pull) else list(given) if _is_list(given) else None
    if several is not None:
        found = [one.id if isinstance(one, Pull) else one for one in several]
        if all(isinstance(one, str) for one in found):
            return [str(one) for one in found]
    raise UsageError(f"ids must be those of ask(n), texts such as 'a3f0-17', got {checks.shown(given)}")


def _is_list(given: object) -> bool:
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1)


class HandedOut:
    """The pulls that were handed out: those in flight, told and forgotten.

    Attributes:
        slots: where the rewards of the pulls in flight belong, by their numbers.
    """

    def __init__(self, key: jax.Array, arms: int) -> None:
        """Start without a pull; the mark follows from the session's key and number of arms."""
        words = ",".join(str(int(word)) for word in key_words(key))
        self._mark = f"{zlib.crc32(f'{words},{arms}'.encode()) & 0xFFFF:04x}-"
        self._rewards = array.array("f")  # by the numbers of the pulls; nan if none was told
        self.slots: dict[int, Slot] = {}

    def add(self, slot: Slot) -> str:
        """Return the id of one more pull."""
        number = len(self._rewards)
        self._rewards.append(math.nan)
        self.slots[number] = slot
        return self.id_of(number)

    def id_of(self, number: int) -> str:
        """Return the id of a pull with a number."""
        return f"{self._mark}{number}"

    def number_of(self, name: str) -> int:
        """Return the number of the pull with an id, or refuse an id that was not handed out."""
        number = name.removeprefix(self._mark)
        if number != name and number.isdecimal() and len(number) < _DIGITS and int(number) < len(self._rewards):
            return int(number)
        raise UsageError(f"this session handed out no pull with the id {checks.shown(name)}")

    def check(self, names: Sequence[str], rewards: Sequence[float]) -> None:
        """Check that pulls have these ids, and one reward each.

        Raises:
            UsageError: the session has no such pull, or was told another reward of it.
        """
        told: dict[int, float] = {}
        for name, reward in zip(names, rewards, strict=True):
            number = self.number_of(name)
            before = told.setdefault(number, self._rewards[number])
            if not math.isnan(before) and before != reward:
                raise UsageError(f"the pull {name} has the reward {before:g}, and now {reward:g}: it must have one")
            told[number] = reward

    def tell(self, number: int, reward: float) -> None:
        """Record the reward of a pull."""
        self._rewards[number] = reward
        self.slots.pop(number)

    def to_data(self) -> dict[str, object]:
        """Return the pulls as JSON data."""
        flight = [[number, *slot] for number, slot in self.slots.items()]
        return {"rewards": to_base64(np.asarray(self._rewards, "<f4").tobytes()), "flight": flight}

    def read(self, data: dict[str, Any]) -> None:
        """Take over the pulls that `to_data` returned."""
        self._rewards = array.array("f", numbers_of(data["rewards"]).tolist())
        self.slots = {number: Slot(*slot) for number, *slot in data["flight"]}
