"""The graded properties, one file each; problem.toml picks them by the file's name.

A check module has `TITLE`, `TRUST` and `check(outcomes, tolerances) -> Finding`.
"""

import importlib
import pkgutil
from typing import Protocol

from grader.checks.outcome import Finding, Outcome, Tolerances
from grader.verdict import Trust


class Check(Protocol):
    """What a module in this folder offers."""

    TITLE: str
    TRUST: Trust

    def check(self, outcomes: list[Outcome], tolerances: Tolerances) -> Finding: ...


def names() -> list[str]:
    """Every check there is."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "outcome")


def load(name: str) -> Check:
    """The check of that name, which `read_package` has found to exist."""
    module: Check = importlib.import_module(f"grader.checks.{name}")
    return module
