"""`meshgrade doctor`: tests whether this machine can grade."""

import json
import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from app.core.settings import Settings
    from grader.judging.self_test import Trial

# What the compilers take, and under whose terms they come.
_SIZES = {"gpu": "0.5 GB, under the licence of JAX", "tpu": "0.7 GB, under the terms of Google Cloud"}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Test every wall by trying to get through it, then grade a tiny program. "
    "Exit status: 0 ready to grade, 3 a wall is missing or the program was not graded."
)
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    walls_alone: Annotated[bool, typer.Option("--walls", help="Test only the walls, and grade nothing.")] = False,
) -> None:
    from dataclasses import asdict

    from app.authoring.repositories.git import usable_git
    from app.core.settings import load_settings
    from app.entry.cli.workers_of_service import workers_of_service
    from grader.core.chips import compilers
    from grader.sandbox.doctor import probe_walls

    settings = load_settings()
    reports = probe_walls(settings.isolation)
    all_up = all(report.up for report in reports)
    # If a wall is missing, nothing is executed, not even our own program.
    trial = try_grading(settings) if all_up and not walls_alone else None
    workers = None if walls_alone else workers_of_service(settings)
    report = {
        "ready": all_up and (walls_alone or (trial is not None and trial.graded)),
        "walls": [asdict(report) for report in reports],
        "trial": asdict(trial) if trial else None,
        "workers": None if workers is None else [asdict(each) | {"live": each.is_live} for each in workers],
        "tasks": _tasks(settings),
        "versions": _versions(),
        "git": usable_git() is not None,
        "compilers": compilers(),
    }
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        _print(report)
    raise typer.Exit(0 if report["ready"] else 3)


def try_grading(settings: "Settings") -> "Trial":
    """Grade a tiny program as the service would, with nothing cached."""
    from app.grading.judging import build_judging
    from grader.judging.self_test import grade_trial

    with (
        tempfile.TemporaryDirectory(prefix="meshgrade-trial-") as folder,
        build_judging(settings, Path(folder), secrets.token_bytes(32), alone=True) as judging,
    ):
        return grade_trial(judging.judge)


def _print(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    from app.authoring.repositories.git import NEEDED

    console = Console(highlight=False)
    for wall in report["walls"]:
        mark = "[green]up     [/]" if wall["up"] else "[red]MISSING[/]"
        console.print(f"{mark} {wall['name']:<12} {escape(wall['found'])}")
        if wall["remedy"]:
            console.print(f"        to fix it: {escape(wall['remedy'])}")
    if trial := report["trial"]:
        mark = "[green]works  [/]" if trial["graded"] else "[red]FAILED [/]"
        console.print(f"{mark} {'grading':<12} {escape(trial['found'])} ({trial['seconds']:.1f} s)", soft_wrap=True)
    if report["workers"] is not None and not any(each["slots"] for each in report["workers"]):
        console.print(f"[red]none   [/] {'worker':<12} nothing is graded until one connects", soft_wrap=True)
    for worker in report["workers"] or []:
        _print_worker(console, worker)
    tasks = report["tasks"]
    if tasks["limit"] is not None and tasks["limit"] < tasks["needed"]:
        console.print(
            f"[yellow]low    [/] {'tasks':<12} this container may have {tasks['limit']:,} processes and threads, and "
            f"its {tasks['slots']} grading slots may need {tasks['needed']:,}: one submission can take another's",
            soft_wrap=True,
        )
        console.print("        to fix it: raise the container's limit on processes, or lower MESHGRADE_GRADING_SLOTS")
    if not report["git"]:
        console.print(f"[yellow]no git [/] {'syncing':<12} {NEEDED}; folders can be synced without it", soft_wrap=True)
        console.print("        to fix it: apt-get install git")
    for platform, compiler in report["compilers"].items():
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
    console.print("[dim]" + ", ".join(f"{name} {version}" for name, version in report["versions"].items()) + "[/]")
    if report["ready"]:
        console.print("Ready to grade." if report["trial"] else "Every wall is up.")
    elif report["trial"]:
        console.print("[red]Not ready: every wall is up, but grading does not work.[/]")
    else:
        console.print("[red]Not ready: nothing is graded until every wall is up.[/]")


def _print_worker(console: "Console", worker: dict[str, Any]) -> None:
    from rich.markup import escape

    name = escape(worker["name"])
    kind = "worker" if worker["slots"] else "server"
    if not worker["live"]:
        console.print(f"[red]gone   [/] {kind:<12} {name}: last seen {worker['seen_s']:.0f} s ago", soft_wrap=True)
        return
    console.print(f"[green]there  [/] {kind:<12} {name}, version {worker['version']}", soft_wrap=True)
    for wall in worker["walls"]:
        if not wall["up"]:
            console.print(
                f"[red]MISSING[/] {escape(wall['name']):<12} {escape(wall['found'])} on {name}", soft_wrap=True
            )
            console.print(f"        to fix it: {escape(wall['remedy'])}", soft_wrap=True)
    for each in worker["warnings"]:
        console.print(f"[yellow]warning[/] {kind:<12} {escape(each['what'])}", soft_wrap=True)
        console.print(f"        to fix it: {escape(each['remedy'])}", soft_wrap=True)
    for each in worker["setbacks"]:
        what = each["what"].replace("_", "-")
        console.print(
            f"[yellow]retried[/] {what:<12} {escape(each['name'])}: {_times(each['failures'])} on {name}: "
            f"{escape(each['why'])}",
            soft_wrap=True,
        )


def _tasks(settings: "Settings") -> dict[str, int | None]:
    """The limit of the container on processes and threads, None if it has none, and what all slots may need."""
    import os

    from grader.sandbox.cgroup import task_limit
    from grader.sandbox.task_limits import needed_tasks

    slots = settings.grading_slots
    waiting = settings.pool_generic + settings.pool_per_problem + settings.pool_problems + slots
    # Verifiers that have ended their work wait for more, one for each core.
    waiting += os.cpu_count() or 1
    return {"limit": task_limit(), "needed": needed_tasks(slots, waiting), "slots": slots}


def _times(failures: int) -> str:
    return "failed once" if failures == 1 else f"failed {failures} times in a row"


def _versions() -> dict[str, str]:
    import importlib.metadata
    import platform

    names = ("jax", "jaxlib", "flax", "optax", "numpy")
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}
