"""Each rule that a package must keep has an example here that breaks it: a tiny valid package, changed in one place."""

import re
import shutil
from pathlib import Path
from uuid import UUID

import pytest

from grader.package.budget import budget_from, budget_text
from grader.package.ceiling import Ceiling
from grader.review.reader import measured
from grader.review.rules import MARK, RULES, review_package, uuids_in
from tests.docs.pages import CHECKOUT

PACKAGES = Path(__file__).parents[1] / "packages"
OTHERS = {"first_steps": UUID("11111111-2222-4333-8444-555555555555")}
# These need a judge: tests/app/authoring/test_package_check.py breaks them.
JUDGED = {"page", "cases", "reference", "starter", "accepted", "rejected", "uncaught", "untested-check"}
JUDGED |= {"surviving-mutant", "grader"}
# tests/app/authoring/test_answer_check.py breaks these.
JUDGED |= {"questions", "never-wrong"}
# tests/app/authoring/test_measurement_check.py breaks these.
JUDGED |= {"flaky", "key-order", "mesh-difference", "unused-input", "constant-output", "zero-output"}
JUDGED |= {"unvaried-input", "tight-tolerance", "loose-tolerance", "tight-limit", "loose-limit"}

# These are about programs: below, and in test_unbounded_collectives.py.
OF_PROGRAMS = {"budget", "unbounded-collective"}


def valid(tmp_path, name="add_one"):
    """A copy of a package of the tests whose statement also keeps every rule."""
    folder = tmp_path / name
    shutil.copytree(PACKAGES / name, folder)
    for each in folder.rglob("__pycache__"):
        shutil.rmtree(each)
    if name == "add_one":
        (folder / "statement.md").write_text("## Problem\n\nWrite `add_one(x)`: it returns `x + 1`.\n")
    return folder


def change(file, old, new):
    def apply(folder):
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1))

    return apply


def write(file, text):
    def apply(folder):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())

    return apply


def remove(name):
    def apply(folder):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return apply


def pitfall(names, after=""):
    return write(
        "statement.md",
        f"## Problem\n`add_one(x)` returns `x + 1`.\n## Pitfalls\n- **A.**\n  <!-- rejected: {names} -->{after}",
    )


def solved_starter(folder):
    (folder / "starter.py").write_text('def add_one(x):\n    """The task."""\n    return 1 + x\n')
    (folder / "reference.py").write_text("import jax\n\n\ndef add_one(x: jax.Array) -> jax.Array:\n    return 1 + x\n")


MANIFEST = "problem.toml"
VARIANTS = "".join(f'[[variants]]\nname = "{name}"\nvalues = {{ summand = {n} }}\n' for n, name in enumerate("ab"))
LOOP = '''"""One step at a time."""


def add_one(x):
    result = x
    for _ in range(1):
        result = result + 1
    return result
'''
# What breaks it, the rule, the file, the line, and words of the message.
BROKEN = [
    (remove(MANIFEST), "missing-file", MANIFEST, None, "is missing"),
    (remove("hints.md"), "missing-file", "hints.md", None, "is missing or empty"),
    (write("statment.md", "x"), "misplaced-file", "statment.md", None, "did you mean 'statement.md'?"),
    (write("editorial.md", b"\xff\xfe"), "unreadable-file", "editorial.md", None, "is not UTF-8"),
    (change(MANIFEST, 'mode = "call"', "mode = call"), "toml", MANIFEST, 8, "not TOML"),
    (change(MANIFEST, "wall_s", "wal_s"), "manifest", MANIFEST, 16, "did you mean 'wall_s'?"),
    (change(MANIFEST, '"easy"', '"trivial"'), "manifest", MANIFEST, 7, "difficulty"),
    (change(MANIFEST, "points = 100", "points = 90"), "points", MANIFEST, 20, "add up to 90"),
    (change(MANIFEST, 'id = "values"', 'id = "value"'), "check", MANIFEST, 20, "did you mean 'values'?"),
    (change(MANIFEST, "points = 100", "points = 100\nat_most = 2"), "check", MANIFEST, 23, "unknown key 'at_most'"),
    (change(MANIFEST, 'entry = "add_one"', 'entry = "add_on"'), "name", MANIFEST, 9, "did you mean 'add_one'?"),
    (change(MANIFEST, "time_s = 3.0", "time_s = 500.0"), "limit", MANIFEST, 15, "permits at most 120"),
    (change(MANIFEST, "wall_s = 8.0", "wall_s = 5.0"), "limit", MANIFEST, 16, "Set it to 6 or more"),
    (
        change(MANIFEST, "devices = 2", 'devices = 2\nprerequisites = ["first_step"]'),
        "prerequisite",
        MANIFEST,
        11,
        "did you mean 'first_steps'?",
    ),
    (
        change(MANIFEST, "6f0a3c52-5f5b-4f0e-9a53-0d8a1b5f6a11", str(OTHERS["first_steps"])),
        "uuid",
        MANIFEST,
        2,
        "belongs to the problem 'first_steps'",
    ),
    (write("reference.py", "import jax\n\ndef add_one(x:\n    return x\n"), "python", "reference.py", 3, "not Python"),
    (
        lambda folder: ((folder / "helpers").mkdir(), write("helpers/numpy.py", "x = 1\n")(folder)),
        "helper",
        "helpers/numpy.py",
        None,
        "would hide the installed module numpy",
    ),
    (
        lambda folder: (
            change(MANIFEST, "[[checks]]", VARIANTS + "\n[[checks]]")(folder),
            write("statement.md", "## Problem\n\nWrite `add_one(x)`: it returns `x + {{ addend }}`.\n")(folder),
        ),
        "variant",
        "statement.md",
        3,
        "no variant has a value 'addend'",
    ),
    (
        change("statement.md", "Write", "![a ring](figures/ring.svg)\n\nWrite"),
        "figure",
        "statement.md",
        None,
        "shows figures/ring.svg",
    ),
    (
        write("figures/ring.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>'),
        "figure",
        "figures/ring.svg",
        None,
        "is not shown",
    ),
    (
        remove("submissions/accepted"),
        "submissions",
        "submissions/accepted/",
        None,
        "submissions/accepted/ does not contain",
    ),
    (
        write("submissions/rejected/wrong_valu/a.py", '"""A."""'),
        "reason",
        "submissions/rejected/wrong_valu/a.py",
        None,
        "did you mean 'wrong_value'?",
    ),
    (
        write("submissions/rejected/wrong_value/silent.py", "def add_one(x):\n    return x\n"),
        "misconception",
        "submissions/rejected/wrong_value/silent.py",
        None,
        "docstring",
    ),
    (pitfall("wrong_value/double"), "pitfall", "statement.md", 5, "did you mean 'wrong_value/doubled'?"),
    (pitfall("wrong_value/doubled", after="\n  Or not.\n"), "pitfall", "statement.md", 5, "elsewhere than at the end"),
    (pitfall("wrong_value/doubled, wrong_value/doubled"), "pitfall", "statement.md", 5, "two pitfalls name"),
    (write("editorial.md", f"It adds.\n\n{MARK}: say why\n"), "todo", "editorial.md", 3, "say why"),
    (
        write("statement.md", "## Problem\n\nReturn the value plus one.\n"),
        "signature",
        "statement.md",
        None,
        "`add_one(x)`",
    ),
    (write("hints.md", "Add one.\n"), "hints", "hints.md", None, "no heading"),
    (write("hints.md", "## Hint 1\nAdd one.\n"), "few-hints", "hints.md", None, "one hint"),
    (solved_starter, "starter-solves", "starter.py", 1, "`add_one` does the same"),
    (
        change("statement.md", "Write", "def add_one(x):\n    return x + 1\n\nWrite"),
        "leak",
        "statement.md",
        None,
        "the function add_one of reference.py",
    ),
    (
        write(
            "hints.md",
            "## Hint 1\nAdd.\n\n## Hint 2\n```python\ndef plus(y):\n    total = y\n    for unused in range(1):\n"
            "        total = total + 1\n    return total\n```\n",
        ),
        "leak",
        "hints.md",
        6,
        "`plus` does the same as add_one of submissions/accepted/loop.py, apart from names",
    ),
    (
        write("editorial.md", "It adds.\n\n- *first_stps*: next\n"),
        "link",
        "editorial.md",
        3,
        "did you mean 'first_steps'?",
    ),
    (
        write("statement.md", "## Problem\n\n`add_one(x)`:\n\n- **100** for the values\n"),
        "stated-points",
        "statement.md",
        5,
        "the statement says '**100** for'",
    ),
    (
        write("statement.md", "## Problem\n\n`add_one(x)` returns `x + 1`.\n`x` must be donated.\n"),
        "ungraded-promise",
        "statement.md",
        4,
        "no check 'donation'",
    ),
]


@pytest.mark.parametrize(
    ("breaks", "rule", "file", "line", "words"),
    BROKEN,
    ids=[f"{number}-{each[1]}" for number, each in enumerate(BROKEN)],
)
def test_a_package_that_breaks_one_rule(tmp_path, breaks, rule, file, line, words):
    folder = valid(tmp_path)
    (folder / "submissions" / "accepted" / "loop.py").write_text(LOOP)
    breaks(folder)
    found = [each for each in review_package(folder, Ceiling(), OTHERS).faults if each.rule == rule]
    assert found
    assert (found[0].file, found[0].line) == (file, line)
    assert words in found[0].message
    assert found[0].fix == RULES[rule].fix


def test_every_rule_has_an_example_that_breaks_it():
    assert {each[1] for each in BROKEN} | JUDGED | OF_PROGRAMS == RULES.keys()


def test_a_budget_is_missing_or_of_other_files_or_of_another_jax(tmp_path):
    folder = valid(tmp_path, "move_mean")

    def budget_faults():
        return [each.message for each in review_package(folder).faults if each.rule == "budget"]

    package = review_package(folder).package
    assert budget_faults() == ["budget.json is missing"]
    current = budget_from(measured(package), {})
    write("budget.json", budget_text(current))(folder)
    assert budget_faults() == []
    write("budget.json", budget_text(current.model_copy(update={"jax": "0.0.1"})))(folder)
    assert "measured with JAX 0.0.1, and this is" in budget_faults()[0]
    write("budget.json", budget_text(current))(folder)
    change("cases.py", "def ", "# Other cases.\ndef ")(folder)
    assert budget_faults() == [
        "budget.json was measured before the accepted submissions, the cases or [program] changed"
    ]


@pytest.mark.parametrize("name", ["add_one"])
def test_a_valid_package_breaks_none(tmp_path, name):
    found = review_package(valid(tmp_path, name), Ceiling(), OTHERS)
    assert found.package is not None
    assert found.faults == ()


def test_a_bound_of_a_check_is_found_in_its_own_table(tmp_path):
    folder = valid(tmp_path, "move_mean")
    change(MANIFEST, 'axes = ["x"]', 'axes = ["y"]')(folder)
    line = (folder / MANIFEST).read_text().splitlines().index('axes = ["y"]') + 1
    found = [each for each in review_package(folder).faults if each.rule == "name"]
    assert [(each.file, each.line) for each in found] == [(MANIFEST, line)]


@pytest.mark.parametrize(("finished", "solves"), [("step", False), ("init", False), ("init and step", True)])
def test_a_starter_solves_a_problem_with_an_init_only_if_it_finishes_both(tmp_path, finished, solves):
    folder = valid(tmp_path, "move_mean")
    imports, init, step = (folder / "reference.py").read_text().split("\n\n\n")
    parts = [init if "init" in finished else "def init(mesh, seed):\n    raise NotImplementedError"]
    parts += [step if "step" in finished else "def step(mesh, state, x):\n    raise NotImplementedError"]
    write("starter.py", "\n\n\n".join([imports, *parts]) + "\n")(folder)
    found = [each for each in review_package(folder).faults if each.rule in ("starter-solves", "leak")]
    assert [each.message for each in found if each.rule == "starter-solves"] == [
        "`step` does the same as in reference.py"
    ] * solves
    assert bool(found) is solves


def test_marks_are_found_in_a_package_that_cannot_be_read(tmp_path):
    folder = valid(tmp_path)
    write("starter.py", f"# {MARK}: the signature\n")(folder)
    found = review_package(folder)
    assert found.package is None
    assert {each.rule for each in found.faults} == {"todo", "name"}


def test_problems_that_cannot_be_read_have_no_uuid(tmp_path):
    valid(tmp_path)
    for name, text in (("one", "slug = ["), ("two", 'slug = "two"'), ("three", 'slug = "three"\nuuid = 3')):
        write(MANIFEST, text)(tmp_path / name)
    assert uuids_in(tmp_path) == {"add_one": UUID("6f0a3c52-5f5b-4f0e-9a53-0d8a1b5f6a11")}


def test_the_table_of_rules_is_that_of_the_guide():
    """docs/checking.md: id, level, what breaks it, what to do."""
    guide = (CHECKOUT / "docs" / "checking.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| (error|warning) \| (.+?) \| (.+?) \|$", guide, re.MULTILINE)
    assert rows == [(id, rule.level, rule.means, rule.fix) for id, rule in RULES.items()]
