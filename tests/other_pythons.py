"""Run the quick tests with each other supported Python of this machine, as part of `./meshgrade test --all`.

Usage: python -m tests.other_pythons

HEAD is cloned for each, so that the checkout keeps its virtual environment.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
_REPORT = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"


def supported() -> list[str]:
    """The versions that pyproject.toml allows, such as 3.12."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", project["requires-python"])
    assert bounds, "requires-python is no longer >=3.N,<3.M"
    oldest, below = map(int, bounds.groups())
    return [f"3.{minor}" for minor in range(oldest, below)]


def found(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each supported version that runs on this machine, on the path or installed by pyenv, and its command."""
    pyenv = Path(environment.get("PYENV_ROOT") or Path(environment.get("HOME", "/"), ".pyenv"))
    for version in supported():
        name = f"python{version}"
        on_path = shutil.which(name, path=environment.get("PATH"))
        installed = sorted(map(str, (pyenv / "versions").glob(f"{version}.*/bin/{name}")))
        # A command of pyenv's for a version that is not selected does not run.
        for command in filter(None, (on_path, *installed)):
            told = subprocess.run([command, "-c", _REPORT], capture_output=True, text=True, check=False).stdout
            if told.split() == ["cpython", version]:
                yield version, command
                break


def main() -> int:
    own = ".".join(map(str, sys.version_info[:2]))
    others = {version: command for version, command in found(os.environ) if version != own}
    print(f"Supported: {', '.join(supported())}. This is {own}; also here: {', '.join(others) or 'none'}.", flush=True)
    failed = [version for version, command in others.items() if not _passes(version, command)]
    for version in failed:
        print(f"FAILED: the quick tests with Python {version}", flush=True)
    return 1 if failed else 0


def _passes(version: str, command: str) -> bool:
    print(f"== Python {version}: {command}", flush=True)
    environment = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    with tempfile.TemporaryDirectory(prefix="meshgrade-python-") as folder:
        clone = Path(folder) / "project"
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(clone)], check=True)
        # ./meshgrade keeps the Python of a virtual environment that works.
        subprocess.run([command, "-m", "venv", "--without-pip", str(clone / ".venv")], check=True)
        done = subprocess.run(["./meshgrade", "test", "--quick"], cwd=clone, env=environment, check=False)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
