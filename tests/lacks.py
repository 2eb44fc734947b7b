"""Print everything that a problem or a lesson of this repository lacks, without the judge and in seconds.

Usage: python -m tests.lacks problem SLUG…      python -m tests.lacks lesson SLUG…

`./meshgrade problem check` runs it for the problems of this repository. Numbers and outputs are not measured here:
tests/problems and tests/lessons do that.
"""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.package.fault import PackageInvalid
from tests.prose import lint
from tests.shipped import lesson_rules, problem_rules

CHECKOUT = Path(__file__).parents[1]
KINDS = {
    "problem": (CHECKOUT / "problems", "problem.toml", problem_rules.RULES),
    "lesson": (CHECKOUT / "lessons", "lesson.md", lesson_rules.RULES),
}
# As ./meshgrade test calls them.
_STYLE = (
    ("ruff", "check", "--output-format=concise", "--quiet"),
    ("ruff", "format", "--check", "--quiet"),
    ("codespell",),
)


def lacking(kind: str, slug: str) -> Iterator[str]:
    """Every fault of one problem or lesson, as `file:line: message`."""
    folder, file, rules = KINDS[kind]
    if not (folder / slug / file).is_file():
        yield f"{folder.name}/{slug}/{file}:1: it is missing"
        return
    for rule in rules:
        # `breaks_a_rule` says what is wrong with a package that cannot be read.
        with contextlib.suppress(PackageInvalid):
            yield from rule(slug)
    yield from wrong_style(folder / slug)


def wrong_style(folder: Path) -> Iterator[str]:
    """Prose, lint, format and spelling of the files in a folder."""
    for path in lint.files():
        if path.is_relative_to(folder):
            yield from map(str, lint.find_in(path))
    for command in _STYLE:
        program = Path(sys.executable).with_name(command[0])
        found = str(program) if program.exists() else shutil.which(command[0])
        assert found is not None, f"{command[0]} is missing; ./meshgrade test installs it"
        done = subprocess.run(
            [found, *command[1:], str(folder.relative_to(CHECKOUT))],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            yield from (done.stdout + done.stderr).strip().splitlines() or [f"{folder}: run {' '.join(command)}"]


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 2 or arguments[0] not in KINDS:
        print(__doc__)
        return 2
    faults = [fault for slug in arguments[1:] for fault in lacking(arguments[0], slug)]
    print("\n".join(dict.fromkeys(faults)) if faults else "Nothing is missing.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
