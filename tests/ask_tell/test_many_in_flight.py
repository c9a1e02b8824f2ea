"""Thousands of pulls in flight: a message costs as much as with few, and what it needs of all of them is kept right."""

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.ask_tell.open_requests import OpenRequests, Request

RULES = {
    "one arm a step": jb.UGapEc(epsilon=0.1, delta=0.05),
    "two arms a step": jb.LUCB(epsilon=0.1, delta=0.05),
    "a budget": jb.GapE(budget=500, a=1.0),
    "rounds": jb.SuccessiveElimination(delta=0.05, b=1.0),
    "batches": jb.HoeffdingRace(epsilon=0.1, delta=0.05),
}


def looks(session, monkeypatch):
    """Return at how many requests a session looks when it hands out ten pulls, and takes a reward."""
    number, looked = 0, Request.next_entry.fget

    def counted(request):
        nonlocal number
        number += 1
        return looked(request)

    monkeypatch.setattr(Request, "next_entry", property(counted))
    session.tell(session.ask(10)[0], 1.0)
    monkeypatch.undo()
    return number


def test_a_message_looks_at_as_many_requests_as_with_few_pulls_in_flight(monkeypatch):
    session = jb.AskTell(RULES["one arm a step"], arms=3)
    session.tell(session.ask(3), [0.0, 1.0, 0.5])
    few = looks(session, monkeypatch)
    session.ask(200)
    assert looks(session, monkeypatch) == few


@pytest.mark.parametrize("name", RULES)
def test_what_is_kept_of_all_requests_is_that_of_the_requests(name):
    session, random, flight = jb.AskTell(RULES[name], arms=4), np.random.default_rng(0), []
    for _ in range(60):
        flight += session.ask(int(random.integers(1, 8)))
        random.shuffle(flight)
        told, flight = flight[:5], flight[5:]
        session.forget(told[:1])
        session.tell(told[1:], random.integers(2, size=len(told[1:])).astype(float))
        kept = session._run.requests
        again = OpenRequests.of(kept.by_number, 4)
        assert kept.unasked == again.unasked
        assert list(kept.by_number) == sorted(kept.by_number)
        np.testing.assert_array_equal(kept.pulls, again.pulls)
        if session.done:
            break
