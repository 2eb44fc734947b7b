"""`meshgrade inspect`: shows what a submission compiles to, without judging it."""

import json
import sys
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
    "devices, memory and FLOPs. Exit status: 0 shown, 1 the file has no program, 3 failed, 2 wrong usage."
)
def inspect(
    problem: Annotated[str, typer.Argument(metavar="SLUG_OR_PATH", help="A problem's slug, or a package's folder.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The submission; - reads standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    package, source = package_of(problem), source_of(file, source_limit())
    if package.manifest.mode != "program":
        raise StartRefused(
            f"{package.slug} is a problem of mode {package.manifest.mode}, so it has no compiled program to inspect",
            "Name a problem of mode program, such as fsdp_shard_map_step.",
        )
    try:
        measured = _inspect(package, source)
    except SubmissionFault as fault:
        if as_json:
            print(json.dumps({"error": str(fault), "reason": fault.reason, "detail": fault.detail}))
        else:
            from grader.report import fault_message

            print(f"{fault.reason.replace('_', ' ')}: {fault_message(fault)}", file=sys.stderr)
        raise typer.Exit(1) from None
    except WallMissing as missing:
        print(f"Error: refusing to execute code: {missing}", file=sys.stderr)
        raise typer.Exit(3) from None
    except GraderFault as fault:
        print(f"Error: {fault}", file=sys.stderr)
        raise typer.Exit(3) from None
    except Cancelled:
        raise typer.Exit(130) from None
    if as_json:
        print(json.dumps([_as_json(each) for each in measured], indent=2))
    else:
        from app.cli.program_text import print_program

        for each in measured:
            print_program(each)


def _inspect(package: "Package", source: str) -> "tuple[Measured, ...]":
    from app.cli.alone import alone

    with alone() as (judge, context):
        return judge.inspect(package, source, context)


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
