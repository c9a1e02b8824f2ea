"""The state of a run whose arms have places: positions in the order in which the run sees them."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from jaxbandits.arrays.arms import index
from jaxbandits.engine.run_state import RunState
from jaxbandits.random.arm_orders import ArmOrder

__all__ = ["PlacedArms"]


class PlacedArms(RunState):
    """The state of a run that knows its arms by their places.

    Attributes:
        order: the arm at each place; None where they stay in the problem's order.
    """

    if TYPE_CHECKING:  # a field of the subclasses

        @property
        def order(self) -> ArmOrder | None:
            """Return the arm at each place."""

        @property
        def count(self) -> jax.Array | None:
            """Return how many arms exist, int32 `(…)`; None for all."""

        @property
        def places(self) -> int:
            """Return the length of the axis of arms."""

    @property
    def exists(self) -> jax.Array:
        """Return the mask of the arms that exist, bool `(K, …)`."""
        return index(self.places, self.time.shape) < (self.places if self.count is None else self.count)

    @property
    def told(self) -> jax.Array | None:
        """Return how many arms the rule sees, the first ones, int32 `(…)`; None for all."""
        return self.count

    def arm_at(self, place: jax.Array) -> jax.Array:
        """Return the arm of the problem at a place, int32 `(…)`."""
        return place if self.order is None else self.order.arm_at(place)

    def place_of(self, arm: jax.Array) -> jax.Array:
        """Return the place of an arm of the problem, int32 `()`; for one run."""
        return self.by_arm(index(self.places, ()))[arm]

    def by_arm(self, x: jax.Array, axis: int = 0) -> jax.Array:
        """Return values of the places as values of the problem's arms, along an axis."""
        if self.order is None:
            return x
        return jnp.moveaxis(self.order.by_arm(jnp.moveaxis(x, axis, 0)), 0, axis)

    def by_place(self, x: jax.Array) -> jax.Array:
        """Return values of the problem's arms, `(K, …)`, as values of the places."""
        return x if self.order is None else self.order.by_place(x)
