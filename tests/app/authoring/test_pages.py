"""The pages on which an instructor makes versions of a problem, has them validated, and publishes one."""

import asyncio

import pytest

from app.problems.package_store import PackageStore
from tests.app.accounts.people import SITE, browser, form_token, send_form, sign_in, sign_up
from tests.app.authoring.test_validation import GOOD
from tests.app.authoring.zips import another, upload
from tests.app.conftest import FILES

pytestmark = pytest.mark.anyio
FIGURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><title>One</title><rect width="1" height="1"/></svg>'
)
HOSTILE = "<script>alert(1)</script>"
WRONG = '"""Adds two."""\n\n\ndef add_one(x):\n    return x + 2\n'
PAGE = "/authoring/add_one"


def page_of(version: str) -> str:
    return f"{PAGE}/versions/{version}"


async def uploaded(service, files=GOOD, slug="add_one") -> str:
    return (await upload(service, files, slug)).json()["version"]


async def settled(http, address: str) -> str:
    while "data-live-part=" in (page := (await http.get(address)).text):
        await asyncio.sleep(0.02)
    return page


async def test_an_instructor_validates_publishes_and_takes_back(either, package):
    await uploaded(either)
    async with browser(either) as grace, browser(either) as ada:
        await sign_up(either, grace, "grace", "instructor")
        await sign_up(either, ada, "ada")
        listed = (await grace.get("/authoring")).text
        assert "1 newer" in listed
        version = await uploaded(either)
        assert "not validated" in (await grace.get(PAGE)).text
        asked = await send_form(grace, page_of(version), f"{PAGE}/validate", version=version)
        validation = await settled(grace, asked.headers["location"])
        assert "Passed all 7 steps" in validation
        sent = await send_form(grace, asked.headers["location"], f"{PAGE}/publish", version=version)
        assert sent.headers["location"] == f"{PAGE}?published=1"
        assert (await ada.get("/api/v1/problems/add_one")).json()["version"] == version
        again = await send_form(grace, page_of(package.version), f"{PAGE}/publish", version=package.version, force="on")
        assert again.status_code == 303
        assert (await ada.get("/api/v1/problems/add_one")).json()["version"] == package.version
        record = (await grace.get(PAGE)).text
        assert "by grace" in record
        assert "without a passed validation" in record


async def test_a_version_without_a_passed_validation_is_published_only_on_purpose(service, package):
    version = await uploaded(service)
    await sign_in(service)
    refused = await send_form(service.http, page_of(version), f"{PAGE}/publish", version=version)
    assert refused.status_code == 409
    assert "It was never validated." in refused.text
    assert (await service.http.get("/api/v1/problems/add_one")).json()["version"] == package.version


async def test_what_fails_is_listed_first_and_leads_to_the_file(service):
    version = await uploaded(service, GOOD | {"submissions/accepted/wrong.py": WRONG})
    await sign_in(service)
    asked = await send_form(service.http, page_of(version), f"{PAGE}/validate", version=version)
    page = await settled(service.http, asked.headers["location"])
    assert page.index("Did not pass") < page.index("submissions/accepted/wrong.py") < page.index(">Passed ")
    assert f'href="{page_of(version)}/edit?path=submissions/accepted/wrong.py"' in page
    assert "Publish this version" not in page


async def test_an_edited_file_makes_a_version_and_leaves_the_old_one(either, package):
    async with browser(either) as grace:
        await sign_up(either, grace, "grace", "instructor")
        edit = f"{page_of(package.version)}/edit"
        assert ">\nAdd one.</textarea>" in (await grace.get(f"{edit}?path=statement.md")).text
        sent = await send_form(
            grace, f"{edit}?path=statement.md", edit, path="statement.md", text=f"Add *one*. {HOSTILE}"
        )
        page = (await grace.get(sent.headers["location"])).text
        assert "Add <em>one</em>. &lt;script&gt;" in page
        assert HOSTILE not in page
        new = sent.headers["location"].rpartition("/")[2]
        differences = (await grace.get(f"{PAGE}/compare?a={package.version}&b={new}")).text
        assert "statement.md" in differences
        assert "starter.py" not in differences
        assert (await either.services[PackageStore].get(package.version)).statement == "Add one."
        assert (await grace.get("/api/v1/problems/add_one")).json()["statement"] == "Add one."


async def test_a_file_is_added_and_removed(service, package):
    await sign_in(service)
    edit = f"{page_of(package.version)}/edit"
    name = "submissions/rejected/wrong_value/two.py"
    added = await send_form(service.http, edit, edit, path=name, text=WRONG)
    with_it = added.headers["location"]
    assert f"/edit?path={name}" in (await service.http.get(with_it)).text
    removed = await send_form(
        service.http, f"{with_it}/edit?path={name}", f"{with_it}/edit", path=name, text="", remove="yes"
    )
    assert removed.headers["location"] == page_of(package.version)


async def test_a_faulty_edit_comes_back_with_every_fault_and_its_text(service, package):
    await sign_in(service)
    edit = f"{page_of(package.version)}/edit"
    broken = FILES["problem.toml"].replace('mode = "call"', f'mode = "{HOSTILE}"')
    answer = await send_form(service.http, f"{edit}?path=problem.toml", edit, path="problem.toml", text=broken)
    assert answer.status_code == 422
    assert "Nothing was stored." in answer.text
    assert "mode" in answer.text
    assert HOSTILE not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
    unknown = await send_form(service.http, edit, edit, path="../evil.py", text="x = 1")
    assert unknown.status_code == 422
    assert 'value="../evil.py"' in unknown.text


async def test_a_figure_of_a_version_that_is_not_published_runs_nothing(service):
    files = GOOD | {"figures/one.svg": FIGURE, "statement.md": "Add one.\n\n![One](figures/one.svg)\n"}
    version = await uploaded(service, files)
    await sign_in(service)
    # Plain shapes are part of the page. The file has an address of its own.
    assert '<rect width="1" height="1"' in (await service.http.get(page_of(version))).text
    address = f"{page_of(version)}/figures/one.svg"
    figure = await service.http.get(address)
    assert (figure.status_code, figure.headers["content-type"]) == (200, "image/svg+xml")
    assert "sandbox" in figure.headers["content-security-policy"]
    assert (await service.http.get(address.replace("one.svg", "two.svg"))).status_code == 404


async def test_a_problem_that_was_never_published_is_listed(service):
    version = await uploaded(service, another("add_two"), "add_two")
    await sign_in(service)
    assert "never published" in (await service.http.get("/authoring")).text
    assert version[:12] in (await service.http.get("/authoring/add_two")).text
    assert (await service.http.get("/problems/add_two")).status_code == 404


@pytest.mark.parametrize("address", ["/authoring", PAGE, "/authoring/no_such_problem"])
async def test_students_find_no_page_and_no_link(service, address):
    async with browser(service) as ada:
        await sign_up(service, ada, "ada")
        assert (await ada.get(address)).status_code == 403
        assert "/authoring" not in (await ada.get("/problems")).text
        token = form_token((await ada.get("/account")).text)
        sent = await ada.post(f"{PAGE}/publish", data={"form_token": token, "version": "0" * 64}, headers=SITE)
        assert sent.status_code == 403


@pytest.mark.parametrize("wrong", ["", "a\0b", "0" * 64, "g" * 64, "<b>" * 300, "ä"])
async def test_text_that_is_no_version_is_not_found(either, package, wrong):
    async with browser(either) as grace:
        await sign_up(either, grace, "grace", "instructor")
        token = form_token((await grace.get("/account")).text)
        for action in ("validate", "publish", "rejudge"):
            answer = await grace.post(f"{PAGE}/{action}", data={"form_token": token, "version": wrong}, headers=SITE)
            assert answer.status_code == 404, action
            assert "<b>" not in answer.text
        compared = await grace.get(f"{PAGE}/compare", params={"a": package.version, "b": wrong})
        assert compared.status_code in (404, 422)
        edit = f"{page_of(package.version)}/edit"
        sent = await send_form(grace, edit, edit, path="statement.md", text=f"Add one.{wrong}")
        assert sent.status_code in (303, 422)
