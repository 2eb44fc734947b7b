"""Has a server explore one source or two, and opens the page: `--open` of `inspect` and `explore`."""

import webbrowser
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from app.core.start_errors import StartRefused
from app.entry.cli.remote.connection import connected, note
from grader.core.chips import ChipName

OpenOption = Annotated[
    bool,
    typer.Option(
        "--open",
        help="Compile it on your server, and open its page of the Explorer in a browser. Needs a login; only the "
        "address is printed here.",
    ),
]


def open_explored(
    subject: dict[str, Any],
    sources: list[tuple[str, str]],
    chip: ChipName | None,
    options: Sequence[Mapping[str, str]],
    server: str | None,
    *,
    insecure: bool,
    as_json: bool,
) -> None:
    """Print the address of the exploration, and open it if there is a browser.

    Args:
      subject: `problem` or `function`, as REST takes it.
      options: of XLA, for each source.
    Raises:
      ServerRefused, ServerUnusable, and what `connected` raises.
    """
    if as_json:
        raise StartRefused("--open shows a page, and --json prints data", "Leave one of the two out.")
    against = {"against": sources[1][1], "against_xla_options": options[1]} if len(sources) > 1 else {}
    with connected(server, insecure=insecure) as there:
        found = there.explore({**subject, "source": sources[0][1], "chip": chip, "xla_options": options[0], **against})
        address = f"{there.address}/explore/{found.id}"
    print(address, flush=True)
    try:
        is_open = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        is_open = False
    if not is_open:
        note("No browser could be opened here. Open this address where you are signed in.")
