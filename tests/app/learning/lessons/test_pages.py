"""The pages of lessons and their REST, on a service with one lesson."""

import base64
import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from app.learning.browse.catalogue_listing import list_problems
from app.learning.browse.journey import lines_of
from app.learning.browse.lesson_list import list_lessons
from app.learning.lessons.lesson_files import Lessons
from app.learning.lessons.next_stop import NextStop, next_stop
from app.problems.catalogue import Catalogue
from tests.app.accounts.people import SITE, browser, form_token
from tests.app.learning.lessons.folders import ORDER, TEXT, write_lesson
from tests.lessons.drawing import rect, svg
from tests.lessons.shipped_lessons import SHIPPED
from tests.shipped.lesson_rules import PROBLEMS

pytestmark = pytest.mark.anyio
HTML = {"Accept": "text/html"}


@pytest.fixture
async def service(shared_service, tmp_path):
    before = shared_service.services[Lessons]
    shared_service.services.add(Lessons.load(write_lesson(tmp_path)))
    yield shared_service
    shared_service.services.add(before)


async def test_the_list_has_each_lesson_and_its_problems(service):
    page = (await service.http.get("/lessons", headers=HTML)).text
    assert '<a href="/lessons/first">First</a>' in page
    assert '<a href="/problems/add_one">Add one</a>' in page
    assert "0 of 1 read" in page


async def test_each_lesson_that_ships_has_a_figure_and_its_track_in_the_list():
    listing = list_problems(Catalogue.load(PROBLEMS).sections(), {})
    cards = list_lessons(listing, SHIPPED.all(), {SHIPPED.all()[0].slug})
    assert [card.number for card in cards if card.is_read] == [1]
    for card in cards:
        # Without its text, because at this size nobody could read it.
        assert {each.tag for each in ElementTree.fromstring(card.drawing)} == {"rect"}, card.lesson.slug
        assert card.track is not None
        assert card.lesson.problems[0] in [row.slug for row in card.track.rows]


async def test_a_lesson_shows_its_parts(service):
    page = (await service.http.get("/lessons/first", headers=HTML)).text
    assert "One array of 4,096 bytes, or 4,096." in page
    assert '<a href="#s-its-shape">Its shape</a>' in page
    assert '<h2 id="s-its-shape">' in page
    assert '<figure class="drawn"><svg ' in page
    assert "<figcaption><p>The array</p>" in page
    assert '<p class="wrong">"It is flat."</p>' in page
    assert "2 minutes" in page
    assert re.search(
        r"<summary>Show the answer</summary><div>\s*<p><strong>4,096 bytes</strong></p>\s*<p>It is whole. Try <a", page
    )
    assert "Measured with JAX 0.10.2 on 8 host devices" in page
    assert page.count('href="/problems/add_one"') == 2
    assert "{{" not in page


def replies(page: str) -> list[str]:
    """One for each question, empty without an answer."""
    found = re.findall(r'<section class="question".*?</section>', page, re.DOTALL)
    notices = [re.search(r'<p class="notice (\w+)" role="status">(.*?)</p>', each, re.DOTALL) for each in found]
    return [f"{each[1]}: {each[2]}" if each else "" for each in notices]


async def test_the_address_has_the_answers_to_the_questions(service):
    async def show(query: str) -> str:
        found = await service.http.get(f"/lessons/first{query}", headers=HTML)
        assert found.status_code == 200
        return found.text

    assert replies(await show("")) == ["", "", ""]
    right = "good: That is right."
    page = await show("?q1=4096&q2=1&q3=P(data)")
    first, second, third = replies(page)
    assert (first, second.partition(" ")[0], third.partition(":")[0]) == (right, "bad:", "warn")
    assert '<input id="question-3-answer" name="q3" value="P(data)"' in page
    assert 'aria-describedby="question-3-text question-3-hint" aria-invalid="true"' in page
    assert '<input type="radio" name="q2" value="1" required checked> <span>neither</span>' in page
    # An answer to one question does not lose those to the others.
    assert page.count('<input type="hidden" name="q1" value="4096">') == 2
    assert replies(await show("?q2=2")) == ["", right, ""]
    assert replies(await show("?q3=P('data')")) == ["", "", right]
    # What somebody writes is neither HTML nor Markdown: an address that is passed on must not bring in a link.
    page = await show("?q1=<script>&q3=[here](https://example.org)")
    assert "<script>" not in page
    assert "[here](https://example.org)&#39; is not a PartitionSpec." in page
    assert '"https://example.org"' not in page


async def test_three_corrections_are_open_and_the_others_folded_together(service, tmp_path):
    box = TEXT[TEXT.index("::: misreading") : TEXT.index("::: question number")]
    more = [box.replace("1.2 0.14", f"3.{n}").replace("flat", f"flat {'n' * n}") for n in range(1, 6)]
    more.insert(4, "Then this.\n\n")
    service.services.add(Lessons.load(write_lesson(tmp_path / "more", text=TEXT.replace(box, box + "".join(more)))))
    page = (await service.http.get("/lessons/first", headers=HTML)).text
    assert page.count('<div class="misreading" role="note">') == 3
    folded = re.findall(r'<details class="misreading">\s*<summary>(.*?)</summary>(.*?)</details>', page, re.DOTALL)
    assert [summary for summary, _ in folded] == ["Common mistakes here", "A common mistake here"]
    assert [re.findall("It is flat n+", inside) for _, inside in folded] == [
        ["It is flat nnn", "It is flat nnnn"],
        ["It is flat nnnnn"],
    ]
    assert page.count("<p>It is not.</p>") == 6


async def test_an_aside_stands_beside_the_text(service, tmp_path):
    text = TEXT.replace("::: misreading", "::: aside\nSee *add_one*.\n:::\n\n::: misreading")
    service.services.add(Lessons.load(write_lesson(tmp_path / "noted", text=text)))
    page = (await service.http.get("/lessons/first", headers=HTML)).text
    assert '<div class="side-note" role="note"><p>See <a href="/problems/add_one"' in page


async def test_a_right_answer_opens_the_explanation(service):
    for query, is_open in (("", 0), ("?q1=4096", 1), ("?q1=1", 0)):
        page = (await service.http.get(f"/lessons/first{query}", headers=HTML)).text
        assert page.count("<details open><summary>Show the answer") == is_open


async def test_a_problem_that_is_not_served_is_no_link(service, tmp_path):
    folder = tmp_path / "other"
    lessons = write_lesson(folder, order=ORDER.replace("add_one", "gone_one"), text=TEXT.replace("add_one", "gone_one"))
    service.services.add(Lessons.load(lessons))
    for path in ("/lessons", "/lessons/first"):
        found = await service.http.get(path, headers=HTML)
        assert found.status_code == 200
        assert "/problems/gone_one" not in found.text


def named(path: str, name: str, links: str) -> str:
    """Links after their name, as the list of problems has them, or as *About* on the page of a problem."""
    return f"{name}: {links}" if path == "/problems" else f"<dt>{name}</dt><dd>{links}</dd>"


@pytest.mark.parametrize("path", ["/problems/add_one", "/problems"])
async def test_a_page_names_the_lessons_that_prepare_its_problems(service, path):
    first = '<a href="/lessons/first">First</a>'
    assert named(path, "Lesson", first) in (await service.http.get(path, headers=HTML)).text
    (lesson,) = service.services[Lessons].all()
    both = Lessons([lesson, replace(lesson, slug="second", title="Second & last")])
    service.services.add(both)
    page = (await service.http.get(path, headers=HTML)).text
    assert named(path, "Lessons", f'{first}, <a href="/lessons/second">Second &amp; last</a>') in page
    service.services.add(Lessons([replace(lesson, problems=("other",))]))
    page = (await service.http.get(path, headers=HTML)).text
    assert "Lesson: " not in page
    assert "/lessons/first" not in page


async def test_the_front_page_names_the_first_lesson_for_where_a_guest_starts(service):
    page = (await service.http.get("/", headers=HTML)).text
    assert 'Read the lesson <a href="/lessons/first">First</a> first.' in page


async def test_each_shipped_lesson_ends_in_a_button_to_the_next_if_no_problem_is_served(shared_service):
    lessons = [lesson.slug for lesson in shared_service.services[Lessons].all()]
    found = []
    for slug in lessons:
        page = await shared_service.http.get(f"/lessons/{slug}", headers=HTML)
        assert page.status_code == 200
        end = page.text[page.text.index('<form class="read"') :]
        found += re.findall(r'<input type="hidden" name="next" value="/lessons/([^"]+)">', end)
    assert found == lessons[1:]


def test_a_lesson_leads_to_the_stop_after_it_in_the_journey():
    """Whatever is served, this is the stop that follows the lesson's own on the line."""
    catalogue = Catalogue.load(PROBLEMS)
    lines = lines_of(list_problems(catalogue.sections(), {}), SHIPPED.all(), ())
    stops = [stop for line in lines for stop in line.stops]
    after = {stop.slug: following for stop, following in pairwise(stops) if stop.is_lesson}
    for lesson in SHIPPED.all():
        found = next_stop(lesson, SHIPPED.all(), catalogue.titles())
        assert found == NextStop(after[lesson.slug].href, after[lesson.slug].title)


async def test_the_button_at_the_end_marks_the_lesson_as_read_and_goes_on(service):
    async with browser(service) as http:
        page = (await http.get("/lessons/first", headers=HTML)).text
        end = page[page.index('<form class="read"') : page.index("</main>")]
        assert re.findall(r"<(?:button|a) [^>]*>(.*?) <", end) == ["Mark as read. Next: Add one"]
        for written, location in (("/problems/add_one", "/problems/add_one"), ("//a.example", "/lessons/first#read")):
            form = {"form_token": form_token(page), "read": "yes", "next": written}
            answer = await http.post("/lessons/first/read", data=form, headers=SITE | HTML)
            assert (answer.status_code, answer.headers["location"]) == (303, location)
        page = (await http.get("/lessons/first", headers=HTML)).text
    assert '<a class="button primary large" href="/problems/add_one">Next: Add one' in page


async def test_an_answer_has_a_figure_with_ids_of_its_own(service, tmp_path):
    text = TEXT.replace("Try *add_one*.\n", "Try *add_one*.\n\n![Whole](figures/array.svg)\n")
    service.services.add(Lessons.load(write_lesson(tmp_path / "drawn", text=text)))
    page = (await service.http.get("/lessons/first", headers=HTML)).text
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert 'aria-labelledby="answer-1-t answer-1-d"' in page
    assert re.search(r"<details><summary>Show the answer</summary>.*?<figcaption><p>Whole</p>", page, re.DOTALL)


async def test_an_unknown_lesson_is_not_found(service):
    page = await service.http.get("/lessons/first2", headers=HTML)
    assert page.status_code == 404
    assert "There is no lesson &#39;first2&#39; (did you mean &#39;first&#39;?)" in page.text
    found = await service.http.get("/api/v1/lessons/first2")
    assert (found.status_code, found.json()["slug"]) == (404, "lesson-not-found")


async def test_rest_has_the_text_with_its_numbers(service):
    listed = (await service.http.get("/api/v1/lessons")).json()["lessons"]
    (summary,) = listed
    assert summary == {
        "slug": "first",
        "title": "First",
        "summary": "One array.",
        "page": "/lessons/first",
        "problems": ["add_one"],
    }
    detail = (await service.http.get("/api/v1/lessons/first")).json()
    assert detail.items() >= summary.items()
    assert detail["markdown"].startswith("One array of 4,096 bytes, or 4,096.")
    assert (detail["jax_version"], detail["devices"]) == ("0.10.2", 8)
    assert detail["claims"] == [
        {"name": "size", "value": 4096, "unit": "bytes", "text": "4,096 bytes", "what": "The whole array."}
    ]


async def test_a_start_reports_lessons_that_are_left_out(start_service, tmp_path):
    folder = write_lesson(tmp_path, text="One array.")
    async with start_service(lessons=folder) as service:
        assert service.services[Lessons].all() == []
        assert (await service.http.get("/lessons", headers=HTML)).text.count("This server has no lessons.") == 1


async def test_a_wrong_answer_says_what_it_shows(service):
    page = (await service.http.get("/lessons/first?q2=1", headers=HTML)).text
    assert replies(page)[1].endswith("open the answer below. Its <em>rows</em> are.")


async def test_a_lesson_can_be_downloaded_as_a_notebook(service):
    page = (await service.http.get("/lessons/first", headers=HTML)).text
    assert 'href="/lessons/first/lesson.ipynb"' in page
    found = await service.http.get("/lessons/first/lesson.ipynb")
    assert found.headers["content-disposition"] == 'attachment; filename="first.ipynb"'
    notebook = found.json()
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    devices, program = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert 'jax.config.update("jax_num_cpu_devices", 8)' in devices["source"]
    assert program["source"] == "print((2, 4))"
    assert program["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "(2, 4)\n"}]
    text = "\n".join(cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    assert text.startswith("# First\n\nOne array.\n\nFrom [http")
    assert "One array of 4,096 bytes, or 4,096." in text
    assert re.search(r'<img alt="The array" src="data:image/svg\+xml;base64,\S+">\n\nThe array', text)
    assert '> **You may have read:** "It is flat."\n>\n> **Measured here:** It is not.' in text
    assert re.search(r"It is whole\. Try \[Add one\]\(https?://[^/]+/problems/add_one\)", text)
    assert "<details><summary>Answer</summary>\n\n4,096 bytes" in text


async def test_a_notebook_links_only_to_problems_that_are_served(service, tmp_path):
    text = TEXT.replace("It is whole. Try *add_one*.", "It is whole. Try *add_two* and it.")
    service.services.add(Lessons.load(write_lesson(tmp_path / "other", text=text)))
    cells = (await service.http.get("/lessons/first/lesson.ipynb")).json()["cells"]
    text = "\n".join(cell["source"] for cell in cells)
    assert "Try *add_two* and it." in text


async def test_a_notebook_of_no_lesson_is_not_found(service):
    assert (await service.http.get("/lessons/none/lesson.ipynb")).status_code == 404


async def test_the_figures_of_a_notebook_have_their_own_styles(service, tmp_path):
    drawn = svg("a", "Array", "One.", 40, [rect(0, 0, 360, 40, "held of-1")])
    steps = "::: steps\nIt\n\n![One: it is whole.](figures/array.svg)\n![Two: as before.](figures/array.svg)\n:::"
    text = TEXT.replace("![The array](figures/array.svg)", steps)
    service.services.add(Lessons.load(write_lesson(tmp_path / "other", text=text, svg=drawn)))
    cells = (await service.http.get("/lessons/first/lesson.ipynb")).json()["cells"]
    written = "\n".join(cell["source"] for cell in cells)
    (first, _) = re.findall(r'<img alt="[^"]*" src="data:image/svg\+xml;base64,(\S+)">\n\n\*\*', written)
    root = ElementTree.fromstring(base64.b64decode(first))
    assert (root.get("viewBox"), root.get("width"), root.get("class")) == ("0 0 720 40", "720", "drawn")
    style = root.findtext("{http://www.w3.org/2000/svg}style")
    assert style is not None
    assert re.search(r"\.of-1 \{ --own: #\w{6}; \}", style)
    # Only what an element gives itself is left to be looked up.
    assert set(re.findall(r"var\(--([\w-]+)\)|(light-dark)", style)) == {("own", "")}
