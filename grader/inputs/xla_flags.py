"""Find the options that a source puts into `XLA_FLAGS`, by its syntax tree. The source is not run for this.

Only statements of the source itself are read, not those in functions or branches, and only texts that they write down:
literals, `+`, f-strings, `str.join`, and names of such texts. What the variable had before counts as empty.
"""

import ast
from dataclasses import dataclass, field

from grader.core.xla_options import GivenOption, split_flags

_VARIABLE = "XLA_FLAGS"
_LONGEST = 8_000
_MOST = 100
# A source has room for thousands of statements that each repeat a long text.
_MOST_STATEMENTS = 50


@dataclass(frozen=True, slots=True)
class FoundFlags:
    """The options, and the lines at which the variable is set to something that cannot be read, or is set too often."""

    options: tuple[GivenOption, ...] = ()
    unread: tuple[int, ...] = ()


def flags_of_source(source: str) -> FoundFlags:
    """The options that the source puts into the environment. A source that Python cannot read has none."""
    if _VARIABLE not in source:
        return FoundFlags()
    try:
        tree = ast.parse(source.removeprefix("\N{BYTE ORDER MARK}"))
        reader = _Reader(source.splitlines())
        for statement in tree.body:
            reader.read(statement)
        unread = {*reader.unread, *reader.elsewhere(tree)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return FoundFlags()
    return FoundFlags(tuple(reader.options[:_MOST]), tuple(sorted(unread)))


@dataclass(slots=True)
class _Reader:
    """Reads statements in order. `texts` are the names of texts, and `seen` the nodes that set the variable."""

    lines: list[str]
    options: list[GivenOption] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    seen: set[ast.AST] = field(default_factory=set)

    def read(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[target], value=text):
                self._assign(statement, target, text, adds=False)
            case ast.AugAssign(target=target, op=ast.Add(), value=text):
                self._assign(statement, target, text, adds=True)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="setdefault"), args=[key, text])) if _is_key(key):
                self._set(statement, text, node=statement.value, adds=bool(self.options))
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="update"), args=[ast.Dict(keys=keys, values=values)])):
                for name, text in zip(keys, values, strict=True):
                    if _is_key(name):
                        self._set(statement, text, node=statement.value, adds=False)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="update"), keywords=keywords)):
                for each in keywords:
                    if each.arg == _VARIABLE:
                        self._set(statement, each.value, node=statement.value, adds=False)
            case _:
                # A name that a branch or a loop may bind again stands for no text that is known.
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        self.texts.pop(node.id, None)

    def elsewhere(self, tree: ast.AST) -> list[int]:
        """The lines that set the variable where it is not read: in functions, in branches or by other means."""
        return [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign | ast.AugAssign)
            and node not in self.seen
            and any(_is_variable(each) for each in _targets(node))
        ]

    def _assign(self, statement: ast.Assign | ast.AugAssign, target: ast.expr, value: ast.expr, *, adds: bool) -> None:
        if _is_variable(target):
            self._set(statement, value, node=statement, adds=adds)
        elif isinstance(target, ast.Name):
            text = self._text(value)
            earlier = self.texts.pop(target.id, None)
            before = earlier if adds else ""
            if text is not None and before is not None and len(before + text) <= _LONGEST:
                self.texts[target.id] = before + text

    def _set(self, statement: ast.stmt, value: ast.expr, *, node: ast.AST, adds: bool) -> None:
        self.seen.add(node)
        if len(self.seen) > _MOST_STATEMENTS:
            self.unread.append(statement.lineno)
            return
        text = self._text(value)
        try:
            pairs = None if text is None else split_flags(text)
        except ValueError:
            pairs = None
        if pairs is None:
            self.unread.append(statement.lineno)
            return
        if not adds and not _mentions_variable(value):
            self.options.clear()
        self.options += [GivenOption(name, given, self._line(statement, name)) for name, given in pairs]

    def _line(self, statement: ast.stmt, name: str) -> int:
        """The line of the statement that has the option, or its first line if a name stands for the text."""
        last = statement.end_lineno or statement.lineno
        numbers = range(statement.lineno, last + 1)
        return next((number for number in numbers if name in self.lines[number - 1]), statement.lineno)

    def _text(self, node: ast.expr) -> str | None:
        """The text of an expression; None if it is not written down, or too long."""
        match node:
            case ast.Constant(value=str() | int() as value):
                text = str(value)
                return text if len(text) <= _LONGEST else None
            case ast.Name(id=name):
                return self.texts.get(name)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined("", [self._text(left), self._text(right)])
            case ast.JoinedStr(values=values):
                return _joined("", [self._text(each) for each in values])
            case ast.FormattedValue(value=value, format_spec=None):
                return self._text(value)
            case ast.Call(
                func=ast.Attribute(value=middle, attr="join"), args=[ast.List(elts=parts) | ast.Tuple(elts=parts)]
            ):
                between = self._text(middle)
                return None if between is None else _joined(between, [self._text(each) for each in parts])
            case ast.BoolOp(op=ast.Or(), values=[first, ast.Constant(value="")]):
                return self._text(first)
            case _ if _reads_variable(node):
                return ""
        return None


def _joined(between: str, parts: list[str | None]) -> str | None:
    found = [each for each in parts if each is not None]
    if len(found) < len(parts) or sum(map(len, found)) + len(between) * len(found) > _LONGEST:
        return None
    return between.join(found)


def _targets(node: ast.Assign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _is_key(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == _VARIABLE


def _is_variable(node: ast.AST) -> bool:
    """Whether it is `os.environ["XLA_FLAGS"]`, whatever `os.environ` is called."""
    return isinstance(node, ast.Subscript) and _is_key(node.slice)


def _reads_variable(node: ast.AST) -> bool:
    """Whether it is the variable, or a call such as `os.environ.get("XLA_FLAGS", "")` or `os.getenv("XLA_FLAGS")`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="get" | "getenv") | ast.Name(id="getenv"), args=[key, *_]):
            return _is_key(key)
    return _is_variable(node)


def _mentions_variable(node: ast.AST) -> bool:
    return any(_reads_variable(each) for each in ast.walk(node))
