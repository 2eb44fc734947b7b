"""Links to the service begin with an address that its operator set, and never with one that a request names."""

import html

import pytest

from app.accounts.providers import Providers, build_providers
from app.core.settings import Settings
from app.core.start_errors import SettingInvalid
from tests.app.accounts.oidc_provider import CLIENT_ID, CLIENT_SECRET
from tests.app.accounts.people import browser, form_token, sign_in
from tests.app.routes import OWN, PUBLIC

pytestmark = pytest.mark.anyio
INVITATIONS = "/api/v1/invitations"
# Another name is refused (tests/app/core/rest/test_host_check.py), so this is the most that a sender can choose.
EVIL = {"Host": "192.0.2.99"}


@pytest.mark.parametrize(
    ("settings", "site"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"host": "192.0.2.7", "port": 80}, "http://192.0.2.7:80"),
        ({"host": "::1"}, "http://[::1]:8000"),
        ({"host": "grader.lan"}, "http://grader.lan:8000"),
        ({"host": "0.0.0.0"}, None),
        ({"host": "::"}, None),
        ({"host": "0.0.0.0", "public_url": "https://grader.example"}, "https://grader.example"),
    ],
)
def test_it_is_the_public_one_or_where_the_service_listens(settings, site):
    assert Settings(**settings).site == site


@pytest.mark.parametrize(
    ("settings", "host", "begins"),
    [
        ({}, "192.0.2.99", "http://127.0.0.1:8000/"),
        ({}, "localhost:8000", "http://localhost:8000/"),
        ({"host": "0.0.0.0"}, "localhost:8000", "/"),
        ({"host": "0.0.0.0"}, "192.0.2.99", "/"),
        ({"public_url": "https://grader.example"}, "localhost:8000", "https://grader.example/"),
    ],
)
async def test_an_invitation_leads_nowhere_else(start_service, settings, host, begins):
    async with start_service(**({"public_url": None} | settings)) as service:
        headers = service.bearer | {"Host": host}
        url = (await service.http.post(INVITATIONS, json={}, headers=headers)).json()["url"]
        assert url.startswith(f"{begins}sign-up?invitation=")
        page = (await service.http.post("/account/invitations", data={"role": "student"}, headers=headers)).text
        link = html.unescape(page.split('id="secret" type="text" value="')[1].split('"')[0])
        assert link.startswith(f"{begins}sign-up?invitation=")
        assert ("MESHGRADE_PUBLIC_URL" in page) == (begins == "/")


async def test_no_page_and_no_answer_repeats_the_host(start_service):
    async with start_service(public_url=None) as service:
        service.http.headers["Host"] = "127.0.0.1:8000"
        await sign_in(service)
        for method, path in sorted(PUBLIC | OWN):
            if method == "GET":
                where = path.format(
                    slug="add_one", name="figure.svg", provider="oidc", token="none", track="basics", key_id="0"
                )
                for accept in ("text/html", "*/*"):
                    answer = await service.http.get(where, headers=EVIL | {"Accept": accept})
                    assert "192.0.2.99" not in f"{answer.text}{answer.headers}", where


async def test_a_provider_is_told_to_send_people_back_here(start_service):
    class Provider:
        key, label, issuer = "oidc", "the school", "https://id.example"

        async def address(self, flow: object, return_to: str) -> str:
            return f"https://id.example/?back={return_to}"

    async with start_service(public_url=None) as service, browser(service) as http:
        service.services.provide(Providers, {"oidc": Provider()})
        token = form_token((await http.get("/sign-in", headers=EVIL)).text)
        headers = EVIL | {"Origin": "http://192.0.2.99"}
        leave = await http.post("/sign-in/with/oidc", data={"form_token": token}, headers=headers)
        assert "back=http://127.0.0.1:8000/sign-in/with/oidc/return" in leave.text
        assert "192.0.2.99" not in leave.text


def test_a_provider_needs_an_address_to_send_people_back_to():
    oidc = {"oidc_issuer": "https://id.example", "oidc_client_id": CLIENT_ID, "oidc_client_secret": CLIENT_SECRET}
    with pytest.raises(SettingInvalid, match="'public_url'"):
        build_providers(Settings(host="0.0.0.0", **oidc))
    assert list(build_providers(Settings(host="0.0.0.0", public_url="https://grader.example", **oidc))) == ["oidc"]
