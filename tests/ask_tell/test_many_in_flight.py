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


def test_a_message_looks_once_for_the_first_pull_of_an_added_arm():
    class Looked(dict):
        times = 0

        def values(self):
            self.times += 1
            return super().values()

    session = jb.AskTell(RULES["one arm a step"], arms=3)
    session.tell(session.ask(3), [0.0, 1.0, 0.5])
    new = session.add_arm()
    assert session.ask(1)[0].arm == new
    session._handed_out.slots = slots = Looked(session._handed_out.slots)
    assert len(session.ask(10)) == 10
    assert slots.times == 1


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


def test_a_change_copies_few_of_many_requests():
    many = OpenRequests.of({number: Request.of([number % 3], [1], 3, "a rule") for number in range(3000)}, 3)
    changed = many.with_request(7, many.by_number[7].with_handed(0)).without(1500)
    assert list(changed.by_number) == [number for number in range(3000) if number != 1500]
    assert len(changed.by_number) == 2999
    assert many.by_number[7].handed[0] == 0
    assert changed.by_number[7].handed[0] == 1
    assert 1500 in many.by_number
    assert 1500 not in changed.by_number
    before, after = (x.by_number._chunks for x in (many, changed))
    assert sum(len(chunk) for place, chunk in after.items() if chunk is not before[place]) < 3000 / 4


def test_a_chunk_without_requests_is_dropped():
    none = OpenRequests.of({}, 3)
    one = none.with_request(5000, Request.of([1], [1], 3, "a rule"))
    assert list(one.by_number) == [5000]
    assert not one.without(5000).by_number
    assert not one.without(5000).by_number._chunks
