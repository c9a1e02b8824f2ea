"""A live experiment that any number of processes run together: its messages are a log in an SQLite file.

The session is a function of the log. A process takes the write lock, applies the messages that others have added, then
its own, and adds it to the log in the same transaction. So a process may be killed at any moment: what is not in the
log has not happened. Copy this file and change it.
"""

import json
import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import jaxbandits as jb

#: Messages between two snapshots, from which a process starts.
SNAPSHOT_EVERY = 200
_TABLES = """
CREATE TABLE IF NOT EXISTS messages (
    position INTEGER PRIMARY KEY, token TEXT UNIQUE, kind TEXT NOT NULL, body TEXT NOT NULL, answer TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS snapshots (position INTEGER PRIMARY KEY, session TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS beginning (position INTEGER PRIMARY KEY, session TEXT NOT NULL);
"""


class LiveLog:
    """A session whose messages are in a file.

    Args:
        path: of the SQLite file; it is made if there is none.
        algorithm: of the session, one of the package's or your own.
        options: the session's other arguments. With others, or another algorithm, the file cannot be opened.
    """

    def __init__(self, path: str, algorithm: Any, **options: Any) -> None:
        self._algorithm, self._options, self._lock = algorithm, options, threading.Lock()
        self._connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.executescript(_TABLES)
        self._session, self._position = self._start(), 0
        self._session.warm_up()
        try:
            self._check_experiment()
            self._restart()
        except BaseException:
            self._connection.close()
            raise

    def ask(self, n: int, token: str | None = None) -> list[dict[str, Any]]:
        """Hand out pulls. A request that is sent twice with one token is answered with the same pulls."""
        return self._send("ask", {"n": n}, token)

    def tell(self, ids: list[str], rewards: list[float]) -> list[bool]:
        """Take rewards; return which of them count. It may be sent twice."""
        return self._send("tell", {"ids": ids, "rewards": rewards})

    def forget(self, ids: list[str]) -> list[bool]:
        """Give up pulls; return which of them were in flight. It may be sent twice."""
        return self._send("forget", {"ids": ids})

    def read(self, function: Callable[[jb.AskTell], Any]) -> Any:
        """Return a function of the session as it is now."""
        with self._lock:
            self._catch_up()
            return function(self._session)

    def close(self) -> None:
        """Close the file; the log stays, and another one may go on."""
        with self._lock:
            self._connection.close()

    def _send(self, kind: str, body: dict[str, Any], token: str | None = None) -> Any:
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")  # waits for the other processes
                self._catch_up()
                before = self._connection.execute("SELECT answer FROM messages WHERE token = ?", (token,)).fetchone()
                answer = json.loads(before[0]) if before else self._apply(kind, body)
                if not before and any(answer):  # a message that changes nothing is not kept
                    self._add(token, kind, body, answer)
                self._connection.execute("COMMIT")
                return answer
            except jb.UsageError:  # the session is as it was before
                self._connection.execute("ROLLBACK")
                raise
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                self._restart()  # the session may know what the log does not
                raise

    def _apply(self, kind: str, body: dict[str, Any]) -> Any:
        """Return the answer to a message, as JSON data."""
        if kind == "ask":
            return [] if self._session.done else [pull._asdict() for pull in self._session.ask(body["n"])]
        found = self._session.tell(**_named(body)) if kind == "tell" else self._session.forget(body["ids"])
        return found.tolist()

    def _add(self, token: str | None, kind: str, body: dict[str, Any], answer: Any) -> None:
        row = (token, kind, json.dumps(body), json.dumps(answer))
        add = "INSERT INTO messages (token, kind, body, answer) VALUES (?, ?, ?, ?)"
        self._position = self._connection.execute(add, row).lastrowid
        if self._position % SNAPSHOT_EVERY == 0:
            self._connection.execute("DELETE FROM snapshots")  # each has all rewards so far
            self._connection.execute("INSERT INTO snapshots VALUES (?, ?)", (self._position, self._session.to_json()))

    def _catch_up(self) -> None:
        """Apply the messages that other processes have added."""
        later = "SELECT position, kind, body, answer FROM messages WHERE position > ? ORDER BY position"
        for position, kind, body, answer in self._connection.execute(later, (self._position,)).fetchall():
            if self._apply(kind, json.loads(body)) != json.loads(answer):
                raise RuntimeError(f"message {position} has another answer here: another version, or another machine?")
            self._position = position

    def _start(self) -> jb.AskTell:
        """Return the session without a message."""
        return jb.AskTell(self._algorithm, **self._options)

    def _check_experiment(self) -> None:
        """Refuse the file of another experiment: it would go on with the old algorithm from its snapshot."""
        here = self._session.to_json()
        self._connection.execute("INSERT OR IGNORE INTO beginning VALUES (0, ?)", (here,))
        (there,) = self._connection.execute("SELECT session FROM beginning").fetchone()
        if jb.AskTell.from_json(there, self._algorithm).to_json() != here:  # from_json refuses another algorithm
            raise RuntimeError("the log is of an experiment with other arguments: begin another file")

    def _restart(self) -> None:
        """Start from the latest snapshot."""
        latest = "SELECT position, session FROM snapshots ORDER BY position DESC LIMIT 1"
        found = self._connection.execute(latest).fetchone()
        self._position = found[0] if found else 0
        self._session = jb.AskTell.from_json(found[1], self._algorithm) if found else self._start()


def _named(body: dict[str, Any]) -> dict[str, Any]:
    return {"pull": body["ids"], "reward": body["rewards"]}
