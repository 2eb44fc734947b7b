"""Pages work with JavaScript off."""

from playwright.sync_api import expect

from tests.browser.browser import CHECKOUT, Service
from tests.browser.stored_attempts import database, stored, verdict_of_call
from tests.browser.workbench import PROBLEM, VERDICT_TIMEOUT_MS, OpenPage

# Later than what other tests send.
_LAST = "2096-01-05 09:30:00.000000"


def test_a_program_is_submitted_and_its_verdict_read(open_page: OpenPage, service: Service) -> None:
    """With the real judge, as in test_solving.py for a function and in test_newcomer.py for answers."""
    page = open_page("/problems/psum_scatter_mean", java_script_enabled=False)
    source = (CHECKOUT / "problems/psum_scatter_mean/reference.py").read_text(encoding="utf-8")
    page.get_by_label("Your solution, Python").fill(source)
    page.get_by_role("button", name="Submit").click()
    # The page loads itself again until there is a verdict.
    expect(page.locator("section.verdict")).to_contain_text("accepted", timeout=VERDICT_TIMEOUT_MS)
    expect(page.get_by_role("link", name="Refresh")).to_have_count(0)
    expect(page.locator(".source")).to_contain_text("psum_scatter(")
    # Other tests are led from the problem that they solve to this one.
    with database(service) as connection:
        connection.execute("DELETE FROM attempts WHERE id = ?", (page.url.rpartition("/")[2],))


def test_the_problem_page_leads_to_the_last_verdict(open_page: OpenPage, service: Service) -> None:
    with stored(service, {"a" * 31 + "4": verdict_of_call("accepted")}, kind="run", created_at=_LAST):
        page = open_page(PROBLEM, java_script_enabled=False)
        expect(page.locator("[data-verdict]")).to_contain_text("Your last run")
        page.locator("[data-verdict]").get_by_role("link", name="accepted").click()
        expect(page.locator("section.verdict")).to_contain_text("accepted")


def test_a_refused_source_comes_back_in_the_page(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page(PROBLEM, anonymous=True, java_script_enabled=False)
    page.get_by_label("Your solution, Python").fill("# <mine> & 'kept'")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("not signed in")
    expect(page.get_by_label("Your solution, Python")).to_have_value("# <mine> & 'kept'")
    complaints.clear()  # the browser logs the 401 itself


def test_somebody_is_invited_signs_up_and_signs_in_again(open_page: OpenPage) -> None:
    inviter = open_page("/account/invitations", java_script_enabled=False)
    inviter.get_by_label("Who it is for").fill("Ada")
    inviter.get_by_role("button", name="Create invitation", exact=True).click()
    link = inviter.get_by_label("Your invitation link.").input_value()

    page = open_page("/", java_script_enabled=False, anonymous=True)
    page.goto(link)
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("four quiet grey geese")
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("banner").get_by_role("link", name="Sign in").click()
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("four quiet grey geese")
    page.get_by_label("Password").press("Enter")
    page.get_by_role("link", name="ada", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("Your role is student")
    expect(page.get_by_role("link", name="Invitations")).to_have_count(0)


def test_the_sign_in_page_says_where_the_link_is(open_page: OpenPage) -> None:
    page = open_page("/sign-in", java_script_enabled=False, anonymous=True)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("prints a sign-in link")
