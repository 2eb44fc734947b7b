"""Lessons correct every mistake on the list, and their figures show what they measure.

What each lesson needs is in tests/shipped.
"""

import re

from app.learning.lessons.lesson import Misreading
from tests.faults import for_each
from tests.lessons.shipped_lessons import LESSONS, SHIPPED
from tests.shipped.lesson_rules import MISTAKES


def test_every_mistake_on_the_list_is_corrected() -> None:
    """The reader of lessons checks that each one is corrected in one place only."""
    parts = [part for lesson in SHIPPED.all() for part in lesson.parts]
    corrected = {each for part in parts if isinstance(part, Misreading) for each in part.mistakes}
    assert corrected == MISTAKES


@for_each(
    "figure, amounts",
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
