"""Write measured_programs.json again: `python -m tests.app.learning.calculators.write_measured_programs`."""

import json
from pathlib import Path
from typing import Any

from tests.problems.on_8_devices import CHECKOUT, run_on_8_devices

MEASURED = CHECKOUT / "app" / "learning" / "calculators" / "measured_programs.json"


def measure(problems: Path = CHECKOUT / "problems") -> dict[str, Any]:
    """What every reference stores, sends and computes."""
    return run_on_8_devices("reference_programs.py", problems)


if __name__ == "__main__":
    MEASURED.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
