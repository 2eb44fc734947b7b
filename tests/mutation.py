"""Find small faults in the code that no test notices: `python -m tests.mutation grader/checks`

Each mutant is one small change: `<` instead of `<=`, `or` instead of `and`, a number one larger, a call left out. A
mutant is killed if a test fails. It is printed as "too long" if the tests did not end in time, because the machine may
have been busy. One that survives shows a missing test, or makes no difference: docs/mutation.md lists those.

Every mutant runs in a fork of a process that has imported all libraries: first against the tests that execute its
line, then, if these pass, against all tests of its folder. `--slow` adds the tests that `--quick` leaves out.
"""

import argparse
import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import CodeType, ModuleType

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "grader/checks": ("tests/grader/checks", "tests/grader/test_golden_verdicts.py"),
    "grader/program": ("tests/grader/program", "tests/grader/checks", "tests/grader/test_golden_verdicts.py"),
    # The processes of the contract's tests would import the code without its change.
    "app/grading/queue": (
        "tests/app/grading/queue",
        "tests/app/grading/attempts/test_submit.py",
        "--ignore=tests/app/grading/queue/contract",
    ),
}
_OURS = {"app", "grader", "tests", "conftest"}
# A mutant that makes a test wait forever is killed by the limit of one test, which takes a second or two.
_PYTEST = ("-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", "--timeout=20")
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES = {"max": "min", "min": "max", "any": "all", "all": "any"}
# Types, decorators, widths of numbers in messages, and what only guards against our own mistakes: assertions, and
# `strict` of `zip`.
_NOT_MUTATED = {"annotation", "returns", "decorator_list", "format_spec"}


@dataclass(frozen=True, slots=True)
class Mutant:
    path: str
    line: int
    change: str
    code: CodeType

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"


def mutants_of(path: str) -> list[Mutant]:
    """All mutants of a file, in the order of its lines."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    mutants = []
    for node, put in _places(tree):
        for changed in _changes(node):
            put(ast.fix_missing_locations(ast.copy_location(changed, node)))
            change = f"{_short(node)} -> {_short(changed)}"
            mutants.append(Mutant(path, node.lineno, change, compile(tree, str(ROOT / path), "exec")))
            put(node)
    return sorted(mutants, key=lambda each: each.line)


def _places(parent: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, Callable[[ast.AST], None]]]:
    """Each expression and statement below `parent`, and the function that replaces it."""
    for field, value in ast.iter_fields(parent):
        if field in _NOT_MUTATED or isinstance(parent, ast.Assert) or getattr(parent, "arg", None) == "strict":
            continue
        for number, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield child, _putter(parent, field, number if isinstance(value, list) else None)
            yield from _places(child)


def _putter(parent: ast.AST, field: str, number: int | None) -> Callable[[ast.AST], None]:
    def put(node: ast.AST) -> None:
        if number is None:
            setattr(parent, field, node)
        else:
            getattr(parent, field)[number] = node

    return put


def _changes(node: ast.expr | ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    match node:
        case ast.Compare(left=left, ops=ops, comparators=right):
            for number, op in enumerate(ops):
                if type(op) in _COMPARISONS:
                    yield ast.Compare(left, [*ops[:number], _COMPARISONS[type(op)](), *ops[number + 1 :]], right)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.BinOp(left=left, op=op, right=term) if type(op) in _OPERATORS:
            yield ast.BinOp(left, _OPERATORS[type(op)](), term)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as number):
            yield ast.Constant(number + 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield ast.Name(_NAMES[name], ast.Load())
        case ast.IfExp(test=test, body=body, orelse=orelse) if not _is_changed_itself(test):
            yield ast.IfExp(_negated(test), body, orelse)
        case ast.If(test=test, body=statements, orelse=others) if not _is_changed_itself(test):
            yield ast.If(_negated(test), statements, others)
        case ast.While(test=test, body=statements, orelse=others) if not isinstance(test, ast.Constant):
            yield ast.While(ast.Constant(False), statements, others)
        case ast.AugAssign(target=target, op=op, value=term) if type(op) in _OPERATORS:
            yield ast.AugAssign(target, _OPERATORS[type(op)](), term)
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()


def _is_changed_itself(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}…"


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the mutant instead of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.code = mutant.code
        self.path = str(ROOT / mutant.path)
        self.name = mutant.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=self.path)
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, vars(module))


class Outcome(Enum):
    PASSED = "passed"
    FAILED = "failed"
    TOO_LONG = "too long"


def _in_a_fork(work: Callable[[], int], timeout_s: float) -> Outcome:
    """Passed if the exit status was 0. Drop the fork's output, remove its files, and end what it started."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pid = os.fork()
        if pid == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nowhere, descriptor)
            tempfile.tempdir = os.environ["TMPDIR"] = folder
            status = 1
            with contextlib.suppress(BaseException):
                status = work()
            os._exit(status)
        try:
            return _wait(pid, timeout_s)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def _wait(pid: int, timeout_s: float) -> Outcome:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return Outcome.FAILED if status else Outcome.PASSED
        time.sleep(0.01)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return Outcome.TOO_LONG


def _pytest(arguments: Sequence[str], *plugins: object) -> int:
    return int(pytest.main([*_PYTEST, *arguments], plugins=plugins))


@dataclass(frozen=True)
class _Contexts:
    """Records for each line which tests execute it."""

    measured: coverage.Coverage

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.measured.switch_context(item.nodeid)
        return (yield)


@dataclass(frozen=True)
class _Chosen:
    """Runs these tests only."""

    names: Set[str]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.names]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The tests of a folder, when they passed: how long they took, and which of them execute each line."""

    tests: tuple[str, ...]
    seconds: float
    executed: dict[str, dict[int, set[str]]]

    def try_on(self, mutant: Mutant) -> Outcome:
        names = self.executed.get(mutant.path, {}).get(mutant.line, set())
        # A line that runs at import has no test of its own.
        if names and "" not in names:
            outcome = self._run(mutant, {name.partition("::")[0] for name in names}, _Chosen(names))
            if outcome is not Outcome.PASSED:
                return outcome
        return self._run(mutant, self.tests)

    def _run(self, mutant: Mutant, tests: Iterable[str], *plugins: object) -> Outcome:
        def work() -> int:
            sys.meta_path.insert(0, _Mutated(mutant))
            return _pytest(tuple(tests), *plugins)

        return _in_a_fork(work, 10 + 4 * self.seconds)


def measure(folder: str, *, slow: bool) -> Baseline:
    """Run the folder's tests once, unchanged, and import here all libraries that they import."""
    tests = (*TESTS[folder], *(() if slow else ("-m", "not slow")))
    with tempfile.TemporaryDirectory() as name:
        data, modules = Path(name) / "coverage", Path(name) / "modules"

        def work() -> int:
            source = [folder.partition("/")[0]]
            # SQLAlchemy runs statements in greenlets.
            measured = coverage.Coverage(data, source=source, concurrency=["thread", "greenlet"], config_file=False)
            measured.start()
            status = _pytest(tests, _Contexts(measured))
            measured.stop()
            measured.save()
            modules.write_text("\n".join(sys.modules))
            return status

        start = time.monotonic()
        if _in_a_fork(work, 600) is not Outcome.PASSED:
            sys.exit(f"The tests of {folder} fail without any change: {' '.join(tests)}")
        seconds = time.monotonic() - start
        executed = _executed(data)
        for module in modules.read_text().split("\n"):
            if module.split(".")[0] not in _OURS:
                with contextlib.suppress(Exception):
                    importlib.import_module(module)
    return Baseline(tests, seconds, executed)


def _executed(file: Path) -> dict[str, dict[int, set[str]]]:
    data = coverage.CoverageData(str(file))
    data.read()
    found: dict[str, dict[int, set[str]]] = {}
    for path in data.measured_files():
        lines = data.contexts_by_lineno(path).items()
        found[str(Path(path).relative_to(ROOT))] = {line: set(contexts) for line, contexts in lines}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("paths", nargs="+", help=f"files, or folders, of {', '.join(TESTS)}")
    parser.add_argument("--slow", action="store_true", help="add the tests that --quick leaves out")
    parser.add_argument("--part", default="1/1", help="for example 2/8: the second of eight parts")
    parser.add_argument("--only", help="mutants whose line in the output contains this text")
    options = parser.parse_args()
    os.chdir(ROOT)
    # If this process is ended from outside, end the running mutant, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    number, parts = map(int, options.part.split("/"))
    count = dict.fromkeys(Outcome, 0)
    for folder in TESTS:
        files = [file for path in options.paths for file in _files(path) if file.startswith(folder)]
        mutants = [mutant for file in files for mutant in mutants_of(file)][number - 1 :: parts]
        mutants = [mutant for mutant in mutants if not options.only or options.only in str(mutant)]
        if not mutants:
            continue
        baseline = measure(folder, slow=options.slow)
        for mutant in mutants:
            outcome = baseline.try_on(mutant)
            count[outcome] += 1
            if outcome is not Outcome.FAILED:
                print("too long: " * (outcome is Outcome.TOO_LONG) + str(mutant), flush=True)
    killed, late, survived = count[Outcome.FAILED], count[Outcome.TOO_LONG], count[Outcome.PASSED]
    print(f"{sum(count.values())} mutants: {killed} killed, {late} took too long, {survived} survived.")


def _files(path: str) -> list[str]:
    found = sorted((ROOT / path).rglob("*.py")) if (ROOT / path).is_dir() else [ROOT / path]
    return [str(file.relative_to(ROOT)) for file in found]


if __name__ == "__main__":
    main()
