"""`meshgrade doctor`: tests whether this machine can grade, and whether the service does."""

import json
import secrets
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from app.core.settings import Settings
    from app.entry.cli.doctor_report import DoctorReport, Standing, WorkerReport
    from grader.judging.self_test import Trial

# What the compilers take, and under whose terms they come.
_SIZES = {"gpu": "0.5 GB, under the licence of JAX", "tpu": "0.7 GB, under the terms of Google Cloud"}
HELP = (
    "Test every wall by trying to get through it, then grade a tiny program. "
    "Exit status: 0 ready to grade, 2 a setting is wrong, 3 a wall is missing, the program was not graded, or the "
    "service grades nothing."
)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    walls_alone: Annotated[bool, typer.Option("--walls", help="Test only the walls, and grade nothing.")] = False,
) -> None:
    from app.core.settings import load_settings
    from app.entry.cli.doctor_report import make_report
    from app.entry.cli.service_report import report_service
    from grader.sandbox.doctor import probe_walls

    settings = load_settings()
    walls = list(probe_walls(settings.isolation))
    # If a wall is missing, nothing is executed, not even our own program.
    trial = try_grading(settings) if all(wall.up for wall in walls) and not walls_alone else None
    report = make_report(settings, walls, trial, None if walls_alone else report_service(settings))
    if as_json:
        print(json.dumps(asdict(report), indent=2))
    else:
        _print(report)
    raise typer.Exit(0 if report.ready else 3)


def try_grading(settings: "Settings") -> "Trial":
    """Grade a tiny program as the service would, with nothing cached."""
    from app.grading.judging import build_judging
    from grader.judging.self_test import grade_trial

    with (
        tempfile.TemporaryDirectory(prefix="meshgrade-trial-") as folder,
        build_judging(settings, Path(folder), secrets.token_bytes(32), alone=True) as judging,
    ):
        return grade_trial(judging.judge)


def _print(report: "DoctorReport") -> None:
    from rich.console import Console

    console = Console(highlight=False)
    _print_walls(console, report)
    if trial := report.trial:
        mark = "[green]works  [/]" if trial.graded else "[red]FAILED [/]"
        console.print(f"{mark} {'grading':<12} {_escape(trial.found)} ({trial.seconds:.1f} s)", soft_wrap=True)
    if database := report.database:
        mark = "[green]there  [/]" if database.writable else "[red]FAILED [/]"
        name = f"{_escape(database.name)}: {_escape(database.found)}"
        console.print(f"{mark} {'database':<12} {name}", soft_wrap=True)
        if database.remedy:
            console.print(f"        to fix it: {_escape(database.remedy)}", soft_wrap=True)
    if (service := report.service) and not service.grades and report.workers is not None:
        console.print(f"[red]FAILED [/] {'service':<12} {_escape(service.found)}", soft_wrap=True)
        console.print(f"        to fix it: {_escape(service.remedy)}", soft_wrap=True)
    for worker in report.workers or ():
        _print_worker(console, worker)
    for trouble in report.troubles:
        if not trouble.fatal:
            console.print(f"[yellow]warning[/] {_escape(trouble.what)}", soft_wrap=True)
            console.print(f"        to fix it: {_escape(trouble.remedy)}", soft_wrap=True)
    for platform, compiler in report.compilers.items():
        chip = platform.upper()
        name = f"{chip} compiler"
        if compiler:
            console.print(f"[green]there  [/] {name:<12} {compiler}")
        else:
            console.print(
                f"[dim]none   [/] {name:<12} the Explorer shows no program for {chip}s; everything else works",
                soft_wrap=True,
            )
            console.print(f"        to install it: ./meshgrade install-{platform} ({_SIZES[platform]})")
    console.print("[dim]" + ", ".join(f"{name} {version}" for name, version in report.versions.items()) + "[/]")
    _print_conclusion(console, report)


def _print_conclusion(console: "Console", report: "DoctorReport") -> None:
    """The last line. It says both whether this machine could grade and whether the service does."""
    service = report.service
    if not all(wall.up for wall in report.walls):
        machine = "[red]Not ready: nothing is graded until every wall is up.[/]"
    elif report.trial and not report.trial.graded:
        machine = "[red]Not ready: every wall is up, but grading does not work.[/]"
    elif not report.trial:
        machine = "Every wall is up."
    elif service and not service.grades:
        machine = "[red]This machine could grade; the service grades nothing.[/]"
    else:
        machine = "Ready to grade."
    console.print(machine + _service_sentence(service), soft_wrap=True)


def _service_sentence(service: "Standing | None") -> str:
    if service is None:
        return ""
    if not service.grades:
        return f" {_escape(service.found)}."
    workers = "1 worker is" if service.workers == 1 else f"{service.workers} workers are"
    return f" The service grades: {workers} connected."


def _print_walls(console: "Console", report: "DoctorReport") -> None:
    for wall in report.walls:
        mark = "[green]up     [/]" if wall.up else "[red]MISSING[/]"
        console.print(f"{mark} {wall.name:<12} {_escape(wall.found)}", soft_wrap=True)
    # Several walls often have one cause.
    for remedy in dict.fromkeys(wall.remedy for wall in report.walls if wall.remedy):
        console.print(f"        to fix it: {_escape(remedy)}", soft_wrap=True)


def _print_worker(console: "Console", worker: "WorkerReport") -> None:
    name = _escape(worker.name)
    kind = "worker" if worker.slots else "server"
    if not worker.live:
        console.print(f"[red]gone   [/] {kind:<12} {name}: last seen {worker.seen_s:.0f} s ago", soft_wrap=True)
        return
    if worker.outdated:
        from app.grading.queue.standstill import RESTART

        console.print(
            f"[red]OLD    [/] {kind:<12} {name} takes nothing: its grader is not the server's", soft_wrap=True
        )
        console.print(f"        to fix it: {_escape(RESTART)}", soft_wrap=True)
        return
    console.print(f"[green]there  [/] {kind:<12} {name}, version {worker.version}", soft_wrap=True)
    for wall in worker.walls:
        if not wall.up:
            console.print(f"[red]MISSING[/] {_escape(wall.name):<12} {_escape(wall.found)} on {name}", soft_wrap=True)
            console.print(f"        to fix it: {_escape(wall.remedy)}", soft_wrap=True)
    for warning in worker.warnings:
        console.print(f"[yellow]warning[/] {kind:<12} {_escape(warning.what)}", soft_wrap=True)
        console.print(f"        to fix it: {_escape(warning.remedy)}", soft_wrap=True)
    for setback in worker.setbacks:
        what = setback.what.replace("_", "-")
        console.print(
            f"[yellow]retried[/] {what:<12} {_escape(setback.name)}: {_times(setback.failures)} on {name}: "
            f"{_escape(setback.why)}",
            soft_wrap=True,
        )


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _times(failures: int) -> str:
    return "failed once" if failures == 1 else f"failed {failures} times in a row"
