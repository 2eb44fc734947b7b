"""Remarks on the collectives of an explored program, beside their numbers."""

from collections.abc import Sequence

from grader.explorer.exploration import ChipCollective, ExploredCollective

# Name at most this many other lines.
_MAX_NAMED = 3


def remarks(collectives: Sequence[ExploredCollective]) -> list[str]:
    """Say for each entry what else is sent with it, what it is for, and what its numbers leave out. Most are empty."""
    return [
        ", ".join(
            filter(None, (with_lines, _moved_for(each), _halo(each), _senders(each), _rounds(each), _narrower(each)))
        )
        for with_lines, each in zip(sent_together(collectives), collectives, strict=True)
    ]


def sent_together(collectives: Sequence[ExploredCollective | ChipCollective]) -> list[str]:
    """Say for each entry with which lines it is sent, because the compiler merged their collectives, or nothing."""
    merged: dict[int, list[int]] = {}
    for number, each in enumerate(collectives):
        merged.setdefault(number if each.sent_with is None else each.sent_with, []).append(number)
    together = [""] * len(collectives)
    for numbers in merged.values():
        lines = [collectives[number].line for number in numbers]
        for at, number in enumerate(numbers):
            together[number] = _sent_with(lines, at)
    return together


def whole_gathers(collectives: Sequence[ExploredCollective]) -> list[tuple[int | None, str]]:
    """Find each line at which every device gathers a whole array and drops most of it, with advice."""
    found = dict.fromkeys((each.constraint_line or each.line, each.kept_of) for each in collectives if each.kept_of)
    return [
        (
            line,
            f"{f'At line {line}, each' if line else 'Each'} device gathers a whole array and keeps 1/{kept_of} of it. "
            "XLA found no direct way from one sharding to the other, and calls this an involuntary full "
            "rematerialization. Add a `with_sharding_constraint` in between, so that each step moves one mesh axis: it "
            "is then an all-to-all or a smaller all-gather.",
        )
        for line, kept_of in found
    ]


def _sent_with(lines: Sequence[int | None], number: int) -> str:
    """Name the lines that are sent together with one of them: `sent together with lines 8 and 9`."""
    others = sorted({line for each, line in enumerate(lines) if each != number and line is not None})
    if len(lines) < 2:
        return ""
    if not others:
        return "sent together with another array"
    more = len(others) - _MAX_NAMED
    names = [str(line) for line in others[:_MAX_NAMED]] + ([f"{more} more"] if more > 0 else [])
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"sent together with line{'s' if len(names) > 1 else ''} {listed}"


def _moved_for(each: ExploredCollective) -> str:
    """Name the constraint for which the partitioner inserted it: `moves what line 8 constrains and line 9 uses`."""
    if each.constraint_line is None:
        return ""
    used = f" and line {each.consumer_line} uses" if each.consumer_line else ""
    return f"moves what line {each.constraint_line} constrains{used}"


def _halo(each: ExploredCollective) -> str:
    return {
        None: "",
        "convolution": "halo of a convolution",
        "reduce_window": "halo of a window",
    }[each.halo_of]


def _senders(each: ExploredCollective) -> str:
    return "" if each.senders is None else f"{each.senders} of {each.devices} devices send"


def _rounds(each: ExploredCollective) -> str:
    if each.executions is not None:
        return ""
    return "its loop runs an unknown number of times" if each.in_loop else "it runs an unknown number of times"


def _narrower(each: ExploredCollective) -> str:
    """Say how much chips send if the CPU compiler widened the arrays, for example from bfloat16 to float32."""
    if not each.written_dtypes or each.written_bytes is None or not each.bytes:
        return ""
    share = f"{100 * each.written_bytes / each.bytes:.0f} %"
    return f"{' and '.join(each.written_dtypes)}, which host CPUs widen: chips send {share} of these bytes"
