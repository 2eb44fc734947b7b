"""Which version of a problem a command means."""

from app.core.start_errors import StartRefused
from app.entry.cli.remote.server import Server

_AT_LEAST = 6
# The server lists no more at once. An older version is named in full.
_LISTED = 100


def full_version(server: Server, slug: str, beginning: str | None, *, published: bool = False) -> str:
    """The version with this beginning; without one, the latest version.

    Args:
      published: without a beginning, the published one.
    Raises:
      StartRefused: none, or several, begin so.
    """
    if beginning is not None and len(beginning) == 64:
        return beginning
    listed = server.versions(slug, limit=_LISTED)
    if beginning is None:
        found = [each.version for each in listed if each.published or not published][:1]
    else:
        found = [each.version for each in listed if each.version.startswith(beginning)]
    if beginning is not None and len(beginning) < _AT_LEAST:
        raise StartRefused(
            f"--version: {beginning!r} is too short.", f"Write at least {_AT_LEAST} characters of the version."
        )
    if len(found) != 1:
        number = "several versions" if found else "no version"
        what = "" if beginning is None else f" that begins with {beginning[:64]!r}"
        raise StartRefused(
            f"The server has {number} of {slug}{what}.",
            "Write the whole version, or push the package first: ./meshgrade problem push PATH.",
        )
    return found[0]
