"""`meshgrade problem sync`: has a server read packages from git repositories and folders."""

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.remote.connection import InsecureOption, ServerOption, connected
from grader.core.text import plain_text

if TYPE_CHECKING:
    from app.entry.cli.remote.responses import Repository, SyncedProblem
    from app.entry.cli.remote.server import Server

HELP = (
    "Have the server read a git repository or a folder and store each package that changed as a new version. Students "
    "do not see it until it is published. Without ADDRESS, every repository that is registered there is synced. "
    "Exit status: 0 synced, 1 a package was refused or a repository could not be read, 3 the server is down, "
    "2 wrong usage."
)
_LOOK_S = 1.0


def sync(
    address: Annotated[
        str | None,
        typer.Argument(
            metavar="ADDRESS", help="An https:// address, or a folder of the server. It is registered once."
        ),
    ] = None,
    branch: Annotated[str, typer.Option(metavar="BRANCH", help="Default: the default branch.")] = "",
    folder: Annotated[str, typer.Option(metavar="FOLDER", help="A folder in it. Default: all of it.")] = "",
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read an access token for a private repository.")
    ] = False,
    username: Annotated[
        str | None, typer.Option(metavar="NAME", help="The user name that belongs to the token.")
    ] = None,
    server: ServerOption = None,
    insecure: InsecureOption = False,
) -> None:
    if address is None and (branch or folder or token_stdin or username):
        raise StartRefused("These options are about one repository.", "Name its ADDRESS.")
    token = sys.stdin.readline().strip() if token_stdin else None
    with connected(server, insecure=insecure) as there:
        known = there.repositories()
        if address is None:
            chosen = known
        else:
            chosen = [each for each in known if (each.address, each.branch, each.folder) == (address, branch, folder)]
            if chosen and token:
                raise StartRefused(
                    f"{address} is already registered, and this command cannot change its token.",
                    "Remove it on the page Repositories to register it with another token.",
                )
            chosen = chosen or [_register(there, address, branch, folder, token, username)]
        if not chosen:
            print("No repository is registered. To register one: ./meshgrade problem sync ADDRESS")
        failed = [each for each in chosen if not _synced(there, each)]
    if failed:
        raise typer.Exit(1)


def _register(
    there: "Server", address: str, branch: str, folder: str, token: str | None, username: str | None
) -> "Repository":
    kind = "git" if "://" in address else "folder"
    body = {"kind": kind, "address": address, "branch": branch, "folder": folder}
    further = {"access_token": token, "username": username}
    new = there.register_repository(body | {name: value for name, value in further.items() if value})
    print(f"Registered {plain_text(address)}. For a webhook at each push:")
    print(f"  address  {there.address}{plain_text(new.webhook_path)}")
    print(f"  secret   {plain_text(new.webhook_secret)}")
    return new


def _synced(there: "Server", repository: "Repository") -> bool:
    """Sync it and print the report. Whether all of it could be read."""
    from rich.console import Console

    sync = there.sync(repository.id)
    with Console(stderr=True).status(f"syncing {plain_text(repository.address)}"):
        while sync.status == "running":
            time.sleep(_LOOK_S)
            sync = there.sync_of(repository.id, sync.id)
    print(plain_text(repository.address))
    if sync.status != "finished" or sync.fault:
        print(f"  failed: {plain_text(sync.fault or 'the server stopped during this sync. Sync again.')}")
        return False
    for each in sync.problems:
        _print_problem(each)
    return not any(each.outcome == "refused" for each in sync.problems)


def _print_problem(problem: "SyncedProblem") -> None:
    version = f", version {problem.version[:12]}" if problem.version and problem.outcome != "unchanged" else ""
    print(f"  {problem.outcome:<9} {plain_text(problem.problem or problem.folder or 'problem.toml')}{version}")
    for error in problem.errors:
        line = f":{error.line}" if error.line else ""
        print(f"    {error.rule} {plain_text(error.file)}{line}: {plain_text(error.message)}")
    if problem.more_errors:
        print(f"    and {problem.more_errors} more")
