"""References that are programs: they ask for a pull, and go on where they were once its reward is there."""

import math

import numpy as np


def reference_of(program):
    """What a reference says, by a generator of what it says pull after pull; once in doubt, it stays so for the run."""

    def reference(view, algorithm):
        began, running = view.memory.setdefault("program", (view, program(view, algorithm)))
        said = next(running)
        view.near = began.near
        return said

    return reference


def best_of(view, values, arms):
    """The arm with the largest value among some, ties by the order."""
    return arms[view.first(np.asarray(values)[arms], view.order[0][arms])]


def means_of(rewards):
    """The means of lists of rewards; 0 for an empty one."""
    return np.asarray([np.sum(seen) / max(len(seen), 1) for seen in rewards])


def halving(view, budget, wanted, pulls_of_stage, answer=None):
    """Ask for the pulls of Sequential Halving; return the arm that is left.

    `wanted` says how much each arm should be pulled, by the rewards of the stage and the arms that are left. The first
    pulls of a run count in its first stage. `answer` is returned before the end, in place of the best arm of the stage.
    """
    alive, stages = list(range(view.count)), math.ceil(math.log2(view.count))
    start = [0] * view.count if answer is None else [len(seen) for seen in view.rewards]
    while len(alive) > 1:
        while True:
            fresh = [seen[at:] for seen, at in zip(view.rewards, start, strict=True)]
            if sum(map(len, fresh)) >= pulls_of_stage(budget, len(alive), stages):
                break
            best = best_of(view, means_of(fresh), alive) if answer is None else answer
            yield [best_of(view, wanted(fresh, alive), alive)], {best}, None
        stay = view.top(means_of(fresh)[alive], (len(alive) + 1) // 2, view.order[0][alive])
        alive = sorted(alive[i] for i in stay)
        start = [len(seen) for seen in view.rewards]
    return alive[0]


def one_halving(view, budget, wanted):
    """Sequential Halving with equal parts of the budget for all stages, and its end."""
    left = yield from halving(view, budget, wanted, lambda budget, left, stages: budget // stages)
    yield [], {left}, True
