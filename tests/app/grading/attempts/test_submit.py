"""Submit and run over REST: answers, waiting, listing, cancelling, and whose attempt it is."""

import threading

import pytest

from app.accounts.service import Accounts
from app.grading.queue.null_grader import NullGrader
from grader.core.context import QUIET
from grader.core.errors import Cancelled
from grader.verdicts.verdict import Verdict

pytestmark = pytest.mark.anyio
ATTEMPTS, RUNS = "/api/v1/problems/add_one/attempts", "/api/v1/problems/add_one/runs"


class HeldGrader(NullGrader):
    """Grades when the test lets it, and stops on request."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def judge(self, package, source, context=QUIET, *, hidden=True, draw=None) -> Verdict:
        context.progress("held")
        while not self.go.wait(0.01):
            if context.stop.is_set():
                raise Cancelled("stopped")
        return super().judge(package, source, context, hidden=hidden)


async def test_a_submission_is_answered_at_once_and_found_at_its_location(service):
    response = await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)
    assert response.status_code == 202
    assert response.json()["status"] == "queued"
    found = await service.http.get(response.headers["Location"], params={"wait": 10}, headers=service.bearer)
    assert found.json()["id"] == response.json()["id"]
    assert found.json()["status"] == "finished"


async def test_waiting_answers_with_the_verdict(service, package):
    response = await service.http.post(
        f"{ATTEMPTS}?wait=60", json={"source": package.reference}, headers=service.bearer
    )
    attempt = response.json()
    assert response.status_code == 200
    assert (attempt["kind"], attempt["score"], attempt["verdict"]["status"]) == ("attempt", 100, "accepted")
    assert attempt["version"] == package.version
    assert attempt["created_at"].endswith("Z")


async def test_a_run_is_not_scored(service, package):
    response = await service.http.post(f"{RUNS}?wait=60", json={"source": package.reference}, headers=service.bearer)
    assert (response.json()["kind"], response.json()["score"]) == ("run", None)


async def test_waiting_in_vain_answers_202(start_service):
    async with start_service(HeldGrader()) as service:
        response = await service.http.post(f"{ATTEMPTS}?wait=0.05", json={"source": "x"}, headers=service.bearer)
        assert response.status_code == 202
        assert response.json()["verdict"] is None


async def test_a_running_attempt_is_cancelled_and_its_result_ignored(start_service):
    grader = HeldGrader()
    async with start_service(grader) as service:
        running = (await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).json()["id"]
        queued = (await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).json()["id"]
        for attempt_id in (queued, running):
            url = f"/api/v1/attempts/{attempt_id}"
            assert (await service.http.delete(url, headers=service.bearer)).json()["status"] == "cancelled"
            assert (await service.http.delete(url, headers=service.bearer)).status_code == 200
        grader.go.set()
        third = await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=service.bearer)
        assert third.json()["status"] == "finished"
        for attempt_id in (queued, running):
            found = (await service.http.get(f"/api/v1/attempts/{attempt_id}", headers=service.bearer)).json()
            assert (found["status"], found["verdict"]) == ("cancelled", None)


async def test_a_finished_attempt_cannot_be_cancelled(service):
    done = (await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=service.bearer)).json()
    response = await service.http.delete(f"/api/v1/attempts/{done['id']}", headers=service.bearer)
    assert (response.status_code, response.json()["slug"]) == (409, "attempt-finished")


async def test_pages_of_the_list_neither_repeat_nor_skip(service):
    made = [
        (await service.http.post(f"{RUNS}?wait=60", json={"source": str(number)}, headers=service.bearer)).json()["id"]
        for number in range(5)
    ]
    found, before = [], {}
    while True:
        page = (await service.http.get("/api/v1/attempts", params={"limit": 2} | before, headers=service.bearer)).json()
        found += [attempt["id"] for attempt in page["attempts"]]
        if page["next"] is None:
            break
        before = {"before": page["next"]}
    assert found == made[::-1]


async def test_a_page_after_an_attempt_that_is_none(service):
    answer = await service.http.get("/api/v1/attempts", params={"before": "0" * 32}, headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (404, "attempt-not-found")


async def test_the_list_tells_how_it_went_without_the_verdict(service):
    await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=service.bearer)
    (listed,) = (await service.http.get("/api/v1/attempts", headers=service.bearer)).json()["attempts"]
    assert (listed["status"], listed["verdict_status"], listed["score"]) == ("finished", "rejected", 0)
    assert listed.keys().isdisjoint({"verdict", "source"})
    page = (await service.http.get("/attempts", headers=service.bearer | {"Accept": "text/html"})).text
    assert 'data-status="rejected"' in page


async def test_another_users_attempt_is_not_found(service):
    mine = (await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).json()["id"]
    accounts = service.services[Accounts]
    other = await accounts.add_user("somebody", "student")
    await accounts.preset_token(other, "the-token-of-somebody")
    bearer = {"Authorization": "Bearer the-token-of-somebody"}
    for method, path in (("GET", ""), ("GET", "/events"), ("DELETE", "")):
        response = await service.http.request(method, f"/api/v1/attempts/{mine}{path}", headers=bearer)
        assert (response.status_code, response.json()["slug"]) == (404, "attempt-not-found")
    assert (await service.http.get("/api/v1/attempts", headers=bearer)).json()["attempts"] == []


async def test_one_user_cannot_flood_the_queue(start_service):
    async with start_service(HeldGrader(), max_waiting_per_user=2) as service:
        answers = [await service.http.post(RUNS, json={"source": "x"}, headers=service.bearer) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [202, 202, 429]


async def test_events_tell_every_change_and_end_with_the_verdict(start_service):
    grader = HeldGrader()
    async with start_service(grader) as service:
        attempt_id = (await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).json()["id"]
        threading.Timer(0.2, grader.go.set).start()
        response = await service.http.get(f"/api/v1/attempts/{attempt_id}/events", headers=service.bearer)
        assert response.headers["content-type"].startswith("text/event-stream")
        names = [block.split("\n")[0] for block in response.text.strip().split("\n\n")]
        assert set(names[:-1]) == {"event: status"}
        assert names[-1] == "event: verdict"
        assert '{"status": "running", "phase": "held"}' in response.text
        assert '{"status": "finished", "phase": null}' in response.text
        again = await service.http.get(f"/api/v1/attempts/{attempt_id}/events", headers=service.bearer)
        assert again.text.count("event: verdict") == 1


def _events(text: str) -> list[dict[str, str]]:
    blocks = [block for block in text.strip().split("\n\n") if not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]


async def test_events_go_on_after_the_last_one_that_was_read(start_service):
    grader = HeldGrader()
    async with start_service(grader) as service:
        attempt_id = (await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).json()["id"]
        url = f"/api/v1/attempts/{attempt_id}/events"
        threading.Timer(0.2, grader.go.set).start()
        seen = _events((await service.http.get(url, headers=service.bearer)).text)
        assert len({each["id"] for each in seen}) == len(seen)
        for told, expected in ((seen[-2], ["verdict"]), (seen[0], ["status", "verdict"])):
            again = await service.http.get(url, headers=service.bearer | {"Last-Event-ID": told["id"]})
            assert [each["event"] for each in _events(again.text)] == expected
        over = await service.http.get(url, headers=service.bearer | {"Last-Event-ID": seen[-1]["id"]})
        assert (over.status_code, over.text) == (204, "")


async def test_an_event_id_of_a_restarted_service_still_means_the_same(start_service):
    async with start_service(HeldGrader()) as service:
        attempt_id = (await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).json()["id"]
    url = f"/api/v1/attempts/{attempt_id}/events"
    async with start_service() as service:
        first = _events((await service.http.get(url, headers=service.bearer)).text)
    async with start_service() as service:
        told = service.bearer | {"Last-Event-ID": first[-2]["id"]}
        assert [each["id"] for each in _events((await service.http.get(url, headers=told)).text)] == ["verdict"]
