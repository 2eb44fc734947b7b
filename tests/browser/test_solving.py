"""A student solves a problem in a browser."""

from playwright.sync_api import Route, expect

from tests.browser.accessibility import violations
from tests.browser.browser import Service
from tests.browser.stored_attempts import stored, verdict_of_call
from tests.browser.workbench import (
    PROBLEM,
    VERDICT_TIMEOUT_MS,
    OpenPage,
    await_verdict,
    editor,
    grade_as,
    open_settings,
    progress,
    turn_to,
    write,
)


def test_a_right_submission_is_accepted(open_page: OpenPage, accepted_source: str) -> None:
    page = open_page("/problems")
    page.get_by_role("main").get_by_role("link", name="The step on one device", exact=True).first.click()
    write(page, accepted_source)
    page.get_by_role("button", name="Submit").click()
    verdict = await_verdict(page, "accepted")
    expect(verdict).to_contain_text("100 of 100 points")
    expect(progress(page)).to_contain_text("Done: accepted")
    expect(progress(page).get_by_role("link", name="Next: ")).to_be_visible()
    expect(turn_to(page, "History").get_by_role("row")).not_to_have_count(0)
    expect(page.get_by_role("tab", name="Editorial")).to_contain_text("open")
    expect(turn_to(page, "Editorial").get_by_text("Read the editorial")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Read the editorial")).to_be_visible()
    turn_to(page, "Verdict")
    await_verdict(page, "accepted")
    turn_to(page, "Editorial").get_by_role("link", name="Compare yours with the reference").click()
    row = page.get_by_role("region", name="Both sources").get_by_role("row").nth(1)
    expect(row.locator("code")).to_have_text([accepted_source.splitlines()[0]] * 2)
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_wrong_one_shows_which_case_failed_and_why(open_page: OpenPage, wrong_source: str) -> None:
    page = open_page(PROBLEM)
    write(page, wrong_source)
    page.get_by_role("button", name="Submit").click()
    verdict = await_verdict(page, "rejected")
    expect(verdict.get_by_role("heading", level=3).first).to_have_text("Your result has a wrong value.")
    expect(verdict.get_by_role("heading", name="First failing case: public-1")).to_be_visible()
    expect(verdict).to_contain_text("expected")
    expect(verdict).to_contain_text("got")


def test_a_run_on_inputs_of_ones_own(open_page: OpenPage, accepted_source: str) -> None:
    page = open_page(PROBLEM)
    write(page, accepted_source)
    page.get_by_text("Own inputs", exact=True).click()
    page.get_by_label("Seed").fill("7")
    assert violations(page) == []
    page.get_by_label("Seed").press("Enter")
    verdict = await_verdict(page, "accepted")
    expect(verdict).to_contain_text("inputs of your own, seed 7, not scored")
    expect(verdict).to_contain_text("Your own inputs pass")


def test_an_endless_loop_can_be_cancelled(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "while True: pass")
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("button", name="Cancel").click()
    expect(progress(page)).to_have_text("Cancelled.", timeout=VERDICT_TIMEOUT_MS)


def test_a_reload_resumes_what_is_under_way(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "while True: pass")
    page.get_by_role("button", name="Submit").click()
    expect(progress(page)).to_contain_text("Running", timeout=VERDICT_TIMEOUT_MS)
    page.reload()
    expect(progress(page)).to_contain_text("Running")
    expect(page.get_by_role("button", name="Submit")).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Cancel").click()
    expect(progress(page)).to_have_text("Cancelled.", timeout=VERDICT_TIMEOUT_MS)
    expect(turn_to(page, "History").get_by_role("row").nth(1)).to_contain_text("cancelled")


def test_a_verdict_leaves_the_focus_where_the_reader_went(open_page: OpenPage, service: Service) -> None:
    accepted = "a" * 31 + "3"
    with stored(service, {accepted: verdict_of_call("accepted")}):
        page = open_page(PROBLEM)
        grade_as(page, accepted)
        held: list[Route] = []
        page.route("**/attempts/*/verdict", lambda route: held.append(route))
        with page.expect_request("**/attempts/*/verdict"):
            page.get_by_role("button", name="Run").click()
        editor(page).focus()
        held[0].continue_()
        await_verdict(page, "accepted")
        expect(progress(page)).to_contain_text("Done: accepted")
        expect(editor(page)).to_be_focused()


def test_what_is_still_being_sent_can_be_cancelled(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "while True: pass")
    held: list[Route] = []
    page.route("**/api/v1/problems/*/attempts", lambda route: held.append(route))
    page.get_by_role("button", name="Submit").click()
    expect(progress(page)).to_have_text("Sending")
    page.get_by_role("button", name="Cancel").click()
    expect(progress(page)).to_have_text("Cancelling")
    held[0].continue_()
    expect(progress(page)).to_have_text("Cancelled.")
    expect(page.get_by_role("button", name="Submit")).to_have_attribute("aria-disabled", "false")


def test_a_refusal_is_told_in_place_and_loses_nothing(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page(PROBLEM)
    write(page, " ")
    page.get_by_role("button", name="Submit").click()
    expect(progress(page)).to_contain_text("empty")
    expect(page.get_by_role("button", name="Submit")).to_have_attribute("aria-disabled", "false")
    # A server that is too busy is asked again by itself.
    busy = {"status": 503, "headers": {"Retry-After": "1"}, "json": {}}
    page.route("**/api/v1/problems/*/attempts", lambda route: route.fulfill(**busy), times=1)
    page.get_by_role("button", name="Submit").click()
    expect(progress(page)).to_have_text("The server is very busy. Trying again in 1 s")
    expect(progress(page)).to_contain_text("empty")
    complaints.clear()  # the browser logs each refusal itself


def test_a_draft_outlives_a_reload_and_a_sign_out(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page(PROBLEM)
    write(page, "# half a thought")
    page.reload()
    expect(editor(page)).to_contain_text("# half a thought")
    page.context.clear_cookies()
    page.get_by_role("button", name="Submit").click()
    expect(progress(page)).to_contain_text("You are not signed in")
    link = progress(page).get_by_role("link", name="Sign in")
    expect(link).to_have_attribute("href", f"/sign-in?next={PROBLEM}")
    page.reload()
    expect(editor(page)).to_contain_text("# half a thought")
    complaints.clear()  # the browser logs the 401 itself


def test_reset_asks_first_and_brings_the_starter_back(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "# to be dropped")
    page.once("dialog", lambda dialog: dialog.dismiss())
    open_settings(page).get_by_role("button", name="Reset to starter").click()
    expect(editor(page)).to_contain_text("# to be dropped")
    page.once("dialog", lambda dialog: dialog.accept())
    open_settings(page).get_by_role("button", name="Reset to starter").click()
    expect(editor(page)).to_contain_text("NotImplementedError")


def test_hints_open_in_order(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    hints = turn_to(page, "Hints").locator("details")
    expect(hints.nth(1)).to_be_hidden()
    hints.nth(0).locator("summary").click()
    expect(hints.nth(1)).to_be_visible()


def test_a_run_on_typed_inputs_says_beside_the_field_what_is_wrong(
    open_page: OpenPage, accepted_source: str, complaints: list[str]
) -> None:
    page = open_page(PROBLEM)
    write(page, accepted_source)
    page.get_by_text("Own inputs", exact=True).click()
    rows = page.get_by_label("x", exact=True)
    for text, fault in (("[[1, 2", "is not JSON"), ("[1, 2]", "must have 2 dimensions, not 1: float32, (N, D_in)")):
        rows.fill(text)
        rows.press("Enter")
        expect(page.locator("#fault-x")).to_contain_text(fault)
        expect(rows).to_have_attribute("aria-invalid", "true")
        expect(rows).to_be_focused()
    assert violations(page) == []
    complaints.clear()  # the browser logs the 409 itself
    rows.fill("[[1, 2, 3], [4, 5, 6]]")
    page.get_by_label("lr", exact=True).fill("0.25")
    page.get_by_role("button", name="Run with these").click()
    verdict = await_verdict(page, "accepted")
    expect(verdict).to_contain_text("seed 1, with your x and lr")
    expect(page.locator("#fault-x")).to_be_empty()
