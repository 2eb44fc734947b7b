"""Pictures of pages: each one that a text shows exists, has a description and is small.

Whether they show today's catalogue is only a warning: if you add a problem, you need not take all of them again.
"""

import json
import re
import warnings

from app.learning.lessons.lesson_files import read_order
from app.problems.tracks import read_tracks
from frontend.screenshots import MAX_BYTES, SHOWN, TARGET
from tests.browser.browser import CHECKOUT

AGAIN = "python -m frontend.screenshots"
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+\.png)\)")
_SHOWN = [
    (page.relative_to(CHECKOUT).as_posix(), page.parent / target, description)
    for page in (CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md")))
    for description, target in _PICTURE.findall(page.read_text(encoding="utf-8"))
]


def test_every_picture_that_is_shown_exists_and_is_described() -> None:
    faults = [f"{page} shows {picture.name}; run: {AGAIN}" for page, picture, _ in _SHOWN if not picture.is_file()]
    faults += [
        f"{page} describes {picture.name} in under 4 words" for page, picture, words in _SHOWN if words.count(" ") < 3
    ]
    assert faults == []


def test_pages_are_shown() -> None:
    assert {"verdict", "workbench", "course", "gradebook", "insight", "roster"} <= {each.stem for _, each, _ in _SHOWN}


def test_every_picture_is_small() -> None:
    assert [each.name for each in sorted(TARGET.glob("*.png")) if each.stat().st_size > MAX_BYTES] == []


def test_pictures_that_show_another_catalogue_are_warned_about() -> None:
    shown = json.loads(SHOWN.read_text(encoding="utf-8"))
    tracks = read_tracks(CHECKOUT / "problems")
    today = {
        "problems": sum(len(track.problems) for track in tracks),
        "lessons": len(read_order(CHECKOUT / "lessons")),
        "tracks": len(tracks),
    }
    assert shown.keys() == today.keys()
    if shown != today:
        warnings.warn(f"the pictures show {shown}, and today it is {today}; run: {AGAIN}", stacklevel=1)
