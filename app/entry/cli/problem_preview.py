"""`meshgrade problem preview`: one package on its own service, which serves each saved version."""

import asyncio
import logging
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.problem_check import packages_at, print_faults, uuids_beside

if TYPE_CHECKING:
    from app.core.services import Services
    from app.entry.cli.preview_pages import QuickChecks
    from grader.review.rules import PackageReview

log = logging.getLogger(__name__)
HELP = (
    "Serve one package as students will see it, with the faults that the rules find in its files. After each save, an "
    "open page shows the new version. Attempts are deleted at the end, unless --data names a folder."
)
_LOOK_S = 0.25


def preview(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The package's folder, or a slug.")],
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on. Default: 8000. 0 picks a free one.")] = None,
    data: Annotated[Path | None, typer.Option(help="Data folder. Default: a temporary one.")] = None,
) -> None:
    from app.core.settings import load_settings
    from app.entry.cli.listening_socket import listen
    from app.entry.cli.preview_pages import PreviewPages, QuickChecks
    from app.entry.cli.serve import run_server
    from app.operations.operating.logs import set_up_logs

    folder = _only_package(path)
    package = _require_readable(folder)
    with _temporary(folder, data) as (problems, own_data):
        # Never the database of a service: what is served here is unfinished.
        own: dict[str, Any] = {"problems": problems, "database_url": None, "public_url": None}
        settings = load_settings(host=host, port=port, data=own_data).model_copy(update=own)
        with listen(settings.host, settings.port) as sock:
            set_up_logs(settings.log_format, settings.log_level)
            signal.signal(signal.SIGTERM, _interrupt)

            checks = QuickChecks(_review(folder).faults)

            async def beside(services: "Services", address: str) -> None:
                say(f"Preview of {package.slug}: {address}/problems/{package.slug}")
                await serve_saved(folder, package.version, services, checks)

            bound = settings.model_copy(update={"port": sock.getsockname()[1]})
            asyncio.run(run_server(bound, [sock], beside=beside, wrap=lambda app: PreviewPages(app, checks)))
    sys.stdout.flush()


async def serve_saved(folder: Path, version: str, services: "Services", checks: "QuickChecks") -> None:
    """Look for changed files until cancelled. A version that can be read is served at once; faults are printed."""
    seen = _state(folder)
    while True:
        await asyncio.sleep(_LOOK_S)
        state = await asyncio.to_thread(_state, folder)
        if state == seen:
            continue
        seen = state
        try:
            version = await _serve_version(folder, version, services, checks)
        except Exception:  # a file that vanished in between, or a full disk: the next look finds what is there then
            log.exception("the saved version could not be served; trying again")
            seen = {}


async def _serve_version(folder: Path, version: str, services: "Services", checks: "QuickChecks") -> str:
    """Return the version that is then served."""
    from app.problems.catalogue import Catalogue
    from app.problems.package_store import PackageStore

    found = await asyncio.to_thread(_review, folder)
    package = found.package
    if package is None:
        say("Saved, but the package cannot be read, so the page stays as it was.")
    elif package.version != version:
        version = package.version
        await services[PackageStore].publish_folder([package])
        services[Catalogue].serve(package)
        say(f"Saved: version {version[:12]} is served.")
    checks.note(found.faults, is_served=package is not None)
    _print(found)
    return version


def say(line: str) -> None:
    print(f"{line}\n", end="", flush=True)


def _only_package(path: str) -> Path:
    folders = packages_at(path)
    if len(folders) > 1:
        raise StartRefused(
            f"{path} contains {len(folders)} packages.", f"Name one of them, such as {folders[0]}, to preview it."
        )
    return folders[0]


def _require_readable(folder: Path) -> Any:
    """The package. Raises `PackageInvalid` with every fault."""
    from app.core.settings import load_settings
    from grader.review.reader import read_package

    package = read_package(folder, load_settings().ceiling)
    _print(_review(folder))
    return package


def _review(folder: Path) -> "PackageReview":
    from app.core.settings import load_settings
    from grader.review.rules import review_package

    return review_package(folder, load_settings().ceiling, uuids_beside(folder))


def _print(found: "PackageReview") -> None:
    from rich.console import Console

    print_faults(Console(highlight=False, soft_wrap=True), found.faults)


@contextmanager
def _temporary(folder: Path, data: Path | None) -> Iterator[tuple[Path, Path]]:
    """A folder of problems that has only this one, and a data folder."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-preview-") as temporary:
        problems = Path(temporary, "problems")
        problems.mkdir()
        (problems / folder.name).symlink_to(folder, target_is_directory=True)
        yield problems, data or Path(temporary, "data")


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """When each file was written, and its size."""
    found = {}
    for path in folder.rglob("*"):
        try:
            if path.is_file() and "__pycache__" not in path.parts:
                status = path.stat()
                found[str(path)] = (status.st_mtime_ns, status.st_size)
        except OSError:  # an editor replaces a file: it is back at the next look
            continue
    return found


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
