"""Draws an input again where it is needed much later, so that no edge crosses the whole drawing."""

from math import inf

from app.presentation.drawings.layers import layers_of
from grader.explorer.graph import ExploredEdge, ExploredGraph, ExploredNode

# An edge from an input that passes more layers begins at a node of its own.
_FARTHEST = 3


def with_repeated_inputs(graph: ExploredGraph) -> ExploredGraph:
    """The graph with further nodes at its beginning: for each node that is far from inputs, one for all of these."""
    down = [
        (edge.source, edge.target)
        for edge in graph.edges
        if not edge.leads_back and graph.nodes[edge.source].inside is None and graph.nodes[edge.target].inside is None
    ]
    layers = layers_of([0.0] * len(graph.nodes), down, inf)
    far: dict[int, list[ExploredEdge]] = {}
    for edge in graph.edges:
        if graph.nodes[edge.source].kind == "input" and layers[edge.target] - layers[edge.source] > _FARTHEST:
            far.setdefault(edge.target, []).append(edge)
    repeated = list(far.items())
    shift = len(repeated)
    edges = [
        edge.model_copy(update={"source": edge.source + shift, "target": edge.target + shift})
        for edge in graph.edges
        if edge not in far.get(edge.target, ())
    ]
    edges += [
        ExploredEdge(
            source=number,
            target=target + shift,
            arrays=sum(edge.arrays for edge in these),
            bytes=sum(edge.bytes for edge in these),
        )
        for number, (target, these) in enumerate(repeated)
    ]
    nodes = [
        node.model_copy(update={"inside": None if node.inside is None else node.inside + shift}) for node in graph.nodes
    ]
    return graph.model_copy(
        update={"nodes": [*(_again(graph, these) for _, these in repeated), *nodes], "edges": edges}
    )


def _again(graph: ExploredGraph, edges: list[ExploredEdge]) -> ExploredNode:
    names = [graph.nodes[edge.source].name or "further leaves" for edge in edges]
    first, *rest = names
    return ExploredNode(
        kind="input",
        name=f"{first}{f' and {len(rest)} more' * bool(rest)}, again",
        number=sum(edge.arrays for edge in edges),
        bytes=sum(edge.bytes for edge in edges),
    )
