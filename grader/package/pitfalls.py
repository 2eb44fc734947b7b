"""The section Pitfalls of a statement, whose items can name the known mistakes that they explain: rejected submissions,
and in mode answer the functions of mistakes.py.

An item ends with a comment that no reader sees: `<!-- rejected: wrong_value/sum_for_mean -->`.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.package.package import Package

# A mark includes all the white space before it. Without the lookbehind, the search would be quadratic in a long run of
# spaces.
_MARK = re.compile(r"(?<!\s)\s*<!-- rejected:([^<>]*)-->")
_SECTION = re.compile(r"^## Pitfalls$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
# The indented lines below an item belong to it.
_ITEM = re.compile(r"^- .*\n?(?:\n*[ \t]+\S.*\n?)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mark:
    """A known mistake that a statement names, with its line. `number` is that of the item, from 1, or None if the mark
    is not at the end of an item.
    """

    mistake: str
    line: int
    number: int | None


@dataclass(frozen=True, slots=True)
class Pitfall:
    """An item of the section, in Markdown."""

    number: int
    text: str


def marks_of(statement: str) -> Iterator[Mark]:
    ends = {end: number for number, (end, _) in enumerate(_items(statement), 1)}
    line, read = 1, 0
    for mark in _MARK.finditer(statement):
        line += statement.count("\n", read, mark.end())
        read = mark.end()
        for name in mark[1].split(","):
            yield Mark(name.strip(), line, ends.get(mark.end()))


def without_marks(statement: str) -> str:
    return _MARK.sub("", statement)


def pitfall_of(package: Package, misconception: str) -> Pitfall | None:
    """The pitfall that an attempt with this misconception met, if the statement names one."""
    alike = (name for name, believed in _misunderstandings(package) if believed == misconception)
    number = next((package.pitfalls[name] for name in alike if name in package.pitfalls), None)
    return None if number is None else Pitfall(number, list(_items(package.statement))[number - 1][1])


def formulas_in(mistakes: str) -> dict[str, str]:
    """Return the misunderstandings of the wrong formulas in a mistakes.py, by name. Empty if Python cannot parse it."""
    try:
        functions = [each for each in ast.parse(mistakes).body if isinstance(each, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {
        each.name: " ".join((ast.get_docstring(each) or "").split())
        for each in functions
        if not each.name.startswith("_")
    }


def _misunderstandings(package: Package) -> Iterator[tuple[str, str]]:
    """Yield the name of each known mistake that the statement can name, and what its author believed."""
    if not package.pitfalls:
        return
    if package.manifest.mode == "answer":
        yield from formulas_in(package.files["mistakes.py"]).items()
    else:
        yield from ((each.name, each.misunderstanding) for each in package.rejected)


def _items(statement: str) -> Iterator[tuple[int, str]]:
    """Yield the place where each item of the section ends, and its text without the bullet."""
    section = _SECTION.search(statement)
    if section is None:
        return
    for item in _ITEM.finditer(section[0]):
        text = item[0].rstrip()
        yield section.start() + item.start() + len(text), re.sub(r"^ {2}", "", text[2:], flags=re.MULTILINE)
