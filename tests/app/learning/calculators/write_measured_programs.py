"""Write measured_programs.json from the receipts: `python -m tests.app.learning.calculators.write_measured_programs`.

`python -m tests.prove` writes the receipts.
"""

import json
from typing import Any

from tests.prove.calculators import KINDS, MEASURED, names
from tests.prove.digests import versions
from tests.prove.kind import Receipts


def document() -> dict[str, Any]:
    """Return what every program stores, sends and computes."""
    receipts = Receipts()
    programs = [each for name in names() for each in receipts.measured(KINDS[0], name)]
    return {"jax": versions()["jax"], "programs": programs}


def text() -> str:
    return json.dumps(document(), indent=1) + "\n"


if __name__ == "__main__":
    MEASURED.write_text(text(), encoding="utf-8")
