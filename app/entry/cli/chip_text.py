"""The program of a chip as text for a terminal."""

import textwrap

from rich.console import Console

from app.entry.cli.fitted_table import FittedTable, axes_parts
from app.entry.cli.verdict_text import safe
from app.presentation.drawings.schedule import is_hidden
from app.presentation.drawings.schedule_copies import copies_text, copy_hidden_text
from grader.core.text import in_bytes
from grader.explorer.exploration import ChipCollective, ChipComputation, ChipProgram
from grader.explorer.remarks import sent_together

# Of a remark's lines, where a table is too wide for the terminal.
_REMARK_WIDTH = 28
# How many copies are listed.
_LARGEST = 3
_TIMES = "\N{MULTIPLICATION SIGN}"


def print_on_chip(console: Console, program: ChipProgram) -> None:
    console.print(f"[bold]On {program.topology}[/]  compiled by {program.compiler or 'nothing'}")
    if program.fault is not None:
        console.print(f"{safe(program.fault)}\n", soft_wrap=True)
        return
    console.print(
        f"On each chip: at most {in_bytes(program.peak_bytes)} of {in_bytes(program.hbm_bytes)} in use; "
        f"{in_bytes(program.argument_bytes)} of arguments, {in_bytes(program.temporary_bytes)} of temporaries."
    )
    if any(computation.collectives for computation in program.computations):
        _collectives(program).print_to(console)
    else:
        console.print("There is no communication between chips.")
    copies = [each for computation in program.computations for each in computation.copies]
    if copies:
        largest = sorted(copies, key=lambda each: -each.bytes)[:_LARGEST]
        console.print(f"Asynchronous: {copies_text(copies)}. The largest:")
        for each in largest:
            line = f", for line {each.line}" if each.line else ""
            what = f"{safe(each.shape)} to {safe(each.target)}, {in_bytes(each.bytes)}{line}"
            console.print(f"  {what}: hidden by {copy_hidden_text(each) or 'nothing'}")
    for text in program.differences:
        console.print(f"  {safe(text)}", soft_wrap=True)
    console.print()


def _collectives(program: ChipProgram) -> FittedTable:
    columns = ("executed", "logical bytes", "crosses", "hidden by")
    table = FittedTable("collective", "over", "dtype", *columns, "where", right=columns)
    for computation in program.computations:
        for each, remark in zip(computation.collectives, sent_together(computation.collectives), strict=True):
            table.add_row(
                each.collective if len(each.dtypes) == 1 else (each.collective, f"of {len(each.dtypes)} arrays"),
                axes_parts(each.axes),
                "/".join(sorted(set(each.dtypes))),
                _times(computation),
                in_bytes(each.bytes),
                each.link,
                _hidden(each),
                (*(f"line {each.line}",) * bool(each.line), *textwrap.wrap(remark, _REMARK_WIDTH)),
            )
    return table


def _times(computation: ChipComputation) -> str:
    return "?" if computation.executions is None else f"{computation.executions}{_TIMES}"


def _hidden(each: ChipCollective) -> tuple[str, ...]:
    """What hides a collective, and the cycles that the links need by their bandwidth."""
    needed = each.estimated_cycles
    if not is_hidden(each):
        return ("nothing:", "it waits", *(f"about {needed:,} cycles",) * bool(needed))
    of = "" if needed is None else f" of about {each.queued_cycles + needed:,}"
    kernels = each.hidden_without_estimate if each.hidden_cycles else each.hidden_kernels
    return (
        *(f"{each.hidden_cycles:,}{of} cycles",) * bool(each.hidden_cycles),
        *(f"{kernels} {'kernel' if kernels == 1 else 'kernels'}",) * bool(kernels),
    )
