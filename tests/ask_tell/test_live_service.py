"""The live service: several processes share one experiment, are killed, and decide as one process would.

`python -m pytest -m slow -s tests/ask_tell/test_live_service.py` tells 10,000 rewards, and kills a process 100 times.
"""

import collections
import contextlib
import http.client
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import jaxbandits as jb

FOLDER = Path(__file__).parents[2] / "experiments" / "live_service"
PER_KILL, WORKERS = 100, 4
#: Seconds after which the clients give up.
LONGEST = 3000


EXPERIMENT = {"algorithm": jb.UGapEc(epsilon=0.01, delta=0.05), "arms": 4, "key": 1}


def reward_of(pull):
    """The reward of a pull, whoever tells it, and however often."""
    return float(random.Random(pull["id"]).random() < [0.47, 0.49, 0.5, 0.51][pull["arm"]])


def replayed(path):
    """One process that sees the messages once, in the order of the log; its answers are those of the log."""
    session = jb.AskTell(**EXPERIMENT)
    with contextlib.closing(sqlite3.connect(path)) as log:
        rows = log.execute("SELECT token, kind, body, answer FROM messages ORDER BY position").fetchall()
    for _, kind, body, answer in rows:
        body, answer = json.loads(body), json.loads(answer)
        if kind == "ask":
            assert [pull._asdict() for pull in session.ask(body["n"])] == answer
        elif kind == "tell":
            assert session.tell(body["ids"], body["rewards"]).tolist() == answer
        else:
            assert session.forget(body["ids"]).tolist() == answer
    return session, rows


@pytest.fixture
def live_log(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import live_log

    return live_log


@pytest.fixture
def opened(live_log):
    """Open a log that is closed after the test."""
    with contextlib.ExitStack() as logs:
        yield lambda path, **options: logs.enter_context(
            contextlib.closing(live_log.LiveLog(path, **(EXPERIMENT | options)))
        )


def test_processes_that_share_a_log_decide_as_one(live_log, opened, tmp_path, monkeypatch):
    monkeypatch.setattr(live_log, "SNAPSHOT_EVERY", 20)
    path = str(tmp_path / "log.sqlite")
    workers, pick, flight = [opened(path) for _ in range(2)], random.Random(0), []
    for turn in range(60):
        flight += (asked := pick.choice(workers).ask(2, token=str(turn)))
        assert pick.choice(workers).ask(2, token=str(turn)) == asked or not asked
        pull = flight.pop(pick.randrange(len(flight)))
        for _ in range(1 + turn % 2):
            pick.choice(workers).tell([pull["id"]], [reward_of(pull)])
        if turn % 9 == 0:
            with pytest.raises(jb.UsageError, match="no pull with the id"):
                workers[0].tell(["x"], [1.0])
            workers[0].close()
            workers[0] = opened(path)  # another one goes on
    texts = {worker.read(lambda session: session.to_json()) for worker in workers}
    assert texts == {replayed(path)[0].to_json()}
    with contextlib.closing(sqlite3.connect(path)) as log:  # each has all rewards: several would fill the disk
        assert log.execute("SELECT count(*) FROM snapshots").fetchone() == (1,)
    assert workers[0].read(lambda session: session.pulls.sum()) == 60


def test_what_is_not_in_the_log_has_not_happened(opened, tmp_path, monkeypatch):
    path = str(tmp_path / "log.sqlite")
    worker = opened(path)
    worker.ask(3)
    with monkeypatch.context() as patched:
        patched.setattr(worker, "_add", lambda *message: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            worker.ask(1)
    assert worker.read(lambda session: session.to_json()) == replayed(path)[0].to_json()
    (pull,) = worker.ask(3)
    assert opened(path).read(lambda session: session.in_flight[-1].id) == pull["id"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"algorithm": jb.UGapEc(epsilon=0.02, delta=0.05)}, jb.UsageError, r"algorithm\.epsilon is 0\.01 there"),
        ({"key": 2}, RuntimeError, "an experiment with other arguments"),
    ],
)
def test_the_file_of_another_experiment_is_refused(options, error, message, opened, tmp_path):
    path = str(tmp_path / "log.sqlite")
    opened(path).ask(4)
    with pytest.raises(error, match=message):
        opened(path, **options)
    assert len(opened(path).read(lambda session: session.in_flight)) == 4


@jb.algorithm
class Turns:
    """A rule of a user."""

    budget: int

    def select(self, arms, key):
        return arms.time % arms.count

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return arms.mean.argmax()


def test_a_rule_of_ones_own_goes_on_from_a_snapshot(live_log, opened, tmp_path, monkeypatch):
    monkeypatch.setattr(live_log, "SNAPSHOT_EVERY", 1)
    path = str(tmp_path / "log.sqlite")
    asked = opened(path, algorithm=Turns(budget=20)).ask(3)
    flight = opened(path, algorithm=Turns(budget=20)).read(lambda session: session.in_flight)
    assert [pull._asdict() for pull in flight] == asked


class Service:
    """Four processes behind HTTP, which are killed and started again."""

    def __init__(self, path):
        self.path, self.processes, self.kills = path, {}, 0
        for _ in range(WORKERS):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.processes[free.getsockname()[1]] = None
        for port in self.processes:
            self.start(port)

    def start(self, port):
        command = [sys.executable, "-m", "uvicorn", "app:app", "--app-dir", str(FOLDER), "--port", str(port)]
        environment = os.environ | {"LIVE_LOG": self.path}
        self.processes[port] = subprocess.Popen([*command, "--log-level", "error"], env=environment)

    def kill(self, pick):
        port = pick.choice(list(self.processes))
        self.processes[port].send_signal(signal.SIGKILL)
        self.processes[port].wait()
        self.kills += 1
        self.start(port)

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()

    def send(self, name, message, pick):
        """The answer of any process that lives."""
        while True:
            url = f"http://127.0.0.1:{pick.choice(list(self.processes))}/{name}"
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(url, json.dumps(message).encode(), headers)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError:
                raise
            except (
                OSError,
                ValueError,
                http.client.HTTPException,
            ):  # killed, or not there yet; the message may have arrived
                time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("rewards", [120, 10_000])
def test_workers_that_are_killed_decide_as_one_process(rewards, tmp_path):
    path, asked, forgotten = str(tmp_path / "log.sqlite"), {}, set()
    told, repeats, lock = set(), collections.Counter(), threading.Lock()
    service, began = Service(path), time.perf_counter()

    def visit(name):
        """A client: asks, and tells later, in any order, some messages twice."""
        pick, flight = random.Random(name), []
        while len(told) < rewards and time.perf_counter() < began + LONGEST:
            token = f"{name}-{pick.random()}"
            asked[token] = service.send("ask", {"n": pick.randint(1, 4), "token": token}, pick)
            if pick.random() < 0.1:
                again = service.send("ask", {"n": 1, "token": token}, pick)
                assert again == asked[token] or not asked[token]  # that nothing was to be had is not kept
                asked[token] = again
            flight += asked[token]
            pick.shuffle(flight)
            most = len(flight) if not asked[token] else pick.randint(0, len(flight))
            now, flight = flight[:most], flight[most:]
            if now and pick.random() < 0.05:
                service.send("forget", {"ids": [now[0]["id"]]}, pick)
                forgotten.add(now.pop(0)["id"])
            if not now:
                time.sleep(0.01)  # the others may have all first pulls
                continue
            message = {"ids": [pull["id"] for pull in now], "rewards": [reward_of(pull) for pull in now]}
            for _ in range(1 + (pick.random() < 0.2)):
                repeats.update(message["ids"])
                service.send("tell", message, pick)
            with lock:
                told.update(message["ids"])
                while service.kills < len(told) // PER_KILL:
                    service.kill(pick)

    try:
        clients = [threading.Thread(target=visit, args=(str(i),)) for i in range(WORKERS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        last = service.send("forget", {"ids": []}, random.Random(0)) == []
    finally:
        service.stop()
    seconds = time.perf_counter() - began
    session, rows = replayed(path)
    log = {token: json.loads(answer) for token, kind, _, answer in rows if kind == "ask"}
    assert last
    assert log == {token: answer for token, answer in asked.items() if answer}
    ids = [pull["id"] for answer in log.values() for pull in answer]
    assert len(set(ids)) == len(ids)
    np.testing.assert_array_equal(session.pulls.sum(), len(told))
    assert len(told) >= rewards
    counts = collections.Counter(pull["arm"] for answer in log.values() for pull in answer if pull["id"] in told)
    assert counts == dict(enumerate(session.pulls.tolist()))
    twice = sum(repeats.values()) - len(repeats)
    said = f"{len(told)} rewards, {twice} told twice, {len(forgotten)} pulls forgotten, {len(rows)} messages"
    sys.stdout.write(f"\n{said}, {service.kills} kills, {seconds:.0f} s: the decisions are those of one process\n")
