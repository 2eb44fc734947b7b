"""A verdict as text for a terminal."""

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from app.presentation.measurements import measurements_of
from app.presentation.verdict_view import UNWRITTEN
from grader.core.text import plain_text
from grader.verdicts.verdict import Verdict

_STYLE = {"accepted": "bold green", "rejected": "bold red", "failed": "bold yellow"}


def print_verdict(title: str, verdict: Verdict, pitfall: str | None = None, *, is_starter: bool = False) -> None:
    """Print a verdict. The unchanged starter is not called rejected, and has earned no points.

    Args:
      pitfall: the item of the statement that explains the misconception, in Markdown.
      is_starter: the source is the problem's unchanged starter.
    """
    console = Console(highlight=False)
    if is_starter and verdict.status == "rejected":
        console.print(f"[bold]nothing written yet[/]  {safe(title)}")
        console.print(Padding(f"{UNWRITTEN} --json prints what the grader found in it.", (0, 0, 0, 2)))
        return
    style = _STYLE[verdict.status]
    reason = f" ({verdict.reason.replace('_', ' ')})" if verdict.reason else ""
    score = "" if verdict.score is None else f"  {verdict.score} of 100 points"
    variant = f", variant {safe(verdict.variant)}" if verdict.variant else ""
    console.print(f"[{style}]{verdict.status}[/]{reason}  {safe(title)}{variant}{score}")
    for headline in (each for check in verdict.checks for each in check.headlines):
        console.print(Padding(safe(headline), (0, 0, 0, 2)))
    console.print(_checks(verdict))
    for case in [case for case in verdict.cases if not case.passed][:5]:
        console.print(f"[bold]{safe(case.id)}[/]")
        console.print(Padding(safe(case.message), (0, 0, 1, 2)))
    if verdict.misconception:
        console.print("[bold]Possible misconception[/]")
        console.print(Padding(safe(verdict.misconception), (0, 0, 1, 2)))
    if pitfall:
        console.print("[bold]From the pitfalls of this problem[/]")
        console.print(Padding(safe(pitfall), (0, 0, 1, 2)))
    for name, text in (("stdout", verdict.stdout), ("stderr", verdict.stderr)):
        if text:
            console.print(f"[bold]{name}[/]")
            console.print(Padding(safe(text.rstrip()), (0, 0, 1, 2)))
    times = verdict.timings_ms
    console.print(
        f"[dim]walls: {safe(', '.join(verdict.walls))} · {times.total} ms (import {times.import_}, run {times.run}) · "
        f"version {safe(verdict.version[:12])}[/]"
    )


def _checks(verdict: Verdict) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for check in verdict.checks:
        mark = "[green]passed[/]" if check.passed else "[red]not passed[/]"
        if not check.checked:
            mark = "[yellow]not checked[/]"
        points = f"{check.points}/{check.max_points}"
        measured = "".join(
            f"\n[dim]{safe(each.mesh)}[/]  {'[red]' * each.is_outside}{safe(each.in_words)}{'[/]' * each.is_outside}"
            for each in measurements_of(check.evidence)
        )
        table.add_row(mark, points, f"{safe(check.title)} [dim]({check.trust})[/]\n{safe(check.message)}{measured}")
    return table


def safe(text: str) -> str:
    """The text without terminal escapes, and with rich markup escaped: it can come from a submission."""
    return escape(plain_text(text))
