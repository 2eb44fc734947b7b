"""The common part of `run` and `submit`: send a file, show its progress, print the verdict."""

import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from app.core.start_errors import ServerRefused, ServerUnusable, StartRefused
from app.entry.cli.remote.attempt_follower import follow
from app.entry.cli.remote.connection import connected, note
from app.entry.cli.remote.responses import SLUG, Attempt
from app.entry.cli.remote.server import Server
from app.entry.cli.submission_arguments import source_of
from app.entry.cli.verdict_text import print_verdict
from grader.verdicts.verdict import Verdict

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="The submission; - reads standard input.")]
ProblemOption = Annotated[
    str | None, typer.Option("--problem", metavar="SLUG", help="Default: the file's name without .py.")
]
JSONOption = Annotated[bool, typer.Option("--json", help="Print the attempt as REST returns it.")]

_EXIT = {"accepted": 0, "rejected": 1, "failed": 3}
_INTERRUPTED = 130
# No server accepts more (docs/settings.md). If this one accepts less, it says so.
_MAX_SOURCE_BYTES = 1024 * 1024


def send(
    kind: Literal["attempts", "runs"],
    file: str,
    problem: str | None,
    server: str | None,
    *,
    insecure: bool,
    as_json: bool,
    inputs: dict[str, Any] | None = None,
) -> int:
    """Grade `file` on the server and print the verdict. Only a run may have `inputs`, which REST describes.

    Returns:
      the exit status: 0 accepted, 1 rejected, 3 failed, 130 cancelled.
    """
    slug, source = problem or _slug_in(file), source_of(file, _MAX_SOURCE_BYTES)
    with connected(server, insecure=insecure) as there, Console(stderr=True).status("sending") as status:
        details = there.problem(slug)
        attempt = there.send(slug, kind, source, inputs)
        try:
            attempt = follow(there, attempt, lambda state: status.update(escape(state)))
        except KeyboardInterrupt:
            status.stop()
            _cancel(there, attempt)
            return _INTERRUPTED
        except ServerUnusable:
            status.stop()
            note(f"Your submission is not lost: see {there.address}/attempts/{attempt.id}")
            raise
    return _print(attempt, details.title, as_json=as_json, is_starter=source.split() == details.starter.split())


def _slug_in(file: str) -> str:
    name = re.sub(r"\.(py|json|toml)$", "", Path(file).name)
    # A hyphen is allowed here: the server then suggests the right slug.
    if not re.fullmatch(SLUG, name.replace("-", "_")):
        raise StartRefused(
            f"the name of {file!r} does not say which problem it solves.",
            "Add --problem SLUG. `./meshgrade problems` lists the slugs.",
        )
    return name


def _cancel(server: Server, attempt: Attempt) -> None:
    try:
        server.cancel(attempt.id)
    except ServerRefused as refusal:  # it finished at the same moment
        note(f"Too late to cancel: {refusal} See {server.address}/attempts/{attempt.id}")
    else:
        note("Cancelled.")


def _print(attempt: Attempt, title: str, *, as_json: bool, is_starter: bool) -> int:
    try:
        verdict = None if attempt.verdict is None else Verdict.model_validate(attempt.verdict)
    except ValidationError:
        raise ServerUnusable(
            "this version does not understand the server's verdict.",
            "Update this checkout to the server's version. --json prints the verdict as it is.",
        ) from None
    finally:
        if as_json:
            print(json.dumps(attempt.model_dump(mode="json"), indent=2, ensure_ascii=False))
    if verdict is None and attempt.withheld_until and attempt.status == "finished":
        until = attempt.withheld_until[:19].replace("T", " ")
        print(f"Submitted. This is an exam: its verdicts are hidden until {until} UTC.", file=sys.stderr)
        return 0
    if verdict is None:
        print("Cancelled: there is no verdict.", file=sys.stderr)
        return _INTERRUPTED
    if not as_json:
        print_verdict(title, verdict, attempt.pitfall.text if attempt.pitfall else None, is_starter=is_starter)
    return _EXIT[verdict.status]
