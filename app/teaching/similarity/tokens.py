"""The tokens of a source, function by function, except for the parts that a copier changes first.

Comments, docstrings, layout, annotations and imports are dropped, and every name that the author chose becomes the same
token. Names after a dot stay, because they are those of a library; where a library's name comes from (`lax.psum`,
`jax.lax.psum`, or `psum` after an import) makes no difference. Terms of a sum and factors of a product are sorted.

A regular expression reads the tokens, in one pass. Python's own parser can be made to end the process by a source that
is nested deeply enough, and its tokens differ between releases.
"""

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.teaching.similarity.operand_order import Token, sort_operands

MOST_TOKENS = 20_000
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[rbfutRBFUT]{0,2}(?:'{3}(?s:.)*?(?:'{3}|\Z)|"{3}(?s:.)*?(?:"{3}|\Z)
        |'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?))
    |(?P<number>\d[\w.]*(?:(?<=[eE])[+-]\d+)?|\.\d[\w.]*)
    |(?P<name>[^\W\d]\w*)
    |(?P<newline>\n[ \t]*)
    |(?P<operator>->|:=|\*\*=?|//=?|<<=?|>>=?|[<>=!+\-*/%@&|^]=|[^\s\\])""",
    re.VERBOSE,
)
_FROM_IMPORT = re.compile(r"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]*)", re.MULTILINE)
_KNOWN_NAMES = frozenset(keyword.kwlist) | (frozenset(dir(builtins)) - {"_"})
_MODULES = frozenset("numpy lax nn nnx sharding tree tree_util random flax experimental shard_map functools".split())
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(slots=True)
class Statement:
    """A logical line: brackets may continue it on further lines of the source."""

    indent: int
    tokens: list[Token]

    def begins_with(self, *texts: str) -> bool:
        return bool(self.tokens) and self.tokens[0].text in texts

    def begins_function(self) -> bool:
        is_async = self.begins_with("async") and len(self.tokens) > 1 and self.tokens[1].text == "def"
        return is_async or self.begins_with("def", "class", "@")


def functions_of(source: str) -> list[list[Token]]:
    """The tokens of each function, and first those outside of any. A function inside another is one of its own."""
    outside: list[Token] = []
    functions = [outside]
    # The functions that are open here, by the indentation of their first line.
    inside: list[tuple[int, list[Token]]] = []
    after_decorator = False
    for each in _statements_of(source):
        if each.begins_with("import", "from"):
            continue
        while inside and inside[-1][0] >= each.indent and not after_decorator:
            inside.pop()
        if each.begins_function() and not after_decorator:
            functions.append([])
            inside.append((each.indent, functions[-1]))
        after_decorator = each.begins_with("@")
        target = inside[-1][1] if inside else outside
        target += sort_operands(_without_annotations(each.tokens))
    return functions


def _statements_of(source: str) -> Iterator[Statement]:
    """At most `MOST_TOKENS` in all."""
    imported = _imported_names(source)
    statement, line, depth, count = Statement(0, []), 1, 0, 0
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup, match[0]
        here, line = line, line + text.count("\n")
        found = statement.tokens
        if kind == "newline":
            if depth == 0:
                if found:
                    yield statement
                statement = Statement(len(text) - 1, [])
        elif kind == "comment" or (kind == "string" and not found):
            pass  # a string that begins a line is a docstring, or does nothing
        else:
            depth = max(0, depth + (text in _OPENING) - (text in _CLOSING))
            if text in _CLOSING and found and found[-1].text == ",":
                found.pop()  # a formatter adds such commas
            _add(found, str(kind), text, here, imported)
            count += 1
            if count >= MOST_TOKENS:
                break
    if statement.tokens:
        yield statement


def _add(found: list[Token], kind: str, text: str, line: int, imported: frozenset[str]) -> None:
    after_dot = bool(found) and found[-1].text == "."
    if after_dot and len(found) >= 3 and found[-2].text in _MODULES:
        del found[-2:]
    if kind == "name" and not after_dot and text in imported:
        found += (Token("n", line), Token(".", line), Token(text, line))
    else:
        found.append(Token(_normal(kind, text, after_dot), line))


def _normal(kind: str, text: str, after_dot: bool) -> str:
    if kind == "string":
        return "s"
    if kind == "name" and not after_dot and text not in _KNOWN_NAMES:
        return "n"
    return text


def _imported_names(source: str) -> frozenset[str]:
    """Names that are imported under their own name. One that `as` renames is an author's choice."""
    names = (name.strip() for names in _FROM_IMPORT.findall(source) for name in names.strip("()").split(","))
    return frozenset(name for name in names if name.isidentifier() and name not in _MODULES)


def _without_annotations(tokens: list[Token]) -> Iterable[Token]:
    """The head of a function without the types of its parameters and of its result."""
    if not tokens or tokens[0].text != "def":
        return tokens
    left: list[Token] = []
    depth, is_type = 0, False
    for token in tokens:
        text = token.text
        depth += (text in _OPENING) - (text in _CLOSING)
        if is_type and ((depth == 1 and text in ",=") or (depth == 0 and text in "):")):
            is_type = False
        elif (depth == 1 and text == ":") or (depth == 0 and text == "->"):
            is_type = True
        if not is_type:
            left.append(token)
    return left
