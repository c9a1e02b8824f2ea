"""The text of a saved session: JSON with the number of its schema, and a checksum."""

import base64
import dataclasses
import hashlib
import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.pytrees import is_key
from jaxbandits.ask_tell.live_run import LiveRun
from jaxbandits.ask_tell.open_requests import OpenRequests, Request
from jaxbandits.ask_tell.snapshot import Moment
from jaxbandits.errors import UsageError
from jaxbandits.problems.to_spec import MARK
from jaxbandits.sweeps.spec import build_algorithm

__all__ = ["SCHEMA", "algorithm_of", "data_of", "numbers_of", "run_of", "text_of", "to_base64", "to_data"]

#: The number of the schema of the texts.
SCHEMA = 1


def text_of(data: dict[str, object]) -> str:
    """Return the JSON text of a session's entries, with its schema and the SHA-256 of its canonical text."""
    data = data | {"schema": SCHEMA}
    return _canonical(data | {"sha256": _checksum(data)})


def data_of(text: str) -> dict[str, Any]:
    """Return the entries of the text.

    Raises:
        UsageError: the text is not a saved session, or was edited, or has another schema.
    """
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or not {"version", "algorithm", "state"} <= set(data):
        raise UsageError("a saved session must be the JSON text of to_json()")
    if data.get("schema") != SCHEMA:
        raise UsageError(
            f"the saved session has the schema {data.get('schema')}, and this version reads schema {SCHEMA}: continue "
            f"it with version {data['version']} of the package"
        )
    if not _is_intact(data):
        raise UsageError("the saved session was changed after to_json() wrote it: its checksum is another")
    return data


def algorithm_of(table: dict[str, Any]) -> Any:
    """Return the algorithm of a saved session, made again from its table.

    Raises:
        UsageError: it is not one of the package's.
    """
    try:
        return build_algorithm(table)
    except UsageError as error:
        if MARK not in table:
            raise
        raise UsageError(f"{error}: give it again, algorithm=…") from None


def _is_intact(data: dict[str, Any]) -> bool:
    """Return whether the entries have their checksum, which is taken out."""
    try:
        return bool(data.pop("sha256", None) == _checksum(data))
    except ValueError:  # a number that is not finite: to_json() writes none
        return False


def to_data(run: LiveRun) -> dict[str, object]:
    """Return the entries of a run."""
    moment = run.moment
    return {
        "requests": [[number, *_request_data(request)] for number, request in run.requests.by_number.items()],
        "opened": run.opened,
        "fresh": run.fresh,
        "moment": None if moment is None else [np.asarray(leaf).tolist() for leaf in moment[1:]],
        "state": None if moment is None else [_to_plain(leaf) for leaf in jax.tree.leaves(moment.state)],
    }


def run_of(data: dict[str, Any], run: LiveRun, shapes: object) -> LiveRun:
    """Return the run that was saved.

    The requests and the recommendation are kept, even if this machine would round an index to another arm.

    Args:
        data: the entries.
        run: the run as it begins.
        shapes: a state of the session's algorithm, by the shapes and dtypes of its leaves.

    Raises:
        ValueError: another state, or an impossible request.
    """
    moment = None
    if data["state"] is not None:
        leaves, structure = jax.tree.flatten(shapes)
        state = [_from_plain(plain, leaf) for plain, leaf in zip(data["state"], leaves, strict=True)]
        asked, counts, done, recommended = data["moment"]
        moment = Moment(
            jax.tree.unflatten(structure, state), np.asarray(asked, np.int32), np.asarray(counts, np.int32),
            np.bool_(done), np.asarray(recommended, bool),
        )  # fmt: skip
    requests = {number: _request_of(plain, run.arms) for number, *plain in data["requests"]}
    opened, fresh = int(data["opened"]), bool(data["fresh"])
    return dataclasses.replace(
        run, requests=OpenRequests.of(requests, run.arms), opened=opened, moment=moment, fresh=fresh
    )


def to_base64(numbers: bytes) -> str:
    """Return bytes as text."""
    return base64.b64encode(numbers).decode()


def numbers_of(text: str) -> np.ndarray:
    """Return the float32 numbers whose bytes `to_base64` wrote, `(N,)`."""
    return np.frombuffer(base64.b64decode(text, validate=True), "<f4")


def _to_plain(leaf: jax.Array) -> dict[str, object]:
    """Return an array as JSON data: every float32 is a decimal that reads back exactly, and inf and nan are texts."""
    array = np.asarray(_words(leaf))
    values = [str(x) if isinstance(x, float) and not np.isfinite(x) else x for x in array.reshape(-1).tolist()]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}


def _from_plain(plain: dict[str, Any], like: jax.ShapeDtypeStruct) -> object:
    """Return the array of such data; a ValueError says that `like` has another shape or dtype."""
    expected = jax.eval_shape(_words, like)
    if (plain["dtype"], tuple(plain["shape"])) != (str(expected.dtype), expected.shape):
        raise ValueError("another state")
    floating = jnp.issubdtype(expected.dtype, jnp.floating)
    values = [float(x) if floating else x for x in plain["values"]]
    array = np.asarray(values, expected.dtype).reshape(expected.shape)
    if jnp.issubdtype(like.dtype, np.complexfloating):
        return array.view(like.dtype)[..., 0]
    return jax.random.wrap_key_data(jnp.asarray(array), impl="threefry2x32") if like.dtype != expected.dtype else array


def _words(leaf: jax.Array) -> jax.Array:
    """Return the leaf; of a key, which a randomised algorithm keeps, its words; of complex numbers, both parts."""
    if jnp.issubdtype(leaf.dtype, np.complexfloating):
        return jnp.stack([jnp.real(leaf), jnp.imag(leaf)], axis=-1)
    return jax.random.key_data(leaf) if is_key(leaf) else leaf


def _request_data(request: Request) -> list[object]:
    return [leaf.tolist() if isinstance(leaf, np.ndarray) else leaf for leaf in request]


def _request_of(plain: list[Any], arms: int) -> Request:
    *whole, sums, absorbed = plain
    asked, counts, handed, told = (np.asarray(leaf, np.int32) for leaf in whole)
    request = Request(asked, counts, handed, told, np.asarray(sums, np.float64), int(absorbed))
    shapes = {leaf.shape for leaf in request[:-1]}
    in_order = (request.told >= 0) & (request.told <= request.handed) & (request.handed <= request.counts)
    if len(shapes) > 1 or not np.all(in_order & (request.arms >= 0) & (request.arms < arms)):
        raise ValueError("an impossible request")
    return request


def _canonical(data: dict[str, object]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(data: dict[str, object]) -> str:
    return hashlib.sha256(_canonical(data).encode()).hexdigest()
