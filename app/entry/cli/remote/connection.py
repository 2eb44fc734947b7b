"""The server and token that a command uses: from its options, else the environment, else the last login."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated

import typer

from app.core.start_errors import NotLoggedIn
from app.entry.cli.remote.address import DEFAULT, read_address, require_safe
from app.entry.cli.remote.server import Server
from app.entry.cli.remote.token_store import read_remembered

ServerOption = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", envvar="MESHGRADE_SERVER", help="Default: the server of your last login."),
]
InsecureOption = Annotated[
    bool,
    typer.Option(
        "--insecure",
        envvar="MESHGRADE_INSECURE",
        help="Send the token over plain HTTP, where anyone on the network path can read it.",
    ),
]


@contextmanager
def connected(server: str | None, *, insecure: bool, anybody: bool = False) -> Iterator[Server]:
    """Yield a connection to the server.

    Args:
      anybody: true if the request is public and needs no token.
    Raises:
      ServerAddressUnusable, TokenFileUnusable, NotLoggedIn.
    """
    token = os.environ.get("MESHGRADE_TOKEN", "").strip()
    # If options and environment give both, the file is not even opened.
    if not (server and token):
        remembered = read_remembered()
        server = server or remembered.current or DEFAULT
        token = token or remembered.tokens.get(read_address(server), "")
    address = read_address(server)
    if token:
        check_token(token, "MESHGRADE_TOKEN")
        require_safe(address, insecure=insecure)
    elif not anybody:
        raise NotLoggedIn(
            f"You are not logged in to {address}.",
            f"Log in with ./meshgrade login {address}, or set MESHGRADE_TOKEN.",
        )
    with closing(Server(address, token or None, note=note)) as opened:
        yield opened


def check_token(token: str, source: str) -> None:
    """Raises `NotLoggedIn` if no header could carry the token. The message does not repeat it."""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise NotLoggedIn(
            f"{source} is not an API token, which is one word of letters, digits and . _ ~ + / -",
            "Copy the token alone, and all of it, from the server's page that showed it.",
        )


def note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
