"""A program's dataflow as a small graph: blocks of computation by function, collectives, and loops around them."""

from dataclasses import dataclass

from grader.program.strict_json import read
from grader.program.tokens import ProgramUnreadable

KINDS = ("block", "collective", "loop", "branch")
# The most nodes, without inputs and outputs.
MAX_NODES = 32
MAX_EDGES = 400
MAX_LINES = 12
MAX_USES = 400
MAX_ENDS = 6_000


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A part of the program, in the order of its first step.

    Attributes:
      kind: one of `KINDS`.
      name: the qualified name of a function; empty if none led to it, and for a collective.
      around: the number of the loop or branch that it is in.
      is_backward: whether it belongs to the backward pass.
      by_hand: whether it is inside a `shard_map`.
      steps: how many steps were folded into it.
      lines: the lines of the source that led to it, the one with most work first.
      uses: numbers of collectives in the census: those that it is, or those in a loop whose nodes are not shown.
      products, flops: its matrix products on one device, over all executions; the FLOPs are None if unknown.
      trips: how often a loop runs each time that it is reached; None if that is unknown.
    """

    kind: str
    name: str
    around: int | None
    is_backward: bool
    by_hand: bool
    steps: int
    lines: tuple[int, ...]
    uses: tuple[int, ...]
    products: int
    flops: int | None
    trips: int | None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """Arrays that one node takes from another. `bytes` are those of all `arrays` on one device, each counted once.

    `shape` is empty if they differ in it. `leads_back` marks what a loop carries to its next round, and what repeated
    layers that were folded pass on to the next one.
    """

    source: int
    target: int
    arrays: int
    bytes: int
    shape: str
    leads_back: bool


@dataclass(frozen=True, slots=True)
class GraphEnd:
    """An argument of the program that a node takes, or an output that it computes: the leaf's number, and the node's.

    An output without a node is the `argument` with this number, which is passed on.
    """

    leaf: int
    node: int | None
    bytes: int
    argument: int | None = None


@dataclass(frozen=True, slots=True)
class ProgramGraph:
    """The graph of the program that each device runs.

    Attributes:
      is_folded: whether layers that the program repeats are shown once.
      arguments: what nodes take from arguments, for those outside loops.
      left_out: how many edges are left out, the smallest ones.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    arguments: tuple[GraphEnd, ...]
    outputs: tuple[GraphEnd, ...]
    is_folded: bool
    left_out: int


def read_graph(value: object, arguments: int, outputs: int, collectives: int) -> ProgramGraph:
    """Read the output of `strict_json.write` without trusting it.

    Args:
      arguments, outputs, collectives: how many the program has.
    Raises:
      ProgramUnreadable: something has the wrong type, or refers to what does not exist.
    """
    graph = read(ProgramGraph, value, "graph")
    number = len(graph.nodes)
    if number > MAX_NODES or len(graph.edges) > MAX_EDGES or len(graph.arguments) + len(graph.outputs) > MAX_ENDS:
        raise ProgramUnreadable("graph: it has too many nodes or edges")
    for at, node in enumerate(graph.nodes):
        # A loop comes before what is inside it, so that no node is inside itself.
        if node.kind not in KINDS or (node.around is not None and node.around >= at):
            raise ProgramUnreadable(f"graph: node {at} is not one of {', '.join(KINDS)} inside an earlier one")
        are_valid = all(node.lines) and all(use < collectives for use in node.uses)
        if len(node.lines) > MAX_LINES or len(node.uses) > MAX_USES or not are_valid:
            raise ProgramUnreadable(f"graph: node {at} has invalid lines or collectives")
    if any(max(edge.source, edge.target) >= number for edge in graph.edges):
        raise ProgramUnreadable("graph: an edge ends at a node that does not exist")
    for ends, leaves in ((graph.arguments, arguments), (graph.outputs, outputs)):
        if any(
            end.leaf >= leaves
            or (end.argument is None) == (end.node is None)
            or (end.node or 0) >= max(number, 1)
            or (end.argument or 0) >= max(arguments, 1)
            for end in ends
        ):
            raise ProgramUnreadable("graph: a leaf or a node does not exist")
    return graph
