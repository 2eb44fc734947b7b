"""Anyone with the link sees one attempt, without risk, until its owner revokes the link or deletes the account."""

import html
import re

import pytest

from tests.app.accounts.people import browser, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio
SOURCE = "x = '</code><script>alert(1)</script>\x1b[31m\x07\u202e'  # \"><img src=x onerror=alert(1)>\n"


async def send(http, source: str = SOURCE) -> str:
    answer = await http.post(
        "/api/v1/problems/add_one/attempts?wait=60",
        json={"source": source},
        headers={"Origin": "http://meshgrade.test"},
    )
    return f"/attempts/{answer.json()['id']}"


async def share(http, attempt: str) -> str:
    page = await send_form(http, attempt, f"{attempt}/share")
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    return re.search(r'value="http://meshgrade\.test(/shared/[\w-]{43})"', page.text)[1]


async def test_anybody_with_the_link_reads_the_source_and_the_verdict_until_it_is_revoked(either):
    await sign_in(either)
    attempt = await send(either.http)
    link = await share(either.http, attempt)
    async with browser(either) as http:
        page = await http.get(link)
        assert page.status_code == 200
        assert page.headers["x-robots-tag"] == "noindex, nofollow"
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["cache-control"] == "no-store"
        assert "rejected" in page.text
        assert "owner" not in page.text
        assert attempt not in page.text
        assert (await http.get(attempt)).status_code == 401
        await send_form(either.http, attempt, f"{attempt}/unshare")
        gone = await http.get(link)
        assert (gone.status_code, "This link does not lead to an attempt" in gone.text) == (404, True)
        assert (await http.get("/shared/%00%ff")).status_code == 404


async def test_a_preview_of_the_link_names_the_verdict(service, package):
    await sign_in(service)
    links = [await share(service.http, await send(service.http, source)) for source in (package.reference, SOURCE)]
    async with browser(service) as http:
        pages = [(await http.get(link)).text for link in links]
    for page, outcome in zip(pages, ("accepted, 100 of 100", "rejected, 0 of 100"), strict=True):
        title = re.search(r'<meta property="og:title" content="(.*?)">', page)[1]
        assert title == f"{package.manifest.title}: {outcome}"
        description = re.search(r'<meta property="og:description" content="(.*?)">', page)[1]
        assert f"A shared attempt at {package.manifest.title}" in description


async def test_what_a_submission_wrote_does_nothing_to_its_reader(service):
    await sign_in(service)
    link = await share(service.http, await send(service.http))
    async with browser(service) as http:
        page = await http.get(link)
    assert "<script>alert" not in page.text
    assert "<img src=x" not in page.text
    assert not set("\x1b\x07\u202e") & set(page.text)
    code = re.search(r'<pre class="source"[^>]*><code>(.*?)</code>', page.text, re.DOTALL)[1]
    shown = html.unescape(re.sub(r"</?span[^>]*>", "", code))
    assert shown == SOURCE.replace("\x1b[31m\x07\u202e", "␇⟨U+202E⟩")
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_a_second_link_replaces_the_first_and_only_a_hash_is_stored(service):
    await sign_in(service)
    attempt = await send(service.http)
    first, second = await share(service.http, attempt), await share(service.http, attempt)
    assert [(await service.http.get(link)).status_code for link in (first, second)] == [404, 200]
    assert second not in (await service.http.get(attempt, headers={"Accept": "text/html"})).text
    assert second.removeprefix("/shared/") not in (await service.http.get("/api/v1/me/export")).text


async def test_it_ends_with_the_account(either):
    async with browser(either) as ada, browser(either) as anybody:
        await sign_up(either, ada, "ada")
        link = await share(ada, await send(ada))
        assert (await anybody.get(link)).status_code == 200
        await send_form(ada, "/account/delete", "/account/delete", password="four quiet grey geese")
        assert (await anybody.get(link)).status_code == 404


async def test_nobody_else_shares_it_or_stops_that(service):
    await sign_in(service)
    attempt = await send(service.http)
    link = await share(service.http, attempt)
    async with browser(service) as ada:
        await sign_up(service, ada, "ada")
        own = await send(ada)
        for action in ("share", "unshare"):
            token = re.search(r'name="form_token" value="(\w+)"', (await ada.get(own)).text)[1]
            answer = await ada.post(
                f"{attempt}/{action}", data={"form_token": token}, headers={"Origin": "http://meshgrade.test"}
            )
            assert answer.status_code == 404
    assert (await service.http.get(link)).status_code == 200


async def test_the_card_of_a_link_is_a_picture_and_goes_with_the_link(either):
    await sign_in(either)
    attempt = await send(either.http)
    link = await share(either.http, attempt)
    async with browser(either) as http:
        assert f'content="http://meshgrade.test{link}/card.png"' in (await http.get(link)).text
        card = await http.get(f"{link}/card.png")
        assert (card.status_code, card.headers["content-type"]) == (200, "image/png")
        assert (card.headers["cache-control"], card.headers["x-robots-tag"]) == ("no-store", "noindex, nofollow")
        await send_form(either.http, attempt, f"{attempt}/unshare")
        for wrong in (link, "/shared/%00%ff", f"/shared/{'a' * 2000}"):
            assert (await http.get(f"{wrong}/card.png")).status_code == 404
