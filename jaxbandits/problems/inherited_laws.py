"""What a family does not take over from the one that it is made from, if it draws other rewards or has other means.

A user may change one method of a built-in family: `sample` of normal arms, to clip rewards at 0. What the package knows
of the normal law would then be wrong: how sums of rewards are drawn, and the density that gradients rest on.
"""

import inspect

__all__ = ["forget_inherited"]

#: What draws rewards.
_DRAWING = {"sample", "reward", "rewards"}
#: What is known of a law, beyond properties that are checked against rewards; and what else it rests on.
_OF_THE_LAW = {
    "sums": (), "scored": (), "bound_law": (), "normal": (), "second_word_free": (),
    "has_moments": ("moments", "_moment", "_pieces"),
}  # fmt: skip
#: What follows from the mean.
_OF_THE_MEAN = ("mean_is", "exact_mean")


def forget_inherited(cls: type, plain: type) -> None:
    """Replace what a family inherits of another one's law by what holds for any law.

    A family that draws rewards itself, by a `sample` of its own, states `sums`, `scored` and so on itself, or does
    without. What an abstract class says of all families that are made from it stays.

    Args:
        cls: the family.
        plain: the class of all families.
    """
    own = vars(cls)
    lost = [name for name in _OF_THE_MEAN if "mean" in own]
    if _DRAWING & own.keys():
        lost += [name for name, more in _OF_THE_LAW.items() if any(_of_another_law(cls, one) for one in (name, *more))]
    for name in lost:
        if name not in own:
            setattr(cls, name, inspect.getattr_static(plain, name))


def _of_another_law(cls: type, name: str) -> bool:
    """Return whether an attribute is inherited from a class that draws rewards."""
    by = next((one for one in cls.__mro__ if name in vars(one)), cls)
    return by is not cls and not getattr(inspect.getattr_static(by, "sample", None), "__isabstractmethod__", True)
