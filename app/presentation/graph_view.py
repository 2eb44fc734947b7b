"""Arranges the graph of an explored program: its drawing, and the same in a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.units import bytes_text
from app.presentation.drawings.graph import draw_graph
from app.presentation.drawings.graph_text import details_of, groups_of, name_of
from grader.explorer.graph import ExploredGraph


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A node of the graph by its number, from 1. `takes` names what it takes from which node."""

    number: int
    inside: int | None
    kind: str
    name: str
    details: str
    takes: str
    lines: Sequence[int]


@dataclass(frozen=True, slots=True)
class GraphView:
    """The graph, drawn and as rows."""

    drawing: Markup
    rows: tuple[GraphRow, ...]
    is_folded: bool
    unlisted_edges: int


def arrange_graph(graph: ExploredGraph | None, mesh: str, prefix: str) -> GraphView | None:
    """None for an exploration that has no graph.

    Args:
      prefix: of the ids of the source's lines.
    """
    if graph is None or not graph.nodes:
        return None
    taken: dict[int, list[str]] = {}
    for edge in graph.edges:
        when = " (the round before)" if edge.leads_back else ""
        taken.setdefault(edge.target, []).append(f"{edge.source + 1}: {bytes_text(edge.bytes)}{when}")
    rows = tuple(
        GraphRow(
            number=number + 1,
            inside=None if node.inside is None else node.inside + 1,
            kind=node.kind,
            name=name_of(node),
            details=" \N{MIDDLE DOT} ".join(filter(None, (details_of(node), groups_of(node)))),
            takes=", ".join(taken.get(number, ())),
            lines=node.lines,
        )
        for number, node in enumerate(graph.nodes)
    )
    drawing = draw_graph(graph, f"The program's graph, {mesh}", prefix)
    return GraphView(drawing, rows, graph.is_folded, graph.unlisted_edges)
