"""What a compiled program is like, as data: complete, bounded, and equal to what the checks read."""

import json
from collections.abc import Sequence
from dataclasses import replace

from app.learning.explorer.exploration_view import arrange_explored
from app.presentation.totals import count_text
from grader.core.errors import SubmissionFault
from grader.explorer.description import MAX_COLLECTIVES, explored, fault_of
from grader.explorer.exploration import Explored
from grader.program.collectives import Collective
from grader.program.listing import ListedComputation, ListedInstruction, Listing
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, exchange, part, product, program, whole


def test_a_program_is_described_with_the_lines_that_cause_it():
    gather = exchange("all-gather", 32_768, executions=2, source_line=5)
    dots = [product(6_000, 9), product(1_000, 9), product(500, None), product(4_000, 12)]
    [found] = explored([program(EIGHT, collectives=[gather], dots=dots, flops=11_500)]).programs
    assert found.mesh == EIGHT
    [collective] = found.collectives
    assert (collective.collective, collective.axes, collective.group_size) == ("all-gather", ("x",), 8)
    assert (collective.bytes, collective.executions, collective.line) == (32_768, 2, 5)
    assert [(each.line, each.flops) for each in found.flops_by_line] == [(9, 7_000), (12, 4_000), (None, 500)]
    placed = {(leaf.when, leaf.path): leaf for leaf in found.leaves.leaves}
    assert list(placed) == [("in", "w"), ("in", "x"), ("out", "w"), ("out", "loss")]
    assert placed["in", "w"].got == placed["in", "w"].expected
    assert placed["in", "w"].got[1] == ((64, 128), (0, 16))


def test_memory_is_that_of_the_compiler_and_arguments_are_compared_with_whole_ones():
    measured = program(EIGHT, temporary_bytes=5_000, alias_bytes=4_096, constant_bytes=300)
    [found] = explored([measured]).programs
    rows = {row.name: row for row in found.memory.rows}
    assert {name: row.mine for name, row in rows.items()} == {
        "arguments": measured.facts.memory.argument_bytes,
        "outputs": measured.facts.memory.output_bytes,
        "temporaries": 5_000,
        "constants": 300,
        "overwritten in place": 4_096,
    }
    assert rows["arguments"].whole == 512 * 16 * 4 + 24 * 16 * 4
    assert all(row.reference is None for row in rows.values())


def test_two_versions_are_compared_mesh_by_mesh():
    mine = [program(mesh, w=whole((512, 16), size)) for mesh, size in ((EIGHT, 8), (FOUR, 4))]
    other = [program(EIGHT), program(FOUR)]
    found = explored(mine, other)
    assert [each.mesh for each in found.against] == [EIGHT, FOUR]
    assert len(found.differences) == 2
    assert any("w comes in as P(), the other's as P('x')" in each.text for each in found.differences[0])
    arguments = found.programs[0].memory.rows[0]
    assert arguments.mine > arguments.reference
    assert explored(other, other).differences == [[], []]


def test_a_huge_program_is_cut_and_the_rest_is_counted():
    [found] = explored([program(EIGHT, collectives=[exchange("all-gather", 64)] * (MAX_COLLECTIVES + 7))]).programs
    assert (len(found.collectives), found.unlisted_collectives) == (MAX_COLLECTIVES, 7)


def merged(lines: Sequence[int | None]) -> Collective:
    """A collective in which XLA merged one of each of these lines."""
    return exchange("all-reduce", 64 * len(lines), parts=tuple(part(64, (0,), line=line) for line in lines))


def test_a_merged_collective_has_an_entry_for_each_line_but_is_one():
    gather = exchange("all-gather", 64, source_line=2)
    result = explored([program(EIGHT, collectives=[gather, merged([8, 9, 8, None])])])
    [found] = result.programs
    assert [(each.line, each.bytes, each.ring_bytes, each.sent_with) for each in found.collectives] == [
        (2, 64, 56, None),
        (8, 128, 112, None),
        (9, 64, 56, 1),
        (None, 64, 56, 1),
    ]
    assert count_text(found) == "2 collectives"
    [mesh] = arrange_explored(result).meshes
    table = mesh.program.collectives
    assert table is not None
    assert [row.cells[-1].notes for row in table.rows] == [
        (),
        ("sent together with line 9",),
        ("sent together with line 8",),
        ("sent together with lines 8 and 9",),
    ]
    assert mesh.timeline.count("sent together with line 9") == 1
    assert arrange_explored(result).lines[9] == ("all-reduce over x, sends 56 B, sent together with line 8",)


def test_a_merged_collective_that_does_not_fit_is_left_out_whole():
    made = [exchange("all-gather", 64)] * (MAX_COLLECTIVES - 1) + [merged([8, 9])]
    [found] = explored([program(EIGHT, collectives=made)]).programs
    assert (len(found.collectives), found.unlisted_collectives) == (MAX_COLLECTIVES - 1, 1)


def test_an_unknown_number_of_products_is_unknown():
    [found] = explored([program(EIGHT, dots=[product(10, 3), product(10, 3, executions=None)], flops=None)]).programs
    assert [(each.line, each.flops) for each in found.flops_by_line] == [(3, None)]
    assert found.flops is None


def test_a_fault_names_its_line_and_the_source():
    fault = SubmissionFault("syntax_error", "invalid syntax", line=3, column=1)
    found = fault_of(fault, "against").fault
    assert (found.of, found.reason, found.line) == ("against", "syntax_error", 3)
    assert "invalid syntax" in found.message
    assert fault_of(SubmissionFault("missing_entry", "no `step`"), "source").fault.line is None


def test_what_is_stored_can_be_read_again():
    found = explored([program(EIGHT, collectives=[exchange("all-reduce", 64)])])
    assert Explored.model_validate(json.loads(json.dumps(found.model_dump(mode="json")))) == found


def test_the_compiled_program_is_listed_if_it_was_requested():
    instructions = (
        ListedInstruction("g = f32[8] all-gather(p)", 5),
        ListedInstruction("p = f32[1] parameter(0)", None),
    )
    listing = Listing((ListedComputation("main", "", instructions),), 3)
    [found] = explored([replace(program(EIGHT), listing=listing)]).programs
    [computation] = found.hlo
    assert [(each.text, each.line) for each in computation.instructions] == [
        ("g = f32[8] all-gather(p)", 5),
        ("p = f32[1] parameter(0)", None),
    ]
    assert found.unlisted_instructions == 3
    assert explored([program(EIGHT)]).programs[0].hlo == []
