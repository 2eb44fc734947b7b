"""What tests of the mechanism measure, without a compiler."""

import os
from typing import Any


def measure(unit: str) -> dict[str, Any]:
    if unit == "broken":
        raise ValueError("this unit is broken")
    if unit == "ended":
        os._exit(3)
    print("a program may print")
    return {"name": unit, "devices": os.environ["XLA_FLAGS"].rpartition("=")[2]}
