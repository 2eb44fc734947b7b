"""`meshgrade login`: stores an API token for a server."""

import getpass
import os
import sys
from contextlib import closing
from typing import Annotated

import typer

from app.core.start_errors import NotLoggedIn
from app.entry.cli.remote.address import DEFAULT, read_address, require_safe
from app.entry.cli.remote.connection import InsecureOption, check_token, note
from app.entry.cli.remote.server import Server
from app.entry.cli.remote.token_store import Remembered, read_remembered, remember, token_file
from grader.core.text import plain_text

HELP = "Log in to a server. Asks for an API token and stores it in a private file."


def login(
    url: Annotated[
        str | None, typer.Argument(metavar="[URL]", help=f"Default: the server of your last login, or {DEFAULT}.")
    ] = None,
    token_stdin: Annotated[bool, typer.Option("--token-stdin", help="Read the token from standard input.")] = False,
    insecure: InsecureOption = False,
) -> None:
    remembered = read_remembered()
    address = read_address(url or os.environ.get("MESHGRADE_SERVER") or remembered.current or DEFAULT)
    require_safe(address, insecure=insecure)
    token = _ask_for_token(address, token_stdin=token_stdin)
    with closing(Server(address, token, note=note)) as server:
        me = server.me()
    # Stored only now, so that a token that does not work never replaces one that does.
    remember(Remembered(current=address, tokens=remembered.tokens | {address: token}))
    print(f"Logged in to {address} as {plain_text(me.name)} ({plain_text(me.role)}). The token is in {token_file()}.")
    if os.environ.get("MESHGRADE_TOKEN"):
        note("Note: MESHGRADE_TOKEN is set, and overrides the token that was just stored.")


def _ask_for_token(address: str, *, token_stdin: bool) -> str:
    if token_stdin:
        token = sys.stdin.readline().strip()
    elif sys.stdin.isatty():
        token = getpass.getpass(f"API token for {address} (create one at {address}/account/tokens): ").strip()
    else:
        raise NotLoggedIn(
            "Without a terminal, this command cannot ask for the token.",
            f"Create one at {address}/account/tokens and pipe it in: ./meshgrade login --token-stdin",
        )
    check_token(token, "The input")
    return token
