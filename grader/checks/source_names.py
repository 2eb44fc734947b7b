"""Find the names that a source uses, by its syntax tree, with what they were imported as.

A name that the source only makes while it runs is not found: `getattr(module, text)`, `importlib.import_module(text)`,
`exec`, or a method of an array.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# The usual names of these modules, which a manifest can use, too.
_USUAL = {"jnp": "jax.numpy", "np": "numpy", "lax": "jax.lax", "nnx": "flax.nnx"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class NameUse:
    """A use of a name in a source: `written` there as `J.sort`, whose full `name` is `jax.numpy.sort`.

    `name` ends in `.*` if it is an import of everything in a module.
    """

    line: int
    written: str
    name: str

    def is_of(self, name: str) -> bool:
        """Whether this uses the name itself or something inside it."""
        module, star, _ = self.name.partition(".*")
        return _is_in(module, name) or (bool(star) and _is_in(name, module))


def full_name(name: str) -> str:
    """The name with a `jnp`, `np`, `lax` or `nnx` at its beginning replaced by the module's name."""
    first, dot, rest = name.partition(".")
    return f"{_USUAL.get(first, first)}{dot}{rest}"


def names_used(source: str) -> list[NameUse]:
    """Every use of a name of a module or of Python itself, in the order of the lines.

    Raises:
      SyntaxError, ValueError, RecursionError, MemoryError: Python cannot read the source.
    """
    tree = ast.parse(source.removeprefix("\N{BYTE ORDER MARK}"))
    return sorted(set(_uses(tree.body, (_Scope(tree.body),))), key=lambda use: (use.line, use.written))


class _Scope:
    """The names that a module, a function or a class binds, each with what it may stand for."""

    def __init__(self, body: Sequence[ast.AST], arguments: Iterable[str] = ()) -> None:
        # Full names, or expressions that are one, by bound name; an empty list if the source made the value itself.
        self.bound: dict[str, list[str | ast.expr]] = {name: [] for name in arguments}
        for node in _in_scope(body):
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                for each in names:
                    first = each.name.partition(".")[0]
                    self._add(each.asname or first, each.name if each.asname else first)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for each in names:
                    self._add(each.asname or each.name, f"{module}.{each.name}")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute()):
                self._add(name, node.value)
            case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                self.bound.setdefault(name, [])

    def _add(self, name: str, value: str | ast.expr) -> None:
        self.bound.setdefault(name, []).append(value)


_Scopes = tuple[_Scope, ...]


def _in_scope(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a scope, except for the bodies of its functions, lambdas and classes."""
    for node in body:
        yield node
        if not isinstance(node, _SCOPES):
            yield from _in_scope(ast.iter_child_nodes(node))


def _uses(body: Iterable[ast.AST], scopes: _Scopes) -> Iterator[NameUse]:
    for node in body:
        match node:
            case ast.Import(names=names):
                yield from (NameUse(node.lineno, each.name, each.name) for each in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (NameUse(node.lineno, f"{module}.{each.name}", f"{module}.{each.name}") for each in names)
            case ast.Name(ctx=ast.Store()):
                pass
            case ast.Name() | ast.Attribute() if (written := _dotted(node)) is not None:
                yield from (NameUse(node.lineno, written, name) for name in _resolved(written, scopes, frozenset()))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                outside = (
                    node.args,
                    *getattr(node, "decorator_list", ()),
                    *filter(None, [getattr(node, "returns", None)]),
                )
                yield from _uses(outside, scopes)
                inside = [node.body] if isinstance(node, ast.Lambda) else node.body
                yield from _uses(inside, (*scopes, _Scope(inside, _arguments(node.args))))
            case ast.ClassDef():
                yield from _uses((*node.bases, *node.keywords, *node.decorator_list), scopes)
                yield from _uses(node.body, (*scopes, _Scope(node.body)))
            case _:
                yield from _uses(ast.iter_child_nodes(node), scopes)


def _arguments(args: ast.arguments) -> list[str]:
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, [args.vararg, args.kwarg])]
    return [each.arg for each in found]


def _dotted(node: ast.expr) -> str | None:
    """`J.linalg.solve` if the expression is a name with attributes."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _resolved(written: str, scopes: _Scopes, seen: frozenset[str]) -> list[str]:
    """The full names that a name may have here; empty if the source made the value itself."""
    first, dot, rest = written.partition(".")
    for scope in reversed(scopes):
        if first not in scope.bound:
            continue
        if first in seen:
            return []
        found: list[str] = []
        for value in scope.bound[first]:
            dotted = value if isinstance(value, str) else _dotted(value)
            if dotted is not None:
                found += [dotted] if isinstance(value, str) else _resolved(dotted, scopes, seen | {first})
        return [f"{each}{dot}{rest}" for each in dict.fromkeys(found)]
    # The source binds the name nowhere, so it is one of Python's own.
    return [written]


def _is_in(name: str, module: str) -> bool:
    return f"{name}.".startswith(f"{module}.")
