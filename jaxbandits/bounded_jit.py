"""Jitted functions that keep the programs used most recently.

JAX's own functions keep all their programs, and one of the engine takes some 40 MB.
"""

import collections
import contextlib
import functools
import gc
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

import jax

__all__ = ["RecentPrograms", "forget_older", "recent_programs"]

T = TypeVar("T")

_all: list["RecentPrograms[Any]"] = []


class RecentPrograms(Generic[T]):
    """A jitted function that drops the least recently used of its programs to make room for new ones.

    Attributes:
        most: how many are kept.
    """

    def __init__(
        self, function: Callable[..., T], most: int, static: tuple[str, ...], options: dict[str, str | bool | int]
    ) -> None:
        """Start without a program.

        Args:
            function: to compile.
            most: how many programs to keep.
            static: names of its static arguments, which are given by name.
            options: of the compiler.
        """
        self.most = most
        self._function, self._static, self._options = function, static, options
        self._programs: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        self._lock = threading.Lock()
        functools.update_wrapper(self, function)
        _all.append(self)

    def __call__(self, *args: object, **kwargs: object) -> T:
        """Return what the function returns."""
        found: T = self._program(args, kwargs)(*args, **kwargs)
        return found

    def trace(self, *args: object, **kwargs: object) -> jax.stages.Traced:
        """Trace the function, as of `jax.jit`."""
        return self._program(args, kwargs).trace(*args, **kwargs)

    def eval_shape(self, *args: object, **kwargs: object) -> Any:
        """Return shapes and dtypes of the result, as of `jax.jit`."""
        return self._program(args, kwargs).eval_shape(*args, **kwargs)

    def clear_cache(self, *, keep: int = 0) -> None:
        """Forget programs, except the `keep` used most recently."""
        with self._lock:
            while len(self._programs) > keep:
                _, program = self._programs.popitem(last=False)
                program.clear_cache()

    def _cache_size(self) -> int:
        """Return how many programs are kept, as of `jax.jit`."""
        return sum(program._cache_size() for program in self._programs.values())

    @property
    def count(self) -> int:
        """Return for how many types of arguments programs are kept."""
        return len(self._programs)

    def _program(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Return a separate jitted function for these types: JAX forgets a function's programs together."""
        traced = {name: value for name, value in kwargs.items() if name not in self._static}
        leaves, structure = jax.tree.flatten((args, traced))
        key = (
            structure, tuple(kwargs.get(name) for name in self._static),
            tuple((leaf.shape, leaf.dtype) if hasattr(leaf, "dtype") else type(leaf) for leaf in leaves),
        )  # fmt: skip
        with self._lock:
            program = self._programs.pop(key, None) or self._fresh()
            self._programs[key] = program
        if len(self._programs) > self.most:
            self.clear_cache(keep=self.most)
        return program

    def _fresh(self) -> Any:
        @functools.wraps(self._function)
        def same(*args: object, **kwargs: object) -> T:
            with _without_collection():
                return self._function(*args, **kwargs)

        return jax.jit(same, static_argnames=self._static, compiler_options=self._options or None)


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage while a function is traced: it leaves none, and looking took a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def recent_programs(
    most: int, *static: str, compiler_options: dict[str, str | bool | int] | None = None
) -> Callable[[Callable[..., T]], RecentPrograms[T]]:
    """Decorate a function: compile it as `jax.jit` does, and keep a limited number of programs.

    Args:
        most: how many.
        *static: names of its static arguments, which are given by name.
        compiler_options: as of `jax.jit`.
    """
    return lambda function: RecentPrograms(function, most, static, compiler_options or {})


def forget_older() -> None:
    """Forget the less recently used half of the programs of every such function."""
    for function in _all:
        function.clear_cache(keep=function.count // 2)
