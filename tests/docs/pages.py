"""The guides of this checkout and their contents: fenced blocks, code spans, commands."""

import re
import subprocess
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PAGES = [
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    CHECKOUT / "SECURITY.md",
    *sorted((CHECKOUT / "docs").rglob("*.md")),
    *sorted((CHECKOUT / "deploy").rglob("*.md")),
]
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_COMMENT = re.compile(r"(?:^|\s+)#\s.*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `file` is the second word of its info string: the file that a reader saves it as."""

    language: str
    file: str
    text: str


def names(page: Path) -> str:
    return str(page.relative_to(CHECKOUT) if page.is_relative_to(CHECKOUT) else page)


def faults_of(rule: Callable[[Path], Iterable[str]], pages: Iterable[Path] = tuple(PAGES)) -> list[str]:
    """Every fault in these pages, as `docs/rest.md:12: fault`.

    Args:
      rule: yields the faults of a page. Each one starts with what the page says there, and with a colon after that if
        it says more.
    """
    return [f"{names(page)}:{_line_of(page, fault)}: {fault}" for page in pages for fault in rule(page)]


def _line_of(page: Path, fault: str) -> int:
    """The first line with the text that a fault quotes, or else with its longest word."""
    lines = page.read_text(encoding="utf-8").splitlines()
    quoted = fault.rpartition(": ")[0] or fault
    for text in (fault, quoted, max(quoted.split(), key=len, default="")):
        for number, line in enumerate(lines, 1):
            if text in line:
                return number
    return 1


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def spans(page: Path) -> list[str]:
    """The code spans of a page, without those in fenced blocks."""
    return _SPAN.findall(prose(page))


def links(page: Path) -> list[str]:
    """The targets of its links."""
    return _LINK.findall(_SPAN.sub("", prose(page)))


def blocks(page: Path) -> list[Block]:
    return blocks_in(page.read_text(encoding="utf-8"))


def blocks_in(markdown: str) -> list[Block]:
    found = []
    for _, info, text in FENCE.findall(markdown):
        language, _, file = info.strip().partition(" ")
        found.append(Block(language, file.strip(), textwrap.dedent(text)))
    return found


def shell_lines(page: Path) -> Iterator[str]:
    """Each line of its shell blocks, with continued lines joined."""
    for block in blocks(page):
        if block.language in ("sh", ""):
            yield from block.text.replace("\\\n", " ").splitlines()


@cache
def commands(script: str) -> list[str]:
    """The commands of a shell block, without the comments after them. A loop or a here-document is one command."""
    found, rest = [], ""
    for line in script.splitlines():
        rest += _COMMENT.sub("", line) + "\n"
        if not rest.strip():
            rest = ""
        elif _is_complete(rest):
            found.append(rest.strip())
            rest = ""
    assert not rest, f"bash cannot read: {rest}"
    return found


def _is_complete(text: str) -> bool:
    if text.rstrip().endswith(("\\", "|", "&&", "||")):
        return False
    read = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    # An unfinished here-document is only a warning.
    return read.returncode == 0 and not read.stderr
