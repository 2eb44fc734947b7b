"""Faults of a package, each with the rule that it breaks and its place."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from grader.core.errors import MeshgradeError
from grader.package.rules_table import RULES, Level

MANIFEST_FILE = "problem.toml"


@dataclass(frozen=True, slots=True)
class PackageFault:
    """A broken rule.

    Args:
      rule: its id in `RULES`.
      place: a line, or a key of `problem.toml` such as `limits.time_s`; None for the whole file, or if unknown.
      message: what is wrong there. It can begin with the name of the file.
    """

    rule: str
    file: str
    place: int | str | None
    message: str

    def __str__(self) -> str:
        """The message with the name of the file."""
        return self.message if self.file in self.message else f"{self.file}: {self.message}"

    @property
    def line(self) -> int | None:
        return self.place if isinstance(self.place, int) else None

    @property
    def level(self) -> Level:
        return RULES[self.rule].level

    @property
    def fix(self) -> str:
        return RULES[self.rule].fix

    def located(self, manifest: str) -> "PackageFault":
        """Replace a key of the manifest by its line in the given text."""
        return replace(self, place=line_in_manifest(manifest, self.place)) if isinstance(self.place, str) else self


class PackageInvalid(MeshgradeError):
    """A problem package is not valid. The message lists every fault, one per line."""

    def __init__(self, folder: str, faults: Sequence[PackageFault]) -> None:
        super().__init__(f"{folder} is not a valid problem package:\n" + "\n".join(f"  - {fault}" for fault in faults))
        self.faults = faults


def manifest_fault(rule: str, key: str | None, message: str) -> PackageFault:
    return PackageFault(rule, MANIFEST_FILE, key, message)


def line_in_manifest(text: str, key: str) -> int | None:
    """The line of a key or table in problem.toml, such as `limits.time_s`, or else of the table around it."""
    lines = _lines_of_keys(text)
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


@lru_cache(maxsize=4)
def _lines_of_keys(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    for path, line in _keys(text):
        lines.setdefault(path, line)
        if table := path.rpartition(".")[0]:
            lines.setdefault(table, line)
    return lines


def _keys(text: str) -> Iterator[tuple[str, int]]:
    """Yield every table and key of a TOML text as a path, with its line, and possibly some from multi-line strings."""
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*(\[\[?)\s*([\w.-]+)\s*\]\]?", line):
            table = header[2]
            parent, _, last = table.rpartition(".")
            if parent in counts:
                table = f"{parent}.{counts[parent]}.{last}"
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = f"{table}.{counts[table]}"
            yield table, number
        elif key := re.match(r"\s*([\w-]+)\s*=", line):
            yield f"{table}.{key[1]}".strip("."), number
