"""Shapes as boxes: which dimensions are odd, in what words, and that any shape can be drawn."""

import itertools
import re

import pytest

from app.presentation.drawings.shapes import Shape, draw_shape, drawn_sides, is_to_scale, odd_dims, shape_words
from app.presentation.fault_views import view_shapes


@pytest.mark.parametrize(
    ("expected", "got", "odd", "words"),
    [
        ((64, 32), (32, 64), ((), (0, 1)), "Dimension 0 is 32 instead of 64; dimension 1 is 64 instead of 32."),
        ((4, 64, 32), (64, 32), ((0,), ()), "2 dimensions instead of 3: the 4 is missing."),
        ((), (1,), ((), (0,)), "1 dimension instead of 0: the 1 is one too many."),
        ((4,), (2, 2), ((0,), (0, 1)), "2 dimensions instead of 1."),
        ((8, 10**9), (8, 0), ((), (1,)), "Dimension 1 is 0 instead of 1,000,000,000."),
        (
            (1,) * 6,
            (2,) * 6,
            ((), (0, 1, 2, 3, 4, 5)),
            "Dimension 0 is 2 instead of 1; dimension 1 is 2 instead of 1; dimension 2 is 2 instead of 1; and 3 more.",
        ),
    ],
)
def test_the_odd_dimensions_are_named(
    expected: Shape, got: Shape, odd: tuple[tuple[int, ...], tuple[int, ...]], words: str
) -> None:
    assert odd_dims(expected, got) == odd
    assert shape_words(expected, got) == words


def test_both_boxes_have_one_scale_and_the_odd_sides_are_marked_in_words_too() -> None:
    view = view_shapes("w", (64, 32), (32, 64))
    sizes = [
        {name: float(re.search(rf'<rect [^>]*\b{name}="([\d.]+)"', drawing).group(1)) for name in ("width", "height")}  # type: ignore[union-attr]
        for drawing in (view.expected, view.got)
    ]
    assert (sizes[0]["width"], sizes[0]["height"]) == (sizes[1]["height"], sizes[1]["width"])
    assert sizes[0]["height"] == 2 * sizes[0]["width"]
    assert view.got.count('class="wrong"') == view.got.count("✗") == 2
    assert "✗" not in view.expected
    assert view.got_text == '(<b class="differs">32</b>, <b class="differs">64</b>)'
    assert view.notes == ""


def test_a_side_that_would_vanish_is_drawn_and_said_not_to_be_to_scale() -> None:
    assert "to scale" in view_shapes("", (4096, 2), (4096, 1)).notes
    assert is_to_scale((64, 32))


def test_a_shape_of_any_rank_and_size_is_drawn_within_bounds() -> None:
    shapes: list[Shape] = [(size,) * rank for rank in range(7) for size in (0, 1, 7, 10**9, 10**30)]
    for expected, got in itertools.product(shapes, shapes):
        if expected == got:
            continue
        due, found = drawn_sides(expected, got)
        assert max(len(due), len(found)) <= 2
        scale = [*(expected[dim] for dim in due), *(got[dim] for dim in found)]
        picture = draw_shape(got, found, scale, odd_dims(expected, got)[1], title="w")
        width, height = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)[0])
        assert 0 < width < 360, (expected, got)
        assert 0 < height < 150, (expected, got)
        assert ("of these" in picture) == (len(got) > 2), got
        assert len(shape_words(expected, got)) < 200


def test_names_and_long_shapes_from_a_submission_are_cut_and_escaped() -> None:
    view = view_shapes("<w>", (10**18,) * 40, (1,))
    assert "&lt;w&gt;" in view.got
    assert len(view.expected_text) < 200
