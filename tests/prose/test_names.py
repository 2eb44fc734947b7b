"""Names are nouns and verbs that the field knows. A participle says what happened to a value, not what it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.prose.lint import CHECKOUT

PARTICIPLES = {"asked", "given", "held", "kept", "made", "said", "told", "wanted"}


def names_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def participles_in(source: str) -> list[tuple[str, int]]:
    return [(name, line) for name, line in names_in(ast.parse(source)) if name.strip("_").lower() in PARTICIPLES]


def test_no_name_of_the_service_is_a_participle() -> None:
    found = [
        f"{path.relative_to(CHECKOUT)}:{line}: {name}"
        for path in sorted(Path(CHECKOUT, "app").rglob("*.py"))
        for name, line in participles_in(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_each_kind_of_name_is_read() -> None:
    source = "told = 1\ndef f(said): pass\nfor asked in (): pass\nclass _Held: pass\ndef made(): pass\n"
    assert sorted(participles_in(source)) == [("_Held", 4), ("asked", 3), ("made", 5), ("said", 2), ("told", 1)]
