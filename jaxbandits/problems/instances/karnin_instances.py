"""The six setups of Karnin, Koren, Somekh (2013), "Almost optimal exploration in multi-armed bandits", section 5."""

import math
from typing import Any

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.problems.argument_checks import arm_count
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli, bernoulli

__all__ = ["karnin"]


@varying
def karnin(number: int, n: int = 20) -> Bernoulli:
    """Return one of setups 1 to 6 of Karnin et al. (2013): Bernoulli, best mean 1/2, most gaps as small as 1/n.

    The paper has n = 20, 40 and 80, and the sum of 1/gap^2 over the other arms as budget. With s = ceil(sqrt(n)) the
    gaps of the other n - 1 arms are:

    - 1: all 0.05;
    - 2: s times 1/(2n), then 0.05;
    - 3: five times 1/(5n), 2s times 0.01, then 0.15;
    - 4: evenly spaced from 1/(5n) to 0.25;
    - 5: in geometric progression from 1/(5n) to 0.25;
    - 6: one 1/(10n), then 0.1.

    Args:
        number: 1 one group of bad arms, 2 two groups, 3 three groups, 4 arithmetic, 5 geometric, 6 one real competitor.
        n: number of arms.

    Raises:
        UsageError: another number.

    Example:
        >>> jb.karnin(1).arms
        20
    """
    n = arm_count("n", n)
    some = math.ceil(math.sqrt(n))
    gaps: dict[int, Any] = {
        1: [0.05] * (n - 1),
        2: [1 / (2 * n)] * some + [0.05] * n,
        3: [1 / (5 * n)] * 5 + [0.01] * 2 * some + [0.15] * n,
        4: np.linspace(1 / (5 * n), 0.25, n - 1),
        5: np.geomspace(1 / (5 * n), 0.25, n - 1),
        6: [1 / (10 * n)] + [0.1] * n,
    }
    if number not in gaps:
        raise UsageError(f"karnin has the setups 1 to 6, got {number}")
    means = 0.5 - np.asarray([0.0, *gaps[number][: n - 1]])
    return bernoulli(means, name=f"karnin:{number},n={n}")
