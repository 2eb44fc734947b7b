"""What a copier does to make a source look like another one, without changing what it computes."""

import ast
import re
from collections.abc import Callable


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._names.get(node.arg, node.arg)
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self._names.get(node.name, node.name)
        node.returns = None
        return node


def renamed(source: str) -> str:
    """Rename everything that the author named, and drop the annotations."""
    tree = ast.parse(source)
    outer = [node for node in tree.body if isinstance(node, ast.FunctionDef)][-1].name
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names += [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg) and node.arg != "self"]
    names += [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    names = [name for name in names if name not in (outer, "train")]
    own = {name: f"value_{number}" for number, name in enumerate(dict.fromkeys(names))}
    return ast.unparse(_Renamer(own).visit(tree))


def moved(source: str) -> str:
    """Reverse the order of the functions."""
    tree = ast.parse(source)
    heads = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    tree.body = [*heads[::-1], *(node for node in tree.body[::-1] if node not in heads)]
    return ast.unparse(tree)


def reformatted(source: str) -> str:
    """Change comments, blank lines, indentation and quotes, and drop docstrings."""
    source = re.sub(r'\n *"""[^"]*"""', "", source)
    lines = [line.replace("    ", "  ") + "  # step" for line in source.split("\n") if line.strip()]
    return "\n\n".join(lines).replace('"', "'").replace(", ", " ,")


def padded(source: str) -> str:
    """Add functions that are never called, before and after."""
    more = (
        "def helper(a, b):\n    c = [a]\n    for i in range(3):\n        c.append(b + i)\n    return sum(c) / len(c)\n"
    )
    return f"{more}\n{source}\n{more.replace('helper', 'other')}"


class _Swapper(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult):
            node.left, node.right = node.right, node.left
        return node


def swapped(source: str) -> str:
    """Exchange the operands of every + and *."""
    return ast.unparse(_Swapper().visit(ast.parse(source)))


class _Extractor(ast.NodeTransformer):
    """`return f(x)` becomes `outcome = f(x)` and `return outcome`."""

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        if node.value is None or isinstance(node.value, ast.Name):
            return node
        store = ast.Assign([ast.Name("outcome", ast.Store())], node.value, lineno=node.lineno)
        return [store, ast.Return(ast.Name("outcome", ast.Load()))]


def with_variables(source: str) -> str:
    """Give what a function returns a name first."""
    return ast.unparse(ast.fix_missing_locations(_Extractor().visit(ast.parse(source))))


def imported_otherwise(source: str) -> str:
    """Replace `jax.lax.psum` with `lax.psum`, and `jnp.sum` with `jax.numpy.sum`."""
    source = source.replace("jax.lax.", "lax.").replace("jnp.", "jax.numpy.").replace("import jax\n", "", 1)
    return f"import jax\nimport jax.numpy\nfrom jax import lax\n{source}"


def all_at_once(source: str) -> str:
    return reformatted(moved(renamed(source)))


def thorough(source: str) -> str:
    """Apply every disguise that needs no thought."""
    return reformatted(imported_otherwise(padded(with_variables(swapped(moved(renamed(source)))))))


DISGUISES: list[Callable[[str], str]] = [renamed, moved, reformatted, padded, all_at_once]
