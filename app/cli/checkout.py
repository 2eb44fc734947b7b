"""Commands that need a checkout, because the image ships only the service."""

import importlib.util
from pathlib import Path

from app.start_errors import StartRefused

CHECKOUT = Path(__file__).resolve().parents[2]


def require_in_checkout(command: str, *, folders: tuple[str, ...] = (), packages: tuple[str, ...] = ()) -> None:
    """Refuse to start a command if something that it needs is missing.

    Args:
      command: its name, as the user types it.
      folders: the folders of the checkout that it needs.
      packages: the Python modules that it needs.
    Raises:
      StartRefused: names everything that is missing.
    """
    missing = [f"the folder {name}/" for name in folders if not (CHECKOUT / name).is_dir()]
    missing += [f"the Python package {name}" for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise StartRefused(
            f"`{command}` needs a checkout of the repository, but {CHECKOUT} lacks {', '.join(missing)}",
            f"Run ./meshgrade {command} in a clone, which installs what is missing. The container image "
            "has no tests and no benchmarks.",
        )
