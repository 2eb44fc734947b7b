"""The program of a chip as text for a terminal."""

from rich.console import Console

from app.entry.cli.fitted_table import print_table
from app.entry.cli.verdict_text import safe
from app.presentation.chip_view import arrange_chip
from grader.explorer.exploration import ChipProgram


def print_on_chip(console: Console, program: ChipProgram) -> None:
    console.print(f"[bold]On {program.topology}[/]  compiled by {program.compiler or 'nothing'}")
    for option in program.options:
        where = f"  line {option.line}" if option.line else ""
        console.print(f"XLA option {safe(option.name)}={safe(option.value)}{where}", soft_wrap=True)
    if program.fault is not None:
        console.print(f"{safe(program.fault)}\n", soft_wrap=True)
        return
    view = arrange_chip(program)
    does_not_fit = "It does not fit." if view.used > 1 else ""
    console.print(" ".join(filter(None, (view.memory, does_not_fit, view.sent))), soft_wrap=True)
    if view.calls:
        print_table(console, view.calls, titled=True)
    if view.work:
        print_table(console, view.work, titled=True)
    for part in view.parts:
        if part.collectives:
            print_table(console, part.collectives, titled=len(view.parts) > 1)
        if part.copies:
            console.print(f"Asynchronous: {safe(part.copies.title)}.", soft_wrap=True)
            print_table(console, part.copies)
    if not view.communicates:
        console.print("There is no communication between chips.")
    for text in program.differences:
        console.print(f"  {safe(text)}", soft_wrap=True)
    console.print()
