"""An exported program as it is shown: by function, with the innermost line of the source, and without locations."""

from grader.program.listing import MAX_INSTRUCTIONS, Listing
from grader.program.stablehlo_listing import list_written
from grader.program.strict_json import read, write

HEAD = """#loc = loc(unknown)
#loc1 = loc("x")
module @jit_f attributes {mhlo.num_partitions = 8 : i32} {
  func.func private @relu(%arg0: tensor<8xf32> loc(unknown)) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32> loc(#loc)
  } loc(#loc)
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy<@mesh, [{}]>} loc("x")) -> tensor<8xf32> {
"""
TAIL = """    return %0 : tensor<8xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("submission.py":7:4 to :9)
#loc3 = loc("/lib/jax/nn.py":90:2)
#loc4 = loc("loss"(#loc2))
#loc5 = loc("relu"(#loc3))
#loc6 = loc(callsite(#loc5 at #loc4))
#loc7 = loc("jit(f)/max"(#loc6))
#loc8 = loc("submission.py":3:1)
#loc9 = loc(callsite(#loc8 at #loc2))
#loc10 = loc(callsite(#loc11 at #loc11))
#loc11 = loc(callsite(#loc10 at #loc10))
"""


def listed(*lines: str) -> Listing:
    return list_written(HEAD + "".join(f"    {line}\n" for line in lines) + TAIL)


def lines_of(*lines: str) -> list[int | None]:
    return [each.line for each in listed(*lines).computations[0].instructions[1:-1]]


def test_main_comes_first_and_locations_become_lines():
    found = listed("%0 = stablehlo.maximum %arg0, %arg0 : tensor<8xf32> loc(#loc7)")
    assert [(each.name, each.caller) for each in found.computations] == [("main", ""), ("relu", "function")]
    assert [(each.text, each.line) for each in found.computations[0].instructions] == [
        (
            "func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy<@mesh, [{}]>}) -> tensor<8xf32> {",
            None,
        ),
        ("%0 = stablehlo.maximum %arg0, %arg0 : tensor<8xf32>", 7),
        ("return %0 : tensor<8xf32>", None),
    ]


def test_the_innermost_line_of_the_source_counts():
    assert lines_of("%0 = a.b loc(#loc9)") == [3]
    assert lines_of('%0 = a.b loc("submission.py":12:4)') == [12]
    assert lines_of("%0 = a.b loc(#loc3)", "%1 = a.b loc(#loc99)", "%2 = a.b") == [None, None, None]
    assert lines_of('%0 = a.b loc("my_submission.py":12:4)') == [None]
    # The runner has a module of this name, and its lines are not the source's.
    assert lines_of('%0 = a.b loc("/opt/grader/runner/submission.py":12:4)') == [None]


def test_locations_that_lead_in_a_circle_lead_nowhere():
    assert lines_of("%0 = a.b loc(#loc10)") == [None]


def test_the_body_of_a_loop_stays_indented():
    found = listed("%0 = stablehlo.while(%i = %arg0)", "cond {", "  stablehlo.return %c loc(#loc8)", "} loc(#loc8)")
    assert [each.text for each in found.computations[0].instructions[2:5]] == ["cond {", "  stablehlo.return %c", "}"]


def test_a_huge_program_is_cut_and_the_rest_is_counted():
    found = listed(*["%0 = a.b"] * MAX_INSTRUCTIONS)
    assert sum(len(each.instructions) for each in found.computations) == MAX_INSTRUCTIONS
    assert found.left_out == 4


def test_it_crosses_the_wire():
    found = listed("%0 = a.b loc(#loc7)")
    assert read(Listing, write(found), "written") == found
