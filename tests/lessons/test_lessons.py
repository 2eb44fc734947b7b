"""Every lesson is whole: its parts, its length, the problems that it leads to, and the mistakes that it corrects."""

import re
from pathlib import Path

import pytest

from app.learning.lessons.lesson import Lesson, Misreading, Program, Question, Text
from tests.lessons.shipped_lessons import SHIPPED
from tests.lessons.write_claims import LESSONS

# What fits beside the text of a page without scrolling.
LONGEST_LINE = 74
# By the four texts that they were found in.
MISTAKES = {f"{text}.{number}" for text, found in enumerate((28, 24, 25, 21)) for number in range(1, found + 1)}
PROBLEMS = [path.parent.name for path in LESSONS.parent.glob("problems/*/problem.toml")]


def test_every_lesson_can_be_shown() -> None:
    assert [str(fault) for fault in SHIPPED.faults] == []
    assert SHIPPED.unknown_problems(PROBLEMS) == []
    assert {path.parent.name for path in LESSONS.glob("*/lesson.md")} == {each.slug for each in SHIPPED.all()}


@pytest.mark.parametrize("lesson", SHIPPED.all(), ids=lambda lesson: lesson.slug)
def test_a_lesson_has_the_form_that_is_promised(lesson: Lesson) -> None:
    """One program a section, three questions, three problems or more; long enough to explain, short enough to read."""
    sections = [0]
    for part in lesson.parts:
        if isinstance(part, Text):
            sections += [0] * len(re.findall("^## (?!Check yourself)", part.markdown, re.MULTILINE))
        sections[-1] += isinstance(part, Program)
    assert sections[1:] == [1] * len(lesson.blocks)
    assert [line for block in lesson.blocks for line in block.code.splitlines() if len(line) > LONGEST_LINE] == []
    assert len([part for part in lesson.parts if isinstance(part, Question)]) == 3
    assert len(lesson.problems) >= 3
    assert 600 <= words(LESSONS / lesson.slug / "lesson.md") <= 900


@pytest.mark.parametrize("lesson", SHIPPED.all(), ids=lambda lesson: lesson.slug)
def test_a_wrong_number_says_what_it_shows(lesson: Lesson) -> None:
    numbers = [part for part in lesson.parts if isinstance(part, Question) and part.spec.kind == "number"]
    assert [part.text for part in numbers if not part.slips] == []


def test_every_problem_stands_in_a_lesson() -> None:
    prepared = {slug for lesson in SHIPPED.all() for slug in lesson.problems}
    assert {path.parent.name for path in LESSONS.with_name("problems").glob("*/problem.toml")} - prepared == set()


def test_every_mistake_on_the_list_is_corrected() -> None:
    """The reader of lessons checks that each one is corrected in one place only."""
    parts = [part for lesson in SHIPPED.all() for part in lesson.parts]
    corrected = {each for part in parts if isinstance(part, Misreading) for each in part.mistakes}
    assert (corrected - MISTAKES, MISTAKES - corrected) == (set(), set()), "unknown, not corrected"


@pytest.mark.parametrize(
    ("figure", "amounts"),
    [
        ("four-collectives/figures/gather_0.svg", ["shard_bytes"]),
        ("four-collectives/figures/gather_7.svg", ["whole_bytes", "gather_sent"]),
        ("four-collectives/figures/scatter_0.svg", ["whole_bytes"]),
        ("four-collectives/figures/scatter_7.svg", ["shard_bytes", "scatter_sent"]),
        ("pipelines/figures/tick_1.svg", ["sent_each"]),
        ("meshes-and-specs/figures/spec_both.svg", ["split_bytes", "split_total"]),
        ("meshes-and-specs/figures/spec_columns.svg", ["columns_bytes", "columns_total"]),
        ("meshes-and-specs/figures/spec_rows.svg", ["rows_bytes", "rows_total"]),
        ("meshes-and-specs/figures/spec_whole.svg", ["whole_bytes", "copied_total"]),
        ("memory/figures/moment_before.svg", ["alias_bytes"]),
        ("communication/figures/ring_two.svg", ["reduced_by_two", "matrix_bytes"]),
        ("communication/figures/ring_eight.svg", ["halving_sent", "reduced_by_eight", "twice_the_matrix"]),
        ("memory/figures/moment_forward.svg", ["alias_bytes", "kept_more"]),
        ("memory/figures/moment_backward.svg", ["alias_bytes", "shard_bytes"]),
    ],
)
def test_the_amounts_in_steps_are_those_that_the_lesson_measures(figure: str, amounts: list[str]) -> None:
    claims, drawn = SHIPPED.get(figure.split("/")[0]).claims.by_name, (LESSONS / figure).read_text(encoding="utf-8")
    for each in amounts:
        assert re.search(rf"\b{claims[each].text}</text>", drawn), each


def words(file: Path) -> int:
    """Those that all read: no programs, output, marks of boxes, claims and lists, nor what a wrong answer shows."""
    lines, inside = [], False
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside and not line.startswith(("  > ", "- {{")):
            lines.append(line)
    return sum(any(each.isalnum() for each in word) for word in " ".join(lines).split())
