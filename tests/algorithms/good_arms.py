"""What the references of HDoC, LUCB-G and APT-G share: which arms are decided (Kano et al. 2019)."""

import numpy as np


def decided(view, algorithm, index):
    """What a reference says, with the index of a rule: a function of the view and of the radius of each arm."""
    pulls, mean, b, xi = view.pulls[0], view.mean[0], algorithm.b or view.b, algorithm.threshold
    radius = b * np.sqrt(np.log(4 * view.count * pulls**2 / algorithm.delta) / (2 * pulls))
    undecided, good = view.memory.setdefault("sets", (set(range(view.count)), set()))
    view.doubt([(mean + sign * radius - xi)[arm] for arm in undecided for sign in (1, -1)])
    found = {arm for arm in undecided if mean[arm] - radius[arm] >= xi}
    good |= found
    undecided -= found | {arm for arm in undecided if mean[arm] + radius[arm] < xi}
    values = np.where([arm in undecided for arm in range(view.count)], index(view, radius), -np.inf)
    view.memory["near"] = view.near = view.near or view.memory.get("near", False)  # another set from here on
    pulled = view.first(values, view.order[0]) if undecided else 0
    return [pulled], set(good), np.inf if undecided else -np.inf
