"""Rewards from before a session, and arms that come and go: the rule decides by what is known of the arms there are."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import jaxbandits as jb
from jaxbandits.ask_tell import snapshot


@jb.algorithm
class UCB:
    """A rule without a state."""

    budget: int

    def select(self, arms, key):
        return jnp.argmax(arms.mean + jnp.sqrt(2 / arms.pulls))

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def play(session, pulls, seed=0):
    """Tell random rewards; the arms that were pulled."""
    random, arms = np.random.default_rng(seed), []
    for _ in range(pulls):
        arms.append(session.ask())
        session.tell(arms[-1], np.float32(random.random()))
    return arms


def known(session):
    return {"pulls": session.pulls, "means": session.means}


def test_a_session_with_prior_rewards_goes_on_as_the_one_that_told_them():
    first = jb.AskTell(UCB(budget=90), arms=3)
    play(first, 40)
    second = jb.AskTell(UCB(budget=90), arms=3, prior=known(first))
    again = jb.AskTell.from_json(second.to_json(), algorithm=UCB(budget=90))
    arms = play(first, 50, seed=1)
    assert play(second, 50, seed=1) == arms
    assert play(again, 50, seed=1) == arms
    assert first.done
    assert second.done
    np.testing.assert_allclose(first.means, second.means)


def test_prior_rewards_may_be_a_data_frame():
    counts = {"pulls": [7, 5, 9], "sums": [3.5, 1.0, 8.0]}
    session, same = (jb.AskTell(UCB(budget=90), arms=3, prior=given) for given in (counts, pd.DataFrame(counts)))
    assert session.to_json() == same.to_json()


def test_arms_without_prior_pulls_are_pulled_first():
    session = jb.AskTell(UCB(budget=90), arms=4, prior={"pulls": [7, 0, 5, 0], "sums": [3.5, 0, 1.0, 0]})
    assert sorted(arm for _, arm in session.ask(9)) == [1, 3]
    again = jb.AskTell.from_json(session.to_json(), algorithm=UCB(budget=90))
    for one in (session, again):
        one.tell(one.in_flight, [0.5, 0.5])
        assert one.pulls.tolist() == [7, 1, 5, 1]
    assert again.to_json() == session.to_json()
    assert again.ask(5) == session.ask(5)


def test_arms_come_and_go():
    session = jb.AskTell(UCB(budget=90), arms=3, key=2)
    play(session, 20)
    flight = session.ask(4)
    assert session.add_arm() == 3
    assert session.ask() == 3
    (new, other) = session.ask(2)
    assert new.arm == 3
    assert other.arm != 3
    assert session.recommendation.shape == (4,)
    texts = []
    for one in (session, jb.AskTell.from_json(session.to_json(), algorithm=UCB(budget=90))):
        one.tell(new, 1.0)
        one.withdraw(0)
        one.tell(flight, [1.0] * 4)
        assert not one.recommendation[0]
        assert 0 not in play(one, 40)
        assert one.pulls[3] > 5
        assert one.pulls.sum() == 20 + 5 + 40
        texts.append(one.to_json())
    assert len(set(texts)) == 1
    # What the rule knows are the rewards of the arms that are there.
    prior = {name: values[1:] for name, values in known(session).items()}
    same = jb.AskTell(UCB(budget=90), arms=3, key=2, prior=prior)
    session.forget(other)
    assert [arm for _, arm in session.ask(6)] == [arm + 1 for _, arm in same.ask(6)]
    assert jb.AskTell.from_json(session.to_json(), algorithm=UCB(budget=90)).ask(3) == session.ask(3)


def test_the_first_pull_of_an_added_arm_may_be_forgotten_and_the_arm_withdrawn():
    session = jb.AskTell(UCB(budget=90), arms=3)
    play(session, 5)
    session.add_arm()
    (pull,) = session.ask(1)
    session.forget(pull)
    (again,) = session.ask(1)
    assert pull.arm == again.arm == 3
    session.withdraw(3)
    assert session.tell(again, 1.0)
    assert 3 not in play(session, 9)
    assert session.pulls.tolist()[3] == 1


def test_an_arm_that_was_withdrawn_is_no_rival():
    """Its interval overlaps that of the best arm that is left, for good."""
    prior = {"pulls": [150, 150, 150], "means": [0.6, 0.58, 0.1]}
    session = jb.AskTell(jb.EBTCI(delta=0.01), arms=3, prior=prior)
    session.withdraw(0)
    assert session.recommendation.tolist() == [False, True, False]
    assert session.confidence > 0.98
    ends = session.intervals(1 - session.confidence)
    np.testing.assert_allclose(ends[1, 0], ends[2, 1], atol=1e-4)


@pytest.mark.slow
def test_nothing_is_known_of_an_arm_that_was_added():
    prior = {"pulls": [150, 150, 150], "means": [0.6, 0.1, 0.58]}
    session = jb.AskTell(jb.UGapEc(epsilon=0.0, delta=0.01), arms=3, prior=prior)
    session.withdraw(2)
    assert session.confidence > 0.98
    session.add_arm()
    assert session.confidence == 0


@pytest.mark.slow
def test_expected_pulls_are_those_of_the_arms_that_are_there():
    prior = {"pulls": [30, 30, 30, 30], "means": [0.5, 0.6, 0.1, 0.52]}
    session = jb.AskTell(jb.EBTCI(delta=0.05), arms=4, prior=prior)
    assert session.expected_pulls(seeds=20).mean > 1000
    session.withdraw(0)
    session.add_arm()
    session.withdraw(3)
    with pytest.raises(jb.UsageError, match="needs a reward of each arm"):
        session.expected_pulls()
    session.withdraw(4)  # 0.6 and 0.1 are left
    alone = jb.AskTell(jb.EBTCI(delta=0.05), arms=2, prior={"pulls": [30, 30], "means": [0.6, 0.1]})
    one, other = (each.expected_pulls(seeds=2000) for each in (session, alone))
    assert one.mean < 120
    assert abs(one.mean - other.mean) < 7  # more than six standard errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: jb.AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=3, prior=known(s)), "keeps a state of its own"),
        (lambda s: jb.AskTell(jb.SequentialHalving(budget=90), arms=3, prior=known(s)), "pulls in rounds or batches"),
        (lambda s: jb.AskTell(jb.UGapEc(epsilon=0.1, delta=0.1, variance=True), arms=3, prior=known(s)), "variances"),
        (lambda s: jb.AskTell(jb.RCB(budget=9.0), arms=3, prior=known(s)), "needs costs or variances"),
        (lambda s: jb.AskTell(UCB(budget=90), arms=4, prior=known(s)), "must be 4 numbers, one of each arm"),
        (lambda s: jb.AskTell(UCB(budget=90), arms=3, prior=[1, 2, 3]), "prior must be"),
        (lambda s: jb.AskTell(UCB(budget=90), arms=3, prior={"pulls": [1, 1, 1]}), "prior must be"),
        (lambda s: jb.AskTell(UCB(budget=90), arms=2, prior={"pulls": [1, 0.5], "sums": [1, 0]}), "prior: pulls must"),
        (lambda s: jb.AskTell(UCB(budget=90), arms=2, prior={"pulls": [1, 0], "sums": [1, 1]}), "no rewards of an arm"),
        (lambda s: jb.AskTell(UCB(budget=90), arms=2, prior={"pulls": [1, 1], "means": [1, 2]}), "of arm 1: the mean"),
        (lambda s: s.withdraw(5), "an arm must be"),
        (lambda s: (s.withdraw(1), s.withdraw(1)), "arm 1 was withdrawn before"),
        (lambda s: (s.withdraw(1), s.withdraw(2)), "arm 2 is one of the last two"),
        (lambda s: jb.AskTell(UCB(budget=90), arms=3).add_arm(), "tell these rewards first"),
        (lambda s: jb.AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=3).add_arm(), "LUCB keeps a state of its own"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, message):
    session = jb.AskTell(UCB(budget=90), arms=3)
    play(session, 3)
    with pytest.raises(jb.UsageError, match=message) as error:
        call(session)
    assert "\n" not in str(error.value)


def test_a_session_warmed_up_after_an_arm_was_added_compiles_nothing_later():
    """The programs are counted: those for 7 and 8 arms are there before the rewards of the two new arms are told."""
    session = jb.AskTell(UCB(budget=60), arms=6)
    play(session, 6)
    new = [session.add_arm(), session.add_arm()]
    session.warm_up()
    programs = (snapshot.resume, snapshot.advance, snapshot.look)
    before = [program.count for program in programs]
    assert play(session, 4)[:2] == new
    assert [program.count for program in programs] == before


def test_a_prior_of_a_session_that_has_not_pulled_all_arms():
    """Its means are NaN where there are no rewards."""
    first = jb.AskTell(UCB(budget=90), arms=3)
    first.tell(first.ask(), 1.0)
    second = jb.AskTell(UCB(budget=90), arms=3, prior={"pulls": first.pulls, "means": first.means})
    np.testing.assert_array_equal(second.pulls, first.pulls)
    np.testing.assert_array_equal(second.means, first.means)
