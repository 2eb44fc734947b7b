"""Arranges the graph of an explored program: its drawing, and the same in a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.units import NOTHING, bytes_text
from app.presentation.drawings.graph import draw_graph
from app.presentation.drawings.graph_text import details_of, groups_of, name_of
from app.presentation.sent_bytes import with_sent_bytes
from app.presentation.table import Cell, Row, Table, at_lines, columns, count
from grader.explorer.exploration import ExploredCollective
from grader.explorer.graph import ExploredGraph, ExploredNode


@dataclass(frozen=True, slots=True)
class GraphView:
    """The graph, drawn and as a table that says the same."""

    drawing: Markup
    table: Table
    is_folded: bool
    unlisted_edges: int


def arrange_graph(
    graph: ExploredGraph | None, collectives: Sequence[ExploredCollective], mesh: str, prefix: str
) -> GraphView | None:
    """Return None for an exploration without a graph.

    Args:
      prefix: of the ids of the source's lines.
    """
    graph = with_sent_bytes(graph, collectives)
    table = _table(graph)
    if graph is None or table is None:
        return None
    drawing = draw_graph(graph, f"The program's graph, {mesh}", prefix)
    return GraphView(drawing, table, graph.is_folded, graph.unlisted_edges)


def graph_table(graph: ExploredGraph | None, collectives: Sequence[ExploredCollective]) -> Table | None:
    """The nodes with their numbers, from 1, and what each takes from which node; None without a graph."""
    return _table(with_sent_bytes(graph, collectives))


def _table(graph: ExploredGraph | None) -> Table | None:
    if graph is None or not graph.nodes:
        return None
    taken: dict[int, list[str]] = {}
    for edge in graph.edges:
        when = " (the round before)" if edge.leads_back else ""
        taken.setdefault(edge.target, []).append(f"{edge.source + 1}: {bytes_text(edge.bytes)}{when}")
    return Table(
        title="The program's graph",
        columns=columns("No.", "Part", "Kind", "What", "Takes from", "Where", numbers=["No."]),
        rows=tuple(_row(number, node, taken.get(number, ())) for number, node in enumerate(graph.nodes)),
        heading=1,
    )


def _row(number: int, node: ExploredNode, taken: Sequence[str]) -> Row:
    inside = "" if node.inside is None else f", in {node.inside + 1}"
    return Row(
        (
            count(number + 1),
            Cell(name_of(node)),
            Cell(f"{node.kind}{inside}"),
            Cell(" \N{MIDDLE DOT} ".join(filter(None, (details_of(node), groups_of(node))))),
            Cell(", ".join(taken) or NOTHING),
            at_lines(node.lines),
        ),
        node.lines[0] if node.lines else None,
    )
