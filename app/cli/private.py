"""Where the command line keeps what is its own: the checkout's private folder."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from app.start_errors import StartRefused

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """`secret` is the one that hidden inputs of `meshgrade judge` come from; the service has its own."""

    cache: Path
    secret: bytes


def open_private_folder() -> PrivateFolder:
    """Raises `StartRefused` where it cannot be written."""
    folder = CHECKOUT / ".meshgrade" / "judge"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / "secret"
        if not path.exists():
            draft = folder / f"secret.{os.getpid()}"
            draft.touch(mode=0o600)
            draft.write_bytes(secrets.token_bytes(32))
            draft.replace(path)
        return PrivateFolder(folder / "references", path.read_bytes())
    except OSError as error:
        raise StartRefused(
            f"{folder} cannot be used: {error.strerror}", "Make the checkout's folder writable, then try again."
        ) from None
