"""The command line's private folder in the checkout."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from app.core.start_errors import StartRefused

CHECKOUT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """`secret` is what `meshgrade judge` derives hidden inputs from. The service has its own. `checks` is for what
    `meshgrade problem check` found earlier.
    """

    cache: Path
    checks: Path
    secret: bytes


def open_private_folder() -> PrivateFolder:
    """Raises `StartRefused` if it cannot be written."""
    folder = CHECKOUT / ".meshgrade" / "judge"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / "secret"
        if not path.exists():
            draft = folder / f"secret.{os.getpid()}"
            draft.touch(mode=0o600)
            draft.write_bytes(secrets.token_bytes(32))
            draft.replace(path)
        return PrivateFolder(folder / "references", folder / "checks", path.read_bytes())
    except OSError as error:
        raise StartRefused(
            f"{folder} cannot be used: {error.strerror}", "Make the checkout writable, then try again."
        ) from None
