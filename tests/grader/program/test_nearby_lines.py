"""The lines of what made a result, including a loop."""

from grader.program.hlo import read_hlo
from grader.program.nearby_lines import NearbyLines

TEXT = """\
HloModule jit_f, is_scheduled=true

FileNames
1 "submission.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=4 end_column=9}
2 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=4 end_column=9}
3 {file_name_id=1 function_name_id=1 line=20 end_line=20 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}

%body (carried: (f32[8], f32[4])) -> (f32[8], f32[4]) {
  %carried = (f32[8]{0}, f32[4]{0}) parameter(0)
  %a = f32[8]{0} get-tuple-element(%carried), index=0
  %b = f32[4]{0} get-tuple-element(%carried), index=1
  %first = f32[8]{0} add(%a, %a), metadata={op_name="add" stack_frame_id=1}
  %second = f32[4]{0} add(%b, %b), metadata={op_name="add" stack_frame_id=2}
  ROOT %both = (f32[8]{0}, f32[4]{0}) tuple(%first, %second)
}

%condition (carried: (f32[8], f32[4])) -> pred[] {
  %carried = (f32[8]{0}, f32[4]{0}) parameter(0)
  ROOT %going = pred[] constant(true)
}

%joined (p: f32[8], q: f32[4]) -> f32[12] {
  %p = f32[8]{0} parameter(0)
  %q = f32[4]{0} parameter(1)
  ROOT %flat = f32[12]{0} concatenate(%p, %q), dimensions={0}
}

ENTRY %main (x: f32[8], y: f32[4]) -> f32[12] {
  %x = f32[8]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %before = (f32[8]{0}, f32[4]{0}) tuple(%x, %y)
  %loop = (f32[8]{0}, f32[4]{0}) while(%before), condition=%condition, body=%body, metadata={stack_frame_id=3}
  %one = f32[8]{0} get-tuple-element(%loop), index=0
  %other = f32[4]{0} get-tuple-element(%loop), index=1
  %renamed = f32[4]{0} bitcast(%other)
  ROOT %buffer = f32[12]{0} fusion(%one, %renamed), kind=kLoop, calls=%joined
}
"""


def line_of(computation: str, name: str, text: str = TEXT) -> int | None:
    module = read_hlo(text)
    around = module.computations[computation]
    return NearbyLines(module, "submission.py").made_by(around, around.instructions[name])


def test_a_result_of_a_loop_has_the_line_that_computes_it_in_the_last_round() -> None:
    assert [line_of("main", name) for name in ("one", "other", "renamed")] == [8, 9, 9]
    # Known inside a fusion by the name of a parameter.
    assert [line_of("joined", name) for name in ("p", "q")] == [8, 9]
    assert line_of("main", "loop") == 20


def test_a_loop_that_only_passes_an_array_on_gives_it_its_own_line() -> None:
    passed = TEXT.replace("tuple(%first, %second)", "tuple(%a, %second)")
    assert line_of("main", "one", passed) == 20
    assert line_of("main", "other", passed) == 9
