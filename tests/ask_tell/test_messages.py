"""Pulls in flight: rewards come in any order, twice, late or never, and decisions are those of the messages."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

ARMS = 4


@jb.algorithm
class UCB:
    """A rule without a state, whose decisions a loop of NumPy can follow."""

    budget: int
    shuffle_arms = False

    def select(self, arms, key):
        return jnp.argmax(arms.mean + jnp.sqrt(2 / arms.pulls) + arms.time / 2**20)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


@jb.algorithm
class Stopped:
    """Ends after some rewards, which are no budget: more pulls may be in flight then."""

    rewards: int

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.rewards

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def started(rule=None, key=0):
    """A session after the first pulls of its arms."""
    session = jb.AskTell(UCB(budget=60) if rule is None else rule, arms=ARMS, key=key)
    session.tell(pulls := session.ask(ARMS), [arm / 4 for _, arm in pulls])
    return session


def test_pulls_in_flight_count_as_pulls_that_gave_the_mean():
    session, random = started(), np.random.default_rng(0)
    pulls, sums, pending = np.ones(ARMS), np.arange(ARMS) / 4, np.zeros(ARMS)
    flight = []
    while not session.done:
        for pull in session.ask(int(random.integers(1, 4))):
            value = sums / pulls + np.sqrt(2 / (pulls + pending)) + (pulls + pending).sum() / 2**20
            assert pull.arm == np.argmax(value)
            pending[pull.arm] += 1
            flight.append(pull)
        assert session.in_flight == flight
        for _ in range(int(random.integers(0, len(flight) + 1))):
            pull = flight.pop(int(random.integers(len(flight))))
            pending[pull.arm] -= 1
            if random.random() < 0.2 and not session.done:
                assert session.forget(pull)
                continue
            reward = np.float32(random.random())
            ended = session.done
            assert session.tell(pull.id, reward)
            pulls, sums = (x + (np.arange(ARMS) == pull.arm) * y * (not ended) for x, y in ((pulls, 1), (sums, reward)))
    assert pulls.sum() == 60
    assert session.recommendation.argmax() == np.argmax(sums / pulls)


def test_the_first_pulls_are_handed_out_once_and_then_the_session_waits():
    session = jb.AskTell(UCB(budget=60), arms=ARMS)
    pulls = session.ask(10)
    assert sorted(arm for _, arm in pulls) == list(range(ARMS))
    assert session.ask(1) == []
    with pytest.raises(jb.UsageError, match="waits for the rewards"):
        session.ask()
    assert session.forget(pulls[2])
    (again,) = session.ask(5)
    assert again.arm == pulls[2].arm
    assert again.id != pulls[2].id


@pytest.mark.parametrize(
    "rule",
    [jb.SequentialHalving(budget=80), jb.SuccessiveRejects(budget=80), jb.AdaptiveTopK(k=2, budget=59)],
)
def test_the_order_of_the_rewards_of_a_request_does_not_matter(rule):
    def end(order):
        session, random = jb.AskTell(rule, arms=ARMS), np.random.default_rng(1)
        while not session.done:
            pulls = session.ask(200)
            rewards = (random.permutation(len(pulls)) % 5 + np.asarray([arm for _, arm in pulls])) / 8
            places = order(np.arange(len(pulls)))
            session.tell([pulls[i].id for i in places], rewards[places])
        return session

    forwards, backwards = end(lambda x: x), end(lambda x: x[::-1])
    np.testing.assert_array_equal(forwards.pulls, backwards.pulls)
    np.testing.assert_array_equal(forwards.recommendation, backwards.recommendation)


def test_a_message_that_comes_twice_counts_once():
    session = started()
    pull, other = session.ask(2)
    assert session.tell(pull.id, 0.25) is True
    before = session.to_json()
    assert session.tell(pull.id, 0.25) is False
    assert session.tell([pull, pull.id], [0.25, 0.25]).tolist() == [False, False]
    for told in ([pull.id], [0.5]), ([other, other], [0.0, 1.0]), (["x"], [0.0]), ([pull.id, "0"], [0.25, 0.25]):
        with pytest.raises(
            jb.UsageError, match=r"has the reward 0(\.25)?, and now|no pull with the id '(x|0)'"
        ) as error:
            session.tell(*told)
        assert "\n" not in str(error.value)
    assert session.to_json() == before
    assert session.pulls.sum() == ARMS + 1


def test_ids_of_another_session_are_refused():
    mine, others = started(), started(key=1).ask(2)
    mine.ask(2)
    with pytest.raises(jb.UsageError, match="no pull with the id"):
        mine.tell(others[1], 0.5)
    with pytest.raises(jb.UsageError, match="no pull with the id"):
        mine.forget([others[1].id])
    with pytest.raises(jb.UsageError, match="no pull with the id"):  # Python reads no number of 5,000 digits
        mine.tell(mine.ask(1)[0].id + "0" * 5000, 0.5)


def test_a_forgotten_pull_of_a_step_with_one_arm_is_dropped():
    session = started()
    pull, other = session.ask(2)
    assert session.forget([pull, pull]).tolist() == [True, False]
    assert session.tell(pull, 1.0) is False
    assert session.in_flight == [other]
    assert session.forget(other)
    assert session.ask() == pull.arm


def test_a_forgotten_pull_of_a_step_with_two_arms_is_handed_out_again():
    session = started(jb.LUCB(epsilon=0.1, delta=0.1))
    first, second = session.ask(2)
    later = session.ask(1)
    session.forget(second)
    (again,) = session.ask(1)
    assert again.arm == second.arm
    session.tell([again, first, *later], [0.5, 0.5, 0.5])
    assert session.pulls.sum() == ARMS + 3


def test_a_session_is_saved_with_its_pulls_in_flight():
    session = started()
    session.forget(session.ask(3)[0])
    session.tell(session.ask(2)[1], 0.5)
    again = jb.AskTell.from_json(session.to_json(), algorithm=UCB(budget=60))
    assert again.in_flight == session.in_flight
    assert [session.ask(3), session.ask()] == [again.ask(3), again.ask()]
    for one in (session, again):
        one.tell(one.in_flight, [0.5] * len(one.in_flight))
    assert again.to_json() == session.to_json()


def test_rewards_after_the_end_are_counted_and_change_no_answer():
    session = started(Stopped(rewards=6))
    first, second, late = session.ask(3)
    session.tell([first, second], [0.0, 0.0])
    assert session.done
    answer = session.recommendation
    assert session.tell(late, 1.0)
    assert session.pulls.sum() == ARMS + 3
    np.testing.assert_array_equal(session.recommendation, answer)
    with pytest.raises(jb.UsageError, match="done"):
        session.ask(1)


def test_the_cost_of_a_pull_is_told_before_the_next_is_handed_out():
    session = jb.AskTell(jb.RCB(budget=10.0), arms=ARMS)
    (pull,) = session.ask(3)
    assert session.ask(1) == []
    assert session.tell(pull.id, 0.5, cost=0.25)
    assert len(session.ask(3)) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda session: session.ask(0), "the number of pulls to ask for, must be a whole number"),
        (lambda session: session.tell([0, 1], [0.5, 0.5]), "ids must be those of"),
        (lambda session: session.tell(session.ask(2), [0.5]), "2 pulls need a list of 2 rewards"),
        (lambda session: session.tell(session.ask(2), 0.5), "2 pulls need a list of 2 rewards"),
        (lambda session: session.tell(session.ask(2), [0.5, 2.0]), "outside"),
        (lambda session: session.tell(session.ask(1)[0], 0.5, cost=0.5), "takes no cost"),
        (lambda session: session.forget(0), "ids must be those of"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, message):
    session = started()
    with pytest.raises(jb.UsageError, match=message) as error:
        call(session)
    assert "\n" not in str(error.value)
    assert session.pulls.sum() == ARMS


def test_no_more_pulls_are_handed_out_than_a_budget_has():
    session = jb.AskTell(jb.UCBE(budget=30, a=2.0), arms=3)
    handed = session.ask(100)
    session.tell([pull.id for pull in handed], [1.0] * len(handed))
    more = session.ask(100)
    assert (len(handed), len(more)) == (3, 27)
    assert session.ask(1) == []
    session.forget(more[0].id)
    (again,) = session.ask(5)
    session.tell([pull.id for pull in [*more[1:], again]], [0.0] * 27)
    assert session.done
    assert session.pulls.sum() == 30
