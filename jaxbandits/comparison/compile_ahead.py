"""Compile the next algorithms of a comparison while one of them runs: compiling takes longer than most runs."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.program import Placement
from jaxbandits.errors import UsageError
from jaxbandits.problems import Problem
from jaxbandits.sweeps.plan import make_plan
from jaxbandits.sweeps.plan_runs import compile_runs

__all__ = ["compiling"]

#: Further metrics of runs, as `sweep` takes them.
Measures: TypeAlias = Mapping[str, Callable[..., Any]] | None
Wait: TypeAlias = Callable[[str, Sequence[tuple[str, Rule]], Callable[[Rule], int]], None]
#: Programs that are compiled at a time. The compiler uses one to two cores for each.
_AHEAD = 2


@contextlib.contextmanager
def compiling(problem: Problem, metrics: Measures = None) -> Iterator[Wait]:
    """Open threads that compile the algorithms of a comparison, in its order, for a `with` block.

    Args:
        problem: the problem of all algorithms.
        metrics: further metrics of their runs.

    Yields:
        A function that waits until an algorithm is compiled, and starts to compile those after it. Its arguments are
        the algorithm's label, those after it by label, and a function. This returns how many runs an algorithm is
        likely to make, which affects how many are made at a time. An algorithm that cannot be compiled has the same
        error when it is run.
    """
    started: dict[str, Future[None]] = {}
    pool = ThreadPoolExecutor(_AHEAD, thread_name_prefix="compile")

    def wait(label: str, following: Sequence[tuple[str, Rule]], seeds_of: Callable[[Rule], int]) -> None:
        # An algorithm that was not started before is compiled by the caller.
        busy = sum(not future.done() for future in started.values()) + (label not in started)
        new = [(name, algorithm) for name, algorithm in following if name not in started]
        for name, algorithm in new[: max(0, _AHEAD - busy)]:
            started[name] = pool.submit(_compile, algorithm, problem, seeds_of(algorithm), metrics)
        if label in started:
            started[label].exception()

    try:
        yield wait
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@own_settings()
def _compile(algorithm: Rule, problem: Problem, seeds: int, metrics: Measures) -> None:
    with contextlib.suppress(UsageError):
        compile_runs(make_plan(algorithm, problem, seeds, metrics=metrics), Placement(None, None, None))
