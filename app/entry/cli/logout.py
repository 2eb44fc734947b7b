"""`meshgrade logout`: removes the API token of a server."""

import os
from typing import Annotated

import typer

from app.core.start_errors import NotLoggedIn
from app.entry.cli.remote.address import DEFAULT, read_address
from app.entry.cli.remote.token_store import Remembered, read_remembered, remember

HELP = "Remove the stored API token of a server. The token stays valid until you revoke it there."


def logout(
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="Default: the server of your last login.")] = None,
) -> None:
    remembered = read_remembered()
    address = read_address(url or os.environ.get("MESHGRADE_SERVER") or remembered.current or DEFAULT)
    if address not in remembered.tokens:
        known = ", ".join(remembered.tokens) or "none"
        raise NotLoggedIn(f"You are not logged in to {address}.", f"You are logged in to: {known}.")
    remaining = {other: token for other, token in remembered.tokens.items() if other != address}
    remember(Remembered(current=None if remembered.current == address else remembered.current, tokens=remaining))
    print(f"Logged out of {address}. The token stays valid until you revoke it there.")
