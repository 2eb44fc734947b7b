"""The options `--xla-option` and `--against-xla-option` of `explore` and `inspect`: options of XLA for a GPU."""

from collections.abc import Sequence
from typing import Any

import typer

from app.core.start_errors import StartRefused
from grader.core.xla_options import read_typed

Sources = list[tuple[str, str]]
_FORM = "NAME=VALUE"
XLA_OPTION: Any = typer.Option(
    "--xla-option",
    metavar=_FORM,
    help="Compile for the GPU with this option of XLA, such as xla_gpu_all_gather_combine_threshold_bytes=0. Repeat it "
    "for each one. It counts more than what the file sets.",
)
AGAINST_XLA_OPTION: Any = typer.Option(
    "--against-xla-option",
    metavar=_FORM,
    help="Compile the other version with this option instead. Without --against, the other version is FILE itself.",
)


def read_xla_options(
    sources: Sources, chosen: Sequence[str] | None, against: Sequence[str] | None
) -> tuple[Sources, list[dict[str, str]]]:
    """Return the sources to compile, and the options for each of them.

    If only one source was named and the other version has options of its own, it is compiled twice.

    Raises:
      StartRefused: an option is not taken, or not with this value.
    """
    mine = _read("--xla-option", chosen)
    if against is None:
        return sources, [mine] * len(sources)
    both = sources if len(sources) > 1 else [*sources, *sources]
    return both, [mine, _read("--against-xla-option", against)]


def _read(option: str, chosen: Sequence[str] | None) -> dict[str, str]:
    try:
        return read_typed(" ".join(chosen or ()))
    except ValueError as error:
        raise StartRefused(f"{option}: {error}", "docs/explorer.md lists the options, with their defaults.") from None
