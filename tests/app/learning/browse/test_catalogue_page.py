"""The page with all problems, at its address and without a script."""

import re
import shutil
from uuid import uuid4

import pytest

from app.accounts.caller import User
from app.accounts.service import Accounts
from app.core.database import Database
from app.grading.attempts.solved_counts import SolvedCounts
from tests.app.accounts.people import browser, sign_in
from tests.app.grading.attempts.handing_in import accepted, hand_in
from tests.grader.modes.answer.answer_package import FILES

pytestmark = pytest.mark.anyio
TRACKS = '[[tracks]]\nid = "a"\ntitle = "Adding & more"\nteaches = "Sums <of> numbers."\nproblems = ["add_one"]\n'


async def page_of(http, path="/problems"):
    answer = await http.get(path)
    assert answer.status_code == 200
    return answer.text


def row_of(page, slug="add_one"):
    """The row of a problem, from its first tag to its last."""
    [row] = [
        each
        for each in re.findall(r"<li class=\"row\".*?</li>\s*\n(?=\s*(?:<li|</ol))", page, re.DOTALL)
        if f'href="/problems/{slug}"' in each
    ]
    return row


async def test_it_shows_tracks_with_what_they_teach(start_service, tmp_path, package):
    (tmp_path / "problems" / "tracks.toml").write_text(TRACKS)
    async with start_service() as service:
        page = await page_of(service.http)
    assert "1. Adding &amp; more <" in page
    assert "Sums &lt;of&gt; numbers." in page
    assert 'value="a"' in page


async def test_a_guest_is_told_where_to_start_and_of_no_state(service):
    page = await page_of(service.http)
    assert "Start here" in page
    assert 'name="state"' not in page
    assert "solved" not in page


async def test_a_reader_sees_state_and_best_score(service):
    owner = await service.services[Accounts].ensure_owner()
    await sign_in(service)
    assert "new" in row_of(await page_of(service.http))
    await hand_in(service.services[Database], User(owner.id, owner.name, owner.role), accepted(None))
    page = await page_of(service.http)
    assert "1 of 1 solved" in page
    assert "solved" in row_of(page)
    assert "100" in row_of(page)
    assert "You have solved every problem." in page


async def test_the_address_filters_and_the_form_shows_how(service):
    page = await page_of(service.http, "/problems?q=nothing+like+%3Cit%3E&difficulty=easy")
    assert 'value="nothing like &lt;it&gt;"' in page
    assert '<option value="easy" selected>' in page
    assert "0 of 1 problems" in page
    assert re.search(r"data-row[^>]* hidden>", page)
    assert "No problem matches" in page
    page = await page_of(service.http, "/problems?difficulty=easy")
    assert not re.search(r"data-row[^>]* hidden>", page)
    assert "1 of 1 problems" in page


async def test_without_problems_it_says_so(start_service, tmp_path, package):
    (tmp_path / "empty").mkdir()
    async with start_service(problems=tmp_path / "empty") as service:
        assert "No problems loaded" in await page_of(service.http)
        assert "Start here" not in await page_of(service.http, "/")


async def test_a_guest_starts_with_the_first_problem_of_the_tracks(start_service, tmp_path, package):
    """Its mode does not matter: a guest can run code, and sees a sample of a question."""
    folder = tmp_path / "problems" / "shard_bytes"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    track = TRACKS.replace('["add_one"]', '["shard_bytes", "add_one"]')
    (tmp_path / "problems" / "tracks.toml").write_text(track)
    for runs, needs in ((100, "Reading and running need no account."), (0, "Reading needs no account.")):
        async with start_service(guest_runs_in_total=runs) as service, browser(service) as http:
            page = await page_of(http, "/")
        assert re.search(r'href="/problems/(\w+)">Start here', page)[1] == "shard_bytes"
        assert needs in page


async def test_a_row_is_one_line_and_opens_to_the_rest(start_service, tmp_path, package):
    (tmp_path / "problems" / "tracks.toml").write_text(TRACKS + "minutes = [25]\n")
    async with start_service() as service:
        service.services[SolvedCounts].by_problem = _five
        row = row_of(await page_of(service.http))
    line, _, more = row.partition("<details>")
    assert ("25 min" in line, "easy" in line, package.manifest.summary in line) == (True, True, False)
    assert package.manifest.summary in more
    assert "Solved by 5 people" in more


async def test_a_problem_names_what_to_solve_before_it_in_the_list_and_on_its_page(start_service, tmp_path, package):
    folder = tmp_path / "problems" / "add_two"
    shutil.copytree(tmp_path / "problems" / "add_one", folder)
    manifest = (folder / "problem.toml").read_text().replace('slug = "add_one"', 'slug = "add_two"')
    manifest = manifest.replace(str(package.manifest.uuid), str(uuid4()))
    (folder / "problem.toml").write_text(f'prerequisites = ["add_one"]\n{manifest}')
    async with start_service() as service:
        row, page = row_of(await page_of(service.http), "add_two"), await page_of(service.http, "/problems/add_two")
    assert 'After <a href="/problems/add_one">' in row
    assert 'Solve first: <a href="/problems/add_one">' in page


async def _five():
    return {"add_one": 5}


async def test_fewer_than_five_who_solved_it_are_not_told(either):
    people = [await either.services[Accounts].add_user(name, "student") for name in ("ada", "bob", "cyd", "dan", "eve")]
    database = either.services[Database]
    for person in people[:4]:
        await hand_in(database, person, accepted(None))
        await hand_in(database, person, accepted(None))
    assert await SolvedCounts(database).by_problem() == {}
    await hand_in(database, people[4], accepted(None))
    counts = SolvedCounts(database)
    assert await counts.by_problem() == {"add_one": 5}


async def test_a_stop_that_a_filter_leaves_out_fades(service):
    stop = re.compile(r'<li class="stop ([^"]*)" data-stop="add_one">\s*<a href="/problems/add_one"')
    page = await page_of(service.http)
    assert "is-off" not in stop.search(page)[1]
    assert 'visually-hidden">, ' not in page
    assert "is-off" in stop.search(await page_of(service.http, "/problems?q=nothing"))[1]


async def test_a_reader_hears_the_state_of_each_stop(service):
    await service.services[Accounts].ensure_owner()
    await sign_in(service)
    assert ">, open</span>" in await page_of(service.http)


async def test_the_front_page_is_for_guests(service):
    async with browser(service) as http:
        page = await page_of(http, "/")
        assert 'href="/problems/add_one"' in page
        assert "Rejected: wrong sharding" in page
        await sign_in(service, http)
        answer = await http.get("/")
        assert (answer.status_code, answer.headers["location"]) == (303, "/problems")
