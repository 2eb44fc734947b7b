"""Texts of programs that are compiled once, in another process: this one does not start JAX."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """`hlo`, `stablehlo` and `memory` of the programs in compiled_texts.py, by name."""
    output = tmp_path_factory.mktemp("programs") / "texts.json"
    settings = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "NPROC": "32", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, str(HERE / "compiled_texts.py"), str(output)]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(output.read_text())
    return found
