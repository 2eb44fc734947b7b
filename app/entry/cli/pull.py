"""`meshgrade pull`: writes a problem's statement and starter to files, and your question if it asks one."""

from pathlib import Path
from typing import Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected
from app.entry.cli.remote.responses import Problem
from grader.core.text import plain_text

HELP = "Write a problem's statement, starter and helpers to DIR/statement.md, DIR/SLUG.py and DIR/HELPER.py."


def pull(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The problem's slug.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Created if it is missing. Default: a folder named SLUG.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    with connected(server, insecure=insecure, anybody=True) as there:
        problem = there.problem(slug)
        is_answered = problem.mode == "answer"
        question = there.question(slug).question if is_answered else ""
    folder = folder or Path(problem.slug)
    starter = folder / f"{problem.slug}.{'json' if is_answered else 'py'}"
    files = {folder / "statement.md": problem.statement + _grading(problem), starter: problem.starter}
    # Beside the starter, so that Python finds them there, too.
    files |= {folder / f"{name}.py": text for name, text in problem.helpers.items() if name.isidentifier()}
    if is_answered:
        files[folder / "question.md"] = question
    if not force and (there_already := [str(path) for path in files if path.exists()]):
        raise StartRefused(
            f"{' and '.join(there_already)} would be overwritten.", "Name another folder, or add --force."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            # "x" even though we looked above: a file that appears in between is never overwritten.
            with path.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise StartRefused(
            f"{error.filename} cannot be written: {error.strerror}.", "Name a folder that you can write to."
        ) from None
    if problem.variant:
        print(f"You have variant {plain_text(problem.variant.name)} of this problem.")
    run = "" if is_answered else f"./meshgrade run {starter}, "
    print(f"Wrote {' and '.join(map(str, files))}. Then: {run}./meshgrade submit {starter}")


def _grading(problem: Problem) -> str:
    """The section on grading, as on the problem's page."""
    lines = ["", "## Grading", "", "| Graded | Points | You pass if |", "|---|---|---|"]
    lines += [f"| {each.title} | {each.points} | {'; '.join(each.sentences)} |" for each in problem.grading]
    for each in problem.grading:
        lines += ["", f"{each.title}, exactly:", "", *(f"- {bound}" for bound in each.bounds)] if each.bounds else []
    return "\n".join(lines) + "\n"
