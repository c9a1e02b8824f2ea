"""Where the time of a first `simulate` goes: imports, tracing, lowering, the compiler; a process for each rule.

    python experiments/benchmarks/first_call.py --rounds 3

Nothing is read from a cache. `kernels` are those of the compiled loop.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jaxbandits.report.text_tables import text_table

RULES = {
    "UGapEc": "jb.UGapEc(epsilon=0.1, delta=0.05)",
    "LUCB": "jb.LUCB(epsilon=0.1, delta=0.05)",
    "Successive Elimination": "jb.SuccessiveElimination(delta=0.1)",
    "Sequential Halving": "jb.SequentialHalving(budget=200)",
    "Track-and-Stop": "jb.TrackAndStop(delta=0.05)",
}
PARTS = {"jaxpr_trace_duration": "tracing", "jaxpr_to_mlir_module_duration": "lowering"}
COLUMNS = ("imports", "tracing", "lowering", "compiler", "rest", "whole", "processor")


def measure(rule: str) -> dict[str, float]:
    """Return the seconds of the parts of a first call in this process."""
    began, spent = time.perf_counter(), time.process_time()
    import jax

    import jaxbandits as jb

    _ = jb.simulate  # its module brings xarray
    rule, problem = eval(rule, {"jb": jb}), jb.bernoulli([0.7, 0.6, 0.5])
    parts = dict.fromkeys(COLUMNS, 0.0) | {"imports": time.perf_counter() - began}

    def listen(event: str, seconds: float, **_: object) -> None:
        name = event.rpartition("/")[2]
        part = "compiler" if name.startswith("backend_compile") else PARTS.get(name)
        if part:
            parts[part] += seconds

    jax.monitoring.register_event_duration_secs_listener(listen)
    jb.simulate(rule, problem, seeds=100)
    parts["whole"], parts["processor"] = time.perf_counter() - began, time.process_time() - spent
    parts["rest"] = parts["whole"] - sum(parts[name] for name in COLUMNS[:4])
    return parts


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", help="measure this rule in this process and print JSON")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    table = [("rule", *COLUMNS, "kernels")]
    settings = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "false"}
    for name, rule in RULES.items():
        call = [sys.executable, __file__, "--measure", rule]
        told = [subprocess.run(call, env=settings, check=True, capture_output=True) for _ in range(options.rounds)]
        found = [json.loads(process.stdout) for process in told]
        with tempfile.TemporaryDirectory() as folder:  # a call of its own, since writing takes time
            flags = f"--xla_dump_to={folder} --xla_dump_hlo_module_re=jit_advance"
            subprocess.run(call, env={**settings, "XLA_FLAGS": flags}, check=True, capture_output=True)
            kernels = len(list(Path(folder).glob("*.ir-with-opt.ll")))
        medians = [statistics.median(one[column] for one in found) for column in COLUMNS]
        table.append((name, *(f"{value:.2f}" for value in medians), str(kernels)))
    print(text_table(table, left=(0,)))


if __name__ == "__main__":
    main()
