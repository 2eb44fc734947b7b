"""Rules that import-linter cannot say."""

import ast
import sys
from pathlib import Path

import pytest

from grader import checks
from grader.verdicts.verdict import Mode
from tests.faults import for_each

CHECKOUT = Path(__file__).resolve().parents[1]
# The wire as well: it goes behind the walls with the runner.
RUNNER = [
    CHECKOUT / "grader" / "core" / "wire.py",
    *(path for room in ("confined", "forks", "runner") for path in sorted((CHECKOUT / "grader" / room).glob("*.py"))),
]
ALLOWED_IN_RUNNER = set(sys.stdlib_module_names) | {"numpy", "ml_dtypes", "jax", "jaxlib", "flax", "optax"}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module in ("grader", "grader.core"):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@for_each("path", RUNNER, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_runner_imports_nothing_of_ours_but_itself_and_the_wire(path):
    # The zygote is where forks of both kinds come from.
    ours = ("grader.core.wire", "grader.confined", "grader.runner")
    ours = (*ours, "grader.forks", "grader.verifier") if path.parent.name == "forks" else ours
    foreign = {
        name for name in imported(path) if name.split(".")[0] not in ALLOWED_IN_RUNNER and not name.startswith(ours)
    }
    assert foreign == set()


def test_nothing_can_unpickle():
    sources = [path for folder in ("app", "grader", "migrations") for path in (CHECKOUT / folder).rglob("*.py")]
    assert len(sources) > 40
    for path in sources:
        assert not imported(path) & {"pickle", "cloudpickle", "dill", "marshal", "shelve"}, path


@pytest.mark.parametrize("folder", ["app", "grader"])
def test_no_room_has_a_drawer(folder):
    names = {path.stem for path in (CHECKOUT / folder).rglob("*.py")}
    assert not names & {"utils", "util", "helpers", "common", "misc"}


@pytest.mark.parametrize("folder", ["app", "grader"])
def test_every_package_says_what_is_in_it(folder):
    packages = sorted((CHECKOUT / folder).rglob("__init__.py"))
    docs = {path: ast.get_docstring(ast.parse(path.read_text())) for path in packages}
    assert len(docs) > 10
    assert [str(path) for path, doc in docs.items() if not doc or not doc.split("\n")[0].endswith((".", ":"))] == []
    assert len(set(docs.values())) == len(docs)


@for_each("folder", ["app", "grader", "benchmarks"])
def test_every_folder_of_tests_is_one_of_the_code(folder):
    tests = CHECKOUT / "tests" / folder
    # What both queues must do, tested once for each.
    contract = tests / "grading" / "queue" / "contract"
    found = {path.parent for path in tests.rglob("test_*.py")} - {contract}
    assert found
    assert {each for each in found if not (CHECKOUT / each.relative_to(CHECKOUT / "tests")).is_dir()} == set()


@pytest.mark.parametrize("mode", ["call", "program"])
def test_checks_do_not_know_one_another(mode: Mode):
    modules = {f"grader.checks.{mode}.{name}": name for name in checks.names(mode)}
    assert len(modules) >= 3
    for name in modules.values():
        path = CHECKOUT / "grader" / "checks" / mode / f"{name}.py"
        assert not imported(path) & modules.keys(), path
