"""Programs for other numbers of arms are traced once in a call, and anew in the next."""

import collections
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp

import jaxbandits as jb
from jaxbandits.transform.shared_traces import once, traced_once


def test_kept_until_the_last_block_ends() -> None:
    made = []

    def make() -> int:
        made.append(0)
        return len(made)

    assert (once("key", make), once("key", make)) == (1, 2)
    with traced_once():
        with traced_once():
            assert (once("key", make), once("key", make)) == (3, 3)
        assert once("key", make) == 3
        assert once("other", make) == 4
    assert once("key", make) == 5


def test_threads_share_nothing() -> None:
    """What one thread has traced may be older than the code that another one runs."""
    with traced_once(), ThreadPoolExecutor(1) as pool:
        assert once("key", lambda: "here") == "here"
        assert pool.submit(once, "key", lambda: "there").result() == "there"
        assert once("key", lambda: "later") == "here"


def test_a_sweep_traces_a_method_once_for_each_number_of_arms() -> None:
    seen: collections.Counter[int] = collections.Counter()

    @jb.algorithm
    class Counted:
        budget: int

        def select(self, arms, key):
            seen[len(arms)] += 1
            return jnp.argmin(arms.pulls)

        def done(self, arms):
            return arms.time >= self.budget

        def recommend(self, arms):
            return jnp.argmax(arms.mean)

    problems = {str(k): jb.bernoulli([0.9] + [0.1] * (k - 1)) for k in (3, 4, 7)}
    wider = (2, 9, 10)  # none of the problems has as many arms, and the program has room for 8
    jb.sweep([Counted(budget=20)], problems, seeds=2)
    assert [seen[n] for n in wider] == [1, 1, 1], seen
