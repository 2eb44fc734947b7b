"""Compiles one source or two with its own judge, and shows the programs: what `inspect` and `explore` share."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.submission_arguments import source_limit, source_of
from grader.core.errors import Cancelled, GraderFault, SubmissionFault, WallMissing

if TYPE_CHECKING:
    from grader.core.context import Context
    from grader.judging.judge import Judge
    from grader.program.measurement import Measured

    Compile = Callable[[Judge, str, Context, Mapping[str, str]], tuple[Measured, ...]]

ARRAYS: Any = typer.Option("--arrays", help="Also list where each array lives that the program computes, by line.")


GRAPH: Any = typer.Option("--graph", help="Also show how data flows: blocks of computation, collectives and loops.")


def read_sources(file: str, against: str | None, reference: str | None = None) -> list[tuple[str, str]]:
    """The name and the source of each file. `against` may be `reference` if there is one.

    Raises `StartRefused` if one of them cannot be read.
    """
    if file == against == "-":
        raise StartRefused("standard input can be read only once", "Name a file for one of the two sources.")
    found = [(file, source_of(file, source_limit()))]
    if against == "reference" and reference is not None:
        found.append((against, reference))
    elif against is not None:
        found.append((against, source_of(against, source_limit())))
    return found


def show_compiled(
    compile_source: "Compile",
    sources: list[tuple[str, str]],
    options: Sequence[Mapping[str, str]],
    *,
    arrays: bool,
    graph: bool,
    as_json: bool,
) -> None:
    """Show the programs of the first source, or how they differ from those of the second.

    Args:
      options: of XLA, for each source.
    Raises:
      typer.Exit: with 1 if a source has no program, 3 if the grader failed; standard error says why.
    """
    try:
        measured = _compiled(compile_source, sources, options)
    except _NoProgram as none:
        fault = none.fault
        if as_json:
            print(json.dumps({"file": none.file, "error": str(fault), "reason": fault.reason, "detail": fault.detail}))
        else:
            from grader.core.text import plain_text
            from grader.modes.report import fault_message

            named = "" if len(sources) == 1 else f"{none.file}: "
            print(f"{named}{fault.reason.replace('_', ' ')}: {fault_message(fault)}", file=sys.stderr)
            if compiler := fault.detail.get("compiler"):
                print(f"XLA's own words:\n{plain_text(str(compiler))}", file=sys.stderr)
        raise typer.Exit(1) from None
    except WallMissing as missing:
        print(f"Error: refusing to execute code: {missing}", file=sys.stderr)
        raise typer.Exit(3) from None
    except GraderFault as fault:
        print(f"Error: {fault}", file=sys.stderr)
        raise typer.Exit(3) from None
    except Cancelled:
        raise typer.Exit(130) from None
    if len(measured) > 1:
        _show_differences(*measured, as_json=as_json)
    elif as_json:
        print(json.dumps([_as_json(each) for each in measured[0]], indent=2))
    else:
        from app.entry.cli.program_text import print_program

        for each in measured[0]:
            print_program(each, arrays=arrays, graph=graph)


class _NoProgram(Exception):
    def __init__(self, file: str, fault: SubmissionFault) -> None:
        super().__init__(file)
        self.file, self.fault = file, fault


def _compiled(
    compile_source: "Compile", sources: list[tuple[str, str]], options: Sequence[Mapping[str, str]]
) -> "list[tuple[Measured, ...]]":
    """The programs of each source, one for each mesh."""
    from app.entry.cli.local_judge import local_judge

    measured = []
    with local_judge() as (judge, context):
        for (name, source), flags in zip(sources, options, strict=True):
            try:
                measured.append(compile_source(judge, source, context, flags))
            except SubmissionFault as fault:
                raise _NoProgram(name, fault) from fault
    return measured


def _show_differences(mine: "tuple[Measured, ...]", other: "tuple[Measured, ...]", *, as_json: bool) -> None:
    from grader.program.differences import differences
    from grader.program.differences_between_chips import differences_between_chips

    pairs = list(zip(mine, other, strict=True))
    if as_json:
        rows = [
            {"mesh": this.mesh, "differences": list(map(asdict, differences(this, that)))}
            | ({"chip_differences": list(map(asdict, differences_between_chips(this, that)))} if this.on_chip else {})
            for this, that in pairs
        ]
        print(json.dumps(rows, indent=2))
    else:
        from app.entry.cli.program_text import print_differences

        for this, that in pairs:
            print_differences(this, that)


def _as_json(measured: "Measured") -> dict[str, Any]:
    from grader.explorer.description import explored
    from grader.program.facts import to_json
    from grader.program.strict_json import write

    facts = to_json(measured.facts)
    graph = explored([measured]).programs[0].graph
    return {
        "mesh": measured.mesh,
        "state": measured.state,
        "inputs": measured.inputs,
        "outputs": measured.outputs,
        "facts": facts,
        "observed": asdict(measured.observed) if measured.observed else None,
        "remarks": measured.remarks,
        "arrays": write(measured.arrays)["arrays"] if measured.arrays else [],
        "graph": graph.model_dump(mode="json") if graph else None,
        "on_chip": write(measured.on_chip) if measured.on_chip else None,
    }
