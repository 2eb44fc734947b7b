"""A reported fault reaches the instructors, safely, and within a limit."""

import re

import pytest

from app.accounts.service import Accounts
from app.core.errors import TooManyReports
from app.learning.workbench.reports import FaultReports
from tests.app.accounts.people import SITE, browser, form_token, send_form, sign_up

pytestmark = pytest.mark.anyio
FORM = "/problems/add_one/report"
TEXT = "Case 2 is wrong.\n<script>alert(1)</script>\x1b[31m\u202e"


async def test_what_a_student_reports_is_listed_for_instructors_until_it_is_done(either):
    async with browser(either) as ada, browser(either) as teacher:
        await sign_up(either, ada, "ada")
        await sign_up(either, teacher, "teacher", "instructor")
        assert f'<a href="{FORM}">' in (await ada.get("/problems/add_one")).text
        sent = await send_form(ada, FORM, FORM, text=TEXT)
        assert sent.headers["location"] == f"{FORM}?sent=1"
        assert "Thank you." in (await ada.get(sent.headers["location"])).text

        page = (await teacher.get("/reports")).text
        for words in ("Case 2 is wrong.", "ada", "Add one", "&lt;script&gt;"):
            assert words in page
        assert not {"\x1b", "\u202e"} & set(page)
        assert "<script>alert" not in page
        action = re.search(r'action="(/reports/\w+/done)"', page)[1]
        assert (await send_form(teacher, "/reports", action, done="yes")).status_code == 303
        assert "Open again" in (await teacher.get("/reports")).text
        assert (await send_form(teacher, "/reports", action, done="no")).status_code == 303
        assert "Mark as done" in (await teacher.get("/reports")).text
        assert "Case 2 is wrong." in (await ada.get("/api/v1/me/export")).text

        refused = await ada.get("/reports")
        assert refused.status_code == 403
        assert "Reported faults" not in (await ada.get("/account")).text
        token = form_token((await ada.get("/account")).text)
        assert (await ada.post(action, data={"form_token": token}, headers=SITE)).status_code == 403


@pytest.mark.parametrize("text", ["", "  ", "x" * 4001, "a\0b"])
async def test_an_unusable_text_returns_with_the_reason(service, text):
    async with browser(service) as ada:
        await sign_up(service, ada, "ada")
        answer = await send_form(ada, FORM, FORM, text=text)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text


async def test_a_text_is_kept_if_the_form_is_out_of_date(service):
    async with browser(service) as ada:
        await sign_up(service, ada, "ada")
        answer = await ada.post(FORM, data={"form_token": "old", "text": "Case 2 is wrong."}, headers=SITE)
        listed = (await service.http.get("/api/v1/reports", headers=service.bearer)).json()
    assert answer.status_code == 403
    assert "The form is out of date" in answer.text
    assert "Case 2 is wrong.</textarea>" in answer.text
    assert listed["reports"] == []


async def test_ten_a_day_are_enough(either):
    owner = await either.services[Accounts].ensure_owner()
    for number in range(10):
        await either.services[FaultReports].add(owner, "add_one", f"fault {number}")
    with pytest.raises(TooManyReports, match="Send this one tomorrow"):
        await either.services[FaultReports].add(owner, "add_one", "one more")
    assert len(await either.services[FaultReports].open_first()) == 10


async def test_over_rest_an_instructor_reads_them_in_pages_and_marks_them(either):
    owner = await either.services[Accounts].ensure_owner()
    for number in range(3):
        await either.services[FaultReports].add(owner, "add_one", f"fault {number}")

    async def listed(**params: object) -> dict:
        answer = await either.http.get("/api/v1/reports", params=params, headers=either.bearer)
        assert answer.status_code == 200, answer.text
        return answer.json()

    first = await listed(limit=2)
    assert [each["text"] for each in first["reports"]] == ["fault 2", "fault 1"]
    rest = await listed(limit=2, before=first["next"])
    assert ([each["text"] for each in rest["reports"]], rest["next"]) == (["fault 0"], None)
    url = f"/api/v1/reports/{rest['reports'][0]['id']}"
    marked = await either.http.put(url, json={"done": True}, headers=either.bearer)
    assert marked.json()["done_at"] is not None
    assert [each["text"] for each in (await listed(done=True))["reports"]] == ["fault 0"]
    assert len((await listed(done=False, problem="add_one"))["reports"]) == 2
    assert (await listed(problem="add_two"))["reports"] == []
    opened = await either.http.put(url, json={"done": False}, headers=either.bearer)
    assert opened.json()["done_at"] is None
    for wrong in ("0" * 32, "x"):
        answer = await either.http.put(f"/api/v1/reports/{wrong}", json={"done": True}, headers=either.bearer)
        assert (answer.status_code, answer.json()["slug"]) == (404, "report-not-found")
