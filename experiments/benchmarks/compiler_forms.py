"""What the forms made for XLA:CPU are worth: each replaced by plain code, in a process of its own.

python experiments/benchmarks/compiler_forms.py

Prints million pulls per second of processor time, compilation left out, the best of several calls, for the package as
it is and for each form written plainly; results are the same but for `costs from spare words`, whose costs are drawn
otherwise.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxbandits as jb
from jaxbandits.compilers import xla_cpu
from jaxbandits.engine.elimination_rule import EliminationRule
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.problems.base import Problem

CALLS = 3


def computed_once(function: Callable[..., Any], *operands: Any) -> Any:
    """Wherever the compiler wants it."""
    return function(*operands)


def in_blocks(function: Callable[..., Any], *operands: Any, elements: int = 0) -> Any:
    """All at once."""
    del elements
    return function(*operands)


def where_any(condition: jax.Array, function: Callable[[Any], Any], state: Any) -> Any:
    """Computed whether or not a run asks for it."""
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), function(state), state)


def where_few(condition: jax.Array, function: Callable[..., Any], state: Any, *fixed: Any, width: int = 0) -> Any:
    """Computed for all runs if one asks for it."""
    del width

    def changed(state: Any) -> Any:
        return jax.tree.map(lambda new, old: jnp.where(condition, new, old), function(state, *fixed), state)

    return jax.lax.cond(jnp.any(condition), changed, lambda state: state, state)


PLAIN = {form.__name__: form for form in (computed_once, in_blocks, where_any, where_few)}
FORMS = [*PLAIN, "blocks of rounds", "costs from spare words"]


def write_plainly(form: str) -> None:
    """Replace a form in every module that has it."""
    if form == "blocks of rounds":
        EliminationRule.advance = MappedAlgorithm.advance
    elif form == "costs from spare words":
        for kind in (Problem, *_below(Problem)):
            kind.second_word_free = False
    elif form:
        old = getattr(xla_cpu, form)
        for module in list(sys.modules.values()):
            if getattr(module, form, None) is old:
                setattr(module, form, PLAIN[form])


def _below(kind: type) -> Iterator[type]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _below(subclass)


def workloads() -> dict[str, Callable[[], Any]]:
    """What is run, by the name of its algorithm."""
    spread = jb.with_costs(jb.bernoulli(np.linspace(0.1, 0.9, 20)), list(np.linspace(0.2, 0.8, 20)), random=True)
    four = jb.bernoulli([0.7, 0.6, 0.5, 0.4])
    return {
        "successive-rejects": lambda: jb.simulate(jb.SuccessiveRejects(budget=2000), jb.abm(1), 10_000),
        "successive-elimination": lambda: jb.simulate(jb.SuccessiveElimination(delta=0.05), four, 4000),
        "… catoni": lambda: jb.simulate(
            jb.SuccessiveElimination(delta=0.1, estimator="catoni"), jb.student_t([1.5, 0.5, 0], 4), 20
        ),
        "rcb": lambda: jb.simulate(jb.RCB(budget=500), spread, 10_000),
        "ugape-c": lambda: jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.05, variance=True), four, 4000),
        "adaptive-top-k": lambda: jb.simulate(jb.AdaptiveTopK(k=10, budget=40_000), jb.uniform_means(400), 400),
    }


def measured() -> dict[str, float]:
    """Million pulls per second of processor time."""
    found = {}
    for name, run in workloads().items():
        run()  # compiles
        seconds = []
        for _ in range(CALLS):
            began = time.process_time()
            ds = run()
            seconds.append(time.process_time() - began)
        found[name] = float(ds["pulls"].sum()) / min(seconds) / 1e6
    return found


def main() -> None:
    """Measure one form, or all of them, each in a process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plain", choices=["", *FORMS], help="the form to write plainly, in this process")
    plain = parser.parse_args().plain
    if plain is not None:
        write_plainly(plain)
        print(json.dumps(measured()))
        return
    names = list(workloads())
    print(" | ".join(["written plainly", *names]))
    for form in ["", *FORMS]:
        told = subprocess.run([sys.executable, __file__, "--plain", form], check=True, capture_output=True, text=True)
        rates = json.loads(told.stdout.splitlines()[-1])
        print(" | ".join([form or "nothing", *(f"{rates[name]:.3g}" for name in names)]), flush=True)


if __name__ == "__main__":
    main()
