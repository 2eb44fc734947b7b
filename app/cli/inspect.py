"""`meshgrade inspect`: shows what a submission compiles to, without judging it."""

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.submission import package_of, source_limit, source_of
from app.start_errors import StartRefused
from grader.errors import Cancelled, GraderFault, SubmissionFault, WallMissing

if TYPE_CHECKING:
    from grader.package.package import Package
    from grader.program.measured import Measured

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(
    help="Show what FILE compiles to, for every mesh of the problem: where each leaf lives, the communication between "
    "devices, memory and FLOPs. With --against, show how it differs from another submission. Exit status: 0 shown, "
    "1 a file has no program, 3 failed, 2 wrong usage."
)
def inspect(
    problem: Annotated[str, typer.Argument(metavar="SLUG_OR_PATH", help="A problem's slug, or a package's folder.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The submission; - reads standard input.")],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Show what differs from this submission instead; `reference` is the problem's own."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    package, source = package_of(problem), source_of(file, source_limit())
    if package.manifest.mode != "program":
        raise StartRefused(
            f"{package.slug} is a problem of mode {package.manifest.mode}, so it has no compiled program to inspect",
            "Name a problem of mode program, such as fsdp_shard_map_step.",
        )
    if file == against == "-":
        raise StartRefused("standard input can be read only once", "Name a file for one of the two submissions.")
    sources = [source] if against is None else [source, _other_source(package, against)]
    try:
        measured = _inspect(package, sources, [file, against or ""])
    except _NoProgram as none:
        fault = none.fault
        if as_json:
            print(json.dumps({"file": none.file, "error": str(fault), "reason": fault.reason, "detail": fault.detail}))
        else:
            from grader.report import fault_message

            named = "" if against is None else f"{none.file}: "
            print(f"{named}{fault.reason.replace('_', ' ')}: {fault_message(fault)}", file=sys.stderr)
        raise typer.Exit(1) from None
    except WallMissing as missing:
        print(f"Error: refusing to execute code: {missing}", file=sys.stderr)
        raise typer.Exit(3) from None
    except GraderFault as fault:
        print(f"Error: {fault}", file=sys.stderr)
        raise typer.Exit(3) from None
    except Cancelled:
        raise typer.Exit(130) from None
    if against is not None:
        _show_differences(*measured, as_json=as_json)
    elif as_json:
        print(json.dumps([_as_json(each) for each in measured[0]], indent=2))
    else:
        from app.cli.program_text import print_program

        for each in measured[0]:
            print_program(each)


class _NoProgram(Exception):
    def __init__(self, file: str, fault: SubmissionFault) -> None:
        super().__init__(file)
        self.file, self.fault = file, fault


def _other_source(package: "Package", against: str) -> str:
    return package.files["reference.py"] if against == "reference" else source_of(against, source_limit())


def _inspect(package: "Package", sources: list[str], names: list[str]) -> "list[tuple[Measured, ...]]":
    """The programs of each source, one for each mesh."""
    from app.cli.alone import alone

    measured = []
    with alone() as (judge, context):
        for source, name in zip(sources, names, strict=False):
            try:
                measured.append(judge.inspect(package, source, context))
            except SubmissionFault as fault:
                raise _NoProgram(name, fault) from fault
    return measured


def _show_differences(mine: "tuple[Measured, ...]", other: "tuple[Measured, ...]", *, as_json: bool) -> None:
    from grader.checks.program.differences import differences

    found = [(each.mesh, differences(each, that)) for each, that in zip(mine, other, strict=True)]
    if as_json:
        rows = [{"mesh": mesh, "differences": [asdict(each) for each in these]} for mesh, these in found]
        print(json.dumps(rows, indent=2))
    else:
        from app.cli.program_text import print_differences

        for mesh, these in found:
            print_differences(mesh, these)


def _as_json(measured: "Measured") -> dict[str, Any]:
    from grader.program.facts import to_json

    facts = to_json(measured.facts)
    return {
        "mesh": measured.mesh,
        "state": measured.state,
        "inputs": measured.inputs,
        "outputs": measured.outputs,
        "facts": facts,
        "observed": {"primitives": measured.primitives, "retraced": measured.retraced},
    }
