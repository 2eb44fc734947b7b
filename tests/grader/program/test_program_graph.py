"""The graph of compiled programs: blocks by function, collectives, and loops around them."""

import copy
import json

import pytest

from grader.program.census import Census, census_of
from grader.program.graph_building import build_graph
from grader.program.hlo import read_hlo
from grader.program.program_graph import MAX_NODES, GraphNode, ProgramGraph, read_graph
from grader.program.strict_json import write
from grader.program.tokens import ProgramUnreadable


def graph_of(text: str, source: str = "compiled_texts.py") -> ProgramGraph:
    module = read_hlo(text)
    return build_graph(module, census(text, source), source)


def census(text: str, source: str = "compiled_texts.py") -> Census:
    module = read_hlo(text)
    return census_of(module, int(module.attributes.get("num_partitions", "1")[0]), source=source)


HLO = """
HloModule test, num_partitions=8

FileNames
1 "submission.py"

FunctionNames
1 "step"
2 "step.<locals>.<lambda>"
3 "layer"

FileLocations
1 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=1 end_column=2}
2 {file_name_id=1 function_name_id=2 line=10 end_line=10 column=1 end_column=2}
3 {file_name_id=1 function_name_id=3 line=4 end_line=4 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=2}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (x: f32[4,8], w: f32[8,4]) -> f32[4,4] {
  %x = f32[4,8] parameter(0)
  %w = f32[8,4] parameter(1)
  %dot = f32[4,4] dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    metadata={op_name="dot" stack_frame_id=3}
  %tanh = f32[4,4] tanh(%dot)
  %all = f32[4,4] all-reduce(%tanh), channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true,
    to_apply=%add, metadata={op_name="psum" stack_frame_id=1}
  ROOT %out = f32[4,4] multiply(%all, %all), metadata={op_name="transpose(jvp())/mul" stack_frame_id=2}
}
"""


def test_blocks_have_the_function_and_the_line_of_what_they_compute():
    graph = graph_of(HLO, "submission.py")
    layer, reduce, step = graph.nodes
    assert (layer.kind, layer.name, layer.lines, layer.steps) == ("block", "layer", (4,), 2)
    assert (layer.products, layer.flops, layer.is_backward) == (1, 2 * 4 * 8 * 4, False)
    assert (reduce.kind, reduce.lines, reduce.uses) == ("collective", (9,), (0,))
    # A lambda is a part of the function around it.
    assert (step.name, step.lines, step.is_backward) == ("step", (10,), True)
    assert [(each.source, each.target, each.bytes, each.shape) for each in graph.edges] == [
        (0, 1, 64, "f32[4,4]"),
        (1, 2, 64, "f32[4,4]"),
    ]
    assert [(each.leaf, each.node, each.bytes) for each in graph.arguments] == [(0, 0, 128), (1, 0, 128)]
    assert [(each.leaf, each.node, each.bytes) for each in graph.outputs] == [(0, 2, 64)]


def test_an_exchange_in_which_every_device_is_alone_only_computes():
    graph = graph_of(HLO.replace("[2,4]<=[8]", "[8,1]<=[8]"), "submission.py")
    assert [(each.kind, each.name) for each in graph.nodes] == [
        ("block", "layer"),
        ("block", "step"),
        ("block", "step"),
    ]


def test_each_program_has_a_small_graph_with_all_its_collectives(texts):
    for name in texts.keys() - {"forged"}:
        each = texts[name]
        graph = graph_of(each["hlo"])
        assert 0 < len(graph.nodes) <= MAX_NODES, name
        found = census(each["hlo"])
        shown = {use for node in graph.nodes for use in node.uses}
        between = {number for number, use in enumerate(found.collectives) if use.group_size > 1}
        assert between <= shown, name
        forward = [edge for edge in graph.edges if not edge.leads_back]
        assert all(edge.source < edge.target for edge in forward), name
        leaves = len(found.argument_bytes), len(found.output_bytes)
        assert read_graph(json.loads(json.dumps(write(graph))), *leaves, len(found.collectives)) == graph, name


LAYERS = 60
PARAMETERS = ("  %x = f32[8,8] parameter(0)", "  %w = f32[8,8] parameter(1)")


def test_layers_without_a_loop_are_folded():
    lines, last = [], "x"
    for number in range(LAYERS):
        lines.append(
            f"  %dot.{number} = f32[8,8] dot(%{last}, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        )
        lines.append(
            f"  %all.{number} = f32[8,8] all-reduce(%dot.{number}), channel_id={number + 1}, "
            "replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=%add"
        )
        last = f"all.{number}"
    lines[:0] = ["ENTRY %main (x: f32[8,8], w: f32[8,8]) -> f32[8,8] {", *PARAMETERS]
    text = HLO.partition("ENTRY")[0] + "\n".join(lines) + f"\n  ROOT %out = f32[8,8] tanh(%{last})\n}}\n"
    graph = graph_of(text, "submission.py")
    assert graph.is_folded
    assert [(each.kind, each.steps) for each in graph.nodes] == [("block", LAYERS + 1), ("collective", LAYERS)]
    assert [(each.source, each.target, each.arrays, each.leads_back) for each in graph.edges] == [
        (0, 1, LAYERS, False),
        (1, 0, LAYERS, True),
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("nodes", 0, "kind"), "input"),
        (("nodes", 0, "around"), 0),
        (("nodes", 0, "lines"), [0]),
        (("nodes", 1, "uses"), [1]),
        (("nodes", 0, "name"), 3),
        (("edges", 0, "target"), 3),
        (("arguments", 0, "leaf"), 2),
        (("arguments", 0, "node"), None),
        (("outputs", 0, "node"), 3),
        (("outputs", 0, "argument"), 0),
        (("nodes",), [write(GraphNode("block", "", None, False, False, 1, (), (), 0, 0, None))] * (MAX_NODES + 1)),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_a_graph_that_refers_to_what_does_not_exist_is_refused(path, value):
    good = write(graph_of(HLO, "submission.py"))
    assert read_graph(good, 2, 1, 1)
    bad = copy.deepcopy(good)
    part = bad
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ProgramUnreadable, match="graph"):
        read_graph(bad, 2, 1, 1)
