"""The prose in a source file: the same text, line for line, with everything that is not prose blanked.

Prose is what people read: comments, docstrings and other strings with a space in Python; text and the strings of
expressions in templates.
"""

import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

_BLANK = "\u00b7"
_STRING = re.compile(r"""(?P<open>[a-zA-Z]{0,2}(?P<quote>\"\"\"|'''|"|'))(?P<text>.*?)(?P=quote)$""", re.DOTALL)
_FIELD = re.compile(r"\{\{|\}\}|\{[^{}]*\}")
_DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|fmt:|pragma)")
_TEMPLATE = re.compile(
    r"(?P<comment>\{#.*?#\})|(?P<expression>\{\{.*?\}\}|\{%.*?%\})|(?P<code><(code|kbd|pre)\b.*?</\4>)|(?P<tag><[^>]*>)",
    re.DOTALL,
)
_LITERAL = re.compile(r'"([^"\n]*)"')


def _blank(text: str) -> str:
    return re.sub(r"\S", _BLANK, text)


def _space(text: str) -> str:
    return re.sub(r"\S", " ", text)


def prose_of_python(source: str) -> str:
    """Strings that follow each other are one text, as they are in Python. Fields of f-strings are blanked."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    pieces: list[str] = []
    end, follows = 0, False
    for kind, first, last in _tokens(source):
        start, stop = (starts[row - 1] + column for row, column in (first, last))
        text = source[start:stop]
        if kind == tokenize.COMMENT:
            shown = _blank(text) if _DIRECTIVE.match(text) else f" {text[1:]}"
        elif kind == tokenize.STRING:
            shown = _string(text, follows=follows)
        elif kind in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        else:
            shown = _blank(text)
        pieces += [source[end:start], shown]
        end, follows = stop, kind == tokenize.STRING
    return "".join(pieces) + source[end:]


def _tokens(source: str) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
    """The kind of each token, its start and its end. An f-string is one string, which from Python 3.12 on is many."""
    opened: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_START":
            opened.append(token.start)
        elif name == "FSTRING_END":
            start = opened.pop()
            if not opened:
                yield tokenize.STRING, start, token.end
        elif not opened:
            yield token.type, token.start, token.end


def _string(token: str, *, follows: bool) -> str:
    match = _STRING.match(token)
    if match is None or " " not in match["text"]:
        return _blank(token)
    text = match["text"]
    if "f" in match["open"].lower():
        text = _FIELD.sub(lambda field: _blank(field[0]), text)
    # A blank ends the text before it, a space does not.
    return (_space if follows else _blank)(match["open"]) + text + _space(match["quote"])


def prose_of_template(source: str) -> str:
    """Replace each tag with a space, so that a sentence that spans a tag stays one sentence."""

    def shown(match: re.Match[str]) -> str:
        if match["comment"]:
            return f"  {match[0][2:-2]}  "
        if match["expression"]:
            return _literals(match[0])
        return _blank(match[0]) if match["code"] else _space(match[0])

    return _TEMPLATE.sub(shown, source)


def _literals(expression: str) -> str:
    pieces, end = [], 0
    for literal in _LITERAL.finditer(expression):
        text = literal[1] if " " in literal[1] else _blank(literal[1])
        pieces += [_blank(expression[end : literal.start(1)]), text]
        end = literal.end(1)
    return "".join(pieces) + _blank(expression[end:])


_EXTRACTORS: dict[str, Callable[[str], str]] = {".py": prose_of_python, ".html": prose_of_template}


def prose_in(path: Path) -> str:
    """The prose of a file, by its kind. Raises `tokenize.TokenError` for a file that is not Python, but is named so."""
    source = path.read_text(encoding="utf-8")
    extractor = _EXTRACTORS.get(path.suffix)
    return source if extractor is None else extractor(source)
