"""`meshgrade judge`: grade a file here, without a server."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.errors import StartRefused
from grader.errors import Cancelled, WallMissing

if TYPE_CHECKING:
    from grader.package.package import Package
    from grader.verdict import Verdict

app = typer.Typer(pretty_exceptions_enable=False)
_EXIT = {"accepted": 0, "rejected": 1, "failed": 3}


@app.command(help="Grade FILE here, without a server. Exit status: 0 accepted, 1 rejected, 3 failed, 2 wrong usage.")
def judge(
    problem: Annotated[str, typer.Argument(metavar="SLUG_OR_PATH", help="A problem's slug, or a package's folder.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The submission; - reads standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    package, source = _package(problem), _source(file)
    try:
        verdict = _judge(package, source)
    except WallMissing as missing:
        if as_json:
            print(json.dumps({"error": str(missing), "wall": missing.wall, "remedy": missing.remedy}))
        print(f"Error: refusing to grade, {missing}", file=sys.stderr)
        raise typer.Exit(_EXIT["failed"]) from None
    except Cancelled:
        raise typer.Exit(130) from None
    if as_json:
        print(json.dumps(verdict.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        from app.cli.verdict_text import print_verdict

        print_verdict(package, verdict)
    raise typer.Exit(_EXIT[verdict.status])


def _judge(package: "Package", source: str) -> "Verdict":
    import logging
    import threading

    from rich.console import Console

    from app.cli.private import open_private_folder
    from grader.judge import Judge
    from grader.sandbox.build import build_sandbox
    from grader.sandbox.doctor import require_walls
    from grader.sandbox.pool import PoolSettings

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    private = open_private_folder()
    stop = threading.Event()
    with Console(stderr=True).status("proving the walls") as status:
        require_walls()
        # One submission, so nothing is kept ready for a next one.
        settings = PoolSettings(generic=1, per_problem=0)
        with build_sandbox(private.cache, settings=settings) as sandbox:
            try:
                return Judge(sandbox, private.secret, private.cache).judge(
                    package, source, progress=lambda phase: status.update(phase), stop=stop
                )
            except KeyboardInterrupt:
                stop.set()
                raise


def _package(problem: str) -> "Package":
    from app.problems.service import Catalogue
    from app.settings import load_settings
    from grader.package.reader import read_package

    if "/" in problem or Path(problem).is_dir():
        return read_package(Path(problem).resolve())
    folder = load_settings(host=None, port=None, data=None).problems / problem
    if folder.is_dir():
        return read_package(folder)
    return Catalogue.load(folder.parent).get(problem)


def _source(file: str) -> str:
    from app.attempts.source import check_source
    from app.settings import load_settings

    limit = load_settings(host=None, port=None, data=None).max_source_bytes
    try:
        # One byte more than is permitted tells that there is more, however large the file.
        data = sys.stdin.buffer.read(limit + 1) if file == "-" else _read(Path(file), limit + 1)
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}", "Name the Python file to grade.") from None
    if len(data) > limit:
        raise StartRefused(f"{file} is too long: over {limit:,} bytes", "Send the solution alone, without data in it.")
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StartRefused(
            f"{file} is not UTF-8: byte 0x{data[error.start]:02x} on line {line}", "Save the file as UTF-8."
        ) from None
    check_source(source, limit)
    return source


def _read(path: Path, size: int) -> bytes:
    with path.open("rb") as opened:
        return opened.read(size)
