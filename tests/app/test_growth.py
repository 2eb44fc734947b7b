"""No text makes a reader of the service take more than time in proportion to its length.

Markdown and TeX are not among them: they are read in a process with a limit (tests/app/test_bounded.py).
"""

from collections.abc import Callable
from contextlib import suppress

import pytest

from app.courses.errors import RosterInvalid
from app.courses.roster_file import read_roster
from app.similarity.fingerprints import fingerprints
from app.web.diff import diff_lines
from app.web.highlight import highlight_code
from app.web.terminal import plain_text
from grader.likelihood import by_likelihood
from grader.package.figures import active_content
from grader.package.package import KnownSubmission
from grader.toml import TomlInvalid, read_toml
from tests.growth import assert_linear

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
}


def _toml(text: str) -> None:
    with suppress(TomlInvalid):
        read_toml(text)


def _roster(text: str) -> None:
    with suppress(RosterInvalid):
        read_roster(f"name,email\n{text}")


READERS: dict[str, Callable[[str], object]] = {
    "highlighter": highlight_code,
    "TOML": _toml,
    "diff": lambda text: diff_lines(text, text[1::2] + text),
    "likeness to known mistakes": lambda text: by_likelihood(text, KNOWN),
    "similarity": fingerprints,
    "terminal": plain_text,
    "figures": lambda text: active_content(f"<svg xmlns='http://www.w3.org/2000/svg'>{text}</svg>"),
    "roster": _roster,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", TEXTS)
def test_twice_the_text_is_at_most_about_twice_the_work(reader: str, text: str) -> None:
    unit = TEXTS[text]
    assert_linear(READERS[reader], lambda size: unit * (size // len(unit)))
