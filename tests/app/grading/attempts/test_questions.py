"""Mode answer in the service: each user's question, the stored answers, and what is shown when."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from grader.judging.judge import Judge
from tests.app.accounts.people import SITE, browser, form_token, sign_up
from tests.app.conftest import Service, StartService
from tests.grader.modes.answer.answer_package import FILES, InHere

pytestmark = pytest.mark.anyio
PROBLEM = "/api/v1/problems/shard_bytes"


@pytest.fixture
async def asking(start_service: StartService, tmp_path: Path, database_url: str | None) -> AsyncIterator[Service]:
    folder = tmp_path / "problems" / "shard_bytes"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    grader = Judge(InHere(), b"secret", tmp_path / "cache")
    async with start_service(grader, database_url=database_url) as service:
        async with asyncio.timeout(120):
            while (await ask(service, "GET", "/question")).status_code != 200:
                await asyncio.sleep(0.05)
        yield service


async def ask(service: Service, method: str, path: str, **options: Any) -> Any:
    return await service.http.request(
        method, f"{PROBLEM}{path}", headers=service.bearer | options.pop("headers", {}), **options
    )


async def question(service: Service) -> Any:
    return (await ask(service, "GET", "/question")).json()


async def send(service: Service, source: object, **options: Any) -> Any:
    return await ask(service, "POST", "/attempts?wait=60", json={"source": json.dumps(source)}, **options)


async def submit(http: httpx.AsyncClient, fields: dict[str, str]) -> httpx.Response:
    token = form_token((await http.get("/problems/shard_bytes")).text)
    return await http.post("/problems/shard_bytes", data={"form_token": token, **fields}, headers=SITE)


async def stored_of(service: Service, attempt: Any) -> Any:
    async with service.services[Database].reading() as session:
        row = await session.get(AttemptRow, attempt["id"])
    assert row is not None
    return json.loads(row.source)


def right(asked: Any) -> dict[str, Any]:
    return {"bytes": asked["parameters"]["rows"] * 4 // asked["parameters"]["fsdp"], "spec": "P(('fsdp',), None)"}


async def test_a_wrong_answer_leads_to_new_numbers_and_a_right_one_to_the_explanation(asking: Service) -> None:
    first = await question(asking)
    assert (first["try"], first["state"], first["expected"], first["explanation"]) == (1, "open", None, None)
    assert [each["id"] for each in first["answers"]] == ["bytes", "spec"]
    assert str(first["parameters"]["fsdp"]) in first["question"]
    wrong = (await send(asking, right(first) | {"bytes": "7 B"})).json()
    assert wrong["verdict"]["reason"] == "wrong_value"
    stored = await stored_of(asking, wrong)
    assert (stored["try"], stored["variant"], stored["parameters"]) == (1, first["variant"], first["parameters"])
    assert stored["answers"] == {"bytes": 7, "spec": "P('fsdp')"}

    second = await question(asking)
    assert (second["try"], second["state"]) == (2, "open")
    assert second["parameters"] != first["parameters"]
    accepted = (await send(asking, {"answers": right(second), "try": 2})).json()
    assert (accepted["verdict"]["status"], accepted["score"]) == ("accepted", 100)

    over = await question(asking)
    assert (over["state"], over["variant"], over["try"]) == ("accepted", second["variant"], 2)
    assert over["expected"] == {"bytes": right(second)["bytes"], "spec": "P('fsdp')"}
    assert str(second["parameters"]["fsdp"]) in over["explanation"]


async def test_what_cannot_be_read_is_refused_and_is_not_a_try(asking: Service) -> None:
    refused = await send(asking, {"bytes": "1,00", "spec": ""})
    assert (refused.status_code, refused.json()["slug"]) == (409, "answers-unfit")
    assert refused.json()["faults"].keys() == {"bytes", "spec"}
    assert "Bytes on one device: A comma" in refused.json()["detail"]
    no_json = await ask(asking, "POST", "/attempts", json={"source": "bytes = 1"})
    assert (no_json.status_code, no_json.json()["slug"]) == (409, "answers-unfit")
    changed = await send(asking, {"answers": right(await question(asking)), "try": 2})
    assert (changed.status_code, changed.json()["slug"]) == (409, "question-changed")
    run = await ask(asking, "POST", "/runs", json={"source": "{}"})
    assert (run.status_code, run.json()["slug"]) == (409, "nothing-to-run")
    assert (await question(asking))["try"] == 1
    assert (await asking.http.get("/api/v1/attempts", headers=asking.bearer)).json()["attempts"] == []


async def test_a_sender_cannot_choose_the_question(asking: Service) -> None:
    asked = await question(asking)
    forged = {"answers": {"bytes": 4, "spec": "P('fsdp')"}, "parameters": {"rows": 8, "fsdp": 8}}
    stored = (await send(asking, forged)).json()
    assert (await stored_of(asking, stored))["parameters"] == asked["parameters"]
    other = await send(asking, forged | {"variant": 999})
    assert (other.status_code, other.json()["slug"]) == (409, "question-changed")


async def test_the_same_key_is_the_same_attempt_even_after_the_question_changed(asking: Service) -> None:
    answers = {"bytes": 1, "spec": "P()"}
    first = (await send(asking, answers, headers={"Idempotency-Key": "k"})).json()
    assert (await question(asking))["try"] == 2
    again = (await send(asking, answers, headers={"Idempotency-Key": "k"})).json()
    assert again["id"] == first["id"]
    other = await send(asking, answers | {"bytes": 2}, headers={"Idempotency-Key": "k"})
    assert (other.status_code, other.json()["slug"]) == (409, "idempotency-key-reused")


async def test_giving_up_shows_the_answers(asking: Service) -> None:
    assert (await ask(asking, "POST", "/give-up", json={"confirm": True})).status_code == 200
    over = await question(asking)
    assert over["state"] == "given_up"
    assert over["expected"]["bytes"] == right(over)["bytes"]


async def test_answers_are_not_compared_with_each_other(asking: Service) -> None:
    for path in ("/similarity", f"/similarity/{'0' * 32}/{'1' * 32}"):
        page = await asking.http.get(f"/problems/shard_bytes{path}", headers=asking.bearer)
        assert page.status_code == 409
    refused = await ask(asking, "GET", "/similarity")
    assert (refused.status_code, refused.json()["slug"]) == (409, "nothing-to-compare")
    insight = await asking.http.get("/problems/shard_bytes/insight", headers=asking.bearer)
    assert insight.status_code == 200
    assert "/similarity" not in insight.text


async def test_code_has_no_question(asking: Service) -> None:
    missing = await asking.http.get("/api/v1/problems/add_one/question", headers=asking.bearer)
    assert (missing.status_code, missing.json()["slug"]) == (404, "question-not-found")


async def test_until_they_are_drawn_there_is_no_question(start_service: StartService, tmp_path: Path) -> None:
    folder = tmp_path / "problems" / "shard_bytes"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    async with start_service() as service:
        for response in (await ask(service, "GET", "/question"), await send(service, {"bytes": 1, "spec": "P()"})):
            assert (response.status_code, response.json()["slug"]) == (503, "questions-not-drawn")
            assert response.headers["retry-after"] == "30"
        page = await service.http.get("/problems/shard_bytes")
        assert "The questions of this problem are being drawn." in page.text


async def test_every_guest_sees_the_same_sample_without_its_answers(asking: Service) -> None:
    async with browser(asking) as first, browser(asking) as second:
        pages = [(await http.get("/problems/shard_bytes")).text for http in (first, second)]
        samples = [
            re.search(r'<section class="prose question" aria-labelledby="question-title">.*?</section>', page, re.S)
            for page in pages
        ]
        assert samples[0] is not None
        assert samples[1] is not None
        assert "A sample question" in samples[0][0]
        assert samples[0][0] == samples[1][0]
        for words in ("<strong>This is a sample.</strong>", "is not graded", "Sign in</a> to get a question"):
            assert words in pages[0]
        assert 'name="answer.bytes"' in pages[0]
        for hidden in ('value="submit"', "Explanation for these numbers", 'name="try"'):
            assert hidden not in pages[0]
        refused = await submit(first, {"action": "submit", "answer.bytes": "1", "answer.spec": "P()"})
        assert refused.status_code == 401
        assert "Nothing was submitted" in refused.text


async def test_the_page_has_a_form_and_no_answer(asking: Service) -> None:
    async with browser(asking) as ada:
        await sign_up(asking, ada, "ada")
        page = (await ada.get("/problems/shard_bytes")).text
        assert 'name="answer.bytes"' in page
        for hidden in ('name="source"', "Explanation for these numbers", "You count the whole array", "workbench.js"):
            assert hidden not in page

        fields = {"action": "submit", "try": "1", "answer.bytes": "1,00", "answer.spec": "P('fsdp')"}
        refused = await submit(ada, fields)
        assert refused.status_code == 409
        assert 'value="1,00"' in refused.text
        assert "may separate thousands" in refused.text
        assert refused.text.count('aria-invalid="true" autofocus') == 1

        fields |= {"answer.bytes": "1"}
        sent = await submit(ada, fields)
        assert sent.status_code == 303
        # The card keeps the question that was graded, with each answer in its field.
        async with asyncio.timeout(120):
            while "1 of 2 right, 50 points" not in (card := (await ada.get(sent.headers["location"])).text):
                assert "Your answers are being graded." in card
                assert 'http-equiv="refresh"' in card
                await asyncio.sleep(0.05)
        assert 'http-equiv="refresh"' not in card
        for field, value, is_right in (("bytes", "1 byte", "no"), ("spec", "P(&#39;fsdp&#39;)", "yes")):
            graded = (
                rf'class="field" data-right="{is_right}">\s*<label for="answer.{field}">.*?value="{re.escape(value)}"'
            )
            assert re.search(graded, card, re.S), field
        assert re.search(r'id="write.bytes"><span aria-hidden="true">✗</span> Wrong', card)
        assert card.count(" readonly") == 2
        assert 'href="/problems/shard_bytes#answer.bytes" data-again' in card
        for hidden in ('value="submit"', "Explanation for these numbers", "try 2"):
            assert hidden not in card

        page = (await ada.get("/problems/shard_bytes")).text
        assert "Your question, try 2" in page
        assert 'name="try" value="2"' in page
        # Beside each field stands how the last answer was graded.
        assert re.search(r'id="last.bytes" data-right="no">.*?<code>1 byte</code> was wrong', page, re.S)
        assert re.search(r'id="last.spec" data-right="yes">.*?was right', page, re.S)
        assert 'aria-describedby="fault.bytes write.bytes last.bytes"' in page
        attempt = (
            await ada.get(f"/attempts/{sent.headers['location'].partition('=')[2].removesuffix('#workbench')}")
        ).text
        assert 'href="/problems/shard_bytes#answer.bytes">Answer again, with new numbers' in attempt
        assert re.search(r"Bytes on one device</th><td><code>1 byte</code>.*?</span> wrong</span>", attempt, re.S)
        stale = await submit(ada, fields)
        assert stale.status_code == 409
        assert "Yours is now that of try 2" in stale.text

        await ada.post(
            "/problems/shard_bytes/give-up",
            data={"form_token": form_token(page), "confirm": "yes"},
            headers=SITE,
        )
        over = (await ada.get("/problems/shard_bytes")).text
        assert "Explanation for these numbers" in over
        assert 'name="answer.bytes"' not in over
