"""Write claims.json and the generated figures of every lesson again, or of those that are named.

Usage: python -m tests.lessons.write_claims [SLUG...]
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.problems.on_8_devices import CHECKOUT, run_on_8_devices

LESSONS = CHECKOUT / "lessons"
_PROGRAM = Path(__file__).with_name("measure.py")


def measure(slugs: list[str], lessons: Path = LESSONS) -> dict[str, Any]:
    """The claims and generated figures of these lessons, and what their programs print."""
    return run_on_8_devices(_PROGRAM, lessons, *slugs)


def write(lessons: Path, slugs: list[str]) -> None:
    found = measure(slugs, lessons)
    for slug, claims in found["claims"].items():
        (lessons / slug / "claims.json").write_text(json.dumps(claims, indent=1) + "\n", encoding="utf-8")
    for slug, figures in found["figures"].items():
        for name, svg in figures.items():
            (lessons / slug / "figures" / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    write(LESSONS, sys.argv[1:] or [path.parent.name for path in LESSONS.glob("*/claims.py")])
