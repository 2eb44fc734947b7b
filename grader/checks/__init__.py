"""The checks, one module per graded property. A problem.toml names the ones it uses and sets their bounds.

`call` contains the checks of a function's results, `program` those of a compiled program, and `answer` those of written
answers; what several checks share is beside these folders. A check module defines `TITLE`, `TRUST`, `Bounds`,
`describe`: (bounds, manifest) -> Wording, and `check`: (subject, bounds) -> Finding in `call`
and `program`, (outcomes, number_of_try) -> Finding in `answer`. An optional `PROMISE` is a
regular expression that matches a statement that requires what only this check can see.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Protocol

from grader.checks.finding import Finding
from grader.checks.wording import Wording
from grader.package.package import CheckBounds
from grader.verdicts.verdict import Mode, Trust


class CheckModule(Protocol):
    """The interface of a check module. The check's mode calls `check`."""

    TITLE: str
    TRUST: Trust
    Bounds: type[CheckBounds]
    describe: Callable[..., Wording]
    check: Callable[..., Finding]


def names(mode: Mode) -> list[str]:
    """The ids of all checks of a mode, sorted."""
    folder = importlib.import_module(f"grader.checks.{mode}")
    return sorted(module.name for module in pkgutil.iter_modules(folder.__path__))


def load(mode: Mode, name: str) -> CheckModule:
    """Import a check, which must exist, as `read_package` makes sure."""
    module: CheckModule = importlib.import_module(f"grader.checks.{mode}.{name}")
    return module
