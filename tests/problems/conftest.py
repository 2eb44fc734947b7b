import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "problems" / "fsdp_step"


@pytest.fixture(scope="session")
def folder() -> Path:
    """The package of fsdp_step."""
    return FOLDER


@pytest.fixture(scope="session")
def on_8_devices(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """Run one of this folder's programs on 8 host devices and return the JSON that it writes to its last argument."""

    def run(program: str, *arguments: Path) -> dict[str, Any]:
        output = tmp_path_factory.mktemp("program") / "output.json"
        settings = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "NPROC": "32", "JAX_PLATFORMS": "cpu"}
        # Bytecode beside a package's files would not belong to the package.
        environment = os.environ | settings | {"PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(HERE / program), *map(str, arguments), str(output)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return found

    return run
