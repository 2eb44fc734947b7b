"""Tell the collectives that the partitioner inserted from those that the submission wrote."""

from grader.program.collectives import Collective
from grader.program.facts import WrittenCollective
from grader.program.measurement import Measured


def left_to_the_partitioner(measured: Measured, ignore_below: int) -> list[Collective]:
    """The collectives that the partitioner inserted: their channel is new, or their kind moves more bytes than written.

    XLA merges collectives of one kind over the same groups, and the merged one keeps one of their channels. Collectives
    that move less than `ignore_below` bytes over all executions count only if together they move that much or more.
    """
    written = measured.facts.written
    channels = {each.channel for each in written if each.operand_bytes and each.channel is not None}
    budget: dict[str, int] = {}
    for each in written:
        budget[each.kind] = budget.get(each.kind, 0) + _compiled_bytes(each)
    left, little = [], []
    for found in measured.facts.census.collectives:
        size = _operand_bytes(found)
        if found.group_size == 1:
            continue
        if _total_bytes(found) < ignore_below:
            little += [found] if found.channel not in channels else []
            continue
        budget[found.kind] = budget.get(found.kind, 0) - size
        if found.channel not in channels or budget[found.kind] < -ignore_below:
            left.append(found)
    return [*left, *little] if sum(map(_total_bytes, little)) >= max(ignore_below, 1) else left


def is_widened(written: WrittenCollective) -> bool:
    """Whether the CPU compiler widens its arrays to float32, so that the compiled collective has twice the bytes."""
    return set(written.dtypes) == {"bf16"}


def _compiled_bytes(written: WrittenCollective) -> int:
    return written.operand_bytes * (2 if is_widened(written) else 1)


def _total_bytes(collective: Collective) -> int:
    return collective.logical_bytes * (collective.executions or 1)


def _operand_bytes(collective: Collective) -> int:
    """The operands' bytes on one device, in one execution."""
    whole = collective.kind in {"all-reduce", "reduce-scatter", "collective-broadcast"}
    return collective.logical_bytes // (1 if whole else collective.group_size)
