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

from grader.review.reader import read_package

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]


def run_on_8_devices(program: str | Path, *arguments: str | Path, devices: int = 8) -> dict[str, Any]:
    """Run a program, of this folder if it is a name, and return the JSON that it writes to its last argument."""
    environment = environment_of(devices, _compiled().name)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output.json"
        command = [sys.executable, str(HERE / program), *map(str, arguments), str(output)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return found


def environment_of(devices: int, compiled: str) -> dict[str, str]:
    """The environment of a process with so many host devices. It keeps compiled programs in the folder `compiled`."""
    return os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "NPROC": "32",
        "JAX_PLATFORMS": "cpu",
        # Several programs compile the references of all problems.
        "JAX_COMPILATION_CACHE_DIR": compiled,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        # Bytecode beside a package's files would not belong to the package.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(CHECKOUT),
    }


@cache
def _compiled() -> tempfile.TemporaryDirectory[str]:
    """A folder for programs that are compiled in this run of the tests; a later run compiles everything again."""
    return tempfile.TemporaryDirectory(prefix="meshgrade-compiled-")


def at_full_size(folder: Path, names: list[str]) -> dict[str, dict[str, int]]:
    """What these files of a problem need on a device of its full size: see at_full_size.py."""
    devices = prod(read_package(folder).manifest.program.full_size.mesh.values())
    return run_on_8_devices("at_full_size.py", folder, *names, devices=devices)
