"""Requests for a name that is not the service's are refused, because a page of another site sent them."""

import pytest

from tests.app.accounts.people import sign_in
from tests.app.conftest import SITE

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "meshgrade.test.evil.example",
        "127.0.0.1.nip.io",
        "localhost:8000.evil.example",
        "[::1].evil.example",
        "",
    ],
)
async def test_another_name_reaches_neither_pages_nor_rest(service, host):
    await sign_in(service)
    form = {"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    for method, path in (
        ("GET", "/"),
        ("GET", "/problems/add_one"),
        ("GET", "/api/v1/problems"),
        ("GET", "/static/base.css"),
        ("POST", "/api/v1/problems/add_one/runs"),
        ("POST", "/sign-in"),
    ):
        refused = await service.http.request(method, path, headers={"Host": host, **form})
        assert (refused.status_code, refused.json()["slug"]) == (421, "host-unknown"), path
        assert "MESHGRADE_PUBLIC_URL" in refused.json()["detail"]
        assert refused.headers["content-security-policy"]
        assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    "host",
    [
        "meshgrade.test",
        "MESHGRADE.test:8000",
        "meshgrade.test.",
        "localhost:8000",
        "127.0.0.1:8000",
        "[::1]:8000",
        "10.0.0.7",
    ],
)
async def test_its_own_names_and_every_address_are_permitted(service, host):
    assert (await service.http.get("/api/v1/problems", headers={"Host": host})).status_code == 200


async def test_the_name_that_it_listens_on_is_its_own(start_service):
    async with start_service(host="grader.lan", public_url=None) as service:
        assert (await service.http.get("/api/v1/problems", headers={"Host": "grader.lan:8000"})).status_code == 200
        assert (await service.http.get("/api/v1/problems")).status_code == 421


async def test_two_names_are_refused(service):
    headers = [("Host", "meshgrade.test"), ("Host", "evil.example")]
    assert (await service.http.get("/api/v1/problems", headers=headers)).status_code == 421


async def test_probes_may_use_any_name(service):
    for path in ("/healthz", "/readyz"):
        assert (await service.http.get(path, headers={"Host": "api.meshgrade.svc"})).status_code == 200


@pytest.mark.parametrize(("url", "sent"), [("https://grader.example", True), (SITE, False)])
async def test_only_a_service_with_https_tells_browsers_to_use_nothing_else(start_service, url, sent):
    async with start_service(public_url=url) as service:
        for path in ("/", "/api/v1/problems", "/static/base.css", "/nothing"):
            answer = await service.http.get(path, headers={"Host": url.split("//")[1]})
            assert ("strict-transport-security" in answer.headers) is sent, path
