"""The graded properties, one file each; problem.toml picks them by the file's name and bounds them.

`call` holds those of a function's results, `program` those of a compiled program. A check module has `TITLE`,
`TRUST`, `Bounds`, and `check`: (outcomes, tolerances) -> Finding in `call`, (subject, bounds) -> Finding in `program`.
"""

import importlib
import pkgutil
from typing import Any, Protocol

from grader.checks.finding import Bounds
from grader.verdict import Mode, Trust

# What checks are made of, beside them in the same folder.
_NOT_CHECKS = {"outcome", "subject", "table"}


class Check(Protocol):
    """What a module in these folders offers; `check` is called by the mode that it belongs to."""

    TITLE: str
    TRUST: Trust
    Bounds: type[Bounds]
    check: Any


def names(mode: Mode) -> list[str]:
    """Every check there is."""
    folder = importlib.import_module(f"grader.checks.{mode}")
    return sorted({module.name for module in pkgutil.iter_modules(folder.__path__)} - _NOT_CHECKS)


def load(mode: Mode, name: str) -> Check:
    """The check of that name, which `read_package` has found to exist."""
    module: Check = importlib.import_module(f"grader.checks.{mode}.{name}")
    return module
