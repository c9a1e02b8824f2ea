"""What the compilers for an H100 or a TPU v5e make of the engine's program, with neither of them there.

    pip install -e ".[cuda]"     python experiments/benchmarks/compiled.py --platform h100
    pip install -e ".[tpu]"      python experiments/benchmarks/compiled.py --platform v5e --algorithm ugape-c --json

This is evidence, not a measured speed: the compilers run on any machine, and what they have made is read. Printed for
one step of all lanes, which is the innermost loop of the engine:

* kernels: operations that the device starts one after another (on TPU: fusions and what stands beside them), with
  those of inner loops as often as they are run; `+` where a loop's length is not known, which then counts once, so
  that the estimate is an upper bound;
* gathers and scatters, also inside of fusions;
* bytes of operands and results of all kernels, per lane, wherever these are kept;
* temporary memory of the whole program;
* an estimate of steps of single lanes a second, of a sequential algorithm also pulls: lanes / time of a step, with
  time = max(kernels * 2.5 us, bytes / 3.35 TB/s, operations / 16.7 T/s) on H100 (a launch; its memory; 132 * 64 whole
  numbers a clock of 1.98 GHz), and the compiler's own estimate of cycles at 1.5 GHz on v5e.

Then of the kernel that keeps the lanes' state on the chip for a block of steps (`on_chip=True`): `kernels_on_chip.py`
says what. `--on-chip` prints these alone, in a table with the compiler's word where there is none.
"""

import os

# Before JAX starts: no device, and no server that knows of one, is looked for.
os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", ALLOW_MULTIPLE_LIBTPU_LOAD="1")

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from kernels_on_chip import Kernel, Named, kernel, rows_of_kernels
from optimised_programs import Cost, Program

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.engine import driver
from jaxbandits.engine.lane_counts import lane_count
from jaxbandits.engine.lanes import advance
from jaxbandits.engine.on_chip.pallas_loop import whole_kernels
from jaxbandits.sweeps.spec import build

#: Jobs, as many as fill the lanes of any device; and steps of the innermost loop, a number that no other loop has.
JOBS, STEPS = 10**6, 61
LAUNCH, BANDWIDTH, WHOLE_NUMBERS, TPU_CLOCK = 2.5e-6, 3.35e12, 132 * 64 * 1.98e9, 1.5e9
#: Values for what has no default, and problems of which the first that fits is taken.
VALUES = {"epsilon": 0.1, "delta": 0.05, "budget": 1000, "k": 3}
PROBLEMS = (
    "bernoulli:0.7" + 9 * ",0.5",
    "reservoir:beta=1,prices=unit,arms=10",
    "reservoir:beta=1,arms=10",
    "ppr:one-good,k=50,w=2",
)


class Result(NamedTuple):
    """What is found of a program."""

    algorithm: str
    problem: str
    arms: int
    lanes: int
    cost: Cost
    temporary: int

    def steps_per_second(self, platform: str) -> float:
        """The estimate, by the formula above."""
        if platform == "v5e":
            return self.lanes / (self.cost.cycles / TPU_CLOCK)
        cost = self.cost
        return self.lanes / max(cost.kernels * LAUNCH, cost.bytes / BANDWIDTH, cost.operations / WHOLE_NUMBERS)


class Caught(Exception):  # noqa: N818 - no error
    """The arguments of the engine's program."""


def arguments(algorithm: Any, problem: Any, lanes: int) -> tuple[tuple[Any, ...], Any]:
    """What the host hands to `advance`, and its settings."""

    def catch(*args: Any, settings: Any) -> None:
        raise Caught(args, settings)

    with mock.patch.object(driver, "advance", catch):
        try:
            jb.simulate(algorithm, problem, JOBS, lanes=lanes, chunk=STEPS, devices=1)
        except Caught as caught:
            return caught.args
    raise AssertionError("the engine was not asked")


def device(platform: str) -> jax.Device:
    """A device of a kind, which need not be there."""
    if platform == "v5e":
        return topologies.get_topology_desc("v5e:2x2", "tpu").devices[0]
    target = (Path(__file__).parent / "h100.txtpb").read_text()
    return topologies.get_topology_desc("", "cuda", target_config=target, topology="1x1x1").devices[0]


def compiled(algorithm: Any, problem: Any, lanes: int, target: jax.Device) -> Any:
    """The engine's program for a device."""
    args, settings = arguments(algorithm, problem, lanes)
    mesh = Mesh(np.asarray([target]), ("device",))

    def like(tree: Any, spec: PartitionSpec) -> Any:
        place = NamedSharding(mesh, spec)
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct(jnp.shape(x), x.dtype, sharding=place), tree)

    shared, split = PartitionSpec(), PartitionSpec("device")
    shapes = [like(tree, spec) for tree, spec in zip(args, (shared, split, split, shared, shared), strict=True)]
    return advance.trace(*shapes, settings=dataclasses.replace(settings, mesh=mesh)).lower().compile()


def suited(name: str, settings: dict[str, Any], spec: str | None) -> tuple[Any, Any, str]:
    """An algorithm, a problem that suits it, and that problem's name."""
    fields = {f.name: f for f in dataclasses.fields(REGISTRY[name])}
    needed = {n: VALUES[n] for n, f in fields.items() if f.default is dataclasses.MISSING and n in VALUES}
    for problem in [spec] if spec else PROBLEMS:
        try:
            made = build({"algorithm": {"name": name, **needed, **settings}, "problem": {"spec": problem}})
            arguments(made[0], made[1], 16)
        except jb.UsageError as error:
            found: jb.UsageError = error
            continue
        return made[0], made[1], problem
    raise found


def result(name: str, platform: str, lanes: int | None, settings: dict[str, Any], spec: str | None) -> Result:
    """Compile an algorithm's program, and read it."""
    algorithm, problem, problem_name = suited(name, settings, spec)
    cells = arguments(algorithm, problem, 16)[0][0]
    arms, target = cells.problem.arms, device(platform)
    lanes = lanes or lane_count(cells.algorithm, arms, JOBS, 1, target.platform)
    made = compiled(algorithm, problem, lanes, target)
    program = Program(made.as_text())
    cost = program.cost(program.body(STEPS))
    return Result(name, problem_name, arms, lanes, cost, made.memory_analysis().temp_size_in_bytes)


def on_chip(algorithm: Any, problem: Any, target: jax.Device) -> Kernel:
    """The kernel of an algorithm's steps, on lanes of two kernels at least: a grid of one would be no loop."""
    arms = arguments(algorithm, problem, 16)[0][0].problem.arms
    if target.platform != "tpu" and arms & (arms - 1) and problem.bandits == 1:
        problem = problem.padded(1 << arms.bit_length())
    if algorithm.traits.in_batches:
        return Kernel(refused="a run has few steps, each of them long")
    (cells, _, carry, *_), settings = arguments(algorithm, problem, whole_kernels(2048, target.platform, arms))
    return kernel(cells, carry, settings, Mesh(np.asarray([target]), ("device",)))


def rows(platform: str, results: Iterator[Result]) -> Iterator[str]:
    """A table in Markdown."""
    yield f"| {platform}, compiled, not measured | arms | lanes | kernels | gathers | scatters | bytes a lane-step | temporary, MB | lane-steps/s, estimate |"  # noqa: E501
    yield "|---|" + 8 * "---:|"
    for r in results:
        kernels = f"{r.cost.kernels}{'+' if r.cost.open_loops else ''}"
        speed = r.steps_per_second(platform)
        steps = f"{speed / 1e9:.2f} G" if speed >= 1e9 else f"{speed / 1e6:.0f} M"
        yield (
            f"| {r.algorithm} | {r.arms} | {r.lanes:,} | {kernels} | {r.cost.gathers} | {r.cost.scatters} "
            f"| {r.cost.bytes / r.lanes:,.0f} | {r.temporary / 1e6:,.0f} | {steps} |"
        )


def kernels(platform: str, names: list[str], settings: dict[str, Any], spec: str | None) -> Iterator[Named]:
    """The kernels alone."""
    for name in names:
        algorithm, problem, _ = suited(name, settings, spec)
        arms = arguments(algorithm, problem, 16)[0][0].problem.arms
        yield name, arms, on_chip(algorithm, problem, device(platform))


def as_json(platform: str, r: Result, kernel: Kernel) -> dict[str, Any]:
    """A result, and the kernel, as one object."""
    return {
        "platform": platform, "algorithm": r.algorithm, "problem": r.problem, "arms": r.arms, "lanes": r.lanes,
        "kernels": r.cost.kernels, "gathers": r.cost.gathers, "scatters": r.cost.scatters,
        "bytes_per_lane_step": r.cost.bytes / r.lanes, "temporary_bytes": r.temporary,
        "estimated_lane_steps_per_second": r.steps_per_second(platform), "measured": False,
        "on_chip": kernel.bytes_per_step is not None, "on_chip_bytes_per_pull": kernel.bytes_per_step,
        "registers": kernel.registers, "spills": kernel.spills, "bundles": kernel.bundles,
        "on_chip_refused": kernel.refused or None,
    }  # fmt: skip


def value(text: str) -> Any:
    """A number, a switch or a word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def main() -> None:
    """Compile and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", choices=("h100", "v5e"), required=True)
    parser.add_argument("--algorithm", choices=tuple(REGISTRY), help="all, if none is named")
    parser.add_argument("--problem", help="one that suits the algorithm, if none is given")
    parser.add_argument("--lanes", type=int, help="the engine's default, if not given")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="parameters of the algorithm")
    parser.add_argument("--on-chip", action="store_true", help="the kernels that keep the state on the chip, alone")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.json and not chosen.algorithm:
        parser.error("--json is of one algorithm: name it")
    settings = {name: value(text) for name, _, text in (pair.partition("=") for pair in chosen.set)}
    names = [chosen.algorithm] if chosen.algorithm else list(REGISTRY)
    found = kernels(chosen.platform, names, settings, chosen.problem)
    if chosen.on_chip and not chosen.json:
        for row in rows_of_kernels(chosen.platform, found):
            print(row, flush=True)
            jax.clear_caches()
        return
    results = (result(n, chosen.platform, chosen.lanes, settings, chosen.problem) for n in names)
    if chosen.json:
        print(json.dumps(as_json(chosen.platform, next(results), next(found)[2])))
        return
    print("What the compiler makes without the device being there: no speed was measured.", file=sys.stderr)
    for row in rows(chosen.platform, results):
        print(row, flush=True)
        jax.clear_caches()


if __name__ == "__main__":
    main()
