"""The rotation runs the quick tests with every other supported Python that the machine has."""

import sys
from pathlib import Path

from tests.other_pythons import found, supported


def command(path: Path, *lines: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def test_this_python_is_found(tmp_path: Path) -> None:
    own = ".".join(map(str, sys.version_info[:2]))
    assert own in supported()
    shown = command(tmp_path / f"python{own}", f'exec {sys.executable} "$@"')
    assert list(found({"PATH": str(tmp_path), "HOME": str(tmp_path)})) == [(own, shown)]


def test_one_that_pyenv_installed_is_found_if_the_command_on_the_path_does_not_run(tmp_path: Path) -> None:
    oldest, *_, newest = supported()
    path, home = tmp_path / "bin", tmp_path / "home"
    command(path / f"python{newest}", "exit 127")
    installed = home / ".pyenv" / "versions" / f"{newest}.1" / "bin" / f"python{newest}"
    command(installed, f"echo cpython {newest}")
    first = command(path / f"python{oldest}", f"echo cpython {oldest}")
    command(path / "python3.9", "echo cpython 3.9")
    assert list(found({"PATH": str(path), "HOME": str(home)})) == [(oldest, first), (newest, str(installed))]
