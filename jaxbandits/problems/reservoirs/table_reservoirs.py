"""Reservoirs of the rows of a table."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import fast_min
from jaxbandits.checks import POSITIVE, UNIT, Rule, as_single, number
from jaxbandits.errors import UsageError
from jaxbandits.io.csv_files import Table
from jaxbandits.io.serialize import File
from jaxbandits.problems.argument_checks import arm_count
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.pull_costs import SMALLEST_PRICE
from jaxbandits.problems.reservoirs.reservoir_laws import Arms, Reservoir, register_reservoir
from jaxbandits.random import streams
from jaxbandits.random.threefry import block, uniform

__all__ = ["TableReservoir", "reservoir_from_csv"]

_PRICE = Rule("must lie in [2^-31, 1]", lambda x: (x >= SMALLEST_PRICE) & (x <= 1))


@register_reservoir
@dataclasses.dataclass(frozen=True)
class TableReservoir(Reservoir):
    """Arms drawn from the rows of a table, with replacement.

    Attributes:
        gains: float32 `(N,)`: expected rewards, in [0, 1].
        prices: float32 `(N,)`: expected costs, in (0, 1].
        beta: regularity, for algorithms that use it; None if unknown.

    Example:
        >>> import pandas as pd
        >>> pd.DataFrame({"reward": [0.5, 0.9], "cost": [0.4, 0.8]}).to_csv("arms.csv", index=False)
        >>> isinstance(jb.reservoir_from_csv("arms.csv", beta=1.0), jb.problems.TableReservoir)
        True
    """

    gains: jax.Array
    prices: jax.Array
    beta: float | None = None
    parameters = ("gains", "prices")
    choices = ("count", "beta")

    @property
    def regularity(self) -> float | None:
        """Return the regularity as given."""
        return self.beta

    @property
    def best(self) -> jax.Array:
        """Return the largest ratio in the table."""
        return arms.largest(jnp.asarray(self.gains) / jnp.asarray(self.prices))

    @property
    def smallest_cost(self) -> float:
        """Return the smallest cost in the table."""
        return float(np.min(np.asarray(self.prices)))

    @property
    def unit_costs(self) -> bool:
        """Return whether all costs in the table are 1."""
        return bool(np.all(np.asarray(self.prices) == 1))

    def draw(self, key: jax.Array) -> Arms:
        """Draw rows with replacement."""
        arm = arms.index(self.count, key.shape)
        word = block(key, jnp.uint32(streams.ARMS), arm, rolled=True)[0]
        size = self.gains.shape[0]
        row = fast_min((uniform(word) * size).astype(jnp.int32), size - 1)
        reward, cost = (arms.take(jnp.asarray(column), row) for column in (self.gains, self.prices))
        return Arms(self.best - reward / cost, reward, cost)


@varying(path=File.read)
def reservoir_from_csv(
    path: str, beta: float | None = None, coupling: float = 0.0, arms: int | None = None
) -> TableReservoir:
    """Return a reservoir of the rows of a table of mean rewards and costs; rewards and costs of pulls are 0 or 1.

    Args:
        path: a CSV file with columns `reward`, in [0, 1], and `cost`, in [2^-31, 1]. Rules that look at rewards only,
            such as SiRI, take it if all costs are 1.
        beta: regularity of the ratios, for algorithms that choose their number of arms by it.
        coupling: as in `reservoir`.
        arms: number of arms that a run draws; None to let the algorithm choose it.

    Raises:
        UsageError: no such file or columns, a cell out of range (named by line and column), or fewer than two rows.

    Example:
        >>> import pandas as pd
        >>> pd.DataFrame({"reward": [0.5, 0.9], "cost": [0.4, 0.8]}).to_csv("arms.csv", index=False)
        >>> type(jb.reservoir_from_csv("arms.csv", beta=1.0)).__name__
        'TableReservoir'
    """
    table = Table.read(path)
    for name in ("reward", "cost"):
        if not table.has([name]):
            raise UsageError(f"{path}: columns reward and cost are needed, got {', '.join(table.header)}")
    gain, price = (table.place([name]) for name in ("reward", "cost"))
    rows = [
        (
            table.number(line, row, gain, UNIT),
            table.number(line, row, price, _PRICE),
        )
        for line, row in table.rows
    ]
    if len(rows) < 2:
        raise UsageError(f"{path}: two rows or more are needed, got {len(rows)}")
    if beta is not None:
        number("reservoir: beta", beta, POSITIVE)
    as_single("reservoir: coupling", number("reservoir: coupling", coupling, UNIT))
    reward, cost = np.asarray(rows, np.float32).T
    text = f"reservoir-table:path={path}"
    text += "" if beta is None else f",beta={beta:g}"
    text += f",coupling={coupling:g}" if coupling else ""
    text += "" if arms is None else f",arms={arms}"
    return TableReservoir(
        jnp.asarray(reward),
        jnp.asarray(cost),
        beta=beta,
        coupling=jnp.asarray(coupling, jnp.float32) if coupling else None,
        count=0 if arms is None else arm_count("arms", arms),
        name=text,
    )
