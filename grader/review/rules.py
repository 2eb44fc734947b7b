"""Review a package by every rule that needs no judge.

The reader and `validation` find faults that make a package invalid. This module adds the other faults, and the lines.
"""

import ast
import importlib.metadata
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from grader import checks
from grader.core.toml import read_toml
from grader.package.budget import BUDGET
from grader.package.ceiling import Ceiling
from grader.package.fault import MANIFEST_FILE, PackageFault, PackageInvalid
from grader.package.package import MANIFESTS, AnswerManifest, Manifest, Package
from grader.package.rules_table import MARK as MARK
from grader.package.rules_table import RULES as RULES
from grader.review.helper_files import FOLDER
from grader.review.names import arguments_of, shared_uuids, suggest, unknown_prerequisites
from grader.review.reader import has_budget, measured, package_of, read_files
from grader.review.solution import body_of, solution_of
from grader.review.unbounded_collectives import unbounded
from grader.review.validation import leaks


@dataclass(frozen=True, slots=True)
class PackageReview:
    """A package and its faults. `package` is None if it cannot be read."""

    package: Package | None
    faults: tuple[PackageFault, ...]


# The length in characters from which bodies are compared. Shorter ones, such as `return x + 1`, are often equal.
_LEAST_OF_SOLUTION = 60
_STATED = re.compile(r"\*\*(\d{1,3})\*\* for\b")
_LINKED = re.compile(r"\(/problems/([a-z][a-z0-9_]+)\)|(?<![*\w])\*([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\*(?![*\w])")


def review_package(
    folder: Path, ceiling: Ceiling | None = None, others: Mapping[str, UUID] | None = None
) -> PackageReview:
    """Apply every rule that needs no judge.

    Args:
      folder: the folder of the package.
      ceiling: as in `read_package`.
      others: the uuids of the problems that it can refer to, by slug; None if they are unknown.
    """
    if not (folder / MANIFEST_FILE).is_file():
        return PackageReview(None, (PackageFault("missing-file", MANIFEST_FILE, None, f"{MANIFEST_FILE} is missing"),))
    faults: list[PackageFault] = []
    files = read_files(folder, faults)
    return review_files(folder.name, files, faults, ceiling, others)


def review_files(
    slug: str | None,
    files: dict[str, str],
    faults: Iterable[PackageFault],
    ceiling: Ceiling | None = None,
    others: Mapping[str, UUID] | None = None,
) -> PackageReview:
    """Like `review_package`, for files that were read elsewhere.

    Args:
      slug: the slug that the manifest must have; None if any slug is right.
      faults: faults of files that are not in `files`.
    """
    faults = list(faults)
    package = None
    try:
        package = package_of(slug, files, ceiling)
    except PackageInvalid as invalid:
        faults += invalid.faults
    if package is not None and others is not None:
        faults += unknown_prerequisites(package.manifest, [*others, package.slug])
        faults += shared_uuids(package.manifest, others)
    faults += _marks(files)
    if package is not None:
        faults += _of_texts(package, others)
    return PackageReview(package, tuple(each.located(files.get(MANIFEST_FILE, "")) for each in faults))


def uuids_in(folder: Path) -> dict[str, UUID]:
    """The uuid of every problem in a folder of problems, by slug, without packages that cannot be read."""
    found = {}
    for path in sorted(folder.glob("*/problem.toml")):
        try:
            manifest = read_toml(path.read_text(encoding="utf-8-sig"))
            found[str(manifest["slug"])] = UUID(manifest["uuid"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _marks(files: Mapping[str, str]) -> Iterator[PackageFault]:
    for name, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if MARK in line:
                what = line.partition(MARK)[2].strip(" :->")
                yield PackageFault("todo", name, number, what or "this part is not written")


def _of_texts(package: Package, others: Mapping[str, UUID] | None) -> Iterator[PackageFault]:
    manifest = package.manifest
    is_code = not isinstance(manifest, AnswerManifest)
    if is_code and (fault := _unnamed_call(package)):
        yield PackageFault("signature", "statement.md", None, fault)
    if not package.hints:
        yield PackageFault("hints", "hints.md", None, "hints.md has no heading such as `## Hint 1`")
    elif len(package.hints) == 1:
        yield PackageFault("few-hints", "hints.md", None, "hints.md has one hint")
    solution = solution_of(package)
    solved = body_of(package.starter, solution)
    if solved is not None and solved == body_of(package.reference, solution):
        message = f"`{solution}` does the same as in reference.py"
        yield PackageFault("starter-solves", "starter.py", _line_of(package.starter, f"def {solution}"), message)
    if is_code:
        yield from _renamed_solutions(package)
    yield from leaks(package)
    if others is not None:
        yield from _unknown_links(package, [*others, package.slug])
    yield from _of_checks(manifest, package)
    yield from unbounded(manifest)
    if has_budget(manifest) and (fault := _wrong_budget(package)):
        yield PackageFault("budget", BUDGET, None, fault)


def _wrong_budget(package: Package) -> str | None:
    if package.budget is None:
        return f"{BUDGET} is missing"
    if package.budget.of != measured(package):
        return f"{BUDGET} was measured before the accepted submissions, the cases or [program] changed"
    if package.budget.jax != (current := importlib.metadata.version("jax")):
        return f"{BUDGET} was measured with JAX {package.budget.jax}, and this is {current}"
    return None


def _unnamed_call(package: Package) -> str | None:
    entry = package.manifest.entry
    arguments = arguments_of(package.manifest, package.reference)
    if arguments is None:
        return None if f"`{entry}" in package.statement else f"statement.md does not contain `{entry}` as code"
    if package.manifest.mode == "program":
        arguments = ["mesh", *(["state"] if package.manifest.program.init else []), *arguments]
    # Types, defaults and line breaks can be between the names.
    call = rf"\b{entry}\(\s*" + r"\b[^()]*?,\s*".join(map(re.escape, arguments))
    if re.search(call, package.statement):
        return None
    return f"statement.md does not contain `{entry}({', '.join(arguments)})`"


def _renamed_solutions(package: Package) -> Iterator[PackageFault]:
    """Find functions in public files that equal a solution apart from names."""
    solution = solution_of(package)
    solutions = {"reference.py": package.reference}
    solutions |= {f"submissions/accepted/{each.name}.py": each.source for each in package.accepted}
    solved: dict[str, str] = {}
    for file, source in solutions.items():
        for name, text in _functions(source):
            if name == solution and len(text) >= _LEAST_OF_SOLUTION:
                solved.setdefault(text, file)
    code: dict[str, Iterable[tuple[int, str]]] = {
        "starter.py": [(1, package.starter)],
        "warmup.py": [(1, package.warmup)],
    }
    code |= {f"{FOLDER}{name}.py": [(1, text)] for name, text in package.helpers.items()}
    code |= {name: _code_blocks(package.files.get(name, "")) for name in ("statement.md", "hints.md")}
    for file, blocks in code.items():
        for line, source in blocks:
            for name, text in _functions(source):
                if text in solved:
                    message = f"`{name}` does the same as {solution} of {solved[text]}, apart from names"
                    yield PackageFault("leak", file, line, message)


def _functions(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each function in a source, and its body with local names replaced by numbers."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        own = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
        own |= {
            each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        numbers: dict[str, str] = {}
        text = _body_of(function)
        for name in re.findall(r"\w+", text):
            if name in own:
                numbers.setdefault(name, f"name{len(numbers)}")
        yield function.name, "".join(numbers.get(word, word) for word in re.split(r"(\w+)", text))


def _body_of(function: ast.FunctionDef) -> str:
    """The arguments and the body of a function, without its docstring and types."""
    first, *rest = function.body
    has_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    arguments = ", ".join(each.arg for each in (*function.args.posonlyargs, *function.args.args))
    return "\n".join([arguments, *(ast.unparse(each) for each in (rest if has_doc else function.body))])


def _code_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the blocks of Python in a text, each with its line."""
    line, counted = 1, 0
    for found in re.finditer(r"^```python[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        # Count lines from the last block: counting from the start for each block would take quadratic time.
        line += text.count("\n", counted, found.start(1))
        counted = found.start(1)
        yield line, found[1]


def _unknown_links(package: Package, slugs: Iterable[str]) -> Iterator[PackageFault]:
    known = list(slugs)
    texts = {name: package.files[name] for name in ("statement.md", "hints.md", "editorial.md")}
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for slug in (first or second for first, second in _LINKED.findall(line)):
                if slug not in known:
                    yield PackageFault("link", name, number, f"there is no problem '{slug}'{suggest(slug, known)}")


def _of_checks(manifest: Manifest, package: Package) -> Iterator[PackageFault]:
    statement, written = package.statement, package.files["statement.md"]
    if stated := _STATED.search(statement):
        message = f"the statement says '{stated[0]}', and the page takes points and bounds from problem.toml"
        yield PackageFault("stated-points", "statement.md", _line_of(written, stated[0]), message)
    # Before this heading, there is only background.
    task = statement.partition("\n## Problem\n")[2] or statement
    graded = {each.id for each in manifest.checks}
    for mode in MANIFESTS:
        for id in sorted(set(checks.names(mode)) - graded):
            promise = getattr(checks.load(mode, id), "PROMISE", None)
            if promise and (found := re.search(promise, task)):
                message = f"the statement says '{found[0]}', but there is no check '{id}'"
                yield PackageFault("ungraded-promise", "statement.md", _line_of(written, found[0]), message)


def _line_of(text: str, part: str) -> int | None:
    before, found, _ = text.partition(part)
    return before.count("\n") + 1 if found else None
