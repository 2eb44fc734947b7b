"""Find words and patterns in our prose that a native technical writer would not have used.

The linter is proselint. `rules.toml` beside this file adds the house's rules and names those of proselint that apply.
It reads Markdown, and the comments and texts in Python and templates (extract.py). Code, TeX, link addresses and
everything between `<!-- prose: off -->` and `<!-- prose: on -->` are blanked first, so that only prose is read and line
numbers stay right.

Usage: python -m tests.prose.lint [FILE…]    without files: everything in `files` of rules.toml
"""

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

from proselint.checks import __register__ as proselint_checks
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, types
from proselint.registry.checks.engine import Fancy, RegexOptions
from proselint.tools import LintFile

from tests.prose.extract import prose_in

CHECKOUT = Path(__file__).parents[2]
STORE = CHECKOUT / ".meshgrade" / "prose.json"
RULES = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
_HOUSE = "house"
# What is not prose, longest first: fenced code, comments, code spans, display and inline TeX, link addresses.
_NOT_PROSE = re.compile(
    r"<!-- prose: off -->.*?<!-- prose: on -->"
    r"|^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)$|<!--.*?-->|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    r"|\$\$.+?\$\$|\$(?!\s)[^$\n]+(?:\n[^$\n]+)?\$|\]\([^)\s]*\)|https?://\S+",
    re.DOTALL | re.MULTILINE,
)

# Text is wrapped, so a space in a rule also matches one line break. A run of blanks matches in one way only: what is
# left of a template is full of them, and a rule with several spaces would try every way to divide them.
_SPACE = r"(?:[ \t]+(?:\n[ \t]*)?|\n[ \t]*)"
_BLANKS = re.compile("\u00b7(?:[ \t]*\u00b7)+")


class Finding(NamedTuple):
    file: str
    line: int
    found: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.found!r}: {self.message}"


def prose_of(text: str) -> str:
    """The text with everything that is not prose replaced by `\u00b7`, line breaks kept."""
    return _NOT_PROSE.sub(lambda match: re.sub(r"[^\n]", "\u00b7", match[0]), text)


def find(text: str, file: str = "") -> list[Finding]:
    """Every place in a Markdown text at which a rule applies, in the order of the text."""
    if not text.strip():
        return []
    # Most of a source file is blanked, and each rule would walk through all of it.
    lint_file = LintFile(file, _BLANKS.sub("\u00b7", prose_of(text)))
    found = []
    for check in _checks():
        for result in check.check_with_flags(lint_file.content):
            start, end = result.span
            line = lint_file.content.count("\n", 0, start + 1) or 1
            words = " ".join(lint_file.content[start:end].split())
            found.append(Finding(file, line, words, result.message))
    return sorted(found)


@cache
def _checks() -> tuple[Check, ...]:
    """The rules of proselint's that apply, then the house's."""
    registry = CheckRegistry()
    registry.register_many(proselint_checks)
    registry.register_many(
        tuple(
            Check(
                check_type=types.ExistenceSimple(pattern=rule["pattern"].replace(" ", _SPACE)),
                path=_HOUSE,
                message=rule["write"].replace("{", "{{").replace("}", "}}"),
                engine=Fancy(RegexOptions(case_insensitive=not rule.get("case", False), multi_line=True)),
            )
            for rule in RULES["rules"]
        )
    )
    return tuple(registry.get_all_enabled(dict.fromkeys([_HOUSE, *RULES["proselint"]], True)))


def files() -> Iterator[Path]:
    left_out = {path for pattern in RULES["left_out"] for path in CHECKOUT.glob(pattern)}
    for pattern in RULES["files"]:
        yield from sorted(set(CHECKOUT.glob(pattern)) - left_out)


def main(names: Sequence[str], store: Path = STORE) -> int:
    """Print every finding, and return 1 if there is one. Files that `store` lists as clean are not read again."""
    digests = {path: _digest(path) for path in [Path(name).resolve() for name in names] or files()}
    clean = _read(store)
    left = [path for path in digests if digests[path] not in clean]
    # The rules take milliseconds for a file, and starting a process takes as long.
    processes = min(os.cpu_count() or 1, 1 + len(left) // 50)
    if processes > 1:
        with Pool(processes) as pool:
            found = pool.map(find_in, left, chunksize=8)
    else:
        found = [find_in(path) for path in left]
    clean |= {digests[path] for path, findings in zip(left, found, strict=True) if not findings}
    if left:
        store.parent.mkdir(parents=True, exist_ok=True)
        # A whole run keeps what it has read, and forgets the rest.
        kept = clean if names else clean & set(digests.values())
        store.write_text(json.dumps({"rules": _rules_digest(), "clean": sorted(kept)}), encoding="utf-8")
    findings = [finding for each in found for finding in each]
    for finding in findings:
        print(finding)
    if findings:
        print(f"{len(findings)} found. Rules: tests/prose/rules.toml; why: CONTRIBUTING.md, section English.")
    return 1 if findings else 0


def find_in(path: Path) -> list[Finding]:
    return find(prose_in(path), str(path.relative_to(CHECKOUT)))


def _digest(path: Path) -> str:
    # How a file is read depends on the end of its name.
    return sha256(path.suffix.encode() + b"\0" + path.read_bytes()).hexdigest()


def _read(store: Path) -> set[str]:
    """The digests of the files in which these rules found nothing."""
    try:
        stored = json.loads(store.read_text(encoding="utf-8"))
        return set(stored["clean"]) if stored["rules"] == _rules_digest() else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


@cache
def _rules_digest() -> str:
    folder = Path(__file__).parent
    parts = [(folder / name).read_bytes() for name in ("rules.toml", "lint.py", "extract.py")]
    return sha256(b"\0".join([*parts, version("proselint").encode()])).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
