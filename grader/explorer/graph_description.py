"""Describe a program's graph as data to store and show, with leaves by their paths and collectives by their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.explorer.graph import ExploredEdge, ExploredGraph, ExploredNode
from grader.program.collective_uses import CollectiveUse, collectives_of
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured
from grader.program.program_graph import GraphEnd, GraphNode, ProgramGraph

# The most nodes for inputs, and the most for outputs.
MAX_LEAF_NODES = 6
_NUMBER_BYTES = 8


@dataclass(frozen=True, slots=True)
class _Leaves:
    """Leaves that are shown as one node."""

    name: str
    numbers: tuple[int, ...]


def describe_graph(measured: Measured, rows: Mapping[int, int]) -> ExploredGraph | None:
    """The graph of a program; None if it was not requested.

    Args:
      rows: for each of the `collectives_of` a program, the number of its first entry in `collectives`, unless it is not
        listed.
    """
    graph = measured.graph
    if graph is None:
        return None
    uses = _uses_of(measured)
    given = [*measured.state_in, *measured.given]
    inputs = _grouped([path for path, _ in given], _neighbours(graph.arguments))
    outputs = _grouped([path for path, _ in measured.out], _neighbours(graph.outputs))
    first = len(inputs)
    last = first + len(graph.nodes)
    nodes = [
        *(_leaf_node("input", each, given) for each in inputs),
        *(_node(each, first, uses, rows) for each in graph.nodes),
        *(_leaf_node("output", each, measured.out) for each in outputs),
    ]
    edges = [
        *_from_arguments(graph, inputs, first),
        *(
            ExploredEdge(
                source=edge.source + first,
                target=edge.target + first,
                arrays=edge.arrays,
                bytes=edge.bytes,
                shape=edge.shape or None,
                leads_back=edge.leads_back,
            )
            for edge in graph.edges
        ),
        *_to_outputs(graph, inputs, outputs, first, last),
    ]
    return _without_numbers(
        ExploredGraph(nodes=nodes, edges=edges, is_folded=graph.is_folded, unlisted_edges=graph.left_out)
    )


def _without_numbers(graph: ExploredGraph) -> ExploredGraph:
    """Leave out single numbers that only become outputs, such as a count of steps, if there is anything else."""
    is_small = [node.bytes <= _NUMBER_BYTES * node.number for node in graph.nodes]
    others: dict[int, set[int]] = {}
    for edge in graph.edges:
        others.setdefault(edge.source, set()).add(edge.target)
        others.setdefault(edge.target, set()).add(edge.source)
    ends = {at for at, node in enumerate(graph.nodes) if node.kind in ("input", "output") and is_small[at]}
    left_out = {at for at in ends if others.get(at) and others[at] <= ends}
    kept = [at for at in range(len(graph.nodes)) if at not in left_out]
    if not left_out or not kept:
        return graph
    number = {at: index for index, at in enumerate(kept)}
    return graph.model_copy(
        update={
            "nodes": [
                node.model_copy(update={"inside": None if node.inside is None else number[node.inside]})
                for node in (graph.nodes[at] for at in kept)
            ],
            "edges": [
                edge.model_copy(update={"source": number[edge.source], "target": number[edge.target]})
                for edge in graph.edges
                if edge.source in number and edge.target in number
            ],
        }
    )


def _uses_of(measured: Measured) -> dict[int, tuple[int, CollectiveUse]]:
    """The collectives between several devices by their numbers in the census, each with its number among these."""
    numbers = (at for at, each in enumerate(measured.facts.census.collectives) if each.group_size > 1)
    return {at: (number, use) for number, (at, use) in enumerate(zip(numbers, collectives_of(measured), strict=True))}


def _node(
    node: GraphNode, first: int, uses: Mapping[int, tuple[int, CollectiveUse]], rows: Mapping[int, int]
) -> ExploredNode:
    found = [uses[number] for number in node.uses if number in uses]
    common = ExploredNode(
        kind=node.kind,  # type: ignore[arg-type]  # read_graph has checked it
        name=node.name.rpartition(".")[2] if node.name[:1].islower() else node.name,
        inside=None if node.around is None else node.around + first,
        line=node.lines[0] if node.lines else None,
        lines=list(node.lines),
        is_backward=node.is_backward,
        in_shard_map=node.by_hand,
        number=node.steps,
        products=node.products,
        flops=node.flops,
        collectives=[rows[number] for number, _ in found if number in rows],
        executions=node.trips if node.kind == "loop" else 1,
    )
    if node.kind != "collective" or not found:
        return common
    [(_, use), *_] = found
    return common.model_copy(
        update={
            "name": use.kind,
            "axes": use.axes,
            "groups": use.devices // max(use.group_size, 1),
            "group_size": use.group_size,
            "bytes": sum(each.logical_bytes for _, each in found),
            "executions": use.executions,
        }
    )


def _leaf_node(kind: str, group: _Leaves, leaves: Sequence[tuple[str, ProgramLeaf]]) -> ExploredNode:
    found = [leaves[number][1] for number in group.numbers]
    specs = {each.spec for each in found}
    return ExploredNode(
        kind=kind,  # type: ignore[arg-type]
        name=group.name,
        number=len(found),
        bytes=sum(max((each.held_bytes(device) for device in range(len(each.slices))), default=0) for each in found),
        spec=specs.pop() if len(specs) == 1 else None,
    )


def _grouped(paths: Sequence[str], neighbours: Mapping[int, set[int]]) -> list[_Leaves]:
    """Join leaves below one part of a path if all are used alike. If too many groups remain, shorten their paths.

    Args:
      neighbours: the nodes that take or compute each leaf.
    """
    deepest = max((path.count("/") + 1 for path in paths), default=1)
    groups: dict[str, list[int]] = {}
    for number, path in enumerate(paths):
        groups.setdefault(path, []).append(number)
    for depth in range(deepest - 1, 0, -1):
        above: dict[str, list[int]] = {}
        for path, numbers in groups.items():
            above.setdefault(_start(path, depth), []).extend(numbers)
        uses = {path: {frozenset(neighbours.get(each, ())) for each in numbers} for path, numbers in above.items()}
        joined: dict[str, list[int]] = {}
        for path, numbers in groups.items():
            start = _start(path, depth)
            joined.setdefault(start if len(uses[start]) == 1 else path, []).extend(numbers)
        groups = joined
    for depth in range(deepest - 1, 0, -1):
        if len(groups) > MAX_LEAF_NODES:
            shorter: dict[str, list[int]] = {}
            for path, numbers in groups.items():
                shorter.setdefault(_start(path, depth), []).extend(numbers)
            groups = shorter
    listed = [_Leaves(path, tuple(numbers)) for path, numbers in groups.items()]
    if len(listed) <= MAX_LEAF_NODES:
        return listed
    rest = tuple(number for each in listed[MAX_LEAF_NODES - 1 :] for number in each.numbers)
    return [*listed[: MAX_LEAF_NODES - 1], _Leaves("", rest)]


def _start(path: str, depth: int) -> str:
    return "/".join(path.split("/")[:depth])


def _neighbours(ends: Sequence[GraphEnd]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for end in ends:
        found.setdefault(end.leaf, set()).add(-1 if end.node is None else end.node)
    return found


def _from_arguments(graph: ProgramGraph, inputs: Sequence[_Leaves], first: int) -> list[ExploredEdge]:
    home = {number: at for at, group in enumerate(inputs) for number in group.numbers}
    ends = [(home[end.leaf], end.node + first, end) for end in graph.arguments if end.node is not None]
    return _joined(ends)


def _to_outputs(
    graph: ProgramGraph, inputs: Sequence[_Leaves], outputs: Sequence[_Leaves], first: int, last: int
) -> list[ExploredEdge]:
    given = {number: at for at, group in enumerate(inputs) for number in group.numbers}
    home = {number: last + at for at, group in enumerate(outputs) for number in group.numbers}
    ends = []
    for end in graph.outputs:
        source = end.node + first if end.node is not None else given.get(-1 if end.argument is None else end.argument)
        if source is not None:
            ends.append((source, home[end.leaf], end))
    return _joined(ends)


def _joined(ends: Sequence[tuple[int, int, GraphEnd]]) -> list[ExploredEdge]:
    """Join all leaves between two nodes into one edge."""
    found: dict[tuple[int, int], list[GraphEnd]] = {}
    for source, target, end in ends:
        found.setdefault((source, target), []).append(end)
    return [
        ExploredEdge(
            source=source,
            target=target,
            arrays=len({end.leaf for end in these}),
            bytes=sum({end.leaf: end.bytes for end in these}.values()),
        )
        for (source, target), these in found.items()
    ]
