"""Measure the claims and the generated figures of every lesson again, or of those that are named, and write them.

Usage: python -m tests.lessons.write_claims [SLUG...]    The receipts are written, too (python -m tests.prove).
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.prove.kind import Kind, Receipts
from tests.prove.lessons import KINDS, LESSONS
from tests.prove.measuring import measure

CLAIMS: Kind = KINDS[0]


def write(folder: Path, measured: dict[str, Any]) -> None:
    """Write claims.json and the generated figures of a lesson."""
    (folder / "claims.json").write_text(json.dumps(measured["claims"], indent=1) + "\n", encoding="utf-8")
    for name, svg in measured["figures"].items():
        (folder / "figures").mkdir(exist_ok=True)
        (folder / "figures" / name).write_text(svg, encoding="utf-8")


def main(slugs: list[str]) -> int:
    receipts, failed = Receipts(), False
    of = {slug: CLAIMS.of(slug) for slug in slugs}
    for each in measure([(CLAIMS, slug) for slug in slugs], os.cpu_count() or 1):
        if each.failure:
            failed = True
            print(f"{each.unit}: {each.failure}", file=sys.stderr)
        else:
            write(LESSONS / each.unit, each.result)
            receipts.write(CLAIMS, each.unit, of[each.unit], each.result)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(CLAIMS.units())))
