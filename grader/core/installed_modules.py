"""The modules of Python and of installed packages, which a submission can import behind the walls, too."""

import sys
import sysconfig
from functools import cache
from pathlib import Path


def is_installed(name: str) -> bool:
    """Whether Python or an installed package has a module of this name, without a dot."""
    return name in sys.stdlib_module_names or name in _installed()


@cache
def _installed() -> frozenset[str]:
    folders = {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    return frozenset(
        each.name.partition(".")[0]
        for folder in folders
        for each in folder.iterdir()
        if each.suffix in ("", ".py", ".so")
    )
