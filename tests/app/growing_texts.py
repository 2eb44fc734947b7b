"""Readers of people's texts, and texts that were slow for some parser, to test and measure how their work grows."""

from collections.abc import Callable
from contextlib import suppress

from app.core.web.diff import diff_lines
from app.core.web.highlight import highlight_code
from app.core.web.markdown import parse_markdown
from app.core.web.messages import code_spans
from app.teaching.courses.errors import RosterInvalid
from app.teaching.courses.roster_file import read_roster
from app.teaching.similarity.fingerprints import fingerprints
from grader.core.text import plain_text
from grader.core.toml import TomlInvalid, read_toml
from grader.mistakes.likeliest_mistake import by_likelihood
from grader.package.package import KnownSubmission
from grader.review.figures import active_content
from grader.review.rules import review_files
from tests.app.conftest import FILES

KNOWN = [KnownSubmission("wrong_value/one", "def f(x):\n    return x + 1\n", "wrong_value", "One.")]
# Each is repeated up to a size, and has been slow for some parser.
TEXTS = {
    "blank lines": "\n",
    "spaces": " ",
    "backslashes": "\\",
    "quotes": '"',
    "triple quotes": '"""a',
    "fields in f-strings": "f'{",
    "brackets": "[",
    "pairs of brackets": "()",
    "digits": "9",
    "digits and underscores": "1_",
    "letters": "a",
    "letters beyond ASCII": "é",
    "dots": "a.",
    "dots of tables": "[a.b.c]\n",
    "assignments": "a = 1\n",
    "decorators": "@a\n",
    "comments": "# a\n",
    "images": "![",
    "dollars": "$a",
    "tags": "<a",
    "comments of XML": "<!--",
    "entities": "&lt;",
    "style": "<style>/*",
    "commas": ",",
    "cells": '"a",',
    "tabs": "\t",
    "indented": "  if a:\n",
    "escapes": "\x1b[",
    "emphasis": "*a_",
    "headings": "## a\n",
    "fences": "```python\nx\n",
    "fractions": "\\frac{",
    "cells of a table": "|a|b|\n|-|-|\n",
    "short rows": "|\n",
    "links to problems": "(/problems/a",
    "places of numbers": "{{ a",
    "tables of TOML": "[[checks]]\n",
    "stated points": "**1** for ",
}


def _toml(text: str) -> None:
    with suppress(TomlInvalid):
        read_toml(text)


def _roster(text: str) -> None:
    with suppress(RosterInvalid):
        read_roster(f"name,email\n{text}")


def _package(file: str) -> Callable[[str], object]:
    return lambda text: review_files(None, FILES | {file: f"{FILES[file]}\n{text}"}, ())


READERS: dict[str, Callable[[str], object]] = {
    "highlighter": highlight_code,
    "TOML": _toml,
    "diff": lambda text: diff_lines(text, text[1::2] + text),
    "likeness to known mistakes": lambda text: by_likelihood(text, KNOWN),
    "similarity": fingerprints,
    "terminal": plain_text,
    "figures": lambda text: active_content(f"<svg xmlns='http://www.w3.org/2000/svg'>{text}</svg>"),
    "roster": _roster,
    "Markdown": lambda text: parse_markdown(text, "s"),
    "TeX": lambda text: parse_markdown(f"${text}$", "s"),
    "statement": _package("statement.md"),
    "manifest": _package("problem.toml"),
    "reference": _package("reference.py"),
    "messages": code_spans,
}
# These readers take longest, so they get shorter texts.
LONG = {"Markdown", "TeX", "manifest", "reference"}


def repeated(text: str) -> Callable[[int], str]:
    """Repeat a text in dozens, so that whatever closes at one size, such as three quotes, also closes at another."""
    return lambda size: text * (size // len(text) // 12 * 12)
