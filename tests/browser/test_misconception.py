"""From a failure that nothing explains to a misconception in a draft of the problem, in two clicks."""

import re
from pathlib import Path

import httpx
from playwright.sync_api import Browser, expect

from tests.browser.browser import OWNER_TOKEN, Service
from tests.browser.test_instructor import FIRST, PASSWORD, SLUG, null_service, package

__all__ = ["null_service"]
WRONG = '"""Mine."""\nfrom __future__ import annotations\n\ndef add_one(x): return x + 3\n'


def publish(url: str, file: Path) -> str:
    problem = f"{url}/api/v1/problems/{SLUG}"
    with httpx.Client(headers={"Authorization": f"Bearer {OWNER_TOKEN}"}, timeout=60) as http:
        stored = http.put(problem, content=file.read_bytes(), headers={"Content-Type": "application/zip"})
        assert stored.status_code == 201, stored.text
        version: str = stored.json()["version"]
        forced = http.post(f"{problem}/publish", json={"version": version, "force": True})
        assert forced.status_code == 200, forced.text
    return version


def fail(url: str, name: str) -> None:
    """A student signs up and submits what is wrong."""
    owner = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    link = httpx.post(f"{url}/api/v1/invitations", json={"role": "student"}, headers=owner, timeout=60).json()["url"]
    with httpx.Client(base_url=url, headers={"Origin": url}, timeout=60) as http:
        form = http.get(link[link.index("/sign-up") :]).text
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
        assert http.post("/sign-up", data=hidden | {"name": name, "password": PASSWORD}).status_code == 303
        sent = http.post(f"/api/v1/problems/{SLUG}/attempts?wait=30", json={"source": WRONG})
        assert sent.json()["verdict"]["status"] == "rejected", sent.text


def test_two_clicks_make_a_misconception(browser: Browser, null_service: Service, tmp_path: Path) -> None:
    url = null_service.url
    served = publish(url, package(tmp_path, FIRST))
    for name in ("ada", "bob"):
        fail(url, name)
    context = browser.new_context(base_url=url, reduced_motion="reduce")
    page = context.new_page()
    page.goto(null_service.sign_in_url)
    page.goto(f"/problems/{SLUG}/insight")

    page.get_by_role("link", name="Make a misconception").click()
    expect(page.get_by_role("radio")).to_have_count(2)
    page.get_by_role("button", name="Add to a draft").click()

    page.wait_for_url(f"**/authoring/{SLUG}/versions/**")
    assert served not in page.url
    expect(page.get_by_text("students do not see it")).to_be_visible()
    page.get_by_role("link", name="wrong_value/attempt_").click()
    text = page.locator("textarea").input_value()
    assert text == '"""The check values fails."""\nfrom __future__ import annotations\n\ndef add_one(x): return x + 3\n'
    for name in ("ada", "bob"):
        assert name not in text
    # Nothing has changed for students.
    assert httpx.get(f"{url}/api/v1/problems/{SLUG}", timeout=60).json()["version"] == served
    context.close()
