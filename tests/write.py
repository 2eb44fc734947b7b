"""Write every generated file that is stale, in one call: `python -m tests.write`.

It measures what has no receipt of today (tests/prove), writes the files that are made of receipts, the schema of
problem.toml, the description of REST with its examples, and the list of attacks. Read the difference before you commit
it. Files that are written only on purpose have commands of their own: golden verdicts, the schema of a release, and
pictures.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.app.core.rest import examples, openapi_document
from tests.app.learning.calculators import write_measured_programs
from tests.grader.package import manifest_schema
from tests.hostile import attack
from tests.import_closure import CHECKOUT
from tests.prove import pages
from tests.prove.__main__ import prove
from tests.prove.kinds import KINDS

COMMAND = ".venv/bin/python -m tests.write"
# What each file must contain. The examples are part of docs/openapi.json.
FILES: dict[str, Callable[[], str]] = {
    "app/learning/calculators/measured_programs.json": write_measured_programs.text,
    "docs/bring_your_own.md": pages.filled,
    "docs/problem.schema.json": lambda: manifest_schema.text_of(manifest_schema.schema()),
    "docs/attacks.md": lambda: attack.table(attack.read_corpus()),
    "docs/openapi.json": lambda: openapi_document.text_of(openapi_document.described()),
}
EXAMPLES = str(examples.FILE)


def stale(checkout: Path = CHECKOUT) -> list[str]:
    """The generated files that are not what the checkout makes of them."""
    found = [name for name, text in FILES.items() if _content(checkout / name) != text()]
    return [*found, EXAMPLES] if examples.wanting(openapi_document.described(), examples.written()) else found


def write(checkout: Path = CHECKOUT, fill: Callable[[list[str]], None] = examples.fill) -> list[str]:
    """Write the files that are stale, and return their names. `fill` finds new examples by running tests."""
    found = stale(checkout)
    if EXAMPLES in found:
        fill(["tests/app"])
    for name, text in FILES.items():
        if name in found or EXAMPLES in found:
            (checkout / name).write_text(text(), encoding="utf-8")
    return found


def _content(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main(arguments: Sequence[str]) -> int:
    if arguments:
        print(__doc__)
        return 2
    # It names texts that say something else than was measured. The files are written even so.
    prove(KINDS, processes=os.cpu_count() or 1)
    for name in write():
        print(f"Wrote {name}.")
    # Exit with an error if texts still differ.
    return prove(KINDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
