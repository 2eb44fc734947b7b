"""Every error of the interface has one shape, and every slug is documented."""

import asyncio
import sqlite3
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from app.accounts.service import Accounts
from app.core.database import _FREE_WITHIN_S, Database
from app.core.errors import Refused
from app.core.rest.problem_json import EXAMPLES
from app.grading.queue.protocol import GradeQueue
from app.problems.catalogue import Catalogue
from tests.app.accounts.people import sign_in
from tests.app.core.rest.openapi_document import resolved
from tests.faults import for_each

pytestmark = pytest.mark.anyio
DOCS = Path(__file__).resolve().parents[4] / "docs"


def every_refusal(kind: type[Refused] = Refused) -> list[type[Refused]]:
    """The kinds of the service without kinds of their own. Other tests of this process may have made up some more."""
    kinds = [each for each in kind.__subclasses__() if each.__module__.startswith("app.")]
    return [leaf for child in kinds for leaf in every_refusal(child)] if kinds else [kind]


@pytest.fixture
def service(shared_service):
    return shared_service


@pytest.mark.parametrize(
    ("method", "path", "status", "slug"),
    [
        ("GET", "/api/v1/nothing", 404, "not-found"),
        ("GET", "/nothing", 404, "not-found"),
        ("GET", "/api/v1/problems/nothing", 404, "problem-not-found"),
        ("GET", "/api/v1/problems/%00%ff", 404, "problem-not-found"),
        ("PUT", "/api/v1/problems", 405, "method-not-allowed"),
        ("GET", "/api/v1/me", 401, "not-signed-in"),
        ("GET", "/api/v1/attempts", 401, "not-signed-in"),
    ],
)
async def test_an_error_is_a_problem(service, method, path, status, slug):
    answer = await service.http.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["status"], problem["slug"], problem["type"]) == (status, slug, f"/help/errors#{slug}")
    assert problem["title"]
    assert problem["detail"]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "before=nothing", "before=", "before=%00", "problem=A%00"]
)
async def test_a_wrong_query_is_a_problem(service, query):
    answer = await service.http.get(f"/api/v1/attempts?{query}", headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (422, "field-invalid")


async def test_an_attempt_id_can_be_anything_and_is_not_found(service):
    for attempt_id in ("x", "%00", "%F0%9F%98%80", "a" * 5000):
        answer = await service.http.get(f"/api/v1/attempts/{attempt_id}", headers=service.bearer)
        assert (answer.status_code, answer.json()["slug"]) == (404, "attempt-not-found")


async def test_405_names_the_methods_that_are_possible(service):
    assert (await service.http.put("/api/v1/problems")).headers["allow"] == "GET"
    answer = await service.http.put("/api/v1/attempts/any")
    assert answer.headers["allow"] == "DELETE, GET"
    assert "It supports: DELETE, GET." in answer.json()["detail"]


async def test_our_own_mistake_tells_nothing_of_its_cause(service, monkeypatch):
    def break_down(slug: str) -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(service.services[Catalogue], "get", break_down)
    answer = await service.http.get("/api/v1/problems/add_one")
    assert (answer.status_code, answer.json()["slug"]) == (500, "internal-error")
    assert "cause" not in answer.json()["detail"].replace("find the cause", "")


async def test_a_locked_database_stores_nothing_and_says_so(start_service, tmp_path, monkeypatch):
    url = "/api/v1/problems/add_one/runs"
    async with start_service() as service:
        file = tmp_path / "data" / "meshgrade.sqlite3"
        holder = sqlite3.connect(file, timeout=60, isolation_level=None, check_same_thread=False)
        # In a thread: the queue, which looks for work as it starts, could not end its transaction while this waits.
        await asyncio.to_thread(holder.execute, "BEGIN IMMEDIATE")
        # Only now: the service's own transactions wait for each other, too.
        with monkeypatch.context() as impatient:
            impatient.setattr("app.core.sqlite_connections._BUSY_LIMIT_S", 0.05)
            answer = await service.http.post(url, json={"source": "x"}, headers=service.bearer)
        assert (answer.status_code, answer.json()["slug"]) == (503, "database-busy")
        holder.close()
        assert (await service.http.get("/api/v1/attempts", headers=service.bearer)).json()["attempts"] == []
        again = await service.http.post(url, json={"source": "x"}, headers=service.bearer)
        assert again.status_code == 202


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
async def test_when_every_connection_is_in_use_the_client_may_soon_try_again(
    start_service, database_url, caplog, accept
):
    async with start_service(database_url=database_url, database_connections=2) as service, AsyncExitStack() as stack:
        await service.services[GradeQueue].stop()
        token = (await sign_in_cookie(service)) if accept == "text/html" else {}
        for _ in range(2):
            session = await stack.enter_async_context(service.services[Database].reading())
            await session.execute(text("SELECT 1"))
        path = "/account" if accept == "text/html" else "/api/v1/me"
        assert _FREE_WITHIN_S < 2
        began = time.monotonic()
        answer = await service.http.get(path, headers={"Accept": accept} | (token or service.bearer))
        assert time.monotonic() - began < 20
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "server-busy" in answer.text
        assert "QueuePool" not in answer.text
        assert "all database connections of this process were in use" in caplog.text
        assert "the database failed" not in caplog.text
    # Others have their connections back.
    async with start_service(database_url=database_url) as service:
        assert (await service.http.get("/api/v1/me", headers=service.bearer)).status_code == 200


async def sign_in_cookie(service) -> dict[str, str]:
    await sign_in(service)
    return {"Cookie": f"meshgrade_session={service.http.cookies['meshgrade_session']}"}


async def test_a_browser_gets_a_page(service):
    answer = await service.http.get("/nothing", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "There is nothing here" in answer.text


@pytest.mark.parametrize(
    ("path", "sought"),
    [("/lessons/jax-mesh-basics", "jax mesh basics"), (f"/attempts/{'a' * 32}", ""), ("/%22%3E/", "")],
)
async def test_what_is_not_found_can_be_searched_for(service, path, sought):
    page = (await service.http.get(path, headers={"Accept": "text/html"} | service.bearer)).text
    assert f'name="q" type="search" value="{sought}"' in page


async def test_people_and_programs_each_read_their_own_words(service):
    page = (await service.http.get("/account", headers={"Accept": "text/html"})).text
    assert "Sign in, and you come back to it." in page
    assert "API token" not in page
    assert "Send an API token" in (await service.http.get("/api/v1/me")).json()["detail"]


async def test_an_error_page_knows_who_is_signed_in(service):
    accounts = service.services[Accounts]
    session = await accounts.sign_in(await accounts.new_sign_in_link(await accounts.ensure_owner()))
    signed_in = {"Accept": "text/html", "Cookie": f"meshgrade_session={session}"}
    for path in ("/nothing", "/problems/nothing", "/attempts/nothing"):
        page = (await service.http.get(path, headers=signed_in)).text
        assert "Sign out" in page
        assert 'href="/sign-in' not in page
    stale = {"Accept": "text/html", "Cookie": "meshgrade_session=stale"}
    assert 'href="/sign-in' in (await service.http.get("/nothing", headers=stale)).text


async def test_an_error_page_is_told_even_when_nobody_can_be_looked_up(service, monkeypatch):
    async def break_down(token: str) -> None:
        raise RuntimeError("the database is gone")

    monkeypatch.setattr(service.services[Accounts], "user_of_session", break_down)
    headers = {"Accept": "text/html", "Cookie": "meshgrade_session=any"}
    assert "There is nothing here" in (await service.http.get("/nothing", headers=headers)).text


@for_each("kind", every_refusal(), ids=lambda kind: kind.slug)
def test_every_slug_is_documented_once(kind):
    assert [other for other in every_refusal() if other.slug == kind.slug] == [kind]
    assert f"`{kind.slug}`" in (DOCS / "rest.md").read_text()


async def test_every_operation_is_described_with_examples(service):
    openapi = (await service.http.get("/openapi.json")).json()
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (method, path)
            assert ("401" in operation["responses"]) == ("security" in operation)
            for status, answer in resolved(openapi, operation["responses"]).items():
                assert ("content" in answer) == (status not in {"204", "304"}), (method, path, status)
                for media, content in answer.get("content", {}).items():
                    schemas = content["schema"].get("anyOf", [content["schema"]])
                    assert "example" in content or any("examples" in each for each in schemas), (path, status, media)


def test_examples_of_errors_are_of_errors_that_exist():
    slugs = {kind.slug: (kind.status, kind.title) for kind in every_refusal()}
    for status, (slug, title, _) in EXAMPLES.items():
        assert slugs[slug] == (status, title)
