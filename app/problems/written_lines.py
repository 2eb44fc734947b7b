"""How much code a problem asks for: the lines of its reference that its starter does not have."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from grader.package.package import Package

_CACHE_SIZE = 512


def lines_to_write(package: Package) -> int | None:
    """Lines of code, without blank lines, comments and docstrings. None if no code is written."""
    if package.manifest.mode == "answer":
        return None
    return _count(package.starter, package.reference)


@lru_cache(_CACHE_SIZE)
def _count(starter: str, reference: str) -> int:
    return (Counter(_lines_of_code(reference)) - Counter(_lines_of_code(starter))).total()


def _lines_of_code(source: str) -> Iterator[str]:
    hidden = set(_lines_of_docstrings(source))
    for number, line in enumerate(source.splitlines(), 1):
        text = line.strip()
        if text and not text.startswith("#") and number not in hidden:
            yield text


def _lines_of_docstrings(source: str) -> Iterator[int]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # of an author's starter, which may be unfinished
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
