"""Print how large the service is, and how many ways it has to do one thing: `python -m benchmarks.house`.

Each row counts something in the syntax trees of app/ and shows its aim. No test enforces an aim: the table shows what a
change adds to a row or takes from it. A second table counts the files that an addition touched by hand, in commits of
the history. A related measure is missing, because a syntax tree does not show it: pairs of duplicate code.
"""

import ast
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
LONGEST = 60
# The one mechanism for forms (app/core/rest/actions.py), and the functions that it reads them with.
_ACTIONS = ("app/core/rest/actions.py", "app/core/web/forms.py")
# app/entry puts the parts of a process together, so it may look them up by their types.
_ASSEMBLY = "app/entry/"
# What people write by hand in a change of the product. Tests, guides, problems and generated JSON are not counted.
_PRODUCT = ("app/", "grader/")
_WRITTEN = (".py", ".html", ".css", ".js")


@dataclass(frozen=True, slots=True)
class Row:
    """`found` holds lines that the table prints below its rows. `today` is a text if there is nothing to count."""

    what: str
    today: int | str
    aim: int
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Addition:
    """A kind of addition, and the subject of a commit that made one and did nothing else. Empty if there is none yet:
    CONTRIBUTING.md lists what one needs. The aim is that of *One way to do each thing*.
    """

    kind: str
    subject: str
    aim: int


ADDITIONS = (
    Addition("a field of an attempt", "Add the pitfall of a verdict to REST", 2),
    Addition("a check, with a reason and facts of its own", "Find leaves of the state that a step rounds", 2),
    Addition("a page for instructors", "", 4),
    Addition("a kind of work for the judge", "", 4),
)


def measure(checkout: Path = CHECKOUT) -> list[Row]:
    """Count everything in app/ of this checkout."""
    nodes = {
        path.relative_to(checkout).as_posix(): list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted(checkout.glob("app/**/*.py"))
    }
    long = sorted(_long_functions(nodes), reverse=True)
    return [
        Row("statements", _count(nodes, lambda node: isinstance(node, ast.stmt)), 22_000),
        Row(
            "forms read by hand: calls of read_unchecked_form, without Actions",
            _count(nodes, _reads_a_form, _ACTIONS),
            0,
        ),
        Row("refusals caught by hand: except Refused, without Actions", _count(nodes, _catches_refusal, _ACTIONS), 0),
        Row(
            "services looked up: services[X] and services_of(…)[X], without app/entry",
            _count(nodes, _looks_up_a_service, (_ASSEMBLY,)),
            0,
        ),
        Row("views filled by hand: classes called with three or more name=row.name", _count(nodes, _fills_by_hand), 0),
        Row('ways to limit tries: {"Retry-After": …} that is computed', _count(nodes, _computes_a_wait), 1),
        Row("ways to include a router: module.router, module.api, …", len(_ways_to_include(nodes)), 1),
        Row(
            f"functions over {LONGEST} lines",
            len(long),
            0,
            tuple(f"{lines:6} lines  {where}" for lines, where in long),
        ),
    ]


def touched(additions: Iterable[Addition], checkout: Path = CHECKOUT) -> list[Row]:
    """Count the files of app/ and grader/ that the commit of each addition changed."""
    log = _git(checkout, "log", "--format=%H %s").splitlines()
    commits = {subject: commit for commit, _, subject in (line.partition(" ") for line in reversed(log))}
    return [_touched(addition, commits.get(addition.subject), checkout) for addition in additions]


def _touched(addition: Addition, commit: str | None, checkout: Path) -> Row:
    if not addition.subject:
        return Row(f"{addition.kind}: no commit has only this", "-", addition.aim)
    what = f"{addition.kind}: {addition.subject}"
    if commit is None:
        return Row(what, "not in this history", addition.aim)
    names = _git(checkout, "show", "--format=", "--name-only", "--no-renames", commit).splitlines()
    files = [name for name in names if name.startswith(_PRODUCT) and name.endswith(_WRITTEN)]
    too_many = files if len(files) > addition.aim else []
    return Row(what, len(files), addition.aim, tuple(f"    {addition.kind}: {name}" for name in too_many))


def _git(checkout: Path, *command: str) -> str:
    """The output of a command. Empty outside of a repository, as in a copy of the tree."""
    done = subprocess.run(["git", *command], cwd=checkout, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def report() -> str:
    """Both tables, for this checkout."""
    return f"{table(measure())}\n\n{table(touched(ADDITIONS), 'files touched by hand')}"


def table(rows: Iterable[Row], title: str = "app/") -> str:
    """Return the rows as text in columns, followed by the lines that they found."""
    rows = list(rows)
    today = [row.today if isinstance(row.today, str) else f"{row.today:,}" for row in rows]
    cells = [
        (title, "today", "aim"),
        *((row.what, shown, f"{row.aim:,}") for row, shown in zip(rows, today, strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [f"{what:{widths[0]}}  {today:>{widths[1]}}  {aim:>{widths[2]}}" for what, today, aim in cells]
    return "\n".join([*lines, *(line for row in rows for line in row.found)])


def _count(
    nodes: Mapping[str, list[ast.AST]], is_counted: Callable[[ast.AST], bool], left_out: tuple[str, ...] = ()
) -> int:
    """Count nodes, except in files whose path begins with one of `left_out`."""
    return sum(is_counted(node) for path, each in nodes.items() if not path.startswith(left_out) for node in each)


def _reads_a_form(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) == "read_unchecked_form"


def _catches_refusal(node: ast.AST) -> bool:
    """Whether the node catches the base class of all refusals, alone or among others."""
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return "Refused" in map(_name, caught)


def _looks_up_a_service(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Constant):
        return False
    looked_in = node.value
    return _name(looked_in) == "services" or (
        isinstance(looked_in, ast.Call) and _name(looked_in.func) == "services_of"
    )


def _fills_by_hand(node: ast.AST) -> bool:
    """Whether the node calls a class, except a row's, with three or more fields of one object under their own names.

    `View.read_from` reads such fields by name.
    """
    called = _name(node.func) if isinstance(node, ast.Call) else ""
    if not (called[:1].isupper() or called == "cls") or called.endswith("Row"):
        return False
    copied = Counter(
        ast.unparse(each.value.value)
        for each in node.keywords
        if isinstance(each.value, ast.Attribute) and each.value.attr == each.arg
    )
    return max(copied.values(), default=0) >= 3


def _computes_a_wait(node: ast.AST) -> bool:
    """Whether the node is a dictionary of headers with a `Retry-After` that is computed, not a constant."""
    return isinstance(node, ast.Dict) and any(
        isinstance(key, ast.Constant) and key.value == "Retry-After" and isinstance(value, ast.Call | ast.JoinedStr)
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _ways_to_include(nodes: Mapping[str, list[ast.AST]]) -> set[str]:
    """Return the attributes in each call of `include_router`: `.actions.api` for `x.actions.api`, nothing for `x`."""
    included = [
        ast.unparse(node.args[0])
        for each in nodes.values()
        for node in each
        if isinstance(node, ast.Call) and _name(node.func) == "include_router"
    ]
    return {"".join(name.partition(".")[1:]) for name in included}


def _long_functions(nodes: Mapping[str, list[ast.AST]]) -> Iterator[tuple[int, str]]:
    """Yield the length in lines of each long function, from its `def` to its last line, and where it is."""
    for path, each in nodes.items():
        for node in each:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                lines = node.end_lineno - node.lineno + 1
                if lines > LONGEST:
                    yield lines, f"{path}:{node.lineno} {node.name}"


def _name(node: ast.AST | None) -> str:
    """The last part of a dotted name; nothing for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


if __name__ == "__main__":
    print(report())
