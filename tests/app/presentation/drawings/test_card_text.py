"""Lines of text on the card of a shared page."""

import numpy as np
import pytest

from app.core.settings import CHECKOUT
from app.presentation.drawings.card_text import LEVELS, SIZES, draw_mark, draw_text, drawn_from, sources_digest

INK = 10


def drawn(text: str, *, size: int = 52, most: int = 1000) -> np.ndarray:
    canvas = np.zeros((120, 1200), np.uint8)
    draw_text(canvas, text, size=size, middle=600, top=0, most=most, ink=INK)
    return canvas


def columns(canvas: np.ndarray) -> np.ndarray:
    return np.flatnonzero(canvas.any(axis=0))


def test_the_letters_are_those_of_the_fonts_and_the_mark_of_the_pages():
    assert drawn_from() == sources_digest(CHECKOUT / "app/core/static"), "Run .venv/bin/python -m frontend.card_glyphs"


@pytest.mark.parametrize("size", SIZES)
def test_a_line_is_centred_and_has_the_colours_of_its_ink(size):
    canvas = drawn("Who holds what", size=size)
    found = columns(canvas)
    assert abs((found[0] + found[-1]) / 2 - 600) < size / 8
    assert set(np.unique(canvas)) <= {0, *range(INK, INK + LEVELS)}


def test_what_does_not_fit_ends_in_an_ellipsis():
    long = columns(drawn("Replicated data parallelism " * 9, most=400))
    assert 300 < long[-1] - long[0] <= 410
    assert (drawn("Replicated", most=400) == drawn("Replicated")).all()


def test_letters_that_the_fonts_lack_are_question_marks():
    assert (drawn("a\u65e5") == drawn("a?")).all()
    assert (drawn("a\n") == drawn("a?")).all()
    assert not drawn("").any()


def test_a_drawing_is_cut_off_at_the_edges_of_a_card():
    canvas = np.zeros((60, 40), np.uint8)
    draw_text(canvas, "Wide", size=52, middle=0, top=0, most=1000, ink=INK)
    draw_mark(canvas, middle=39, top=20, ink=INK)
    assert canvas.shape == (60, 40)
    assert canvas.any()
