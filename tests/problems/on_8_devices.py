"""Run programs of this folder on 8 host devices, in separate processes, because XLA reads the number only once."""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import pytest

from grader.review.reader import read_package
from tests.parts import chosen
from tests.unchanged import NUMBERS, due

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
# Tests that need it go to one test process, which then runs the programs once.
STATEMENT_PROGRAMS = pytest.mark.xdist_group("statement programs")
# The problems whose numbers this run measures again.
MEASURED = chosen(
    sorted(path.parent.name for path in CHECKOUT.glob("problems/*/problem.toml")),
    lambda slug: (f"problems/{slug}/", f"tests/problems/numbers/{slug}."),
    shared=("grader/program/", "tests/problems/measured_programs.py", "uv.lock"),
    is_due=due(NUMBERS),
)


def run_on_8_devices(program: str | Path, *arguments: str | Path, devices: int = 8) -> dict[str, Any]:
    """Run a program, of this folder if it is a name, and return the JSON that it writes to its last argument."""
    settings = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "NPROC": "32", "JAX_PLATFORMS": "cpu"}
    # Several of these programs compile the references of all problems.
    settings |= {
        "JAX_COMPILATION_CACHE_DIR": _compiled().name,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    # Bytecode beside a package's files would not belong to the package.
    environment = os.environ | settings | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(CHECKOUT)}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output.json"
        command = [sys.executable, str(HERE / program), *map(str, arguments), str(output)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return found


@cache
def _compiled() -> tempfile.TemporaryDirectory[str]:
    """A folder for programs that are compiled in this run of the tests; a later run compiles everything again."""
    return tempfile.TemporaryDirectory(prefix="meshgrade-compiled-")


@cache
def statement_programs() -> dict[str, Any]:
    """What the blocks of all statements print, and the passages with numbers of this run's problems."""
    found = run_on_8_devices("statement_programs.py", CHECKOUT / "problems", *MEASURED)
    assert found["devices"] == 8
    return found


def at_full_size(folder: Path, names: list[str]) -> dict[str, dict[str, int]]:
    """What these files of a problem need on a device of its full size: see at_full_size.py."""
    devices = prod(read_package(folder).manifest.program.full_size.mesh.values())
    return run_on_8_devices("at_full_size.py", folder, *names, devices=devices)
