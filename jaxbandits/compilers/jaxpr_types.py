"""The types of JAX's programs: those of `jax.extend.core`, with what its interface leaves open.

For JAX a variable may hold anything. In programs of rules it holds an array, which has a shape and a type. A checker of
types is told so here; when code runs, these are JAX's own classes.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import jax

    class Var:
        """A variable of a program."""

        aval: jax.core.ShapedArray

    class Literal:
        """A number written into a program."""

        aval: jax.core.ShapedArray
        val: jax.Array

    class Primitive:
        """An operation of JAX."""

        name: str
        multiple_results: bool

        def bind(self, *operands: object, **parameters: object) -> Any:
            """Apply it: an array, or a list of arrays where it has multiple results."""

    class JaxprEqn:
        """An equation of a program; its parameters are of any type."""

        primitive: Primitive
        params: "Parameters"
        invars: list["Atom"]
        outvars: list[Var]

    class Jaxpr:
        """A program."""

        constvars: list[Var]
        invars: list[Var]
        outvars: list["Atom"]
        eqns: list[JaxprEqn]

    class ClosedJaxpr:
        """A program and its constants."""

        jaxpr: Jaxpr
        consts: list[jax.Array]
else:
    from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive, Var

__all__ = ["Atom", "ClosedJaxpr", "Jaxpr", "JaxprEqn", "Literal", "Parameters", "Primitive", "Var"]

#: The parameters of an equation, each of the type that the primitive wants.
Parameters: TypeAlias = dict[str, Any]

#: What an equation is given, or a program returns.
Atom: TypeAlias = Var | Literal
