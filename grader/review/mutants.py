"""Make mutants of a reference: copies with one small mistake each, of the kinds that students make.

A mutant that is accepted shows a mistake that no case and no check finds. Some changes are not mistakes, because the
program still computes the same; the author decides that.
"""

import ast
import copy
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
from typing import Literal

Kind = Literal["sign", "axis", "reduction", "scale", "update", "stale", "clone", "spec", "batch", "dtype", "flag"]

# What to do about a surviving mutant of each kind.
PROPOSALS: Mapping[Kind, str] = MappingProxyType(
    {
        "sign": "Add a case in which both operands differ from 0 and from each other.",
        "axis": "Add a case in which all dimensions have different lengths.",
        "reduction": "Add a case that reduces several elements, none of them 0 or 1.",
        "scale": "Add a case in which this factor is not 1, such as another number of parts, steps or devices.",
        "update": "Add a case in which this statement changes the result, such as a second step.",
        "stale": "Add a case with a second step, in which the old value of this leaf gives another result.",
        "clone": "Add a case in which the caller's own object is read after the update, such as a second step.",
        "batch": "Add a check that finds rows sent between devices, such as `batch`.",
        "spec": "Add a check of the sharding or of the communication.",
        "dtype": "Add a case with values that bfloat16 cannot represent, or lower the tolerance.",
        "flag": "Add a case in which this argument changes the result.",
    }
)
_SWAPPED = {
    "sum": "mean",
    "mean": "sum",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "argmin": "argmax",
    "prod": "sum",
    "psum": "pmean",
    "pmean": "psum",
    "minimum": "maximum",
    "maximum": "minimum",
    "pmax": "pmin",
    "pmin": "pmax",
    "cumsum": "cumprod",
}
_SIGNS: dict[type[ast.operator], ast.operator] = {ast.Add: ast.Sub(), ast.Sub: ast.Add()}
_AXES = {"axis", "split_axis", "concat_axis", "scatter_dimension"}
_SPECS = {"P", "PartitionSpec"}
_SPEC_TUPLES = {"in_specs", "out_specs"}
_WIDE = {"float32": "bfloat16", "float64": "float32"}
_NARROW = "bfloat16"
# `strict` in `zip` only raises an error, and what `check_vma` changes depends on the program.
_NO_FLAGS = {"check_vma", "strict"}
_SHOWN = 70


_IMPORTS = (ast.Import, ast.ImportFrom)
# Kind, line, description of the change, and the node that replaces the old one.
_Change = tuple[Kind, int, str, ast.AST]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A reference with one mistake. `change` says what it is, and `line` where."""

    kind: Kind
    line: int
    change: str
    source: str


def mutants_of(source: str, at_most: int, entry: str = "", inputs: Collection[str] = ()) -> list[Mutant]:
    """Make different mutants of a source, of all kinds in turn; empty if the source is not Python.

    Args:
      at_most: the largest number of mutants.
      entry: in program mode, the function whose first argument is a mesh.
      inputs: its sharded arguments.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    seen = {ast.unparse(tree)}
    by_kind: dict[Kind, list[Mutant]] = {}
    for mutant in sorted(_all(source, tree, entry, inputs), key=lambda each: each.line):
        if mutant.source not in seen:
            seen.add(mutant.source)
            by_kind.setdefault(mutant.kind, []).append(mutant)
    # Take kinds in turn, so that the limit leaves out none of them.
    in_turn = [each for row in zip_longest(*by_kind.values()) for each in row if each is not None]
    return sorted(in_turn[:at_most], key=lambda each: each.line)


def _all(source: str, tree: ast.Module, entry: str, inputs: Collection[str]) -> Iterator[Mutant]:
    skipped = {id(each) for part in _not_code(tree) for each in ast.walk(part)}
    imported = {name.asname or name.name for each in tree.body if isinstance(each, _IMPORTS) for name in each.names}
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef):
            found = list(_of_function(node, inputs if node.name == entry and "jax" in imported else ()))
            if "nnx" in imported:
                found += _clones(node)
        elif id(node) in skipped:
            continue
        else:
            found = [(kind, getattr(node, "lineno", 1), _change(node, new), new) for kind, new in _changes(node)]
        for kind, line, change, new in found:
            # Parsing again is ten times as fast as copying the tree.
            changed = ast.parse(source)
            target = next(each for place, each in enumerate(ast.walk(changed)) if place == number)
            _Replace(target, new).visit(changed)
            ast.fix_missing_locations(changed)
            yield Mutant(kind, line, change, ast.unparse(changed))


def _of_function(function: ast.FunctionDef, inputs: Collection[str]) -> Iterator[_Change]:
    """Make mistakes that need the whole function: returning an old leaf of the state, and gathering the rows first."""
    arguments = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    for number, node in enumerate(ast.walk(function)):
        if not isinstance(node, ast.Dict):
            continue
        for place, old in _old_leaves(function, node, arguments):
            changed = copy.deepcopy(function)
            target = next(each for place, each in enumerate(ast.walk(changed)) if place == number)
            assert isinstance(target, ast.Dict)
            change = f"`{_short(target.values[place])}` became `{_short(old)}`"
            target.values[place] = old
            yield "stale", node.lineno, change, changed
    first = next(iter(arguments), "")
    for name in inputs:
        if name in arguments[1:]:
            everywhere = f"jax.sharding.NamedSharding({first}, jax.sharding.PartitionSpec())"
            gathered = f"jax.lax.with_sharding_constraint({name}, {everywhere})"
            changed = copy.deepcopy(function)
            changed.body.insert(1 if ast.get_docstring(function) else 0, ast.parse(f"{name} = {gathered}").body[0])
            yield "batch", function.lineno, f"`{name}` was gathered on every device first", changed


def _old_leaves(
    function: ast.FunctionDef, node: ast.Dict, arguments: Collection[str]
) -> Iterator[tuple[int, ast.Subscript]]:
    """The places in a dict of new leaves where the old leaf can stand, as in `{"mu": state["mu"]}`."""
    read = {
        each.slice.value: each
        for each in ast.walk(function)
        if isinstance(each, ast.Subscript)
        and isinstance(each.slice, ast.Constant)
        and isinstance(each.value, ast.Name)
        and each.value.id in arguments
    }
    for place, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
        old = read.get(key.value) if isinstance(key, ast.Constant) else None
        if old is not None and ast.dump(old) != ast.dump(value):
            yield place, copy.deepcopy(old)


def _clones(function: ast.FunctionDef) -> Iterator[_Change]:
    """Call `optimizer.update(model, grads)` on a clone, so that the caller's own objects do not change."""
    for number, node in enumerate(ast.walk(function)):
        if not isinstance(node, ast.Expr) or not _is_update_in_place(node):
            continue
        changed = copy.deepcopy(function)
        target = next(each for place, each in enumerate(ast.walk(changed)) if place == number)
        assert isinstance(target, ast.Expr)
        assert isinstance(target.value, ast.Call)
        assert isinstance(target.value.func, ast.Attribute)
        before = _short(target)
        if len(target.value.args) > 1:
            target.value.args[0] = _clone_of(target.value.args[0])
        else:
            target.value.func.value = _clone_of(target.value.func.value)
        yield "clone", node.lineno, f"`{before}` became `{_short(target)}`", changed


def _clone_of(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name("nnx", ast.Load()), "clone", ast.Load()), [value], [])


def _is_update_in_place(node: ast.Expr) -> bool:
    return (
        isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "update"
        and bool(node.value.args)
    )


def _not_code(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that are types or docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.args
            if node.returns:
                yield node.returns
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
        elif isinstance(node, ast.Assign) and _is_alias(node.value):
            # `State = dict[str, jax.Array]`
            yield node


def _is_alias(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and value.value.id in ("dict", "tuple")
    )


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, new: ast.AST) -> None:
        self._target = target
        self._new = new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._target:
            return self._new
        found: ast.AST = self.generic_visit(node)
        return found


def _changes(node: ast.AST) -> Iterator[tuple[Kind, ast.AST]]:
    if isinstance(node, ast.BinOp):
        yield from _of_operation(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "sign", node.operand
    elif isinstance(node, ast.Attribute):
        if node.attr in _SWAPPED:
            yield "reduction", ast.Attribute(node.value, _SWAPPED[node.attr], node.ctx)
        elif node.attr in _WIDE:
            yield "dtype", ast.Attribute(node.value, _WIDE[node.attr], node.ctx)
        elif node.attr == "T":
            yield "axis", node.value
    elif isinstance(node, ast.keyword):
        yield from _of_keyword(node)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif _is_update(node):
        yield "update", ast.Pass()
    elif isinstance(node, ast.Assign):
        yield from _of_unpacking(node)


def _of_unpacking(node: ast.Assign) -> Iterator[tuple[Kind, ast.AST]]:
    """Drop the new state in `loss, state = step(state)`."""
    if isinstance(node.value, ast.Tuple):
        return
    read = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
    for target in node.targets:
        for place, each in enumerate(target.elts if isinstance(target, ast.Tuple) else ()):
            if isinstance(each, ast.Name) and each.id in read:
                assert isinstance(target, ast.Tuple)
                elements = [
                    ast.Name("_", ast.Store()) if number == place else one for number, one in enumerate(target.elts)
                ]
                yield "stale", ast.copy_location(ast.Assign([ast.Tuple(elements, ast.Store())], node.value), node)


def _is_update(node: ast.AST) -> bool:
    """Whether a statement updates something: `x += y`, `optimizer.update(model)` or `state = step(state)`."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node.value))
    return isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def _of_operation(node: ast.BinOp) -> Iterator[tuple[Kind, ast.AST]]:
    if isinstance(node.op, ast.MatMult):
        yield "dtype", _cast(ast.BinOp(_cast(node.left, _NARROW), node.op, _cast(node.right, _NARROW)), "float32")
    if type(node.op) in _SIGNS:
        yield "sign", ast.BinOp(node.left, _SIGNS[type(node.op)], node.right)
        yield "update", node.left
    elif isinstance(node.op, ast.Div | ast.Mult) and not isinstance(node.left, ast.List | ast.Tuple):
        yield "scale", node.left
        if isinstance(node.op, ast.Mult):
            yield "scale", node.right


def _of_keyword(node: ast.keyword) -> Iterator[tuple[Kind, ast.AST]]:
    value = node.value.value if isinstance(node.value, ast.Constant) else None
    if node.arg in _AXES and isinstance(value, int):
        yield "axis", ast.keyword(node.arg, ast.Constant(0 if value else 1))
    elif node.arg == "dtype" and isinstance(value, str) and value in _WIDE:
        yield "dtype", ast.keyword(node.arg, ast.Constant(_WIDE[value]))
    elif node.arg in _SPEC_TUPLES and isinstance(node.value, ast.Tuple):
        elements = node.value.elts
        for place in range(len(elements) - 1):
            if ast.dump(elements[place]) != ast.dump(elements[place + 1]):
                swapped = [*elements[:place], elements[place + 1], elements[place], *elements[place + 2 :]]
                yield "spec", ast.keyword(node.arg, ast.Tuple(swapped, ast.Load()))
    elif isinstance(value, bool) and node.arg not in _NO_FLAGS:
        yield "flag", ast.keyword(node.arg, ast.Constant(not value))


def _of_call(node: ast.Call) -> Iterator[tuple[Kind, ast.AST]]:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    without_axis = [each for each in node.keywords if each.arg != "axis"]
    if name == "range" and len(node.args) == 1:
        yield "update", ast.Call(node.func, [ast.BinOp(node.args[0], ast.Sub(), ast.Constant(1))], node.keywords)
    elif name in _SPECS and node.args:
        if len(node.args) > 1:
            yield "spec", ast.Call(node.func, node.args[::-1], node.keywords)
        else:
            yield "spec", ast.Call(node.func, [ast.Constant(None), *node.args], node.keywords)
        yield "spec", ast.Call(node.func, [], node.keywords)
    elif name == "with_sharding_constraint" and node.args:
        yield "spec", node.args[0]
    elif name == "astype" and isinstance(node.func, ast.Attribute):
        yield "dtype", node.func.value
    elif name == "transpose" and isinstance(node.func, ast.Attribute) and not node.args:
        yield "axis", node.func.value
    elif name in _SWAPPED and len(without_axis) < len(node.keywords):
        yield "axis", ast.Call(node.func, node.args, without_axis)


def _cast(value: ast.expr, dtype: str) -> ast.Call:
    return ast.Call(ast.Attribute(value, "astype", ast.Load()), [ast.Constant(dtype)], [])


def _change(node: ast.AST, new: ast.AST) -> str:
    if isinstance(new, ast.Pass):
        return f"`{_short(node)}` was removed"
    if isinstance(node, ast.BinOp) and new in (node.left, node.right):
        operator = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(node.op)]
        is_left = new is node.left
        return f"`{operator} {_short(node.right)}` was removed" if is_left else f"`{_short(node.left)} *` was removed"
    return f"`{_short(node)}` became `{_short(new)}`"


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
