"""Measure the claims of a lesson, draw its figures and run its programs on 8 host devices.

A claim is a public function of claims.py: its name is the claim's, its docstring says what it measures, and it returns
the number and its unit. If a lesson has a figures.py, its `figures()` draws the figures. Programs run as in the
lesson's notebook, whose first cell makes the devices; in the sandbox, each runs alone. `python -m tests.prove` starts
this module (tests/prove/measuring.py).
"""

import contextlib
import importlib.util
import inspect
import io
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from app.learning.lessons.jupyter_notebook import DEVICES
from app.learning.lessons.measured_numbers import blocks

_LESSONS = Path(__file__).parents[2] / "lessons"
# Set up JAX as on a reader's machine.
os.environ.pop("XLA_FLAGS", None)
exec(DEVICES.format(devices=8))
import jax  # noqa: E402


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{file.stem}_of_{file.parent.name.replace('-', '_')}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(file: Path) -> dict[str, Any]:
    """Measure the claims of one claims.py, in the order of the file."""
    module = load(file)
    found: dict[str, Any] = {}
    for name, function in list(vars(module).items()):  # a claim may add to them, as a warning does
        if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != module.__name__:
            continue
        value, unit = function()
        what = " ".join((inspect.getdoc(function) or "").split())
        if not what:
            raise ValueError(f"{file}: {name} has no docstring, which says what it measures")
        if type(value) not in (int, float, str) or not isinstance(unit, str):
            raise TypeError(f"{file}: {name} returns {value!r} and {unit!r}, not a number or a name, and a unit")
        found[name] = {"value": value, "unit": unit, "what": what}
    return {"jax": jax.__version__, "devices": len(jax.devices()), "by_name": found}


def run(code: str, names: dict[str, Any]) -> dict[str, str | None]:
    """Run a cell. Returns what it prints, and the exception that ends it."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "lesson.md", "exec"), names)
    except Exception as error:  # the receipt has every exception of a program
        return {"printed": printed.getvalue(), "error": f"{type(error).__name__}: {error}"}
    return {"printed": printed.getvalue(), "error": None}


def ran(text: str) -> list[dict[str, str | None]]:
    """Run the programs of a lesson as its notebook does: one after the other, with the same names."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [run(block.code, names) for block in blocks(text)]


def measure(slug: str) -> dict[str, Any]:
    """Return the claims and the generated figures of a lesson, and what its programs print."""
    folder = _LESSONS / slug
    figures = folder / "figures.py"
    return {
        "claims": measured(folder / "claims.py"),
        "figures": load(figures).figures() if figures.is_file() else {},
        # Take the text from the file: `Lesson` needs claims and figures, which are written only after this.
        "programs": ran((folder / "lesson.md").read_text(encoding="utf-8")),
    }
