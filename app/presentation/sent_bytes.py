"""The bytes that a device sends in a collective of which only the bytes of the whole tensor are stored.

Both counts are those of docs/problems.md. Their ratio depends on the kind of the collective and on the size of its
groups alone, so it is taken from another collective of the same program.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from app.presentation.drawings.timeline import Call
from grader.explorer.exploration import ExploredCollective
from grader.explorer.graph import ExploredGraph
from grader.verdicts.evidence import CollectiveCall, CollectiveSum


@dataclass(frozen=True, slots=True)
class Rates:
    """How many bytes a device sends for how many of whole tensors, by what the ratio depends on."""

    by_key: dict[tuple[str, Hashable], tuple[int, int]] = field(default_factory=dict)

    def add(self, key: tuple[str, Hashable], sent: int, whole: int) -> None:
        if whole:
            self.by_key.setdefault(key, (sent, whole))

    def sent(self, key: tuple[str, Hashable], whole: int) -> int:
        """`whole` itself if nothing is known of such collectives."""
        sent, of = self.by_key.get(key, (1, 1))
        return -(-whole * sent // of)


def sent_calls(calls: Iterable[CollectiveCall], sums: Iterable[CollectiveSum]) -> list[Call]:
    """The collectives of a verdict, of which `sums` has both counts."""
    rates = Rates()
    for each in sums:
        for side in filter(None, (each.mine, each.reference)):
            rates.add((each.collective, each.axes), side.ring_bytes, side.bytes)
    return [
        Call(
            collective=each.collective,
            axes=each.axes,
            bytes=rates.sent((each.collective, each.axes), each.bytes),
            executions=each.executions,
            in_loop=each.in_loop,
        )
        for each in calls
    ]


def with_sent_bytes(graph: ExploredGraph | None, collectives: Iterable[ExploredCollective]) -> ExploredGraph | None:
    """The graph, in which the bytes of a collective are those that a device sends in one execution."""
    rates = Rates()
    for each in collectives:
        rates.add((each.collective, each.group_size), each.ring_bytes, each.bytes)
    if graph is None:
        return None
    nodes = [
        node.model_copy(update={"bytes": rates.sent((node.name, node.group_size), node.bytes)})
        if node.kind == "collective"
        else node
        for node in graph.nodes
    ]
    return graph.model_copy(update={"nodes": nodes})
