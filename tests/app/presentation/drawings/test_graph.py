"""The drawing of a program's graph: each node links to its line, and is marked with every line that led to it."""

import re
from xml.etree import ElementTree

import pytest

from app.learning.explorer.examples import shipped_results
from app.presentation.drawings.graph import draw_graph
from app.presentation.drawings.graph_text import details_of, line_of, name_of, words_of_edge
from grader.explorer.graph import ExploredEdge, ExploredGraph, ExploredNode

GATHER = ExploredNode(
    kind="collective", name="all-gather", axes=("data",), groups=2, group_size=4, bytes=4096, line=3, lines=[3, 5]
)
BLOCK = ExploredNode(kind="block", name="loss", line=7, lines=[7], is_backward=True, products=1, flops=2_000, number=3)
INPUT = ExploredNode(kind="input", name="w<b>", number=2, bytes=512, spec="P('data')")
GRAPH = ExploredGraph(
    nodes=[INPUT, GATHER, BLOCK],
    edges=[
        ExploredEdge(source=0, target=1, arrays=2, bytes=512),
        ExploredEdge(source=1, target=2, arrays=1, bytes=2048),
    ],
)


def test_nodes_say_what_they_are():
    assert [name_of(each) for each in GRAPH.nodes] == ["w<b>", "all-gather over data", "loss, backward"]
    assert [details_of(each) for each in GRAPH.nodes] == [
        "2 leaves · 512 B · P('data')",
        "sends 4.0 KiB",
        "1 product, 2.0 kFLOP",
    ]
    assert [line_of(each) for each in GRAPH.nodes] == ["", "line 3 +1", "line 7"]
    assert words_of_edge(GRAPH, GRAPH.edges[0]) == "w<b> to all-gather over data: 2 arrays, 512 B"


def test_a_node_links_to_its_line_and_is_marked_with_all_of_them():
    root = ElementTree.fromstring(draw_graph(GRAPH, "Graph"))
    links = {each.get("href"): each for each in root.iter("a")}
    assert list(links) == ["#line-3", "#line-7"]
    assert links["#line-3"].get("aria-label") == "all-gather over data, sends 4.0 KiB, 2 groups of 4, line 3 +1"
    marked = [each.get("data-of-line") for each in root.iter() if each.get("data-of-line")]
    assert marked == ["line-5", "line-3", "line-7"]
    # Two groups of four devices.
    assert len(list(root.iter("circle"))) == 8
    assert "#other-3" in draw_graph(GRAPH, "Graph", "other-")


def test_a_loop_is_drawn_around_its_nodes():
    loop = ExploredNode(kind="loop", name="f", line=2, lines=[2], executions=4)
    inside = [GATHER.model_copy(update={"inside": 0}), BLOCK.model_copy(update={"inside": 0})]
    edges = [
        ExploredEdge(source=1, target=2, arrays=1, bytes=8),
        ExploredEdge(source=2, target=1, arrays=1, bytes=8, leads_back=True),
    ]
    drawn = draw_graph(ExploredGraph(nodes=[loop, *inside], edges=edges), "Graph")
    assert "loop in f, 4 rounds, line 2" in drawn
    frame, *boxes = (
        [float(number) for number in found]
        for found in re.findall(
            r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx="\d" class="(?:around|node)', drawn
        )
    )
    for x, y, width, height in boxes:
        assert frame[0] < x < x + width < frame[0] + frame[2]
        assert frame[1] < y < y + height < frame[1] + frame[3]
    assert drawn.count('class="edge leads-back"') == 1


def test_an_input_that_is_needed_much_later_is_drawn_again():
    chain = [ExploredNode(kind="block", name=f"f{number}") for number in range(6)]
    edges = [ExploredEdge(source=number, target=number + 1, arrays=1, bytes=8) for number in range(6)]
    edges.append(ExploredEdge(source=0, target=6, arrays=2, bytes=512))
    drawn = draw_graph(ExploredGraph(nodes=[INPUT, *chain], edges=edges), "Graph")
    assert "w&lt;b&gt;, again" in drawn


@pytest.mark.parametrize("slug", shipped_results())
def test_the_graphs_of_the_examples_are_drawn(slug):
    [program] = shipped_results()[slug].programs
    assert program.graph is not None
    root = ElementTree.fromstring(draw_graph(program.graph, "Graph"))
    assert root.get("aria-label") == "Graph"
    assert not any(key == "style" or key.startswith("on") for part in root.iter() for key in part.keys())  # noqa: SIM118
    assert len(list(root.iter("a"))) == sum(each.line is not None for each in program.graph.nodes)
