"""Whole numbers that are constants of a program."""

import jax

__all__ = ["StaticInt"]


@jax.tree_util.register_static
class StaticInt(int):
    """A whole number that is part of the program, not of its input, such as m = 1 shared by a whole grid."""
