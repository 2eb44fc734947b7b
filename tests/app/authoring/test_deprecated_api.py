"""The earlier names of validations in REST work as before, and announce their end."""

import pytest

from tests.app.authoring.test_validation import GOOD, URL, ask, ended
from tests.app.authoring.zips import upload

pytestmark = pytest.mark.anyio


async def test_an_earlier_name_shows_the_same_validation(service):
    get, bearer = service.http.get, service.bearer
    version = (await upload(service, GOOD)).json()["version"]
    validation = await ended(service, await ask(service, version))
    old = await get(f"{URL}/checks/{validation['id']}", headers=bearer)
    assert old.headers["deprecation"] == "@1795305600"
    renamed = {"findings" if name == "steps" else name: value for name, value in validation.items()}
    assert old.json() == renamed
    (summary,) = (await get(f"{URL}/validations", headers=bearer)).json()["validations"]
    page = (await get(f"{URL}/checks", headers=bearer)).json()
    assert page == {
        "checks": [{"found" if name == "done" else name: value for name, value in summary.items()}],
        "next": None,
    }


async def test_a_request_by_the_earlier_name_queues_a_validation(service, package):
    body = {"version": package.version}
    answer = await service.http.post(f"{URL}/check", json=body, headers=service.bearer)
    assert (answer.status_code, answer.headers["location"]) == (
        202,
        f"{URL}/checks/{answer.json()['id']}",
    )
    found = await service.http.get(f"{URL}/validations/{answer.json()['id']}", headers=service.bearer)
    assert found.json()["version"] == package.version


@pytest.mark.parametrize("path", ["checks/" + "0" * 32, "checks?before=" + "0" * 32])
async def test_an_earlier_name_keeps_its_error(service, path):
    answer = await service.http.get(f"{URL}/{path}", headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (404, "check-not-found")
