"""Every rule of the prose linter finds its bad examples and leaves its good ones alone."""

from typing import Any

import pytest

from tests.faults import for_each
from tests.prose import lint
from tests.prose.lint import CHECKOUT, RULES, files, find, find_in, main

ENGLISH = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## English\n")[1].split("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in ENGLISH.split("| not | but |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
]
OFF = "<!-- prose: off -->\nwhoever\n\n<!-- prose: on -->"


@for_each("rule", RULES["rules"], ids=lambda rule: rule["bad"][0])
def test_a_rule_finds_its_bad_examples_and_no_good_one(rule: dict[str, Any]) -> None:
    for bad in rule["bad"]:
        assert rule["write"] in [finding.message for finding in find(bad)], bad
    for good in rule["good"]:
        assert find(good) == []


@for_each("bad, good", ROWS, ids=[row[0] for row in ROWS])
def test_the_linter_enforces_the_table_of_the_contributing_guide(bad: str, good: str) -> None:
    assert find(bad) != []
    assert find(good) == []


def test_a_phrase_is_found_across_a_line_break_and_with_its_line() -> None:
    (finding,) = find("First line.\nIt is there for\nwho forgot theirs.\n", "page.md")
    assert str(finding).startswith("page.md:2: 'for who': give the clause a head")


@pytest.mark.parametrize(
    "text", ["`whoever`", "```sh\nwhoever\n```", "[a link](whoever.md)", "$whoever$", "$$\nwhoever\n$$", OFF]
)
def test_what_is_not_prose_is_not_read(text: str) -> None:
    assert find(f"One line.\n\n{text}\n") == []


def test_every_pattern_for_files_finds_one() -> None:
    assert all(list(CHECKOUT.glob(pattern)) for pattern in [*RULES["files"], *RULES["left_out"]])
    read = set(files())
    for name in (
        "README.md",
        "app/core/errors.py",
        "app/accounts/templates/sign_in.html",
        "grader/judging/judge.py",
        "tests/slow_tests.py",
    ):
        assert CHECKOUT / name in read


def test_a_file_without_a_finding_is_not_read_again_until_a_rule_changes(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(lint, "CHECKOUT", tmp_path)
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text("One line.\n")
    bad.write_text("A link for who forgot theirs.\n")
    names, store, read = [str(good), str(bad)], tmp_path / "kept" / "prose.json", []
    monkeypatch.setattr(lint, "find_in", lambda path: read.append(path.name) or find_in(path))
    for expected in (["good.md", "bad.md"], ["bad.md"]):
        read.clear()
        assert (main(names, store), read) == (1, expected)
        assert capsys.readouterr().out.startswith("bad.md:1: 'for who'")
    monkeypatch.setattr(lint, "_rules_digest", lambda: "other rules")
    read.clear()
    assert (main(names, store), read) == (1, ["good.md", "bad.md"])
    store.write_text("[]")
    assert main([str(good)], store) == 0


def test_wide_gaps_between_words_are_read_in_one_way_only() -> None:
    """Of a template, little but blanks is left. Divided in every way, these would take longer than a test may."""
    gap = " " * 200
    text = f"It is not{gap}here,{gap}there{gap}or{gap}anywhere{gap}else{gap}\n{gap}by now"
    assert find(text) == []
    assert [finding.line for finding in find(f"{text}, and not{gap}\n{gap}any more")] == [2]
