"""ParetoGame, pull by pull, with a loop over the pairs of designs."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxbandits as jb
from jaxbandits.random.streams import step_key
from tests.algorithms.question_game import divergence, play, threshold

RULE = jb.ParetoGame
CASES = {
    "pareto game": (jb.ParetoGame(delta=0.3, objectives=2), jb.gaussian([0.9, 0.1, 0.5, 0.7, 0.3, 0.2], 0.3)),
    "pareto game, coins": (
        jb.ParetoGame(delta=0.1, objectives=2, family="bernoulli", threshold="heuristic"),
        jb.beta([8.0, 2.0, 3.0, 8.0, 1.0, 1.5, 2.0, 4.0], [2.0, 8.0, 7.0, 4.0, 9.0, 8.5, 8.0, 6.0]),
    ),
}
TIES = []  # of designs, not of arms: `test_questions.py`


def reference(view, algorithm):
    b, size = algorithm.b or view.b, algorithm.objectives
    family = algorithm.family or "gaussian"
    word = algorithm.threshold or "kk21-gaussian"
    designs = view.count // size
    if "order" not in view.memory:
        keys = jax.random.split(step_key(view.memory["key"], jnp.int32(view.time)))
        rows, columns = (np.asarray(jax.random.permutation(*of)) for of in zip(keys, (designs, size), strict=True))
        view.memory["order"] = (rows[:, None] * size + columns).ravel()

    def dominates(one, other):
        return all(one >= other) and any(one > other)

    def found(table):
        return [i for i in range(designs) if not any(dominates(table[j], table[i]) for j in range(designs))]

    def respond(means, shares):
        x, w = means.reshape(designs, size), shares.reshape(designs, size)
        ways = []
        for i in range(designs):
            hardest = (-1.0, [], i)
            for j in set(range(designs)) - {i}:
                middle = (w[i] * x[i] + w[j] * x[j]) / (w[i] + w[j])
                costs = w[i] * divergence(family, b, x[i], middle) + w[j] * divergence(family, b, x[j], middle)
                ahead = np.flatnonzero(x[i] > x[j])
                if i in found(x):
                    ways.append((costs[ahead].sum(), [(o, middle[o]) for o in ahead], i, j))
                elif dominates(x[j], x[i]) and costs.min() > hardest[0]:
                    o = int(costs.argmin())
                    hardest = (costs.min(), [(o, middle[o])], j)
            if i not in found(x):
                ways.append((hardest[0], hardest[1], i, hardest[2]))
        _, moves, i, j = min(ways, key=lambda way: way[0])
        moved = x.copy()
        for o, to in moves:
            moved[i, o] = moved[j, o] = to
        return moved.ravel()

    return play(
        view, family, b, lambda pulls, means: (means, 1 / pulls), respond,
        lambda pulls: threshold(word, view.time, 2 * size, designs * (designs - 1) / 2, algorithm.delta),
        lambda means: [i * size + o for i in found(means.reshape(designs, size)) for o in range(size)],
        view.memory["order"],
    )  # fmt: skip
