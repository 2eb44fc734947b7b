"""The graded properties, one per file. A problem.toml names the ones it uses and sets their bounds.

`call` contains the checks of a function's results, `program` the checks of a compiled program, and `answer` those of
written answers. What several checks share is beside these folders. A check module defines
`TITLE`, `TRUST`, `Bounds`, `describe`: (bounds, manifest) -> Wording, and `check`: (outcomes, tolerances) -> Finding in
`call`, (subject, bounds) -> Finding in `program`, (outcomes) -> Finding in `answer`. `PROMISE` is optional: a regular
expression for a statement that requires what only this check can see.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Protocol

from grader.checks.finding import Finding
from grader.checks.wording import Wording
from grader.package.package import CheckBounds
from grader.verdict import Mode, Trust


class CheckModule(Protocol):
    """The interface of a check module. The mode that it belongs to calls `check`."""

    TITLE: str
    TRUST: Trust
    Bounds: type[CheckBounds]
    describe: Callable[..., Wording]
    check: Callable[..., Finding]


def names(mode: Mode) -> list[str]:
    """Every check there is."""
    folder = importlib.import_module(f"grader.checks.{mode}")
    return sorted(module.name for module in pkgutil.iter_modules(folder.__path__))


def load(mode: Mode, name: str) -> CheckModule:
    """Import a check. `read_package` has already made sure that it exists."""
    module: CheckModule = importlib.import_module(f"grader.checks.{mode}.{name}")
    return module
