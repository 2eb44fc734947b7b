"""Describe how two compiled programs differ, in one sentence per difference, the costliest communication first."""

from collections.abc import Iterable, Iterator

from grader.program.collective_uses import collectives_of
from grader.program.compared_amounts import (
    ProgramDifference,
    Sent,
    difference_in_donation,
    difference_in_memory,
    difference_in_work,
    differences_in_exchanges,
    largest_line,
)
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured

_MAX_NAMED = 3


def differences(mine: Measured, other: Measured) -> tuple[ProgramDifference, ...]:
    """Say how `mine` differs from `other`: communication, then leaves, memory, matrix products, donation,
    recompilation.

    If the programs are for different meshes, leaves are compared by their specs, otherwise by what each device holds.
    If XLA compiles one of them for chips alone, `differences_between_chips` compares the rest.
    """
    leaves, recompilation = _of_leaves(mine, other), _of_recompilation(mine, other)
    if mine.is_only_on_chip or other.is_only_on_chip:
        return (*leaves, *recompilation)
    return (
        *differences_in_exchanges(_sent(mine), _sent(other)),
        *leaves,
        *_of_memory(mine, other),
        *_of_work(mine, other),
        *difference_in_donation(mine.facts.memory.alias_bytes, other.facts.memory.alias_bytes),
        *recompilation,
    )


def _sent(measured: Measured) -> list[Sent]:
    return [
        Sent(use.kind, use.axes, use.executions, use.logical_bytes, use.ring_bytes, use.line)
        for use in collectives_of(measured)
    ]


def _of_leaves(mine: Measured, other: Measured) -> Iterator[ProgramDifference]:
    sides = (
        ("comes in", dict([*mine.state_in, *mine.given]), dict([*other.state_in, *other.given])),
        ("comes out", dict(mine.out), dict(other.out)),
    )
    same_mesh = mine.mesh == other.mesh
    for verb, ours, theirs in sides:
        moved: dict[tuple[str, str], list[str]] = {}
        for path, leaf in ours.items():
            if path not in theirs:
                yield ProgramDifference("leaves", f"{path} {verb}; the other has no such leaf.")
            elif _is_otherwise(leaf, theirs[path], same_mesh):
                moved.setdefault((_form(leaf, theirs[path]), _form(theirs[path], leaf)), []).append(path)
        for (this, that), paths in moved.items():
            verbs = verb if len(paths) == 1 else verb.replace("comes", "come")
            yield ProgramDifference("leaves", f"{_names(paths)} {verbs} as {this}, the other's as {that}.")
        for path in theirs:
            if path not in ours:
                yield ProgramDifference("leaves", f"No {path} {verb}; the other has one.")


def _is_otherwise(leaf: ProgramLeaf, other: ProgramLeaf, same_mesh: bool) -> bool:
    placed = leaf.slices != other.slices if same_mesh else leaf.spec != other.spec
    return placed or (leaf.shape, leaf.dtype) != (other.shape, other.dtype)


def _form(leaf: ProgramLeaf, other: ProgramLeaf) -> str:
    """The spec, with shape and dtype if they differ."""
    if (leaf.shape, leaf.dtype) == (other.shape, other.dtype):
        return leaf.spec
    return f"{leaf.dtype}[{', '.join(map(str, leaf.shape))}] {leaf.spec}"


def _names(paths: list[str]) -> str:
    more = f" and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else ""
    return ", ".join(paths[:_MAX_NAMED]) + more


def _of_memory(mine: Measured, other: Measured) -> Iterator[ProgramDifference]:
    ours, theirs = mine.facts.memory, other.facts.memory
    for name, this, that in (
        ("arguments", ours.argument_bytes, theirs.argument_bytes),
        ("outputs", ours.output_bytes, theirs.output_bytes),
        ("temporaries", ours.temporary_bytes, theirs.temporary_bytes),
    ):
        yield from difference_in_memory(f"of {name}", this, that)


def _of_work(mine: Measured, other: Measured) -> Iterable[ProgramDifference]:
    line = largest_line((dot.source_line, dot.flops * (dot.executions or 0)) for dot in mine.facts.census.dots)
    return difference_in_work(mine.facts.census.dot_flops, other.facts.census.dot_flops, line)


def _of_recompilation(mine: Measured, other: Measured) -> Iterable[ProgramDifference]:
    if mine.retraced == other.retraced:
        return ()
    again, once = ("This program", "the other") if mine.retraced else ("The other", "this program")
    return (
        ProgramDifference("recompilation", f"{again} is traced again for inputs of the same shape, {once} is not."),
    )
