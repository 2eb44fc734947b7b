"""What has receipts: a kind of unit, and the part of a checkout that decides what is measured of each."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.import_closure import CHECKOUT
from tests.prove import digests

RECEIPTS = CHECKOUT / "tests" / "receipts"
COMMAND = ".venv/bin/python -m tests.prove"


def nothing(unit: str) -> tuple[str, ...]:
    return ()


def whole(measured: Any) -> Any:
    return measured


def compared(kept: Any, measured: Any) -> list[str]:
    """Return where two results differ."""
    return list(_apart("", kept, measured))


@dataclass(frozen=True)
class Kind:
    """One kind of content, whose units are measured by one program.

    Args:
      program: the file that measures, with a function `measure(unit)`. If it also has a context manager `prepared()`,
        `measure` gets what that yields, which all units share.
      units: returns the names of all units.
      own: returns what decides the result of a unit beside the program: names of parts, each with its digest.
      differences: returns what the texts say wrongly, from a unit and its kept result.
      imported: returns further files of a unit whose imports decide its result.
      kept: returns what a receipt has of a result.
      apart: returns how a new result differs from the kept one.
    """

    name: str
    program: str
    units: Callable[[], Iterable[str]]
    own: Callable[[str], Mapping[str, str]]
    differences: Callable[[str, Any], list[str]]
    imported: Callable[[str], tuple[str, ...]] = nothing
    kept: Callable[[Any], Any] = whole
    apart: Callable[[Any, Any], list[str]] = compared

    def of(self, unit: str) -> str:
        """The digest of everything outside grader/ and app/ that decides the result of a unit."""
        parts = {**self.own(unit), **digests.of_files(digests.shared(self._programs(unit))), **digests.versions()}
        return digests.of_parts(parts)

    def grader(self, unit: str) -> str:
        return digests.of_service(self._programs(unit))

    def _programs(self, unit: str) -> tuple[str, ...]:
        return (self.program, *self.imported(unit))


class Receipts:
    """The receipts of one folder, a file for each unit."""

    def __init__(self, folder: Path = RECEIPTS) -> None:
        self._folder = folder

    def path(self, kind: Kind, unit: str) -> Path:
        return self._folder / kind.name / f"{unit}.json"

    def measured(self, kind: Kind, unit: str) -> Any:
        """Read the kept result."""
        return json.loads(self.path(kind, unit).read_text(encoding="utf-8"))["measured"]

    def fault(self, kind: Kind, unit: str) -> str | None:
        """Why the unit must be measured; None if its receipt is of today."""
        try:
            of = json.loads(self.path(kind, unit).read_text(encoding="utf-8"))["of"]
        except FileNotFoundError:
            return "has no receipt"
        except (ValueError, KeyError, TypeError):
            return "has a receipt that cannot be read"
        return None if of == kind.of(unit) else "changed since its receipt was written"

    def left_over(self, kind: Kind) -> list[Path]:
        """Receipts of units that no longer exist."""
        units = set(kind.units())
        return [path for path in sorted((self._folder / kind.name).glob("*.json")) if path.stem not in units]

    def write(self, kind: Kind, unit: str, of: str, measured: Any) -> None:
        """Store a result at once, so that an interrupted run keeps it. `of` is the digest before it was measured."""
        path = self.path(kind, unit)
        path.parent.mkdir(parents=True, exist_ok=True)
        receipt = {"of": of, "grader": kind.grader(unit), "measured": kind.kept(measured)}
        beside = path.with_suffix(".tmp")
        beside.write_text(json.dumps(receipt, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(path)


def _apart(where: str, kept: Any, measured: Any) -> Iterable[str]:
    if isinstance(kept, dict) and isinstance(measured, dict):
        for name in dict.fromkeys([*kept, *measured]):
            yield from _apart(f"{where}{name}: ", kept.get(name), measured.get(name))
    elif isinstance(kept, list) and isinstance(measured, list) and len(kept) == len(measured):
        for number, (one, other) in enumerate(zip(kept, measured, strict=True), 1):
            yield from _apart(f"{where}{number}: ", one, other)
    elif kept != measured:
        yield f"{where}the receipt has {kept!r}, measured was {measured!r}"
