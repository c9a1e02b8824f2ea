"""A live session pulls the arms of the simulated run, survives JSON at any moment, and refuses what cannot be."""

import copy
import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.ask_tell.saved_sessions import text_of
from jaxbandits.ask_tell.session import AskTell
from tests.reward_tables import reward_table

# Of these the programs are compiled as for users.
KINDS = ("ugape-c", "successive-elimination")
# One of each kind: a pull, two pulls or a stage at a time.
OFTEN = ("ugape-c", "lucb", "sequential-halving")
ARMS = 4
PROBLEM = jb.bernoulli([0.8, 0.3, 0.6, 0.4])
VALUES = {
    "epsilon": 0.7,
    "delta": 0.3,
    "budget": 60,
    "moment_b": 0.03,
    "moment_c": 0.02,
    "threshold": 2.0,
    "level": 0.5,
    "k": 2,
}
KEY = jax.random.fold_in(jax.random.key(7), 3)


def variants():
    """Every algorithm of the registry, plain and with each of its switches; none that needs the true means.

    All but a few with the slow tests.
    """
    for name, cls in REGISTRY.items():
        if cls.traits.in_batches or cls.traits.spends is not None:
            continue
        fields = {field.name: field for field in dataclasses.fields(cls)}
        required = {n: VALUES[n] for n, f in fields.items() if f.default is dataclasses.MISSING}
        if "k" in fields:  # their defaults are for thousands of pulls
            required |= {n: VALUES[n] for n in ("epsilon", "delta") if n in fields}
        switches = [n for n, f in fields.items() if isinstance(f.default, bool)]
        if "estimator" in fields:
            required |= {n: VALUES[n] for n in ("moment_b", "moment_c", "threshold") if n in fields}
            for choice in ("ea", "tea"):
                marks = [pytest.mark.slow] + [pytest.mark.bits] * (name in KINDS)
                yield pytest.param(cls(**required, estimator=choice), id=f"{name}-{choice}", marks=marks)
            continue
        if "family" in fields:  # not known of rewards that come from outside, and looked up where they are simulated
            required["family"] = "gaussian"
        for switch in [None, *switches[:1]]:  # the others are settings of the same two halves
            if (cls is jb.LilUCB and switch is None) or switch == "multiplicative":  # for tens of thousands of pulls
                continue
            values = required | ({switch: not fields[switch].default} if switch else {})
            if "a" in fields and switch != "adaptive":
                values["a"] = 2.0
            if "norm" in fields:  # theta has the length 1.12
                values["norm"] = 1.2
            if "variances" in fields:
                values["variances"] = 0.2
            marks = [pytest.mark.slow] * (bool(switch) or name not in OFTEN) + [pytest.mark.bits] * (name in KINDS)
            yield pytest.param(cls(**values), id=f"{name}-{switch}" if switch else name, marks=marks)


@pytest.fixture(scope="module")
def table():
    """Rewards of the run, entry by entry, `(N, K)`."""
    entry = jax.vmap(lambda pull, arm: PROBLEM.reward(KEY, arm, pull), in_axes=(None, 0))
    pulls, arms = jnp.arange(2000, dtype=jnp.int32), jnp.arange(ARMS, dtype=jnp.int32)
    return np.asarray(jax.jit(jax.vmap(entry, in_axes=(0, None)))(pulls, arms))


def play(session, table, pulled=(), most=10**6):
    """Answer the session from the table until it is done or `most` arms were pulled in all; the arms in order."""
    pulled = list(pulled)
    while not session.done and len(pulled) < most:
        pulled.append(session.ask())
        session.tell(pulled[-1], table[pulled[:-1].count(pulled[-1]), pulled[-1]])
    return pulled


@pytest.mark.parametrize("algorithm", list(variants()))
def test_session_is_the_simulated_run_and_survives_json(algorithm, table):
    first = ARMS * algorithm.initial_pulls
    session = AskTell(algorithm, arms=ARMS, key=KEY)
    pulled, saved = [], []
    for moment in (0, 1, first - 1, first, first + 1, first + 2, len(table)):
        pulled = play(session, table, pulled, most=moment)
        saved.append((pulled, session.to_json(), session.recommendation))
    assert session.done

    assert all(sorted(pulled[i : i + ARMS]) == list(range(ARMS)) for i in range(0, first, ARMS))
    states = jax.device_get(jb.trajectory(algorithm, PROBLEM, KEY, len(table)))
    after = iter(pulled[first:])
    for step in np.diff(states.pulls, axis=0):
        assert sorted(next(after) for _ in range(step.sum())) == np.flatnonzero(step).tolist()
    assert next(after, None) is None
    np.testing.assert_array_equal(session.recommendation, states.answer[-1])

    for begun, text, recommendation in saved:
        restored = AskTell.from_json(text)
        assert restored.to_json() == text
        np.testing.assert_array_equal(restored.recommendation, recommendation)
        assert play(restored, table, begun) == pulled
        assert restored.to_json() == session.to_json()


BATCHES = {
    "adaptive": jb.AdaptiveTopK(k=2, epsilon=0.7, delta=0.3),
    "adaptive, a budget with a rest": jb.AdaptiveTopK(k=2, budget=59),
    "adaptive, fine": jb.AdaptiveTopK(k=1, epsilon=0.7, delta=0.3, schedule="fine", scale=0.3),
    "improved": jb.ImprovedTopK(k=2, epsilon=1.0, delta=0.3),
    "mai": jb.OptMAI(k=1, budget=60),
}


SUMMED = jb.beta([4.0, 3.0, 2.0, 1.0], 2.0)  # whose sums are those of the reward table


@pytest.fixture(scope="module")
def summed_table():
    """Rewards of the run on `SUMMED`, `(N, K)`."""
    return np.asarray(reward_table(SUMMED, KEY, pulls=2000))


@pytest.mark.parametrize(
    "algorithm",
    [pytest.param(a, id=n, marks=[pytest.mark.slow] * (n != "adaptive")) for n, a in BATCHES.items()],
)
def test_batches_are_asked_one_by_one_and_survive_json(algorithm, summed_table):
    session = AskTell(algorithm, arms=ARMS, key=KEY)
    pulled = []
    while not session.done:
        pulled = play(session, summed_table, pulled, most=len(pulled) + 13)
        text = session.to_json()
        session = AskTell.from_json(text)
        assert session.to_json() == text
    final = jb.run(algorithm, SUMMED, KEY)
    np.testing.assert_array_equal(np.bincount(pulled, minlength=ARMS), final.pulls)
    np.testing.assert_array_equal(session.recommendation, final.answer)


@pytest.mark.slow
def test_batches_of_joint_pulls_are_asked_one_by_one_and_survive_json():
    problem = jb.empirical([[0.0] * ARMS, [1.0, 0.5, 0.25, 0.5], [1.0, 0.0, 0.25, 0.0]])
    algorithm = jb.MABPPR(epsilon=0.9, delta=0.8, c1=2e-3, c2=1, c3=2, n_final=1.5)
    table = np.asarray(reward_table(problem, KEY, pulls=2000))
    session, pulled = AskTell(algorithm, arms=ARMS, key=KEY), []
    while not session.done:
        pulled = play(session, table, pulled, most=len(pulled) + 13)
        text = session.to_json()
        session = AskTell.from_json(text)
        assert session.to_json() == text
    final = jb.run(algorithm, problem, KEY)
    assert int(final.own.round) >= 1
    np.testing.assert_array_equal(np.bincount(pulled, minlength=ARMS), final.pulls)
    np.testing.assert_array_equal(session.recommendation, final.answer)


def test_lucb_is_restored_between_the_two_pulls_of_a_round():
    session = AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=3)
    for _ in range(3):
        session.tell(session.ask(), 0.5)
    session.tell(session.ask(), 1.0)
    (request,) = json.loads(session.to_json())["requests"]
    assert request[4] == [1, 0]  # rewards told of the step's two arms
    assert AskTell.from_json(session.to_json()).ask() == session.ask()


@pytest.mark.slow
def test_sub_gaussian_rewards_of_any_size():
    problem = jb.gaussian([1.0, 0.0, -1.0], sd=0.25)
    algorithm = jb.UGapEc(epsilon=0.2, delta=0.2)
    session = AskTell(algorithm, arms=3, key=KEY, reward_range=0.5, bounded=False)
    pulls = np.zeros(3, np.int32)
    reward = jax.jit(problem.reward)
    while not session.done:
        arm = session.ask()
        session.tell(arm, reward(KEY, jnp.int32(arm), pulls[arm]))
        pulls[arm] += 1
    final = jb.run(algorithm, problem, KEY)
    np.testing.assert_array_equal(pulls, final.pulls)
    np.testing.assert_array_equal(session.recommendation, final.answer)
    assert AskTell.from_json(session.to_json()).done


@jb.algorithm
class Endless:
    """Keeps an infinite number."""

    budget: int

    def init(self, arms, key):
        return jnp.float32(jnp.inf)

    def update(self, state, arms, arm, reward):
        return state

    def select(self, state, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, state, arms):
        return arms.time >= self.budget

    def recommend(self, state, arms):
        return jnp.argmax(arms.mean)


def test_json_is_strict_and_holds_infinities():
    session = AskTell(Endless(budget=20), arms=3)
    for _ in range(3):
        session.tell(session.ask(), 0.1)
    data = json.loads(session.to_json(), parse_constant=pytest.fail)
    assert any("inf" in leaf["values"] for leaf in data["state"])
    assert session.to_json() == AskTell.from_json(session.to_json(), algorithm=Endless(budget=20)).to_json()
    assert all(leaf.keys() == {"dtype", "shape", "values"} for leaf in data["state"])


def test_its_text_says_how_far_it_is():
    session = AskTell(jb.Uniform(budget=4), arms=2)
    assert str(session) == "<AskTell: Uniform(budget=4, m=1), 2 arms, 0 pulls, 0 in flight, not done, recommends []>"
    first, second = session.ask(2)
    session.tell(first, float(first.arm == 1))
    assert "2 arms, 1 pulls, 1 in flight, not done" in str(session)
    session.tell(second, float(second.arm == 1))
    while not session.done:
        session.tell(arm := session.ask(), float(arm == 1))
    assert str(session) == "<AskTell: Uniform(budget=4, m=1), 2 arms, 4 pulls, 0 in flight, done, recommends [1]>"


def test_a_copy_goes_on_by_itself():
    """What was told to a session was in its copy, too, whose run stood still."""
    session = AskTell(jb.UGapEc(epsilon=0.1, delta=0.05), 3)
    first, *others = session.ask(3)
    session.tell(first, 1.0)
    kept = copy.copy(session)
    session.tell(others, [0.0, 1.0])
    assert kept.pulls.sum() == 1
    assert kept.in_flight == others
    kept.tell(others, [0.0, 1.0])
    assert kept.to_json() == session.to_json()


def test_asking_twice_gives_the_same_arm_and_nothing_is_recommended_at_first():
    session = AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=5, key=1)
    assert not session.recommendation.any()
    for _ in range(8):
        arm = session.ask()
        assert session.ask() == arm
        session.tell(arm, True)
    assert session.recommendation.sum() == 1


def test_the_first_pulls_are_in_random_order():
    orders = set()
    for seed in range(5):
        session = AskTell(jb.Uniform(budget=20), arms=6, key=seed)
        orders.add(tuple(play(session, np.zeros((20, 6)), most=6)))
    assert len(orders) > 1


@pytest.mark.parametrize("reward", [1.5, -0.1, float("nan"), float("inf"), 1e39, "0.5", None, [0.5], 1j])
def test_an_impossible_reward_is_refused_and_nothing_is_lost(reward):
    session = AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=2)
    session.tell(session.ask(), 0.5)
    before = session.to_json()
    with pytest.raises(jb.UsageError, match="reward") as error:
        session.tell(session.ask(), reward)
    assert "\n" not in str(error.value)
    assert session.to_json() == before
    session.tell(session.ask(), 1.0)


@pytest.mark.parametrize("reward", [float("nan"), 1e39])
def test_an_unbounded_reward_must_still_be_finite(reward):
    session = AskTell(jb.UGapEc(epsilon=0.1, delta=0.1), arms=2, bounded=False)
    with pytest.raises(jb.UsageError, match="finite"):
        session.tell(session.ask(), reward)


def test_the_range_is_the_algorithms_or_the_sessions():
    session = AskTell(jb.UGapEc(epsilon=0.1, delta=0.1, b=10), arms=2)
    session.tell(session.ask(), 10)
    session = AskTell(jb.Uniform(budget=10), arms=2, reward_range=0.1)
    session.tell(session.ask(), np.float32(0.1))
    with pytest.raises(jb.UsageError, match=r"outside \[0, 0.1\]"):
        session.tell(session.ask(), 0.11)
    with pytest.raises(jb.UsageError, match="contradicts"):
        AskTell(jb.UGapEc(epsilon=0.1, delta=0.1, b=10), arms=2, reward_range=1.0)


@pytest.mark.parametrize("arm", [-1, 2, 0.0, None])
def test_an_arm_that_is_none_is_refused(arm):
    session = AskTell(jb.Uniform(budget=10), arms=2)
    with pytest.raises(jb.UsageError, match="an arm must be"):
        session.tell(arm, 0.5)


def test_an_arm_that_was_not_asked_is_refused():
    session = AskTell(jb.Uniform(budget=10), arms=2)
    asked = session.ask()
    with pytest.raises(jb.UsageError, match=f"asked for arm {asked}"):
        session.tell(1 - asked, 0.5)
    assert session.ask() == asked


def test_a_done_session_takes_nothing_more():
    session = AskTell(jb.Uniform(budget=2), arms=2)
    play(session, np.asarray([[0.0, 1.0]]))
    for session in (session, AskTell.from_json(session.to_json())):  # noqa: B020
        assert session.done
        assert session.recommendation.tolist() == [False, True]
        with pytest.raises(jb.UsageError, match="done"):
            session.ask()
        with pytest.raises(jb.UsageError, match="done"):
            session.tell(0, 0.5)


@pytest.mark.parametrize(
    "algorithm", [jb.UGapEb(budget=50), jb.UGapEb(budget=50, variance=True), jb.GapE(budget=50), jb.UCBE(budget=50)]
)
def test_an_algorithm_that_needs_the_true_means_says_so_at_once(algorithm):
    with pytest.raises(jb.UsageError, match=f"{type(algorithm).__name__} .*true means.*give a=") as error:
        AskTell(algorithm, arms=4)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=1), "arms must be a whole number from 2"),
        (lambda: AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=2.5), "arms must be a whole number"),
        (
            lambda: AskTell(jb.Uniform(budget=9), arms=jb.bernoulli([0.1, 0.2, 0.3], name="mine")),
            "^arms must be a whole number from 2 to 8,388,608, got the problem 'mine', which has 3 arms: arms=3$",
        ),
        (
            lambda: AskTell(jb.Uniform(budget=9), arms=jb.reservoir(beta=1)),
            "got the problem 'reservoir:beta=1[^ ]*'$",
        ),
        (lambda: AskTell(jb.LUCB(epsilon=0.1, delta=0.1, m=3), arms=3), "m must be smaller"),
        (lambda: AskTell(jb.Uniform(budget=3), arms=4), "budget must cover"),
        (lambda: AskTell(jb.LUCB(epsilon=jb.axis([0.1, 0.2]), delta=0.1), arms=3), "epsilon is an axis"),
        (lambda: AskTell(jb.Uniform(budget=9), arms=3, reward_range=-1.0), "reward_range must be"),
        (lambda: AskTell(jb.Uniform(budget=9), arms=3, key=jax.random.split(jax.random.key(0))), "one typed key"),
        (lambda: AskTell("lucb", arms=3), r"an algorithm is needed, jb\.LUCB"),
        (
            lambda: AskTell(jb.MedianElimination(epsilon=1e-4, delta=0.05), arms=4),
            r"^MedianElimination begins with more than 2\^31 pulls: a larger epsilon or delta takes fewer$",
        ),
    ],
)
def test_a_session_that_cannot_be_is_refused(make, message):
    with pytest.raises(jb.UsageError, match=message):
        make()


@pytest.mark.parametrize("text", ["nonsense", None, "[]", "{}", pytest.param("[" * 10**5, id="nested")])
def test_a_text_that_is_no_session_is_refused(text):
    with pytest.raises(jb.UsageError, match="a saved session must"):
        AskTell.from_json(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": []}, "damaged"),
        ({"state": [{"dtype": "int32", "shape": [3], "values": [1, 1, 1]}] * 20}, "damaged"),
        ({"requests": [[1, [0, 7], [1, 1], [1, 0], [1, 0], [1.0, 0.0], 0]]}, "damaged"),
        ({"requests": [[1, [0, 1], [1, 1], [1, 0], [1, 1], [1.0, 0.0], 0]]}, "damaged"),
        ({"moment": [[0], [1], False]}, "damaged"),
        ({"told": [[1, 1], [0.5, 0.5]]}, "damaged"),
        ({"rewards": "?"}, "damaged"),
        ({"key": [1, 2, 3]}, "damaged"),
        ({"algorithm": {"name": "lubc"}}, "did you mean 'lucb'"),
    ],
)
def test_a_damaged_session_is_refused_even_if_its_checksum_is_right(change, message):
    session = AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=3)
    for _ in range(4):
        session.tell(session.ask(), 0.5)
    data = json.loads(session.to_json()) | change
    del data["sha256"]
    with pytest.raises(jb.UsageError, match=message) as error:
        AskTell.from_json(text_of(data))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"arms": 3, "seed": 0},
            "^AskTell: got an unexpected keyword argument 'seed'; its .* are algorithm, arms, key, ",
        ),
        ({}, "^AskTell: missing a required argument: 'arms'"),
    ],
)
def test_arguments_that_do_not_fit_are_one_line(arguments, message):
    """The error named a class that is not the user's."""
    with pytest.raises(jb.UsageError, match=message) as error:
        AskTell(jb.LUCB(epsilon=0.1, delta=0.1), **arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bounded": False}, "was changed after to_json"),
        ({"sha256": "0"}, "was changed after to_json"),
        ({"reward_range": float("nan")}, "was changed after to_json"),
        ({"schema": 2}, "the schema 2, and this version reads schema 1"),
        ({"schema": None}, "the schema None, and this version reads schema 1"),
    ],
)
def test_an_edited_text_or_another_schema_is_refused(change, message):
    text = json.dumps(json.loads(AskTell(jb.LUCB(epsilon=0.1, delta=0.1), arms=3).to_json()) | change)
    with pytest.raises(jb.UsageError, match=message) as error:
        AskTell.from_json(text)
    assert "\n" not in str(error.value)


@jb.algorithm
class Coin:
    """Pulls arms at random: a user's own algorithm, whose state holds a key."""

    budget: float

    def init(self, arms, key):
        return key

    def update(self, state, arms, arm, reward):
        return jax.random.fold_in(state, arm)

    def select(self, state, arms, key):
        return jax.random.randint(state, (), 0, len(arms))

    def done(self, state, arms):
        return arms.time >= self.budget

    def recommend(self, state, arms):
        return arms.pulls == jnp.max(arms.pulls)


def test_a_users_own_algorithm_is_given_again_when_restored():
    table = np.zeros((50, 3))
    whole = play(AskTell(Coin(30), arms=3), table)
    session = AskTell(Coin(30), arms=3)
    begun = play(session, table, most=10)
    restored = AskTell.from_json(session.to_json(), algorithm=Coin(30))
    assert play(restored, table, pulled=begun) == whole
    with pytest.raises(jb.UsageError, match=r"the algorithm Coin cannot be made again: .*: give it again, algorithm=…"):
        AskTell.from_json(session.to_json())
    with pytest.raises(jb.UsageError, match="saved with"):
        AskTell.from_json(session.to_json(), algorithm=Coin(31))


def test_rewards_far_from_zero_are_refused_before_float32_loses_their_differences():
    rule, random = jb.UniformGLR(delta=0.1, family="gaussian", b=2.0), np.random.default_rng(0)

    def play(constant, pulls):
        session = AskTell(rule, arms=2, key=0, bounded=False, reward_range=2.0)
        for _ in range(pulls):
            session = AskTell.from_json(session.to_json()) if random.random() < 0.1 else session
            session.tell(session.ask(), constant + random.normal())
        return session

    assert play(1e3, 40).pulls.sum() == 40
    for constant in (1e6, 1e8):
        with pytest.raises(jb.UsageError, match="begin a session with rewards from which a constant is subtracted"):
            play(constant, 40)


@pytest.mark.parametrize("reward", [0.3, -0.2, 1234.56])
def test_rewards_that_never_vary_are_taken(reward):
    """They differ from float32's next number, and this is no spread."""
    session = AskTell(jb.UniformGLR(delta=0.1, family="gaussian", b=1.0), arms=2, key=0, bounded=False)
    for _ in range(30):
        session = AskTell.from_json(session.to_json())
        session.tell(session.ask(), reward)
    assert session.pulls.tolist() == [15, 15]


def test_large_rewards_of_heavy_tails_are_taken():
    random = np.random.default_rng(1)
    session = AskTell(jb.SuccessiveElimination(delta=0.1, p=1.5, moment_b=2.0), arms=2, key=0, bounded=False)
    for _ in range(200):
        session.tell(session.ask(), float(random.pareto(1.2)) * 1e6)
    assert session.pulls.sum() == 200


@jb.algorithm
class Turning:
    """Keeps a complex number of each arm, which a reward turns."""

    budget: int = 12

    def init(self, arms, key):
        return jnp.full(len(arms), complex(1, -np.inf)).at[0].set(1 - 0.1j)

    def update(self, state, arms, arm, reward):
        return state.at[arm].multiply(jnp.exp(1j * reward))

    def select(self, state, arms, key):
        return jnp.argmin(arms.pulls + jnp.abs(state.real) / 100)

    def done(self, state, arms):
        return arms.time >= self.budget

    def recommend(self, state, arms):
        return jnp.argmax(arms.mean)


def test_a_state_of_complex_numbers_is_saved():
    session = AskTell(Turning(), arms=ARMS)
    while not session.done:
        session.tell(session.ask(), 1.0)
        text = session.to_json()
        session = AskTell.from_json(text, algorithm=Turning())
        assert session.to_json() == text


@pytest.mark.parametrize(
    "rule",
    [
        jb.SHVar(budget=30, variances=np.array([1, 2, 4])),
        jb.SHVar(budget=30, variances=jnp.array([1, 2, 4])),
        jb.BetaTopTwo(budget=30, prior_a=np.array([1, 2, 3]), prior_b=np.array([2, 2, 2])),
    ],
)
def test_a_session_with_whole_numbers_for_its_arms_is_read_back(rule):
    """It was saved with integers, read back with fractions, and refused as damaged."""
    session = AskTell(rule, arms=3)
    for reward in (1.0, 0.0, 1.0, 0.0, 0.0):
        session.tell(session.ask(), reward)
    again = AskTell.from_json(session.to_json())
    while not session.done:
        arm = session.ask()
        assert again.ask() == arm
        for one in (session, again):
            one.tell(arm, 0.5)
    assert (again.recommendation == session.recommendation).all()


def test_successive_elimination_takes_the_range_of_the_session():
    """It was refused: "needs b"."""
    rules = (jb.SuccessiveElimination(delta=0.1), jb.SuccessiveElimination(delta=0.1, b=2.0))
    sessions = [AskTell(rule, arms=3, reward_range=2.0) for rule in rules]
    random = np.random.default_rng(1)
    while not sessions[0].done:
        arms = [session.ask() for session in sessions]
        assert arms[0] == arms[1]
        reward = 2.0 * float(random.random() < [0.9, 0.2, 0.1][arms[0]])
        for session, arm in zip(sessions, arms, strict=True):
            session.tell(arm, reward)
    assert sessions[1].done
    assert sessions[0].pulls.min() > 10
