"""The graph of a compiled program as a table for a terminal: its parts in order, indented inside loops."""

from rich.console import Console

from app.entry.cli.fitted_table import FittedTable
from app.presentation.drawings.graph_text import details_of, groups_of, name_of
from grader.core.text import in_bytes
from grader.explorer.graph import ExploredGraph


def print_graph(console: Console, graph: ExploredGraph | None) -> None:
    if graph is None or not graph.nodes:
        console.print("There is no graph of this program.\n")
        return
    taken: dict[int, list[str]] = {}
    for edge in graph.edges:
        when = " (the round before)" if edge.leads_back else ""
        taken.setdefault(edge.target, []).append(f"{edge.source + 1}: {in_bytes(edge.bytes)}{when}")
    depths: list[int] = []
    table = FittedTable("no.", "part", "", "what", "takes from", "where", right=("no.",))
    for number, node in enumerate(graph.nodes):
        depths.append(0 if node.inside is None else depths[node.inside] + 1)
        # One with an ordinary space would be cut off where a cell is wrapped.
        indent = "\N{NO-BREAK SPACE}" * 2 * depths[-1]
        *others, last = taken.get(number) or [""]
        table.add_row(
            str(number + 1),
            f"{indent}{name_of(node)}",
            node.kind,
            tuple(filter(None, (details_of(node), groups_of(node)))),
            (*(f"{each}," for each in others), last),
            f"line {node.line}" if node.line else "",
        )
    table.print_to(console)
    if graph.is_folded:
        console.print("Layers that the program repeats are shown once.")
    if graph.unlisted_edges:
        console.print(f"{graph.unlisted_edges:,} small arrays between parts are not shown.")
    console.print()
