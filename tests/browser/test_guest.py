"""A guest runs without an account, and signs in to submit the same code."""

from playwright.sync_api import StorageState, expect

from tests.browser.workbench import PROBLEM, OpenPage, await_verdict, editor, progress, write


def test_a_guest_runs_and_then_signs_in_with_the_code(
    open_page: OpenPage, complaints: list[str], signed_in: StorageState, accepted_source: str
) -> None:
    page = open_page("/", anonymous=True)
    page.get_by_role("link", name="Start here").click()
    expect(page.get_by_text("Running needs no account")).to_be_visible()
    page.goto(PROBLEM)
    write(page, accepted_source)
    page.get_by_role("button", name="Run").click()
    # A run tries the public cases only.
    expect(await_verdict(page, "accepted").get_by_text("hidden", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Submit").click()
    link = progress(page).get_by_role("link", name="Sign in")
    expect(link).to_have_attribute("href", f"/sign-in?next={PROBLEM}")
    # The verdict of the run stays, with its sign in the tab, and is there again after signing in.
    verdict = page.locator("#verdict section.verdict")
    expect(verdict).to_contain_text("not scored")
    expect(page.get_by_role("tab", name="Verdict")).to_contain_text("accepted")
    complaints.clear()  # the browser logs the 401 itself
    page.context.add_cookies(signed_in["cookies"])  # type: ignore[arg-type]
    page.goto(PROBLEM)
    expect(editor(page)).to_contain_text("nnx.value_and_grad")
    expect(verdict).to_contain_text("not scored")
    expect(verdict.get_by_role("link", name="Open this attempt's page")).to_have_count(0)


def test_a_guest_without_a_script_runs_and_follows(open_page: OpenPage, accepted_source: str) -> None:
    page = open_page(PROBLEM, anonymous=True, java_script_enabled=False)
    page.get_by_label("Your solution, Python").fill(accepted_source)
    page.get_by_role("button", name="Run").click()
    await_verdict(page, "accepted")
    expect(page.get_by_role("link", name="Back to the problem")).to_be_visible()
