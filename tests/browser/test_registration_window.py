"""A learning platform opens the page that registers it, and hears when it can close it."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.app.accounts.oidc_provider import serve as serve_app
from tests.app.teaching.lti.platform import LearningPlatform
from tests.browser.browser import serve

_LISTEN = "() => { window.heard = []; window.addEventListener('message', each => window.heard.push(each.data)); }"
_FRAME = """address => {
    const frame = document.createElement('iframe');
    frame.src = address;
    document.body.append(frame);
}"""
_OPEN = "address => { window.opened = window.open(address, 'tool', 'width=800,height=600'); }"
_HEARD = "() => window.heard.some(each => each.subject === 'org.imsglobal.lti.close')"


@pytest.mark.parametrize("how", ["frame", "window"])
def test_the_platform_hears_that_the_registration_is_done(browser: Browser, tmp_path, monkeypatch, how: str) -> None:
    monkeypatch.setenv("MESHGRADE_LTI_PRIVATE", "true")
    platform = LearningPlatform()
    with serve_app(platform.app) as address, serve(tmp_path / "data") as service:
        platform.address = address
        page = browser.new_context().new_page()
        page.goto(service.sign_in_url)
        page.goto(f"{service.url}/lti/platforms")
        form = page.get_by_role("region", name="Let a platform register itself")
        form.get_by_label("Name").fill("Moodle")
        form.get_by_role("button", name="Create a registration link").click()
        link = page.get_by_label("The registration link").input_value()
        where = f"{address}/.well-known/openid-configuration"
        page.goto(f"{address}/jwks")
        page.evaluate(_LISTEN)
        opened = f"{link}?openid_configuration={where}&registration_token=secret"
        if how == "frame":
            page.evaluate(_FRAME, opened)
            page.frame_locator("iframe").get_by_role("button", name="Register", exact=True).click()
        else:
            with page.expect_popup() as popup:
                page.evaluate(_OPEN, opened)
            assert Axe().run(popup.value).response["violations"] == []
            popup.value.get_by_role("button", name="Register", exact=True).click()
        page.wait_for_function(_HEARD)
        page.goto(f"{service.url}/lti/platforms")
        expect(page.get_by_role("heading", name="Moodle")).to_be_visible()
        page.context.close()
