"""Reads the text of a saved session, and checks that it is a possible session."""

import json
from typing import Any

import jax
import numpy as np

from jaxbandits import checks
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.ask_tell.pending_pulls import Requests
from jaxbandits.ask_tell.snapshot import Moment
from jaxbandits.ask_tell.state_text import from_plain
from jaxbandits.errors import UsageError

__all__ = ["data_of", "moment_of", "rewarded"]

_ENTRIES = ["version", "algorithm", "arms", "key", "reward_range", "bounded"]
_ENTRIES += ["asked", "counts", "sums", "told", "done", "recommended", "state"]


def data_of(text: str) -> dict[str, object]:
    """Return the entries of the text.

    Raises:
        UsageError: the text is not a saved session.
    """
    try:
        data = json.loads(text)
    except (TypeError, ValueError):
        raise UsageError("a saved session must be the JSON text of to_json()") from None
    if not isinstance(data, dict) or set(data) != set(_ENTRIES):
        raise UsageError(f"a saved session must have the entries {', '.join(_ENTRIES)}")
    return data


def moment_of(data: dict[str, Any], shapes: object, arms: int) -> Moment:
    """Return the moment that was saved.

    The requests and the recommendation are kept, even if this machine would round an index to another arm.

    Args:
        data: the entries of the text.
        shapes: a state of the session's algorithm, by the shapes and dtypes of its leaves.
        arms: number of arms.

    Raises:
        UsageError: an impossible arm or count.
        ValueError: another state.
    """
    leaves, structure = jax.tree.flatten(shapes)
    state = [from_plain(plain, leaf) for plain, leaf in zip(data["state"], leaves, strict=True)]
    moment = Moment(
        state=jax.tree.unflatten(structure, state),
        asked=np.asarray([checks.index("an arm", arm, 0, arms - 1) for arm in data["asked"]], np.int32),
        counts=np.asarray([checks.whole("a count", count, 1, MAX_COUNT) for count in data["counts"]], np.int32),
        done=np.bool_(data["done"]),
        recommended=np.asarray(data["recommended"], bool),
    )
    if moment.recommended.shape != (arms,):
        raise ValueError("other arms")
    return moment


def rewarded(requests: Requests, data: dict[str, Any]) -> Requests:
    """Return the requests with the rewards told; `Requests.means` checks their values.

    Raises:
        UsageError: an impossible number of rewards.
    """
    told = checks.whole("rewards", data["told"], 0, MAX_COUNT)
    return requests._replace(sums=[float(total) for total in data["sums"]], told=told)
