"""How optimised programs are read, on one written by hand whose counts are known."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "experiments" / "benchmarks" / "optimised_programs.py"
SPEC = importlib.util.spec_from_file_location("optimised_programs", PATH)
optimised_programs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(optimised_programs)

TEXT = """HloModule jit_advance

%fused (p: f32[10,8], i: s32[8]) -> f32[8] {
  %p = f32[10,8]{1,0} parameter(0)
  %i = s32[8]{0} parameter(1)
  %n = s32[8]{0} negate(%i)
  ROOT %g = f32[8]{0} gather(%p, %n), offset_dims={}
}

%inner_body (t: (s32[], f32[8])) -> (s32[], f32[8]) {
  %t = (s32[], f32[8]{0}) parameter(0)
  %e1 = f32[8]{0} get-tuple-element(%t), index=1
  %s = f32[8]{0} scatter(%e1, %e1, %e1), to_apply=%add
  ROOT %o = (s32[], f32[8]{0}) tuple(%t, %s)
}

%inner_cond (t: (s32[], f32[8])) -> pred[] {
  %t = (s32[], f32[8]{0}) parameter(0)
  %c = s32[]{:T(128)} constant(5)
  %e = s32[]{:T(128)} get-tuple-element(%t), index=0
  ROOT %lt = pred[]{:T(512)} compare(%e, %c), direction=LT
}

%step (t: (s32[], f32[10,8], s32[8])) -> (s32[], f32[8]) {
  %t = (s32[], f32[10,8]{1,0:T(8,128)S(1)}, s32[8]{0}) parameter(0)
  %x = f32[10,8]{1,0:T(8,128)S(1)} get-tuple-element(%t), index=1
  %arm = s32[8]{0} get-tuple-element(%t), index=2
  %f = f32[8]{0} fusion(%x, %arm), kind=kLoop, calls=%fused, backend_config={"estimated_cycles":"40"}
  %begun = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(%f)
  %ended = f32[8]{0} copy-done(%begun)
  %w = (s32[], f32[8]{0}) while(%t), condition=%inner_cond, body=%inner_body
  ROOT %r = (s32[], f32[8]{0}) tuple(%t, %f)
}

%unsure (t: (s32[], f32[8])) -> pred[] {
  %t = (s32[], f32[8]{0}) parameter(0)
  ROOT %any = pred[] fusion(%t), kind=kLoop, calls=%fused
}

ENTRY %main (a: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  %steps = (s32[], f32[8]{0}) while(%a), condition=%unsure, body=%step, backend_config={"known_trip_count":{"n":"61"}}
  %until = (s32[], f32[8]{0}) while(%a), condition=%unsure, body=%inner_body
  ROOT %z = s32[] copy(%a)
}
"""


def test_a_step_is_counted_with_its_fusions_and_loops():
    program = optimised_programs.Program(TEXT)
    assert program.body(61) == "step"
    assert program.body(5) == "inner_body"
    cost = program.cost("step")
    assert (cost.kernels, cost.gathers, cost.scatters) == (1 + 5, 1, 5)
    # The fusion reads a table and arms and writes a row, the copy reads and writes one, a scatter has four.
    assert cost.bytes == (320 + 32 + 32) + 2 * 32 + 5 * 4 * 32
    assert cost.operations == (8 + 8) + 5 * 8
    assert (cost.cycles, cost.open_loops) == (40, 0)


def test_a_loop_of_unknown_length_is_counted_once_and_said_to_be():
    program = optimised_programs.Program(TEXT)
    cost = program.cost(program.entry)
    assert cost.open_loops == 1
    assert cost.kernels == 61 * 6 + 1 + 1
    with pytest.raises(ValueError, match="0 loops of length 7"):
        program.body(7)
