"""A compiled program as it is shown: what is done stays, where it came from becomes a line, and all is bounded."""

from grader.program.hlo import read_hlo
from grader.program.listing import MAX_INSTRUCTIONS, Listing, list_program
from grader.program.strict_json import read, write
from tests.grader.program.handwritten_hlo import module

GATHER = (
    "%gather = f32[16,4]{1,0} all-gather(f32[2,4]{1,0} %p), channel_id=1, replica_groups=[1,8]<=[8], dimensions={0}, "
    'use_global_device_ids=true, metadata={op_name="jit(f)/gather" source_file="submission.py" source_line=7}'
)
LOOP = """
%body (s: s32[]) -> s32[] {
  %s = s32[] parameter(0)
  ROOT %next = s32[] add(%s, %s), metadata={source_file="submission.py" source_line=3}
}

%condition (c: s32[]) -> pred[] {
  %c = s32[] parameter(0)
  ROOT %less = pred[] constant(false)
}
"""


def listed(*lines: str, before: str = "") -> Listing:
    return list_program(read_hlo(module(*lines, before=before)))


def test_an_instruction_keeps_what_it_does_and_names_its_line():
    [program] = listed(GATHER).computations
    assert (program.name, program.caller) == ("main", "")
    assert [(each.text, each.line) for each in program.instructions] == [
        ("p = f32[16,4] parameter(0)", None),
        ("gather = f32[16,4] all-gather(p), replica_groups=[1,8]<=[8], dimensions={0}", 7),
        ("ROOT out = f32[] constant(0)", None),
    ]


def test_what_is_called_follows_with_its_caller():
    start = "%zero = s32[] constant(0)"
    found = listed(start, "%loop = s32[] while(s32[] %zero), condition=%condition, body=%body", before=LOOP)
    assert [(each.name, each.caller) for each in found.computations] == [
        ("main", ""),
        ("condition", "condition of loop"),
        ("body", "body of loop"),
    ]
    assert found.computations[2].instructions[1].line == 3


def test_a_computation_that_is_called_twice_is_listed_once():
    reduce = "f32[] reduce(f32[16,4]{1,0} %p, f32[] %zero), dimensions={0,1}, to_apply=%add"
    found = listed("%zero = f32[] constant(0)", f"%one = {reduce}", f"%two = {reduce}")
    assert [(each.name, each.caller) for each in found.computations] == [("main", ""), ("add", "called by one")]


def test_a_huge_program_is_cut_and_the_rest_is_counted():
    copies = [f"%c{number} = f32[16,4]{{1,0}} copy(f32[16,4]{{1,0}} %p)" for number in range(MAX_INSTRUCTIONS)]
    found = listed(*copies)
    assert sum(len(each.instructions) for each in found.computations) == MAX_INSTRUCTIONS
    assert found.left_out == 2
    assert (
        len(listed(f"%long = s32[1000] constant({{{', '.join(['1'] * 1000)}}})").computations[0].instructions[1].text)
        == 400
    )


def test_it_crosses_the_wire():
    found = listed(GATHER, "%zero = s32[] constant(0)")
    assert read(Listing, write(found), "listing") == found
