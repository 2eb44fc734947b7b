"""`meshgrade doctor`: is everything there that grading needs?"""

import json
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help="Prove every wall by trying to cross it. Exit status: 0 all are up, 3 one is missing.")
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    from dataclasses import asdict

    from app.settings import load_settings
    from grader.sandbox.doctor import probe_walls

    reports = probe_walls(load_settings().isolation)
    ready = all(report.up for report in reports)
    if as_json:
        print(
            json.dumps(
                {"ready": ready, "walls": [asdict(report) for report in reports], "versions": _versions()}, indent=2
            )
        )
    else:
        _print([asdict(report) for report in reports], ready)
    raise typer.Exit(0 if ready else 3)


def _print(reports: list[dict[str, Any]], ready: bool) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    for report in reports:
        mark = "[green]up     [/]" if report["up"] else "[red]MISSING[/]"
        console.print(f"{mark} {report['name']:<12} {escape(report['found'])}")
        if report["remedy"]:
            console.print(f"        to mend it: {escape(report['remedy'])}")
    console.print("[dim]" + ", ".join(f"{name} {version}" for name, version in _versions().items()) + "[/]")
    console.print("Ready to grade." if ready else "[red]Not ready: nothing is graded until every wall is up.[/]")


def _versions() -> dict[str, str]:
    import importlib.metadata
    import platform

    names = ("jax", "jaxlib", "flax", "optax", "numpy")
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}
