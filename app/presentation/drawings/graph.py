"""Draws the graph of a program: inputs at the top, computation and collectives in layers, outputs at the bottom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from markupsafe import Markup

from app.core.web.svg import element
from app.core.web.units import bytes_text
from app.presentation.drawings.graph_inputs import with_repeated_inputs
from app.presentation.drawings.graph_text import details_of, groups_of, line_of, name_of, words_of_edge, words_of_node
from app.presentation.drawings.layers import Point, place
from app.presentation.drawings.timeline import kind_number
from grader.explorer.graph import ExploredEdge, ExploredGraph, ExploredNode

_WIDTH, _LINE, _PAD = 204.0, 15.0, 8.0
_DEVICES = 14.0
# Around what is inside a loop, and for the name above it.
_BORDER, _HEAD = 14.0, 26.0
_LANE = 12.0
# Of the nodes that are side by side, in the program and in a loop.
_WIDEST, _WIDEST_INSIDE = 740.0, 440.0
_MARGIN = 6.0
# About the width of a character, of names and of smaller texts.
_CHARACTER, _SMALL_CHARACTER = 6.2, 5.2
_MOST_IN_GROUP = 8
# From one device to the next.
_DOT = 7.5


@dataclass(frozen=True, slots=True)
class _Rectangle:
    x: float
    y: float
    width: float
    height: float

    def meets(self, other: "_Rectangle") -> bool:
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


@dataclass(frozen=True, slots=True)
class _Picture:
    """Where the nodes of a graph are, and the way of each edge."""

    nodes: Mapping[int, _Rectangle]
    paths: Mapping[int, tuple[Point, ...]]
    backward: Mapping[int, tuple[Point, ...]]
    width: float
    height: float


def draw_graph(graph: ExploredGraph, title: str, prefix: str = "line-") -> Markup:
    """Draw a graph. A node links to the line with most of its work, and is marked with each of its lines.

    Args:
      prefix: of the ids of the source's lines.
    """
    graph = with_repeated_inputs(graph)
    placed = _place_inside(graph, None)
    edges, labels, taken = [], [], list(placed.nodes[each] for each in placed.nodes if not _is_around(graph, each))
    for number in sorted(placed.paths, key=lambda number: -graph.edges[number].bytes):
        edge, path = graph.edges[number], placed.paths[number]
        edges.append(_edge(graph, edge, _curve(path), path[-1], down=True))
        label = _label_of(edge, path, taken)
        if label is not None:
            labels.append(label)
    for number, path in placed.backward.items():
        edges.append(_edge(graph, graph.edges[number], _loop_back(path), path[-1], down=False))
    around = [_frame(graph, each, placed.nodes[each], prefix) for each in placed.nodes if _is_around(graph, each)]
    nodes = [
        _box(graph.nodes[each], placed.nodes[each], prefix) for each in placed.nodes if not _is_around(graph, each)
    ]
    width, height = placed.width + 2 * _MARGIN, placed.height + 2 * _MARGIN
    return element(
        "svg",
        element("g", *around, *edges, *labels, *nodes, transform=f"translate({_MARGIN:g} {_MARGIN:g})"),
        class_="drawing drawing-graph",
        role="group",
        aria_label=title,
        viewBox=f"0 0 {width:.1f} {height:.1f}",
        width=width,
        height=height,
    )


def _is_around(graph: ExploredGraph, number: int) -> bool:
    return any(each.inside == number for each in graph.nodes)


def _place_inside(graph: ExploredGraph, around: int | None) -> _Picture:
    """Place the nodes in a loop, or those of the program."""
    members = [number for number, node in enumerate(graph.nodes) if node.inside == around]
    inner = {number: _place_inside(graph, number) for number in members if _is_around(graph, number)}
    sizes = [
        (inner[number].width + 2 * _BORDER, inner[number].height + _HEAD + _BORDER)
        if number in inner
        else (_WIDTH, _height(graph.nodes[number]))
        for number in members
    ]
    index = {number: at for at, number in enumerate(members)}
    within = [number for number, edge in enumerate(graph.edges) if edge.source in index and edge.target in index]
    down = [each for each in within if not graph.edges[each].leads_back]
    ends = [(index[graph.edges[each].source], index[graph.edges[each].target]) for each in down]
    layout = place(sizes, ends, _WIDEST if around is None else _WIDEST_INSIDE)
    nodes: dict[int, _Rectangle] = {}
    paths = dict(zip(down, layout.paths, strict=True))
    backward: dict[int, tuple[Point, ...]] = {}
    for number, (x, y), size in zip(members, layout.corners, sizes, strict=True):
        nodes[number] = _Rectangle(x, y, *size)
    lanes = [each for each in within if graph.edges[each].leads_back]
    for lane, each in enumerate(lanes):
        source, target = nodes[graph.edges[each].source], nodes[graph.edges[each].target]
        x = layout.width + (lane + 1) * _LANE
        start = source.x + source.width, source.y + source.height * 0.65
        end = target.x + target.width, target.y + target.height * 0.35
        backward[each] = (start, (x, start[1]), (x, end[1]), end)
    for number, found in inner.items():
        dx, dy = nodes[number].x + _BORDER, nodes[number].y + _HEAD
        nodes |= {each: _Rectangle(at.x + dx, at.y + dy, at.width, at.height) for each, at in found.nodes.items()}
        for mine, theirs in ((paths, found.paths), (backward, found.backward)):
            mine |= {each: tuple((x + dx, y + dy) for x, y in path) for each, path in theirs.items()}
    return _Picture(nodes, paths, backward, layout.width + len(lanes) * _LANE + (4.0 if lanes else 0.0), layout.height)


def _height(node: ExploredNode) -> float:
    return 2 * _PAD + 2 * _LINE + (_DEVICES if node.kind == "collective" else 0.0)


def _curve(path: Sequence[Point]) -> str:
    """Down from point to point: curved between layers, straight through them."""
    (x, y), *rest = path
    parts = [f"M{x:.1f} {y:.1f}"]
    for number, (to_x, to_y) in enumerate(rest):
        if number % 2:
            parts.append(f"L{to_x:.1f} {to_y:.1f}")
        else:
            middle = (y + to_y) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return "".join(parts)


def _loop_back(path: Sequence[Point]) -> str:
    """To the right, up or down beside the nodes, and to the left again."""
    (x, y), (lane, _), _, (to_x, to_y) = path
    turn = min(6.0, abs(to_y - y) / 2)
    towards = turn if to_y > y else -turn
    return (
        f"M{x:.1f} {y:.1f}H{lane - turn:.1f}Q{lane:.1f} {y:.1f} {lane:.1f} {y + towards:.1f}"
        f"V{to_y - towards:.1f}Q{lane:.1f} {to_y:.1f} {lane - turn:.1f} {to_y:.1f}H{to_x:.1f}"
    )


def _edge(graph: ExploredGraph, edge: ExploredEdge, way: str, end: Point, *, down: bool) -> Markup:
    x, y = end
    head = (
        f"M{x - 3.5:.1f} {y - 7:.1f}h7L{x:.1f} {y:.1f}z" if down else f"M{x + 7:.1f} {y - 3.5:.1f}v7L{x:.1f} {y:.1f}z"
    )
    return element(
        "g",
        element("title", words_of_edge(graph, edge)),
        element("path", d=way, class_="way", stroke_width=1 + min(log2(1 + edge.bytes / 2**16), 12) / 5),
        element("path", d=head, class_="head"),
        class_="edge leads-back" if edge.leads_back else "edge",
    )


def _label_of(edge: ExploredEdge, path: Sequence[Point], taken: list[_Rectangle]) -> Markup | None:
    """The bytes beside an edge, where they hide nothing."""
    text = bytes_text(edge.bytes)
    width = len(text) * _SMALL_CHARACTER + 4
    for (x, y), (to_x, to_y) in zip(path[-2::-2], path[::-2], strict=False):
        for share in (0.5, 0.7, 0.3):
            middle_x = x + (to_x - x) * share**2 * (3 - 2 * share)
            middle_y = y + (to_y - y) * share
            for left in (middle_x + 4, middle_x - width - 2):
                place_of = _Rectangle(left, middle_y - 7, width, 12)
                if left >= 0 and not any(place_of.meets(each) for each in taken):
                    taken.append(place_of)
                    return element("text", text, x=left + 2, y=middle_y + 3, class_="size")
    return None


def _frame(graph: ExploredGraph, number: int, at: _Rectangle, prefix: str) -> Markup:
    """A loop or a branch around other nodes, with its name above them."""
    node = graph.nodes[number]
    frame = element("rect", x=at.x, y=at.y, width=at.width, height=at.height, rx=8, class_="around")
    text = words_of_node(node)
    name = element("text", _cut(text, at.width - 16, _CHARACTER), x=at.x + 9, y=at.y + 17, class_="name")
    # Only the name belongs to the loop's line, because nodes inside it have lines of their own.
    return element("g", frame, _linked(node, name, prefix, only_main=True))


def _box(node: ExploredNode, at: _Rectangle, prefix: str) -> Markup:
    look, line = f"kind-{kind_number(node.name)}", _short_line(node)
    # The line of a collective is in the row of its devices.
    beside = 0.0 if node.kind == "collective" else len(line) * _SMALL_CHARACTER
    shapes = [
        element("rect", x=at.x, y=at.y, width=at.width, height=at.height, rx=6, class_=f"node {node.kind}"),
        *(
            [element("rect", x=at.x, y=at.y, width=5, height=at.height, class_=f"stripe {look}")]
            if node.kind == "collective"
            else []
        ),
        element(
            "text",
            _cut(name_of(node), at.width - 2 * _PAD - 4, _CHARACTER),
            x=at.x + _PAD + 4,
            y=at.y + _PAD + 11,
            class_="name",
        ),
        element(
            "text",
            _cut(details_of(node), at.width - 2 * _PAD - 4 - beside, _SMALL_CHARACTER),
            x=at.x + _PAD + 4,
            y=at.y + _PAD + _LINE + 11,
            class_="axis",
        ),
        element("text", line, x=at.x + at.width - _PAD, y=at.y + at.height - _PAD - 4, class_="label"),
    ]
    if node.kind == "collective":
        shapes.append(_devices(node, at.x + _PAD + 4, at.y + _PAD + 2 * _LINE + _DEVICES / 2, look))
    return _linked(node, element("g", *shapes), prefix)


def _short_line(node: ExploredNode) -> str:
    """A collective's other lines do not fit beside its devices."""
    return line_of(node).partition(" +")[0] if node.kind == "collective" else line_of(node)


def _devices(node: ExploredNode, x: float, y: float, look: str) -> Markup:
    """The groups of devices that communicate: a chain of dots for each."""
    in_group = min(node.group_size, _MOST_IN_GROUP)
    room = _WIDTH - 3 * _PAD - (len(groups_of(node)) + len(_short_line(node))) * _SMALL_CHARACTER
    groups = min(node.groups, max(int(room // (_DOT * in_group + 5)), 1))
    shapes: list[Markup] = []
    for _ in range(groups):
        end = x + _DOT * (in_group - 1)
        shapes.append(element("path", d=f"M{x:.1f} {y:.1f}H{end:.1f}", class_="between"))
        shapes += [element("circle", cx=x + _DOT * each, cy=y, r=2.8, class_=look) for each in range(in_group)]
        x = end + _DOT + 5
    shapes.append(element("text", groups_of(node), x=x, y=y + 3.5, class_="axis"))
    return element("g", *shapes)


def _linked(node: ExploredNode, shape: Markup, prefix: str, *, only_main: bool = False) -> Markup:
    """A node as a link to its line. A group around it for each other line marks it when one is pointed at."""
    words = words_of_node(node)
    if node.line is None:
        return element("g", element("title", words), shape)
    of = f"{prefix}{node.line}"
    linked = element("a", element("title", words), shape, href=f"#{of}", data_of_line=of, aria_label=words)
    for line in () if only_main else node.lines:
        if line != node.line:
            linked = element("g", linked, data_of_line=f"{prefix}{line}")
    return linked


def _cut(text: str, width: float, character: float) -> str:
    most = int(width / character)
    return text if len(text) <= most else f"{text[: most - 1]}…"
