"""The graph of an explored program, as data to store and show: inputs, blocks of computation, collectives, outputs."""

from typing import Annotated, Literal

from pydantic import Field

from grader.core.strict_model import SafeText, StrictModel
from grader.verdicts.evidence import Axes, Count

Line = Annotated[int, Field(ge=1)]


class ExploredNode(StrictModel):
    """A part of the program. Bytes and FLOPs are those of one device, except for the bytes of collectives.

    Attributes:
      kind: `input` and `output` are leaves of the program, `block` is computation, and `loop` and `branch` are around
        the nodes that name them in `inside`.
      name: of the function that a block or a loop comes from; the common part of the paths of leaves; the kind of a
        collective. Empty if no function of the source led to it.
      inside: the number of the loop or branch around it, from 0.
      line: the line with most of its work; `lines` has all that led to it, at most 12.
      is_backward: whether it is a part of the backward pass.
      in_shard_map: whether it is inside a `shard_map`.
      number: how many leaves, operations or collectives are shown as this node.
      bytes: of the leaves; of the whole tensors of its collectives in one execution of each.
      spec: where leaves live if it is the same for all.
      products, flops: its matrix products over all executions; `flops` is null if unknown.
      axes, groups, group_size: along which mesh axes the collectives run, and how many groups of how many devices
        communicate. `axes` is null if the groups do not run along mesh axes.
      collectives: the numbers of their entries in `collectives`, or of those in a loop whose nodes are not shown.
      executions: how often each of them is executed, or a loop runs each time that it is reached; null if unknown.
    """

    kind: Literal["input", "block", "collective", "loop", "branch", "output"]
    name: SafeText
    inside: Count | None = None
    line: Line | None = None
    lines: list[Line] = Field(default_factory=list)
    is_backward: bool = False
    in_shard_map: bool = False
    number: Count = 1
    bytes: Count = 0
    spec: SafeText | None = None
    products: Count = 0
    flops: Count | None = 0
    axes: Axes | None = None
    groups: Count = 0
    group_size: Count = 0
    collectives: list[Count] = Field(default_factory=list)
    executions: Count | None = 1


class ExploredEdge(StrictModel):
    """Arrays that the node `target` takes from `source`, by their numbers; `bytes` are those of all on one device.

    `shape` is that of each, as in HLO; null if they differ. If it `leads_back`, a loop carries the arrays to its next
    round, or a repeated layer passes them on to the next one.
    """

    source: Count
    target: Count
    arrays: Count
    bytes: Count
    shape: SafeText | None = None
    leads_back: bool = False


class ExploredGraph(StrictModel):
    """The dataflow of the program that each device runs, with at most 44 nodes, each after those that it takes from.

    `is_folded` says that layers that the program repeats are shown once. `unlisted_edges` counts the smallest edges,
    which are left out.
    """

    nodes: list[ExploredNode]
    edges: list[ExploredEdge]
    is_folded: bool = False
    unlisted_edges: Count = 0
