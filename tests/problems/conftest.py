from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.problems.on_8_devices import CHECKOUT, run_on_8_devices


@pytest.fixture(scope="session")
def folder() -> Path:
    """The package of fsdp_step."""
    return CHECKOUT / "problems" / "fsdp_step"


@pytest.fixture(scope="session")
def on_8_devices() -> Callable[..., dict[str, Any]]:
    """Run one of this folder's programs on 8 host devices and return the JSON that it writes to its last argument."""
    return run_on_8_devices
