"""What only a checkout has: the image ships the service alone."""

import importlib.util
from pathlib import Path

from app.start_errors import StartRefused

CHECKOUT = Path(__file__).resolve().parents[2]


def require_in_checkout(command: str, *, folders: tuple[str, ...] = (), packages: tuple[str, ...] = ()) -> None:
    """Refuse to start a command where what it needs is not installed.

    Args:
      command: as it is typed.
      folders: of the checkout.
      packages: Python modules.
    Raises:
      StartRefused: names everything that is missing.
    """
    missing = [f"the folder {name}/" for name in folders if not (CHECKOUT / name).is_dir()]
    missing += [f"the Python package {name}" for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise StartRefused(
            f"`{command}` needs a checkout of the repository, and {CHECKOUT} lacks {', '.join(missing)}",
            f"./meshgrade {command} in a clone installs what is missing. The container image "
            "ships the service without tests and benchmarks.",
        )
