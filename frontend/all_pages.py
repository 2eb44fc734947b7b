"""Take pictures of all pages, to look at them: `python -m frontend.all_pages FOLDER [PART OF A NAME ...]`.

A service of its own, with the real judge, is filled with a class, attempts and explorations. Each page is taken as its
reader sees it, in light and dark, 1440, 1366 and 360 pixels wide. The command fails if a page is wider than its window
or moves while it is loaded, or if its script or its security policy complains.
"""

import json
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, sync_playwright

from frontend.sample_class import PROBLEM, add_course
from grader.verdicts.verdict import Verdict
from tests.app.program_verdict import program_verdict
from tests.browser.browser import CHECKOUT, CHROMIUM, CHROMIUM_ARGUMENTS, OWNER_TOKEN, Service, serve
from tests.browser.layout_shift import shift_of
from tests.browser.sessions import sign_in_by_link
from tests.browser.stored_attempts import store_attempt

SCHEMES = ("light", "dark")
SIZES = ((1440, 900), (1366, 768), (360, 740))
_REJECTED, _ACCEPTED, _OLDER = (f"{number:032x}" for number in (0xA, 0xB, 0xC))
_STORED = CHECKOUT / "tests/browser/verdicts/fsdp_shard_map_step_rejected.json"
# Pages that anyone sees without an account.
_GUESTS = {
    "front": "/",
    "catalogue of a guest": "/problems",
    "filtered catalogue": "/problems?q=gather",
    "problem of a guest": "/problems/all_gather_tiled",
    "question of a guest": "/problems/who_holds_what",
    "lessons": "/lessons",
    "lesson": "/lessons/four-collectives",
    "lesson with figures": "/lessons/pipelines",
    "explorer of a guest": "/explore",
    "example": "/explore?example=ring",
    "calculators": "/calculators",
    "calculator": "/calculators/state",
    "comparison": "/comparison",
    "reasons": "/help/reasons",
    "REST": "/help/rest",
    "errors": "/help/errors",
    "search": "/search?q=fsdp",
    "sign in": "/sign-in",
    "missing page": "/nowhere",
}
_OWNERS = {
    "catalogue": "/problems",
    "problem": "/problems/psum_scatter_mean",
    "hints": "/problems/psum_scatter_mean#hints",
    "history": f"/problems/{PROBLEM}#history",
    "editorial": f"/problems/{PROBLEM}#editorial",
    "verdict beside the code": f"/problems/{PROBLEM}#verdict",
    "question": "/problems/opt_state_bytes#workbench",
    "rejected": f"/attempts/{_REJECTED}",
    "accepted": f"/attempts/{_ACCEPTED}",
    "two attempts": f"/attempts/compare?a={_REJECTED}&b={_ACCEPTED}",
    "solutions": f"/problems/{PROBLEM}/solutions",
    "ranking": f"/problems/{PROBLEM}/ranking",
    "attempts": "/attempts",
    "progress": "/progress",
    "explorer": "/explore",
    "account": "/account",
    "tokens": "/account/tokens",
    "invitations": "/account/invitations",
    "courses": "/courses",
    "teach": "/teach",
    "people": "/people",
    "person": f"/people/{1:032x}",
    "insight list": "/insight",
    "insight": f"/problems/{PROBLEM}/insight",
    "people of a problem": f"/problems/{PROBLEM}/people",
    "similarity": f"/problems/{PROBLEM}/similarity",
    "reports": "/reports",
    "authoring": "/authoring",
    "authoring of a problem": f"/authoring/{PROBLEM}",
    "repositories": "/repositories",
    "rejudge": f"/authoring/{PROBLEM}/rejudge",
    "admin": "/admin",
    "service": "/service",
    "platforms": "/lti/platforms",
    "audit": "/audit",
}
_COURSE = {
    "course": "",
    "gradebook": "/gradebook",
    "categories": "/categories",
    "roster": "/roster",
    "course people": "/people",
}


def main() -> int:
    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    faults = 0
    with (
        tempfile.TemporaryDirectory() as data,
        serve(Path(data) / "data", all_problems=True) as service,
        sync_playwright() as playwright,
    ):
        course = _fill(service)
        signed_in = sign_in_by_link(service)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        owners = _OWNERS | {name: f"{course}{path}" for name, path in _COURSE.items()}
        for scheme in SCHEMES:
            for width, height in SIZES:
                look = {"color_scheme": scheme, "viewport": {"width": width, "height": height}}
                for pages, state in ((_GUESTS, None), (owners, signed_in)):
                    with _context(browser, service, storage_state=state, **look) as context:
                        chosen = {k: v for k, v in pages.items() if not wanted or any(each in k for each in wanted)}
                        faults += sum(
                            _take(context, path, folder / f"{name}, {scheme}, {width}.png")
                            for name, path in chosen.items()
                        )
        browser.close()
    print(f"{folder}: {faults} pages with faults")
    return min(faults, 1)


def _fill(service: Service) -> str:
    """Fill the service, and return the address of the course."""
    course = add_course(service)
    rejected = Verdict.model_validate_json(_STORED.read_bytes())
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        (owner,) = connection.execute("SELECT id FROM users WHERE role = 'owner'").fetchone()
        store_attempt(connection, owner, _OLDER, program_verdict(PROBLEM, wrong=True))
        store_attempt(connection, owner, _REJECTED, rejected)
        store_attempt(connection, owner, _ACCEPTED, program_verdict(PROBLEM, efficiency=104.24))
    connection.close()
    with httpx.Client(base_url=f"{service.url}/api/v1", headers={"Authorization": f"Bearer {OWNER_TOKEN}"}) as http:
        source = (CHECKOUT / "problems/psum_scatter_mean/reference.py").read_text(encoding="utf-8")
        http.post("/explorations", json={"problem": "psum_scatter_mean", "source": source}).raise_for_status()
    return course


@contextmanager
def _context(browser: Browser, service: Service, **options: object) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=service.url, reduced_motion="reduce", **options)  # type: ignore[arg-type]
    yield context
    context.close()


def _take(context: BrowserContext, path: str, file: Path) -> bool:
    """Write the picture. Return whether the page has a fault, which is printed."""
    page = context.new_page()
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # The browser reports the page that is missing on purpose as an error.
        if message.type in {"error", "warning"} and path != "/nowhere":
            complaints.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path)
    page.wait_for_timeout(500)
    if moved := shift_of(page):
        complaints.append(moved)
    width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if width > 0:
        complaints.append(f"{width} pixels wider than the window")
    page.screenshot(path=file, full_page=True)
    print(f"{file.stem}: {page.evaluate('document.documentElement.scrollHeight')} px", *complaints, sep="; ")
    page.close()
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
