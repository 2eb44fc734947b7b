"""Measure the claims of lessons, draw their figures and run their programs on 8 host devices; write it all as JSON.

A claim is a public function of claims.py: its name is the claim's, its docstring says what it measures, and it returns
the number and its unit. `figures()` of figures.py, where a lesson has one, draws the figures. Programs run
as in the lesson's notebook, whose first cell makes the devices. In the sandbox, each runs alone.
Usage: measure.py LESSONS_FOLDER SLUG... OUTPUT_FILE
"""

import contextlib
import importlib.util
import inspect
import io
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from app.learning.lessons.jupyter_notebook import DEVICES
from app.learning.lessons.measured_numbers import blocks

# As on a reader's machine.
del os.environ["XLA_FLAGS"]
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
    """The claims of one claims.py, in the order of the file."""
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
    """What a cell prints, and the exception that ends it."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "lesson.md", "exec"), names)
    except Exception as error:  # the test shows every exception of a program
        return {"printed": printed.getvalue(), "error": f"{type(error).__name__}: {error}"}
    return {"printed": printed.getvalue(), "error": None}


def ran(text: str) -> list[dict[str, str | None]]:
    """The programs of a lesson as its notebook runs them: one after the other, in one place."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [run(block.code, names) for block in blocks(text)]


def main() -> None:
    folder, *slugs = sys.argv[1:-1]
    lessons = {slug: Path(folder, slug) for slug in slugs}
    claims = {slug: measured(lesson / "claims.py") for slug, lesson in lessons.items()}
    figures = {
        slug: load(file).figures() for slug, lesson in lessons.items() if (file := lesson / "figures.py").is_file()
    }
    # Not from a lesson that was read: without its claims and figures, which this writes, it cannot be.
    texts = {slug: (lesson / "lesson.md").read_text(encoding="utf-8") for slug, lesson in lessons.items()}
    programs = {slug: ran(text) for slug, text in texts.items()}
    Path(sys.argv[-1]).write_text(
        json.dumps({"claims": claims, "figures": figures, "programs": programs}), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
