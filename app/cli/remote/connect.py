"""Which server a command talks to, and with which token: what is given, then the environment, then the login."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated

import typer

from app.cli.remote.address import DEFAULT, read_address, require_safe
from app.cli.remote.server import Server
from app.cli.remote.store import read_remembered
from app.start_errors import NotLoggedIn

ServerOption = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", envvar="MESHGRADE_SERVER", help="Default: where you logged in last."),
]
InsecureOption = Annotated[
    bool,
    typer.Option(
        "--insecure", envvar="MESHGRADE_INSECURE", help="Send the token over plain http, which anybody there can read."
    ),
]


@contextmanager
def connected(server: str | None, *, insecure: bool, anybody: bool = False) -> Iterator[Server]:
    """A server to talk to.

    Args:
      anybody: what is asked for is open to everybody, so that no token is needed.
    Raises:
      ServerAddressUnusable, TokenFileUnusable, NotLoggedIn.
    """
    token = os.environ.get("MESHGRADE_TOKEN", "").strip()
    # Everything from the environment is enough: then the file is not even looked at.
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
            f"You are not logged in at {address}.",
            f"Log in: ./meshgrade login {address} (or set MESHGRADE_TOKEN).",
        )
    with closing(Server(address, token or None, note=note)) as opened:
        yield opened


def check_token(token: str, source: str) -> None:
    """Raises `NotLoggedIn` for what no header can carry, without repeating it."""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise NotLoggedIn(
            f"{source} holds no API token: that is one word of letters, digits and . _ ~ + / -",
            "Copy the whole token, and nothing else, from the page of the server that showed it.",
        )


def note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
