"""Pictures of pages: each one that a text shows exists, has a description, is small, and shows today's catalogue."""

import json
import re

import pytest

from app.learning.lessons.lesson_files import read_order
from app.problems.tracks import read_tracks
from frontend.screenshots import MAX_BYTES, SHOWN, TARGET
from tests.browser.browser import CHECKOUT

_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+\.png)\)")
_SHOWN = [
    (page.relative_to(CHECKOUT).as_posix(), page.parent / target, description)
    for page in (CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md")))
    for description, target in _PICTURE.findall(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "picture", "description"), _SHOWN, ids=[f"{page}-{p.stem}" for page, p, _ in _SHOWN])
def test_a_picture_that_is_shown_exists_and_is_described(page, picture, description):
    assert picture.is_file(), f"{page} shows {picture.name}; run: python -m frontend.screenshots"
    assert len(description.split()) > 3


def test_pages_are_shown():
    assert {"verdict", "workbench", "course", "gradebook", "insight", "roster"} <= {each.stem for _, each, _ in _SHOWN}


@pytest.mark.parametrize("picture", sorted(TARGET.glob("*.png")), ids=lambda each: each.stem)
def test_a_picture_is_small(picture):
    assert picture.stat().st_size <= MAX_BYTES


def test_the_pictures_show_as_many_problems_lessons_and_tracks_as_ship():
    tracks = read_tracks(CHECKOUT / "problems")
    assert json.loads(SHOWN.read_text(encoding="utf-8")) == {
        "problems": sum(len(track.problems) for track in tracks),
        "lessons": len(read_order(CHECKOUT / "lessons")),
        "tracks": len(tracks),
    }, "the pictures are old; run: python -m frontend.screenshots"
