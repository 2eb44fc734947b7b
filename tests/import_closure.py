"""The files of the checkout that a file of Python imports or runs, directly and through others."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def closure(files: Iterable[str], within: tuple[str, ...] = ("",), without: tuple[str, ...] = ()) -> set[str]:
    """The files themselves, what they import, and for tests the conftest.py of their folders.

    A program that a test starts is found by its name, if it is beside the file that names it.

    Args:
      within: prefixes. A file whose path begins with none of them is left out, with what it imports.
      without: files that are left out, with what they import.
    """
    found: set[str] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file not in found and file.startswith(within) and file not in without:
            found.add(file)
            waiting += [*_imports(file), *_conftests(file)]
    return found


def _conftests(file: str) -> Iterator[str]:
    if file.startswith("tests/"):
        for folder in Path(file).parents:
            if (CHECKOUT / folder / "conftest.py").exists():
                yield str(folder / "conftest.py")


@cache
def _imports(file: str) -> frozenset[str]:
    tree = ast.parse((CHECKOUT / file).read_text(encoding="utf-8"))
    folder = Path(file).parent
    imported = {path for node in ast.walk(tree) for name in _modules(node) for path in _files(name)}
    return frozenset(imported | {path for node in ast.walk(tree) for path in _programs(node, folder)})


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{each.name}" for each in node.names)


def _programs(node: ast.AST, folder: Path) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".py"):
        path = folder / node.value
        if len(node.value) < 100 and path.name == node.value and (CHECKOUT / path).is_file():
            yield str(path)


def _files(module: str) -> Iterator[str]:
    """A module's file, and the __init__.py of each package that it is in; none if it is not in the checkout."""
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        for path in (Path(*parts[:length]).with_suffix(".py"), Path(*parts[:length], "__init__.py")):
            if (CHECKOUT / path).is_file():
                yield str(path)
