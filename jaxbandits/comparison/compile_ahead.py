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

__all__ = ["CompileAhead", "compiling"]

#: Further metrics of runs, as `sweep` takes them.
Measures: TypeAlias = Mapping[str, Callable[..., Any]] | None
#: Programs that are compiled at a time. The compiler uses one to two cores for each.
_AHEAD = 2


class CompileAhead:
    """Threads that compile the algorithms of a comparison, in its order."""

    def __init__(self, problem: Problem, metrics: Measures, pool: ThreadPoolExecutor) -> None:
        """Compile nothing yet; the pool has `_AHEAD` threads."""
        self._problem, self._metrics, self._pool = problem, metrics, pool
        self._started: dict[str, Future[None]] = {}

    def wait(self, label: str, following: Sequence[tuple[str, Rule]], seeds_of: Callable[[Rule], int]) -> None:
        """Wait until an algorithm is compiled, and start to compile those after it.

        An algorithm that cannot be compiled has the same error when it is run.

        Args:
            label: which algorithm is run now.
            following: the algorithms after it, by label.
            seeds_of: returns how many runs an algorithm is likely to make, which affects how many are made at a time.
        """
        # An algorithm that was not started before is compiled by the caller.
        busy = sum(not future.done() for future in self._started.values()) + (label not in self._started)
        new = [(name, algorithm) for name, algorithm in following if name not in self._started]
        for name, algorithm in new[: max(0, _AHEAD - busy)]:
            self._started[name] = self._pool.submit(
                _compile, algorithm, self._problem, seeds_of(algorithm), self._metrics
            )
        if label in self._started:
            self._started[label].exception()


@contextlib.contextmanager
def compiling(problem: Problem, metrics: Measures = None) -> Iterator[CompileAhead]:
    """Open the threads for a `with` block; problem and metrics are those of all algorithms."""
    pool = ThreadPoolExecutor(_AHEAD, thread_name_prefix="compile")
    try:
        yield CompileAhead(problem, metrics, pool)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@own_settings()
def _compile(algorithm: Rule, problem: Problem, seeds: int, metrics: Measures) -> None:
    with contextlib.suppress(UsageError):
        compile_runs(make_plan(algorithm, problem, seeds, metrics=metrics), Placement(None, None, None))
