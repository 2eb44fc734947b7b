"""What an explored program communicates, stores and computes in all, alone or beside another version."""

from collections.abc import Callable, Iterable

from app.core.web.units import NOTHING, bytes_text, exact_text, flops_text
from app.presentation.table import Cell, Row, Table, columns
from grader.explorer.exploration import ChipProgram, ExploredProgram

_DOT = " \N{MIDDLE DOT} "
_NONE = "no communication"


def headline(program: ExploredProgram) -> str:
    """`1 collective, each device sends 512.0 KiB · 3.5 MiB on the fullest device · 268.4 MFLOP`."""
    most = "at most " if any(each.conditional for each in program.collectives) else ""
    sent = f", each device sends {most}{bytes_text(sent_bytes(program))}" if program.collectives else ""
    if any(each.executions is None for each in program.collectives):
        sent += " (loops of unknown length counted once)"
    work = [] if program.flops is None else [flops_of(program)]
    return _DOT.join([count_text(program) + sent, f"{bytes_text(memory_bytes(program))} on the fullest device", *work])


def chip_headline(program: ChipProgram) -> str:
    """`2 collectives, each chip sends 28.0 KiB · 8.0 GiB of each chip at its peak · 268.4 MFLOP`; empty if it did not
    compile.
    """
    if program.fault:
        return ""
    collectives = [each for computation in program.computations for each in computation.collectives]
    most = "at most " if any(each.conditional and each.collectives for each in program.computations) else ""
    sent = f", each chip sends {most}{bytes_text(_sent_on_chip(program))}" if collectives else ""
    work = [] if program.flops is None else [flops_text(program.flops)]
    count = most + _counted(_executions_on_chip(program)) if collectives else _NONE
    return _DOT.join([count + sent, f"{bytes_text(program.peak_bytes)} of each chip at its peak", *work])


def flops_of(program: ExploredProgram) -> str:
    """The FLOPs of all matrix products on one device: `at most 268.4 MFLOP`."""
    return f"{'at most ' * _has_branches(program)}{flops_text(program.flops)}"


def count_text(program: ExploredProgram) -> str:
    """`2 collectives`."""
    if not program.collectives:
        return _NONE
    most = "at most " if any(each.conditional for each in program.collectives) else ""
    return most + _counted(executions_of(program))


def _counted(executions: int | None) -> str:
    return f"{'?' if executions is None else exact_text(executions)} collective{'' if executions == 1 else 's'}"


def _has_branches(program: ExploredProgram) -> bool:
    """Whether a matrix product is in a branch, so that the FLOPs are the most that there can be."""
    return any(each.conditional for each in program.flops_by_line)


def compare_totals(program: ExploredProgram, other: ExploredProgram) -> Table:
    """Quantities of two versions, without those that are zero in both. The last column says `equal`, `2.5 times`,
    `more` or `less`; rows that differ are marked.
    """
    quantities: tuple[tuple[str, Callable[[ExploredProgram], int | None], Callable[[int | None], str]], ...] = (
        ("Collectives, all executions", executions_of, exact_text),
        ("Sent by each device", sent_bytes, bytes_text),
        ("Memory of the fullest device", memory_bytes, bytes_text),
        ("Matrix products on each device", lambda each: each.flops, flops_text),
    )
    rows = (
        _row(name, of(program), of(other), in_words)
        for name, of, in_words in quantities
        if of(program) != 0 or of(other) != 0
    )
    return _totals("Totals of both versions", rows)


def compare_chip_totals(program: ChipProgram, other: ChipProgram) -> Table:
    """The same of the programs for chips, without those that a program lacks because it did not compile."""
    quantities: tuple[tuple[str, Callable[[ChipProgram], int | None], Callable[[int | None], str]], ...] = (
        ("Collectives, all executions", _executions_on_chip, exact_text),
        ("Sent by each chip", _sent_on_chip, bytes_text),
        ("Memory of each chip at its peak", lambda each: each.peak_bytes, bytes_text),
        ("Matrix products on each chip", lambda each: each.flops, flops_text),
    )
    rows = (
        _row(name, None if program.fault else of(program), None if other.fault else of(other), in_words)
        for name, of, in_words in quantities
        if program.fault or other.fault or of(program) != 0 or of(other) != 0
    )
    return _totals(f"Totals of both versions on {program.topology}", rows)


def _totals(title: str, rows: Iterable[Row]) -> Table:
    versions = ("A", "B")
    return Table(
        title=title,
        columns=columns("Quantity", *versions, "A against B", numbers=versions),
        rows=tuple(rows),
    )


def _executions_on_chip(program: ChipProgram) -> int | None:
    """None if the number of executions of one is unknown."""
    count = 0
    for computation in program.computations:
        collectives = sum(each.sent_with is None for each in computation.collectives)
        if collectives and computation.executions is None:
            return None
        count += collectives * (computation.executions or 0)
    return count


def _sent_on_chip(program: ChipProgram) -> int:
    """One whose number of executions is unknown counts once."""
    return sum(
        each.ring_bytes * (1 if computation.executions is None else computation.executions)
        for computation in program.computations
        for each in computation.collectives
    )


def executions_of(program: ExploredProgram) -> int | None:
    """None if the number of executions of one is unknown, or if not all are listed."""
    if program.unlisted_collectives:
        return None
    counts = [each.executions for each in program.collectives if each.sent_with is None]
    known = [each for each in counts if each is not None]
    return sum(known) if len(known) == len(counts) else None


def sent_bytes(program: ExploredProgram) -> int:
    """One whose number of executions is unknown counts once."""
    return sum(each.sent_bytes for each in program.collectives)


def memory_bytes(program: ExploredProgram) -> int:
    """Arguments, outputs and temporaries; what is overwritten in place is an argument and an output at once."""
    amounts = {row.name: row.mine or 0 for row in program.memory.rows}
    parts = sum(amounts.get(name, 0) for name in ("arguments", "outputs", "temporaries", "constants"))
    return max(0, parts - amounts.get("overwritten in place", 0))


def _row(name: str, mine: int | None, other: int | None, in_words: Callable[[int | None], str]) -> Row:
    change = change_of(mine, other)
    texts = (NOTHING if each is None else in_words(each) for each in (mine, other))
    return Row(tuple(map(Cell, (name, *texts, change or NOTHING))), is_marked=change != "equal")


def change_of(mine: int | None, other: int | None) -> str:
    """How the first number relates to the second: `equal`, `2.5 times`, `more` or `less`; empty if one is unknown."""
    if mine is not None and mine == other:
        return "equal"
    if mine and other and max(mine, other) < 10**15:
        return f"{mine / other:,.3g} times"
    if mine is not None and other is not None:
        return "more" if mine > other else "less"
    return ""
