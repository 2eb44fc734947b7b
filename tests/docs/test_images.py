"""Pictures of pages: each one that a text shows exists, has a description, and is small."""

import re

import pytest

from frontend.screenshots import MAX_BYTES, TARGET
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
