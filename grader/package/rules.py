"""The rules that a package must keep, each with an id, and those among them that need no judge.

The reader and `proof` find what is wrong with a package. This module adds what a reader need not refuse, names the rule
that each fault breaks, and finds the line.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

from grader.errors import PackageInvalid
from grader.package.ceiling import Ceiling
from grader.package.names import arguments_of, shared_uuids, suggest, unknown_prerequisites
from grader.package.package import AnswerManifest, Manifest, Package
from grader.package.proof import leaks
from grader.package.reader import package_of, read_files
from grader.package.rules_table import MARK as MARK
from grader.package.rules_table import RULES as RULES
from grader.package.rules_table import Level
from grader.package.solution import body_of, solution_of
from grader.toml import TomlInvalid, read_toml


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a package breaks a rule. `line` is None if it is not known, or if it is the whole file."""

    rule: str
    file: str
    line: int | None
    message: str

    @property
    def level(self) -> Level:
        return RULES[self.rule].level

    @property
    def fix(self) -> str:
        return RULES[self.rule].fix


@dataclass(frozen=True, slots=True)
class Examined:
    """A package as its files say. `package` is None if it cannot be read."""

    package: Package | None
    findings: tuple[Finding, ...]


# The rule of a fault that the reader reports. The first pattern that occurs in it decides.
_RULE_OF_FAULT = (
    (r"^\S+ is missing or empty$|does not contain a problem\.toml$", "missing-file"),
    (r"^\S+ does not belong in a package", "misplaced-file"),
    (r"^\S+ is (?:not a plain file|over \d+ MiB|not UTF-8)", "unreadable-file"),
    (r"^problem\.toml is not TOML", "toml"),
    (r"^\S+ is not Python", "python"),
    (r"its first line must be a docstring", "misconception"),
    (r"^submissions/\S+ does not contain a submission", "submissions"),
    (r"^submissions/.* is not a reason", "reason"),
    (r"^figures/|^\S+ shows figures/", "figure"),
    (r"this service permits at most|must be at least twice limits.time_s", "limit"),
    (r"points of the checks add up to", "points"),
    (r": prerequisites: (?:there is|a problem cannot)", "prerequisite"),
    (r": uuid: .* belongs to the problem", "uuid"),
    (r"does not define '|there is no mesh axis|takes no '|there is no group|list each once, as the mesh does", "name"),
    (r"there is no check|a check is listed twice|the check '|check '", "check"),
)
# Words by which a statement names what a check grades.
_NAMED_BY = {
    "values": r"value|result|return|toleranc|answer",
    "optimizer": r"optimizer",
    "update": r"update",
    "sharding": r"shard|where|place|`P\(",
    "state_bytes": r"bytes|memory|stores?\b|holds?\b|split",
    "memory": r"memory|bytes",
    "init_memory": r"memory|bytes",
    "collectives": r"collective|communicat|all.gather|all.reduce|reduce.scatter|all.to.all|permute|traffic",
    "ahead": r"ahead|same round|prefetch",
    "overlap": r"overlap|hidden|schedule|travels while",
    "fits": r"fit|memory",
    "batch": r"batch|rows",
    "flops": r"flops|work|matrix product|compute",
    "donation": r"donat|in place",
    "scaling": r"scal|4 devices|of 4\b|number of devices",
    "by_hand": r"shard_map|by hand",
    "wire_dtype": r"dtype|bfloat16|float16|float32",
    "primitives": r"primitive|operation|jaxpr|`jax\.",
    "retrace": r"traced? again|retrac|compiled? again|traced once|once",
}
# What only these checks can see. A statement that requires it without the check promises too much.
_PROMISED_BY = {
    "donation": r"\bmust be donated\b|\bfor donation\b",
    "retrace": r"\bnot be (?:re)?traced again\b|\bnot be retraced\b|\bfor (?:no )?retracing\b",
    "flops": r"\bfor the FLOPs\b|\bFLOPs .{0,40}\bare graded\b",
    "by_hand": r"\bfor the use of `shard_map`",
    "wire_dtype": r"\bfor the dtype on the wire\b",
    "collectives": r"\*\* for (?:the )?communication\b",
    "sharding": r"\*\* for (?:the )?sharding\b",
    "memory": r"\*\* for (?:the )?memory\b",
    "optimizer": r"\*\* for (?:the )?optimizer\b",
}
# In characters. Shorter bodies, such as `return x + 1`, are often the same in different functions.
_LEAST_OF_SOLUTION = 60
_STATED = re.compile(r"\*\*(\d{1,3})\*\* for\b")
_LINKED = re.compile(r"\(/problems/([a-z][a-z0-9_]+)\)|(?<![*\w])\*([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\*(?![*\w])")
_LINE_IN_MESSAGE = re.compile(r"\bline (\d+)")
_FILE_IN_MESSAGE = re.compile(r"^([\w./-]+\.(?:toml|md|py|svg))\b")


def examine(folder: Path, ceiling: Ceiling | None = None, others: Mapping[str, UUID] | None = None) -> Examined:
    """Apply every rule that needs no judge.

    Args:
      folder: the package.
      others: the uuids of the problems that it may name, by slug; None if they are not known.
    """
    if not (folder / "problem.toml").is_file():
        return Examined(None, (Finding("missing-file", "problem.toml", None, "problem.toml is missing"),))
    faults: list[str] = []
    files = read_files(folder, faults)
    return examine_files(folder.name, files, faults, ceiling, others)


def examine_files(
    slug: str | None,
    files: dict[str, str],
    faults: Iterable[str],
    ceiling: Ceiling | None = None,
    others: Mapping[str, UUID] | None = None,
) -> Examined:
    """As `examine`, for files that were read elsewhere.

    Args:
      slug: the slug that the manifest must have; None if any will do.
      faults: what is wrong with files that are not among `files`.
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
    findings = [as_finding(fault, files) for fault in faults]
    findings += _marks(files)
    if package is not None:
        findings += _of_texts(package, others)
    return Examined(package, tuple(findings))


def as_finding(fault: str, files: Mapping[str, str]) -> Finding:
    """The rule that a fault of the reader breaks, and its place."""
    rule = next((rule for pattern, rule in _RULE_OF_FAULT if re.search(pattern, fault)), "manifest")
    named = _FILE_IN_MESSAGE.match(fault) or re.match(r"(\S+) (?:is|does)\b", fault)
    file = named[1] if named else "problem.toml"
    message = fault.removeprefix(f"{file}: ")
    if line := _LINE_IN_MESSAGE.search(fault):
        return Finding(rule, file, int(line[1]), message)
    return Finding(rule, file, _line_in_manifest(files, message) if file == "problem.toml" else None, message)


def uuids_in(folder: Path) -> dict[str, UUID]:
    """The uuid of every problem in a folder of problems, by slug. Packages that cannot be read are left out."""
    found = {}
    for path in sorted(folder.glob("*/problem.toml")):
        try:
            manifest = read_toml(path.read_text(encoding="utf-8-sig"))
            found[str(manifest["slug"])] = UUID(manifest["uuid"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _marks(files: Mapping[str, str]) -> Iterator[Finding]:
    for name, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if MARK in line:
                what = line.partition(MARK)[2].strip(" :->")
                yield Finding("todo", name, number, what or "this part is not written")


def _of_texts(package: Package, others: Mapping[str, UUID] | None) -> Iterator[Finding]:
    manifest = package.manifest
    is_code = not isinstance(manifest, AnswerManifest)
    if is_code and (fault := _unnamed_call(package)):
        yield Finding("signature", "statement.md", None, fault)
    if not package.hints:
        yield Finding("hints", "hints.md", None, "hints.md has no heading such as `## Hint 1`")
    elif len(package.hints) == 1:
        yield Finding("few-hints", "hints.md", None, "hints.md has one hint")
    solution = solution_of(package)
    solved = body_of(package.starter, solution)
    if solved is not None and solved == body_of(package.reference, solution):
        message = f"`{solution}` does the same as in reference.py"
        yield Finding("starter-solves", "starter.py", _line_of(package.starter, f"def {solution}"), message)
    if is_code:
        yield from _renamed_solutions(package)
    for leak in leaks(package):
        yield Finding("leak", leak.partition(" holds ")[0], None, leak.replace(" holds ", " contains ", 1))
    if others is not None:
        yield from _unknown_links(package, [*others, package.slug])
    yield from _of_checks(manifest, package.statement)


def _unnamed_call(package: Package) -> str | None:
    entry = package.manifest.entry
    arguments = arguments_of(package.manifest, package.reference)
    if arguments is None:
        return None if f"`{entry}" in package.statement else f"statement.md does not contain `{entry}` as code"
    if package.manifest.mode == "program":
        arguments = ["mesh", *(["state"] if package.manifest.program.init else []), *arguments]
    # Types, defaults and line ends may stand between the names.
    call = rf"\b{entry}\(\s*" + r"\b[^()]*?,\s*".join(map(re.escape, arguments))
    if re.search(call, package.statement):
        return None
    return f"statement.md does not contain `{entry}({', '.join(arguments)})`"


def _renamed_solutions(package: Package) -> Iterator[Finding]:
    """Functions in public files that do what a solution does, under other names."""
    solution = solution_of(package)
    solutions = {"reference.py": package.reference}
    solutions |= {f"submissions/accepted/{each.name}.py": each.source for each in package.accepted}
    solved: dict[str, str] = {}
    for file, source in solutions.items():
        for name, text in _functions(source):
            if name == solution and len(text) >= _LEAST_OF_SOLUTION:
                solved.setdefault(text, file)
    code = {"starter.py": [(1, package.starter)], "warmup.py": [(1, package.warmup)]}
    code |= {name: _code_blocks(package.files.get(name, "")) for name in ("statement.md", "hints.md")}
    for file, blocks in code.items():
        for line, source in blocks:
            for name, text in _functions(source):
                if text in solved:
                    message = f"`{name}` does the same as {solution} of {solved[text]}, apart from names"
                    yield Finding("leak", file, line, message)


def _functions(source: str) -> Iterator[tuple[str, str]]:
    """The functions of a source, each with its body in a form in which names do not matter."""
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
    """What a function does, without its docstring and types."""
    first, *rest = function.body
    has_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    arguments = ", ".join(each.arg for each in (*function.args.posonlyargs, *function.args.args))
    return "\n".join([arguments, *(ast.unparse(each) for each in (rest if has_doc else function.body))])


def _code_blocks(text: str) -> list[tuple[int, str]]:
    """The Python in a text, each block with its line."""
    return [
        (text.count("\n", 0, found.start()) + 2, found[1])
        for found in re.finditer(r"^```python[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


def _unknown_links(package: Package, slugs: Iterable[str]) -> Iterator[Finding]:
    known = list(slugs)
    texts = {name: package.files[name] for name in ("statement.md", "hints.md", "editorial.md")}
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for slug in (first or second for first, second in _LINKED.findall(line)):
                if slug not in known:
                    yield Finding("link", name, number, f"there is no problem '{slug}'{suggest(slug, known)}")


def _of_checks(manifest: Manifest, statement: str) -> Iterator[Finding]:
    # Before this heading there is only background.
    _, heading, task = statement.partition("\n## Problem\n")
    task = task if heading else statement
    stated = [int(each) for each in _STATED.findall(task)]
    graded = [each.points for each in manifest.checks if each.points]
    if stated and sorted(stated) != sorted(graded):
        yield Finding(
            "stated-points",
            "statement.md",
            _line_of(statement, f"**{stated[0]}** for"),
            f"the statement gives {stated} points, problem.toml {graded}",
        )
    elif stated:
        yield from _ungraded_points(manifest, statement, task)
    for check in manifest.checks:
        named = rf"{_NAMED_BY.get(check.id, re.escape(check.id))}|{re.escape(check.id.replace('_', ' '))}"
        if not re.search(named, task, re.IGNORECASE):
            message = f"the check '{check.id}' gives {check.points} points, and the statement does not mention it"
            yield Finding("unnamed-check", "statement.md", None, message)
    for id, promise in _PROMISED_BY.items():
        found = re.search(promise, task)
        if found and all(each.id != id for each in manifest.checks):
            message = f"the statement says '{found[0].strip(' *')}', but there is no check '{id}'"
            yield Finding("ungraded-promise", "statement.md", _line_of(statement, found[0]), message)


def _ungraded_points(manifest: Manifest, statement: str, task: str) -> Iterator[Finding]:
    """Lines such as `**40** for the style` where no check of 40 points grades what the line names."""
    for stated in _STATED.finditer(task):
        # Up to the next number of points.
        text = task[stated.end() :].partition("**")[0]
        checks = [each.id for each in manifest.checks if each.points == int(stated[1])]
        if not any(re.search(_NAMED_BY.get(id, re.escape(id)), text, re.IGNORECASE) for id in checks):
            what = " ".join(text.split())[:60].strip(" :;,.-")
            message = f"the statement gives {stated[1]} points for '{what}', but the check is '{checks[0]}'"
            line = _line_of(statement, task[stated.start() : stated.end() + 20])
            yield Finding("ungraded-promise", "statement.md", line, message)


def _line_of(text: str, part: str) -> int | None:
    before, found, _ = text.partition(part)
    return before.count("\n") + 1 if found else None


def line_in_manifest(text: str, key: str) -> int | None:
    """The line of a key or table of problem.toml, such as `limits.time_s` or `tolerance`: the first that begins so."""
    return next((line for path, line in _keys(text) if path == key or path.startswith(f"{key}.")), None)


def _line_in_manifest(files: Mapping[str, str], message: str) -> int | None:
    """The line of the key that a message names first, such as `limits.time_s` or `check 'values': rules.0.axes`."""
    text = files.get("problem.toml", "")
    lines = _lines_of_keys(text)
    path = re.match(r"(?:unknown key ')?([\w.]+)(?=[:' ]|$)", message)
    names = [path[1]] if path else []
    if check := re.search(r"check '([^']+)'", message):
        number = _numbers_of_checks(text).get(check[1])
        bound = re.search(r"check '[^']+': ([\w.]+)", message)
        key = re.match(r"unknown key '([\w.]+)'", message)
        inside = (bound or key or [None, ""])[1]
        names = [f"checks.{number}.{inside}", f"checks.{number}"] if number is not None else []
    if re.search(r"\bpoints\b.*add up", message):
        names = ["checks.0"]
    for name in names:
        parts = name.strip(".").split(".")
        while parts:
            if (line := lines.get(".".join(parts))) is not None:
                return line
            parts.pop()
    return None


def _keys(text: str) -> Iterator[tuple[str, int]]:
    """Every table and key of a TOML text as a path, with its line. A key in a multi-line value may be among them."""
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*(\[\[?)\s*([\w.-]+)\s*\]\]?", line):
            table = header[2]
            parent, _, last = table.rpartition(".")
            if parent in counts:
                table = f"{parent}.{counts[parent]}.{last}"
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = f"{table}.{counts[table]}"
            yield table, number
        elif key := re.match(r"\s*([\w-]+)\s*=", line):
            yield f"{table}.{key[1]}".strip("."), number


@lru_cache(maxsize=4)
def _lines_of_keys(text: str) -> dict[str, int]:
    return dict(_keys(text))


@lru_cache(maxsize=4)
def _numbers_of_checks(text: str) -> dict[str, int]:
    """The place of each check among `[[checks]]`, by its id; that of the first, if an id occurs twice."""
    try:
        checks: Any = read_toml(text).get("checks", [])
    except TomlInvalid:
        return {}
    ids = [each.get("id") if isinstance(each, dict) else None for each in checks] if isinstance(checks, list) else []
    return {id: number for number, id in reversed(list(enumerate(ids))) if isinstance(id, str)}
