"""Every way in names the same first step: the first problem of problems/tracks.toml, and the lesson before it."""

import re
import tomllib

import pytest

from app.core.settings import CHECKOUT
from tests.app.accounts.people import browser

pytestmark = pytest.mark.anyio
TRACKS = tomllib.loads((CHECKOUT / "problems" / "tracks.toml").read_text(encoding="utf-8"))["tracks"]
LESSONS = tomllib.loads((CHECKOUT / "lessons" / "order.toml").read_text(encoding="utf-8"))["lessons"]
FIRST = TRACKS[0]["problems"][0]
TITLE = tomllib.loads((CHECKOUT / "problems" / FIRST / "problem.toml").read_text(encoding="utf-8"))["title"]


async def test_the_pages_name_it(start_service):
    async with start_service(problems=CHECKOUT / "problems") as service, browser(service) as http:
        front, catalogue, lesson = [
            (await http.get(path, headers={"Accept": "text/html"})).text
            for path in ("/", "/problems", f"/lessons/{LESSONS[0]['slug']}")
        ]
    assert re.findall(r'<a[^>]* href="([^"]+)">Start here: ([^<]+?) <', front) == [(f"/problems/{FIRST}", TITLE)]
    assert f'Read the lesson <a href="/lessons/{LESSONS[0]["slug"]}">' in front
    picked = r'href="/problems/(\w+)"><span class="pick-label">Start here</span> <strong>([^<]+)</strong>'
    assert re.findall(picked, catalogue) == [(FIRST, TITLE)]
    assert re.findall(r'class="stop [^"]*" data-stop="[^"]*">\s*<a href="([^"]+)"', catalogue)[:2] == [
        f"/lessons/{LESSONS[0]['slug']}",
        f"/problems/{FIRST}",
    ]
    to_solve = lesson[lesson.index('id="onward"') :]
    assert re.findall(r'href="/problems/(\w+)"', to_solve)[0] == FIRST


def test_the_lessons_and_the_tutorial_name_it():
    assert LESSONS[0]["problems"][0] == FIRST
    tutorial = (CHECKOUT / "docs" / "tutorials" / "student.md").read_text(encoding="utf-8")
    assert f"*Start here*: *{TITLE}*" in tutorial
