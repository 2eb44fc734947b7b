"""A completed track: what was verified, the link until it is revoked, and the badge that anyone can check."""

import base64
import hashlib
import json
import re

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from sqlalchemy import select

from app.accounts.caller import user_of
from app.accounts.models import UserRow
from app.core.database import Database
from app.learning.completions.verified import Verified, VerifiedProblem
from tests.app.accounts.people import PASSWORD, browser, send_form, sign_in, sign_up
from tests.app.conftest import SITE
from tests.app.grading.attempts.handing_in import accepted, hand_in

pytestmark = pytest.mark.anyio
TRACK = "/tracks/basics/completion"
SHARING = f"/api/v1{TRACK}/sharing"


async def solve(service, name: str = "owner", efficiency: float | None = 80.0) -> None:
    database = service.services[Database]
    async with database.reading() as session:
        row = await session.scalar(select(UserRow).where(UserRow.name == name))
    version = (await service.http.get("/api/v1/problems/add_one")).json()["version"]
    verdict = accepted(efficiency).model_copy(update={"version": version})
    await hand_in(database, user_of(row), verdict)


async def share(service) -> dict[str, str]:
    answer = await service.http.post(SHARING, headers=service.bearer)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def badge(service, shared: dict[str, str]) -> jwt.Token:
    """The badge, verified with the key that its header leads to."""
    async with browser(service) as http:
        found = await http.get(shared["badge"])
        assert found.headers["content-type"] == "application/vc+jwt"
        key_id = _header(found.text)["kid"]
        assert key_id.startswith(f"{SITE}/badges/keys/")
        key = (await http.get(key_id)).json()
    assert not {"d", "p", "q"} & set(key)
    return jwt.decode(found.text, RSAKey.import_key(key), algorithms=["RS256"])


def _header(token: str) -> dict[str, str]:
    part = token.split(".")[0]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


async def test_a_track_is_complete_once_all_of_it_is_solved(either):
    before = (await either.http.get(f"/api/v1{TRACK}", headers=either.bearer)).json()
    assert (before["complete"], before["problems"], before["left"]) == (False, [], ["add_one"])
    refused = await either.http.post(SHARING, headers=either.bearer)
    assert (refused.status_code, refused.json()["slug"]) == (409, "track-not-complete")
    assert "1 of the 1 problems of 'Basics' are not solved: add_one." in refused.json()["detail"]
    await solve(either, efficiency=80.0)
    await solve(either, efficiency=125.0)
    after = (await either.http.get(f"/api/v1{TRACK}", headers=either.bearer)).json()
    assert (after["complete"], after["left"], after["shared_at"]) == (True, [], None)
    assert [(each["slug"], each["score"], each["efficiency"]) for each in after["problems"]] == [
        ("add_one", 100, 125.0)
    ]
    assert after["words"] == "1 problem solved. The best efficiency is 125, where 100 is the reference."


async def test_an_unknown_track_is_refused_with_those_that_there_are(service):
    refused = await service.http.get("/api/v1/tracks/bascis/completion", headers=service.bearer)
    assert refused.status_code == 404
    assert refused.json()["detail"] == "There is no track 'bascis'. The tracks are: basics."


async def test_to_stop_sharing_what_is_not_shared_changes_nothing(either):
    for track in ("basics", "bascis", "%00", "x" * 500):
        gone = await either.http.delete(f"/api/v1/tracks/{track}/completion/sharing", headers=either.bearer)
        assert gone.status_code == 204, track
    for track in ("%00", "x" * 500):
        for method in ("GET", "POST"):
            where = f"/api/v1/tracks/{track}/completion" + ("/sharing" if method == "POST" else "")
            assert (await either.http.request(method, where, headers=either.bearer)).status_code == 404


async def test_anyone_with_the_link_reads_it_until_it_is_taken_back(either):
    await solve(either)
    shared = await share(either)
    async with browser(either) as http:
        page = await http.get(shared["link"])
        assert page.status_code == 200
        assert "owner completed Basics" in page.text
        assert page.headers["x-robots-tag"] == "noindex, nofollow"
        assert page.headers["cache-control"] == "no-store"
        card = await http.get(f"{shared['link']}/card.png")
        assert card.content.startswith(b"\x89PNG")
        again = await share(either)
        assert [(await http.get(each["link"])).status_code for each in (shared, again)] == [404, 200]
        assert (await either.http.delete(SHARING, headers=either.bearer)).status_code == 204
        gone = await http.get(again["link"])
        assert (gone.status_code, "has stopped sharing this page" in gone.text) == (404, True)
        for each in ("card.png", "badge.jwt"):
            assert (await http.get(f"{again['link']}/{each}")).status_code == 404


async def test_what_is_shared_stays_as_it_was_verified(service):
    await solve(service, efficiency=80.0)
    shared = await share(service)
    await solve(service, efficiency=125.0)
    async with browser(service) as http:
        assert "The best efficiency is 80," in (await http.get(shared["link"])).text


async def test_the_form_shows_the_link_once_and_leads_to_the_badge(service):
    await sign_in(service)
    await solve(service)
    page = await send_form(service.http, TRACK, f"{TRACK}/share")
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    path = re.search(rf'value="{SITE}(/completed/[\w-]{{43}})"', page.text)[1]
    assert f'href="{path}/badge.jwt"' in page.text
    assert "Shared since" in (await service.http.get(TRACK)).text
    await send_form(service.http, TRACK, f"{TRACK}/unshare")
    assert "Shared since" not in (await service.http.get(TRACK)).text


async def test_the_badge_is_a_signed_credential_about_the_track(either):
    await solve(either)
    shared = await share(either)
    token = await badge(either, shared)
    claims = token.claims
    assert token.header["alg"] == "RS256"
    assert claims["type"] == ["VerifiableCredential", "OpenBadgeCredential"]
    assert claims["iss"] == claims["issuer"]["id"] == f"{SITE}/badges/issuer.json"
    assert claims["jti"] == claims["id"]
    assert claims["id"].startswith("urn:uuid:")
    subject = claims["credentialSubject"]
    assert subject["achievement"]["name"] == "Basics"
    assert subject["achievement"]["criteria"]["id"] == shared["link"]
    [identity] = subject["identifier"]
    told = hashlib.sha256(f"owner{identity['salt']}".encode()).hexdigest()
    assert identity["identityHash"] == f"sha256${told}"
    async with browser(either) as http:
        assert (await http.get(claims["iss"])).json()["id"] == claims["iss"]
        unknown = await http.get("/badges/keys/none")
    assert unknown.status_code == 404


async def test_a_badge_is_revoked_with_its_link_or_its_account(either):
    async def revoked() -> list[str]:
        async with browser(either) as http:
            found = (await http.get("/badges/revoked.json")).json()
        assert found["issuer"] == f"{SITE}/badges/issuer.json"
        return [each["id"] for each in found["revokedCredential"] if each["revoked"]]

    await solve(either)
    first, second = [(await badge(either, await share(either))).claims["id"] for _ in range(2)]
    assert await revoked() == [first]
    async with browser(either) as http:
        await sign_up(either, http, "ada")
        await solve(either, "ada")
        page = await send_form(http, TRACK, f"{TRACK}/share")
        link = re.search(rf'value="({SITE}/completed/[\w-]{{43}})"', page.text)[1]
        hers = (await badge(either, {"badge": f"{link}/badge.jwt"})).claims["id"]
        gone = await send_form(http, "/account/delete", "/account/delete", password=PASSWORD)
        assert gone.status_code == 303
    assert await revoked() == [first, hers]
    await either.http.delete(SHARING, headers=either.bearer)
    assert set(await revoked()) == {first, second, hers}


async def test_without_an_address_there_is_a_page_and_no_badge(start_service):
    async with start_service(public_url=None, host="0.0.0.0") as service:
        service.http.headers["Host"] = "192.0.2.1"
        await solve(service)
        shared = await share(service)
        assert shared["link"].startswith("/completed/")
        page = await service.http.get(shared["link"])
        assert (page.status_code, "badge.jwt" in page.text) == (200, False)
        refused = await service.http.get(shared["badge"], headers={"Accept": "application/json"})
        assert refused.status_code == 409
        assert "MESHGRADE_PUBLIC_URL" in refused.text


@pytest.mark.parametrize(
    ("meshes", "words"),
    [
        ([[{"x": 8}, {"x": 4}]], "1 problem solved. All are programs that were compiled for 8 and 4 devices."),
        ([[{"x": 4, "y": 2}], []], "2 problems solved. 1 of them is a program that was compiled for 8 devices."),
        ([[], []], "2 problems solved."),
    ],
)
def test_the_words_say_what_was_compiled_for_how_many_devices(meshes, words):
    solved_at = "2026-01-05T00:00:00Z"
    one = {"slug": "a", "title": "A", "outcome": None, "version": "v", "score": 100, "efficiency": None}
    problems = [VerifiedProblem.model_validate({**one, "meshes": each, "solved_at": solved_at}) for each in meshes]
    verified = Verified(track="t", title="T", teaches="", problems=tuple(problems), left={})
    assert verified.words == words
