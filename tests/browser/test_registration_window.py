"""A learning platform opens the page that registers it, and hears when it can close it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, StorageState, expect

from tests.app.accounts.oidc_provider import serve as serve_app
from tests.app.teaching.lti.platform import LearningPlatform
from tests.browser.accessibility import violations
from tests.browser.browser import Service, serve
from tests.browser.sessions import sign_in_by_link

_LISTEN = "() => { window.heard = []; window.addEventListener('message', each => window.heard.push(each.data)); }"
_FRAME = """address => {
    const frame = document.createElement('iframe');
    frame.src = address;
    document.body.append(frame);
}"""
_OPEN = "address => { window.opened = window.open(address, 'tool', 'width=800,height=600'); }"
_HEARD = "() => window.heard.some(each => each.subject === 'org.imsglobal.lti.close')"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of its own, which may register a platform on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MESHGRADE_LTI_PRIVATE", "true")
        with serve(tmp_path_factory.mktemp("platforms") / "data", judge="nothing") as running:
            yield running


@pytest.fixture(scope="module")
def signed_in(service: Service) -> StorageState:
    return sign_in_by_link(service)


@pytest.mark.parametrize("how", ["frame", "window"])
def test_the_platform_hears_that_the_registration_is_done(
    browser: Browser, service: Service, signed_in: StorageState, how: str
) -> None:
    platform = LearningPlatform()
    with serve_app(platform.app) as address:
        platform.address = address
        page = browser.new_context(storage_state=signed_in).new_page()
        page.goto(f"{service.url}/lti/platforms")
        form = page.get_by_role("region", name="Let a platform register itself")
        form.get_by_label("Name").fill(f"Moodle, {how}")
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
            assert violations(popup.value) == []
            popup.value.get_by_role("button", name="Register", exact=True).click()
        page.wait_for_function(_HEARD)
        page.goto(f"{service.url}/lti/platforms")
        expect(page.get_by_role("heading", name=f"Moodle, {how}")).to_be_visible()
        page.context.close()
