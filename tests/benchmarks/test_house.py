"""What the table of the service counts, on a made-up tree."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.house import ADDITIONS, LONGEST, Addition, Row, measure, table, touched

TREE = {
    "app/core/rest/actions.py": """
typed = read_unchecked_form(request)
try:
    act()
except Refused:
    show()
""",
    "app/core/web/forms.py": "fields = read_unchecked_form(request)\n",
    "app/entry/main.py": """
courses = services[Courses]
app.include_router(health_router)
app.include_router(problems_api.router)
""",
    "app/entry/routes.py": """
app.include_router(pages.router, dependencies=PAGES)
app.include_router(each.actions.api)
""",
    "app/pages.py": """
form = read_unchecked_form(request, max_bytes=4)
raw = forms.read_unchecked_form(request)
message = read_unchecked_form(request)
read_unchecked_form = 1
try:
    services[Courses].add(services_of(request)[Database], services["name"], package[Courses])
except (Refused, OSError):
    pass
try:
    act()
except Refused as refusal:
    show(refusal)
except LaunchRefused:
    raise TooMany("", headers={"Retry-After": str(wait)})
return {**headers, "Retry-After": f"{wait}", "ETag": etag}, {"Retry-After": "5"}, {"ETag": etag}
""",
    "app/views.py": """
by_hand = Person(id=row.id, name=row.name, role=cast(Role, row.role), at=row.at)
others = [cls(id=each.it.id, name=each.it.name, at=each.it.at, more=1) for each in found]
two = Person(id=row.id, name=row.name, role=user.role)
renamed = Person(id=row.person_id, name=row.title, role=row.kind)
stored = PersonRow(id=body.id, name=body.name, role=body.role)
shown = render(id=row.id, name=row.name, role=row.role)
read = Person.read_from(row, role=role)
""",
    "tests/test_pages.py": "read_unchecked_form(request)\n",
}


def function(name: str, lines: int) -> str:
    return "\n".join([f"@decorated\nasync def {name}():", *["    act()"] * (lines - 1), ""])


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, Row]:
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    long = f"{function('short', LONGEST)}{function('long', LONGEST + 1)}{function('longer', LONGEST + 9)}"
    (tmp_path / "app" / "long.py").write_text(long, encoding="utf-8")
    return {row.what.partition(":")[0]: row for row in measure(tmp_path)}


def test_everything_done_by_hand_is_counted_where_the_mechanism_is_not(rows: dict[str, Row]) -> None:
    counted = {what: row.today for what, row in rows.items() if "by hand" in what or "looked up" in what}
    assert counted == {
        "forms read by hand": 3,
        "refusals caught by hand": 2,
        "services looked up": 2,
        "views filled by hand": 2,
    }


def test_a_wait_is_counted_where_it_is_computed(rows: dict[str, Row]) -> None:
    assert rows["ways to limit tries"].today == 2


def test_routers_are_included_in_as_many_ways_as_there_are_names_in_a_module(rows: dict[str, Row]) -> None:
    assert rows["ways to include a router"].today == 3


def test_statements_are_those_of_the_syntax_tree(rows: dict[str, Row]) -> None:
    """A function counts as one statement, and so does each line of its body."""
    of_tree = {"actions.py": 4, "forms.py": 1, "main.py": 3, "routes.py": 2, "pages.py": 12, "views.py": 7}
    of_functions = LONGEST + (LONGEST + 1) + (LONGEST + 9)
    assert rows["statements"].today == sum(of_tree.values()) + of_functions


def test_functions_over_the_length_are_named_the_longest_first(rows: dict[str, Row]) -> None:
    row = rows[f"functions over {LONGEST} lines"]
    assert row.today == len(row.found) == 2
    assert [line.rpartition(" ")[2] for line in row.found] == ["longer", "long"]
    assert row.found[1] == f"    {LONGEST + 1} lines  app/long.py:{LONGEST + 3} long"


def test_the_table_has_columns_and_then_what_was_found() -> None:
    shown = table([Row("statements", 34_000, 22_000), Row("long functions", 1, 0, ("  99 lines  app/a.py:1 f",))])
    assert shown.splitlines() == [
        "app/             today     aim",
        "statements      34,000  22,000",
        "long functions       1       0",
        "  99 lines  app/a.py:1 f",
    ]


def commit(repository: Path, subject: str, *names: str) -> None:
    for name in names:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(subject, encoding="utf-8")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", f"{subject}\n\nBecause.")):
        subprocess.run(["git", *command], cwd=repository, check=True)


def test_an_addition_counts_the_files_of_the_product_that_its_commit_changed(tmp_path: Path) -> None:
    of_product = ("app/a.py", "app/templates/a.html", "grader/a.py")
    commit(
        tmp_path, "Add a page", *of_product, "app/rest/examples.json", "docs/a.md", "tests/test_a.py", "CHANGELOG.md"
    )
    commit(tmp_path, "Add a page of tests", "app/a.py")
    kinds = ("Add a page", "Add a pa", "")
    few, unknown, none = touched([Addition("a page", subject, 3) for subject in kinds], tmp_path)
    assert (few.what, few.today, few.found) == ("a page: Add a page", 3, ())
    assert (unknown.today, none.today) == ("not in this history", "-")
    [many] = touched([Addition("a page", "Add a page", 2)], tmp_path)
    assert many.found == tuple(f"    a page: {name}" for name in of_product)


def test_outside_of_a_repository_no_addition_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert {row.today for row in touched(ADDITIONS, tmp_path)} == {"not in this history", "-"}


def test_a_text_stands_for_what_cannot_be_counted() -> None:
    shown = table([Row("a field", 2, 2), Row("a page", "-", 4)], "files")
    assert shown.splitlines() == ["files    today  aim", "a field      2    2", "a page       -    4"]
