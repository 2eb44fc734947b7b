"""Every page, as its readers open it: test_pages.py visits each once for each reader.

A name in braces is of an object in sample_work.py. A new page is found among the routes of the service and a new lesson
in lessons/order.toml: without a line here, a page fails a test that names it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.learning.lessons.lesson_files import read_order
from tests.browser.sample_work import PROBLEM as SLUG
from tests.browser.sample_work import RANKED, TRACK
from tests.browser.workbench import PROBLEM
from tests.lessons.shipped_lessons import LESSONS

RANKED_PROBLEM = f"/problems/{RANKED}"
_ATTEMPTS = "/people/{person_id}/attempts"
_COURSE = "/courses/{course_id}"
_ASSIGNMENT = f"{_COURSE}/assignments/{{assignment_id}}"
_AUTHORING = f"/authoring/{SLUG}"
PARTS = ("hints", "verdict", "history", "editorial", "workbench")


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """`parts` are the ids of the tabs that are also looked at."""

    reader: str
    address: str
    status: int = 200
    parts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.reader} {self.address}"

    @property
    def has_figures(self) -> bool:
        return self.address in _LESSONS

    @property
    def lesson(self) -> str | None:
        """The folder that the page is made of, if it is a lesson."""
        path = self.address.partition("?")[0]
        return path.removeprefix("/") if path in _LESSONS else None

    @property
    def has_footer(self) -> bool:
        return self.address not in _OF_PANES

    @property
    def awaited(self) -> str | None:
        """What a script puts into the page. The page is looked at once this is there."""
        return _AWAITED.get(self.address)


_OF_PANES = {PROBLEM}
_AWAITED = {
    PROBLEM: "#verdict section.verdict",
    "/explore": ".cm-dot",
    "/explore?example=many-devices": ".cm-dot",
}
_LESSONS = [f"/lessons/{each.slug}" for each in read_order(LESSONS)]
_ADDRESSES: Mapping[str, list[str]] = {
    "guest": [
        "/",
        "/problems",
        "/lessons",
        "/sign-in",
        "{sign_up}",
        "{shared}",
        "{completed}",
        "/lti/continue?ticket={ticket}",
    ],
    "student": [
        "/attempts/compare?a={rejected}&b={accepted}",
        *(f"/attempts/{{{name}}}" for name in ("rejected", "right", "long")),
        f"{PROBLEM}/solutions",
        f"/tracks/{TRACK}/completion",
        "/interviews/{interview_id}",
        _COURSE,
        f"{_COURSE}/announcements",
        f"{_COURSE}/assignments/{{exam_id}}/exam",
    ],
    "owner": [
        "/problems",
        "/problems?q=nothing",
        f"{PROBLEM}/report",
        f"{PROBLEM}/give-up",
        f"{PROBLEM}/insight",
        f"{PROBLEM}/insight/clusters/{{key}}",
        f"{PROBLEM}/people",
        f"{PROBLEM}/similarity",
        f"{PROBLEM}/similarity/{{accepted}}/{{of_the_classmate}}",
        f"{RANKED_PROBLEM}/ranking",
        f"{PROBLEM}/ranking",
        "/progress",
        "/interviews",
        "/attempts",
        *(f"/attempts/{{{name}}}" for name in ("wrong", "half", "real")),
        "/drafts/replaced",
        "/sign-in/again",
        "/account",
        "/account/tokens",
        "/account/invitations",
        "/account/delete",
        "/help/errors",
        "/help/reasons",
        "/help/rest",
        "/search?q=fsdp",
        *_LESSONS,
        "/lessons/meshes-and-specs?q1=3&q2=2&q3=P(data)",
        "/lessons/four-collectives?q2=1",
        "/calculators",
        "/calculators/state",
        "/calculators/communication-time",
        "/comparison",
        "/comparison/pipeline",
        "/explore",
        "/explore?example=many-devices",
        "/explore/{explored}",
        "/teach",
        "/admin",
        "/reports",
        "/people",
        "/people/{person_id}",
        _ATTEMPTS,
        f"{_ATTEMPTS}/{{rejected}}",
        f"{_ATTEMPTS}/{{rejected}}/grading",
        f"/people/{{person_id}}{PROBLEM}",
        "/people/{person_id}/merge?into=owner",
        "/people/{person_id}/erase",
        "/insight",
        "/courses",
        _COURSE,
        f"{_COURSE}/gradebook",
        f"{_COURSE}/categories",
        f"{_COURSE}/roster",
        f"{_COURSE}/people",
        f"{_COURSE}/problems",
        f"{_COURSE}/settings",
        f"{_COURSE}/audit",
        f"{_COURSE}/announcements",
        f"{_COURSE}/copy?name=Next&opens=2027-02-01",
        f"{_COURSE}/lti",
        f"{_ASSIGNMENT}/cells/{SLUG}/{{person_id}}",
        f"{_ASSIGNMENT}/edit",
        f"{_ASSIGNMENT}/extensions",
        f"{_ASSIGNMENT}/statistics",
        "/authoring",
        _AUTHORING,
        f"{_AUTHORING}/versions/{{version}}",
        f"{_AUTHORING}/versions/{{version}}/edit?path=statement.md",
        f"{_AUTHORING}/compare?a={{version}}&b={{version}}",
        f"{_AUTHORING}/rejudge",
        f"{_AUTHORING}/rejudges",
        f"{_AUTHORING}/rejudges/{{rejudge_id}}",
        f"{_AUTHORING}/validations/{{validation_id}}",
        "/repositories",
        "/repositories/{repository_id}",
        "/lti/platforms",
        "/lti/selections/{selection_id}",
        "/service",
        "/audit",
    ],
}
PAGES = [
    VisitedPage("guest", "/nowhere", 404),
    VisitedPage("guest", "/lti/register/0", 403),
    VisitedPage("owner", PROBLEM, parts=PARTS),
    *(VisitedPage(reader, address) for reader, found in _ADDRESSES.items() for address in found),
]
# Routes that answer with a file, with data or with a part of a page, or only lead elsewhere.
NO_PAGES = {
    "/account/export",
    "/attempts/{attempt_id}/verdict",
    "/authoring/{slug}/versions/{version}/figures/{name}",
    "/badges/issuer.json",
    "/badges/keys/{key_id}",
    "/badges/revoked.json",
    "/completed/{token}/badge.jwt",
    "/completed/{token}/card.png",
    "/courses/{course_id}/export.zip",
    "/courses/{course_id}/gradebook.csv",
    "/courses/{course_id}/gradebook.xlsx",
    "/courses/{course_id}/invitations.csv",
    "/explore/{exploration_id}/picture",
    "/favicon.ico",
    "/healthz",
    "/lessons/{slug}/lesson.ipynb",
    "/lti/jwks.json",
    "/lti/login",
    "/metrics",
    "/openapi.json",
    "/people/{person_id}/export",
    "/problems/{slug}/editorial",
    "/problems/{slug}/figures/{name}",
    "/problems/{slug}/picture",
    "/problems/{slug}/previous",
    "/problems/{slug}/similarity.csv",
    "/readyz",
    "/robots.txt",
    "/search/found",
    "/shared/{token}/card.png",
    "/sign-in/with/{provider}/return",
}
_LINKS = {"{sign_up}": "/sign-up", "{shared}": "/shared/0", "{completed}": "/completed/0"}


def routes_visited(routes: Iterable[str]) -> set[str]:
    """Return the routes to which an address above leads. A route with fewer names in its path goes first."""
    patterns = {route: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route))) for route in routes}
    ordered = sorted(patterns, key=lambda route: (route.count("{"), route))
    found = set()
    for each in PAGES:
        address = _LINKS.get(each.address, each.address).partition("?")[0]
        found |= {next((route for route in ordered if patterns[route].fullmatch(address)), "")}
    return found - {""}
