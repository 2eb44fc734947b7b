"""Highlights Python with the class names of code.css, in one pass: time linear in the length of any text."""

import keyword
import re
from collections.abc import Iterator

from markupsafe import Markup

# A regular expression reads the tokens, as in grader/program/tokens.py. An alternative that opens something also
# matches without its end, so that no place of the text is read twice, and what never closes becomes one token.
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*+)
    |(?P<string>(?:[rbftRBFT]{1,2}|[uU])?(?:
         '''(?:[^'\\]++|\\.|'(?!''))*+\\?(?:'''|\Z)
        |\"""(?:[^"\\]++|\\.|"(?!""))*+\\?(?:\"""|\Z)
        |'(?:[^'\\\n]++|\\.)*+'?
        |"(?:[^"\\\n]++|\\.)*+"?))
    |(?P<number>\d[\w.]*+(?:(?<=[eE])[+-]\d+)?|\.\d[\w.]*+)
    |(?P<decorator>^[ \t]*+@[ \t]*+[\w.]*+)
    |(?P<word>[^\W\d]\w*+)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_CLASSES = {"comment": "c", "string": "s", "number": "m", "decorator": "nf"}
_KEYWORDS = frozenset(keyword.kwlist)
_NAMING = frozenset({"def", "class"})


def highlight_code(code: str, language: str = "python") -> Markup:
    """The code as HTML, whose lines close what they open. Code in another language than Python stays plain."""
    if language not in {"python", "py", "python3"}:
        return Markup.escape(code)
    parts: list[Markup] = []
    end = 0
    for start, stop, css in _coloured(code):
        parts += [Markup.escape(code[end:start]), _span(code[start:stop], css)]
        end = stop
    return Markup("").join([*parts, Markup.escape(code[end:])])


def _coloured(code: str) -> Iterator[tuple[int, int, str]]:
    """The start, end and class of each token that has a colour."""
    before = ""
    for token in _TOKEN.finditer(code):
        text, css = token[0], _CLASSES.get(str(token.lastgroup), "")
        if token.lastgroup == "word":
            css = "k" if text in _KEYWORDS else "nf" if before in _NAMING else ""
        if css:
            yield token.start(), token.end(), css
        before = text


def _span(text: str, css: str) -> Markup:
    lines = (f'<span class="{css}">{Markup.escape(line)}</span>' if line else "" for line in text.split("\n"))
    return Markup("\n".join(lines))
