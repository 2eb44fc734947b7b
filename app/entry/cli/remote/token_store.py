"""The command line's API tokens: one file that only its owner can read, with one token per server."""

import contextlib
import os
import secrets
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.core.start_errors import TokenFileUnusable


class Remembered(BaseModel):
    """`current` is the server of the last login. `tokens` maps addresses to tokens."""

    model_config = ConfigDict(strict=True, extra="forbid")

    current: str | None = None
    tokens: dict[str, str] = Field(default_factory=dict)


def token_file() -> Path:
    """The path of the file, by the XDG rules: a relative XDG_CONFIG_HOME is ignored.

    Source: https://specifications.freedesktop.org/basedir-spec/latest/
    """
    config = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (config if config.is_absolute() else Path.home() / ".config") / "meshgrade" / "servers.json"


def read_remembered() -> Remembered:
    """The file's content, or an empty one if there is no file. Raises `TokenFileUnusable`."""
    path = token_file()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return Remembered()
    except OSError as error:
        raise _unusable(path, error) from None
    with os.fdopen(descriptor, "rb") as file:
        # In case someone has made it readable for others.
        os.fchmod(descriptor, 0o600)
        text = file.read()
    try:
        return Remembered.model_validate_json(text)
    except ValidationError:
        raise TokenFileUnusable(
            f"{path} is not a file of tokens.", "Remove it, then log in again: ./meshgrade login"
        ) from None


def remember(remembered: Remembered) -> None:
    """Replace the file atomically. Raises `TokenFileUnusable`."""
    path = token_file()
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(remembered.model_dump_json(indent=2) + "\n")
            draft.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: OSError) -> TokenFileUnusable:
    return TokenFileUnusable(
        f"{path} cannot be used: {error.strerror or error}.",
        "Give this user permission to read and write it, or set MESHGRADE_SERVER and MESHGRADE_TOKEN instead.",
    )
