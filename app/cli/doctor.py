"""`meshgrade doctor`: is everything there that grading needs?"""

import json
import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from app.settings import Settings
    from grader.trial import Trial

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Prove every wall by trying to cross it, then grade a tiny program. "
    "Exit status: 0 all is well, 3 a wall is missing or the program was not graded."
)
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    walls_alone: Annotated[bool, typer.Option("--walls", help="Prove the walls alone, and grade nothing.")] = False,
) -> None:
    from dataclasses import asdict

    from app.cli.running_server import setbacks_of_server
    from app.settings import load_settings
    from grader.sandbox.doctor import probe_walls

    settings = load_settings()
    reports = probe_walls(settings.isolation)
    standing = all(report.up for report in reports)
    # Behind walls that do not stand nothing is executed, a program of ours neither.
    trial = try_grading(settings) if standing and not walls_alone else None
    findings = {
        "ready": standing and (walls_alone or (trial is not None and trial.graded)),
        "walls": [asdict(report) for report in reports],
        "trial": asdict(trial) if trial else None,
        "setbacks": setbacks_of_server(settings),
        "versions": _versions(),
    }
    if as_json:
        print(json.dumps(findings, indent=2))
    else:
        _print(findings)
    raise typer.Exit(0 if findings["ready"] else 3)


def try_grading(settings: "Settings") -> "Trial":
    """Grade a tiny program as the service would, with nothing cached."""
    from app.judging import build_judging
    from grader.trial import grade_trial

    with (
        tempfile.TemporaryDirectory(prefix="meshgrade-trial-") as folder,
        build_judging(settings, Path(folder), secrets.token_bytes(32), alone=True) as judging,
    ):
        return grade_trial(judging.judge)


def _print(findings: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    for report in findings["walls"]:
        mark = "[green]up     [/]" if report["up"] else "[red]MISSING[/]"
        console.print(f"{mark} {report['name']:<12} {escape(report['found'])}")
        if report["remedy"]:
            console.print(f"        to mend it: {escape(report['remedy'])}")
    if trial := findings["trial"]:
        mark = "[green]works  [/]" if trial["graded"] else "[red]FAILED [/]"
        console.print(f"{mark} {'grading':<12} {escape(trial['found'])} ({trial['seconds']:.1f} s)", soft_wrap=True)
    for each in findings["setbacks"] or []:
        what = each["what"].replace("_", "-")
        console.print(
            f"[yellow]retried[/] {what:<12} {escape(each['name'])}: failed {each['failures']} times in a row in the "
            "running server; its log says why",
            soft_wrap=True,
        )
    console.print("[dim]" + ", ".join(f"{name} {version}" for name, version in findings["versions"].items()) + "[/]")
    if findings["ready"]:
        console.print("Ready to grade." if findings["trial"] else "Every wall is up.")
    elif findings["trial"]:
        console.print("[red]Not ready: every wall is up, but grading does not work.[/]")
    else:
        console.print("[red]Not ready: nothing is graded until every wall is up.[/]")


def _versions() -> dict[str, str]:
    import importlib.metadata
    import platform

    names = ("jax", "jaxlib", "flax", "optax", "numpy")
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}
