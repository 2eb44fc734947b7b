"""The routes of the service, each in the set of those that may use it. A new route must be classified here.

PUBLIC: anyone may use it. OWN: it shows or changes the caller's own data, and names no object. OWNED: it names an
object of one user, which does not exist for anyone else. INSTRUCT: it is for instructors, and about problems, which
have no owner, or about data of others that they may read. OWNERS: it is for owners, and about accounts. Any other
route for a role is one of the first three, and is also listed under its role. test_every_route_refuses.py proves that
each one refuses everyone else.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from sqlalchemy import select

from app.accounts.identities import Identity
from app.calculators.tables import BY_NAME
from app.clock import now
from app.database import Base
from app.explorer.models import ExplorationRow
from app.ids import new_id
from grader.explore import Explored
from tests.app.accounts.people import sign_in

pytestmark = pytest.mark.anyio

PUBLIC = {
    ("GET", "/"),
    ("GET", "/api/v1/problems"),
    ("GET", "/api/v1/problems/{slug}"),
    ("GET", "/api/v1/problems/{slug}/hints"),
    ("GET", "/api/v1/calculators"),
    *{("GET", f"/api/v1/calculators/{name}") for name in BY_NAME},
    ("GET", "/calculators"),
    ("GET", "/comparison"),
    ("GET", "/calculators/{name}"),
    ("GET", "/api/v1/lessons"),
    ("GET", "/api/v1/lessons/{slug}"),
    ("GET", "/lessons"),
    ("GET", "/lessons/{slug}"),
    ("GET", "/explore"),
    ("GET", "/healthz"),
    # To this machine alone, or for a token of its own: tests/app/operating/test_metrics.py.
    ("GET", "/metrics"),
    ("GET", "/help/errors"),
    ("GET", "/help/reasons"),
    ("GET", "/help/rest"),
    ("GET", "/favicon.ico"),
    ("GET", "/robots.txt"),
    ("GET", "/openapi.json"),
    # What counts is the signature of the platform, and then the ticket.
    ("GET", "/lti/jwks.json"),
    ("GET", "/lti/login"),
    ("POST", "/lti/login"),
    ("POST", "/lti/launch"),
    ("GET", "/lti/continue"),
    ("POST", "/lti/continue"),
    # What counts is the signature, or the token.
    ("POST", "/api/v1/repositories/{repository_id}/webhook"),
    ("GET", "/problems"),
    ("GET", "/problems/{slug}"),
    ("GET", "/problems/{slug}/figures/{name}"),
    ("GET", "/readyz"),
    ("GET", "/shared/{token}"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("POST", "/sign-in/with/{provider}"),
    ("GET", "/sign-in/with/{provider}/return"),
    ("GET", "/sign-up"),
    ("POST", "/sign-up"),
    ("POST", "/sign-out"),
    ("POST", "/theme"),
}
OWN = {
    ("GET", "/account"),
    ("POST", "/account/password"),
    ("POST", "/account/rankings"),
    ("POST", "/account/time-zone"),
    ("POST", "/account/sessions/revoke-others"),
    ("GET", "/account/delete"),
    ("POST", "/account/delete"),
    ("GET", "/account/export"),
    ("GET", "/account/tokens"),
    ("POST", "/account/tokens"),
    ("POST", "/account/identities/add/{provider}"),
    ("GET", "/sign-in/again"),
    ("POST", "/sign-in/again"),
    ("POST", "/sign-in/again/with/{provider}"),
    ("GET", "/account/invitations"),
    ("POST", "/account/invitations"),
    ("POST", "/account/invitations/class"),
    ("POST", "/api/v1/batch/invitations"),
    ("POST", "/explore"),
    ("GET", "/api/v1/explorations"),
    ("POST", "/api/v1/explorations"),
    ("GET", "/courses"),
    ("POST", "/courses/join"),
    ("GET", "/api/v1/courses"),
    ("POST", "/api/v1/courses/join"),
    ("GET", "/api/v1/attempts"),
    ("GET", "/api/v1/batch/attempts"),
    ("POST", "/api/v1/batch/attempts"),
    ("GET", "/api/v1/invitations"),
    ("POST", "/api/v1/invitations"),
    ("GET", "/api/v1/me"),
    ("DELETE", "/api/v1/me"),
    ("GET", "/api/v1/me/export"),
    ("GET", "/api/v1/me/progress"),
    ("GET", "/api/v1/problems/{slug}/ranking"),
    ("POST", "/api/v1/problems/{slug}/attempts"),
    ("GET", "/api/v1/problems/{slug}/draft"),
    ("PUT", "/api/v1/problems/{slug}/draft"),
    ("GET", "/api/v1/problems/{slug}/editorial"),
    ("GET", "/api/v1/problems/{slug}/question"),
    ("POST", "/api/v1/problems/{slug}/give-up"),
    ("POST", "/api/v1/problems/{slug}/runs"),
    ("GET", "/api/v1/tokens"),
    ("POST", "/api/v1/tokens"),
    ("GET", "/api/v1/webhooks"),
    ("POST", "/api/v1/webhooks"),
    ("GET", "/attempts"),
    ("GET", "/drafts/replaced"),
    ("POST", "/problems/{slug}"),
    ("GET", "/problems/{slug}/editorial"),
    ("GET", "/problems/{slug}/give-up"),
    ("GET", "/problems/{slug}/solutions"),
    ("POST", "/problems/{slug}/give-up"),
    ("GET", "/problems/{slug}/previous"),
    ("GET", "/progress"),
    ("GET", "/problems/{slug}/ranking"),
    ("GET", "/problems/{slug}/report"),
    ("POST", "/problems/{slug}/report"),
}
OWNED = {
    ("GET", "/explore/{exploration_id}"),
    ("POST", "/explore/{exploration_id}/share"),
    ("POST", "/explore/{exploration_id}/restore"),
    ("POST", "/explore/{exploration_id}/remove"),
    ("GET", "/api/v1/explorations/{exploration_id}"),
    ("DELETE", "/api/v1/explorations/{exploration_id}"),
    ("PUT", "/api/v1/explorations/{exploration_id}/sharing"),
    ("DELETE", "/api/v1/explorations/{exploration_id}/sharing"),
    ("GET", "/lti/selections/{selection_id}"),
    ("POST", "/lti/selections/{selection_id}"),
    ("GET", "/courses/{course_id}"),
    ("GET", "/api/v1/courses/{course_id}/assignments"),
    ("GET", "/api/v1/courses/{course_id}/announcements"),
    ("POST", "/account/identities/{identity_id}/remove"),
    ("POST", "/account/invitations/{invitation_id}/revoke"),
    ("POST", "/account/sessions/{session_id}/revoke"),
    ("POST", "/account/tokens/{token_id}/revoke"),
    ("GET", "/api/v1/attempts/{attempt_id}"),
    ("DELETE", "/api/v1/attempts/{attempt_id}"),
    ("GET", "/api/v1/attempts/{attempt_id}/events"),
    ("DELETE", "/api/v1/invitations/{invitation_id}"),
    ("DELETE", "/api/v1/tokens/{token_id}"),
    ("GET", "/api/v1/webhooks/{webhook_id}"),
    ("DELETE", "/api/v1/webhooks/{webhook_id}"),
    ("GET", "/api/v1/webhooks/{webhook_id}/deliveries"),
    ("GET", "/attempts/{attempt_id}"),
    ("POST", "/attempts/{attempt_id}/cancel"),
    ("GET", "/attempts/compare"),
    ("POST", "/attempts/{attempt_id}/restore"),
    ("POST", "/attempts/{attempt_id}/share"),
    ("POST", "/attempts/{attempt_id}/unshare"),
    ("POST", "/drafts/replaced/{draft_id}/restore"),
    ("POST", "/drafts/replaced/{draft_id}/discard"),
    ("GET", "/attempts/{attempt_id}/verdict"),
    ("POST", "/attempts/{attempt_id}/comments/{comment_id}/resolve"),
    ("GET", "/api/v1/attempts/{attempt_id}/comments"),
    ("PUT", "/api/v1/attempts/{attempt_id}/comments/{comment_id}"),
}
INSTRUCT = {
    ("GET", "/repositories"),
    ("POST", "/repositories"),
    ("GET", "/repositories/{repository_id}"),
    ("POST", "/repositories/{repository_id}/sync"),
    ("POST", "/repositories/{repository_id}/remove"),
    ("GET", "/api/v1/repositories"),
    ("POST", "/api/v1/repositories"),
    ("GET", "/api/v1/repositories/{repository_id}"),
    ("DELETE", "/api/v1/repositories/{repository_id}"),
    ("POST", "/api/v1/repositories/{repository_id}/syncs"),
    ("GET", "/api/v1/repositories/{repository_id}/syncs"),
    ("GET", "/api/v1/repositories/{repository_id}/syncs/{sync_id}"),
    ("GET", "/problems/{slug}/similarity"),
    ("GET", "/problems/{slug}/similarity/{one_id}/{other_id}"),
    ("GET", "/api/v1/problems/{slug}/similarity"),
    ("GET", "/courses/{course_id}/lti"),
    ("POST", "/courses/{course_id}/lti/{context_id}/connect"),
    ("POST", "/courses/{course_id}/lti/{context_id}/disconnect"),
    ("POST", "/courses/{course_id}/lti/{context_id}/roster"),
    ("POST", "/courses/{course_id}/lti/scores"),
    ("POST", "/courses"),
    ("POST", "/courses/{course_id}/assignments"),
    ("POST", "/courses/{course_id}/assignments/{assignment_id}/withdraw"),
    ("GET", "/courses/{course_id}/assignments/{assignment_id}/edit"),
    ("POST", "/courses/{course_id}/assignments/{assignment_id}/edit"),
    ("PUT", "/api/v1/courses/{course_id}/assignments/{assignment_id}"),
    ("POST", "/courses/{course_id}/assignments/{assignment_id}/extend"),
    ("GET", "/api/v1/courses/{course_id}/assignments/{assignment_id}/extensions"),
    ("PUT", "/api/v1/courses/{course_id}/assignments/{assignment_id}/extensions/{person_id}"),
    ("POST", "/courses/{course_id}/announcements"),
    ("POST", "/courses/{course_id}/announcements/{announcement_id}/remove"),
    ("POST", "/api/v1/courses/{course_id}/announcements"),
    ("DELETE", "/api/v1/courses/{course_id}/announcements/{announcement_id}"),
    ("GET", "/courses/{course_id}/roster"),
    ("POST", "/courses/{course_id}/roster"),
    ("POST", "/api/v1/courses/{course_id}/roster"),
    ("POST", "/courses/{course_id}/people/{person_id}/remove"),
    ("POST", "/courses/{course_id}/people/{person_id}/role"),
    ("PUT", "/api/v1/courses/{course_id}/people/{person_id}/role"),
    ("GET", "/courses/{course_id}/gradebook"),
    ("GET", "/courses/{course_id}/gradebook.csv"),
    ("GET", "/courses/{course_id}/gradebook.xlsx"),
    ("GET", "/courses/{course_id}/assignments/{assignment_id}/statistics"),
    ("POST", "/api/v1/courses"),
    ("POST", "/api/v1/courses/{course_id}/assignments"),
    ("DELETE", "/api/v1/courses/{course_id}/assignments/{assignment_id}"),
    ("DELETE", "/api/v1/courses/{course_id}/people/{person_id}"),
    ("GET", "/api/v1/courses/{course_id}/gradebook"),
    ("GET", "/people"),
    ("GET", "/people/{person_id}"),
    ("GET", "/api/v1/people"),
    ("GET", "/api/v1/people/{person_id}"),
    ("GET", "/people/{person_id}/attempts"),
    ("GET", "/people/{person_id}/attempts/{attempt_id}"),
    ("POST", "/people/{person_id}/attempts/{attempt_id}/comments"),
    ("POST", "/people/{person_id}/attempts/{attempt_id}/comments/{comment_id}/remove"),
    ("GET", "/people/{person_id}/attempts/{attempt_id}/grading"),
    ("GET", "/api/v1/people/{person_id}/attempts/{attempt_id}/grading"),
    ("POST", "/people/{person_id}/attempts/{attempt_id}/override"),
    ("POST", "/people/{person_id}/attempts/{attempt_id}/override/undo"),
    ("PUT", "/api/v1/people/{person_id}/attempts/{attempt_id}/override"),
    ("DELETE", "/api/v1/people/{person_id}/attempts/{attempt_id}/override"),
    ("GET", "/api/v1/people/{person_id}/attempts/{attempt_id}/comments"),
    ("POST", "/api/v1/people/{person_id}/attempts/{attempt_id}/comments"),
    ("DELETE", "/api/v1/people/{person_id}/attempts/{attempt_id}/comments/{comment_id}"),
    ("GET", "/people/{person_id}/problems/{slug}"),
    ("GET", "/problems/{slug}/people"),
    ("GET", "/insight"),
    ("GET", "/problems/{slug}/insight"),
    ("GET", "/problems/{slug}/insight/clusters/{key}"),
    ("POST", "/problems/{slug}/insight/misconceptions"),
    ("GET", "/api/v1/problems/{slug}/insight/clusters/{key}"),
    ("POST", "/api/v1/problems/{slug}/insight/misconceptions"),
    ("GET", "/api/v1/insight"),
    ("GET", "/api/v1/problems/{slug}/insight"),
    ("GET", "/api/v1/people/{person_id}/attempts"),
    ("GET", "/api/v1/people/{person_id}/attempts/{attempt_id}"),
    ("GET", "/api/v1/problems/{slug}/people"),
    ("GET", "/reports"),
    ("POST", "/reports/{report_id}/done"),
    ("GET", "/api/v1/reports"),
    ("PUT", "/api/v1/reports/{report_id}"),
    ("GET", "/authoring"),
    ("GET", "/authoring/{slug}"),
    ("POST", "/authoring/{slug}/validate"),
    ("GET", "/authoring/{slug}/validations/{validation_id}"),
    ("POST", "/authoring/{slug}/publish"),
    ("GET", "/authoring/{slug}/compare"),
    ("GET", "/authoring/{slug}/versions/{version}"),
    ("GET", "/authoring/{slug}/versions/{version}/figures/{name}"),
    ("GET", "/authoring/{slug}/versions/{version}/edit"),
    ("POST", "/authoring/{slug}/versions/{version}/edit"),
    ("GET", "/authoring/{slug}/rejudge"),
    ("POST", "/authoring/{slug}/rejudge"),
    ("GET", "/authoring/{slug}/rejudges"),
    ("GET", "/authoring/{slug}/rejudges/{rejudge_id}"),
    ("POST", "/authoring/{slug}/rejudges/{rejudge_id}/apply"),
    ("POST", "/authoring/{slug}/rejudges/{rejudge_id}/cancel"),
    ("PUT", "/api/v1/problems/{slug}"),
    ("POST", "/api/v1/problems/{slug}/validations"),
    ("GET", "/api/v1/problems/{slug}/validations"),
    ("GET", "/api/v1/problems/{slug}/validations/{validation_id}"),
    ("POST", "/api/v1/problems/{slug}/check"),
    ("GET", "/api/v1/problems/{slug}/checks"),
    ("GET", "/api/v1/problems/{slug}/checks/{check_id}"),
    ("GET", "/api/v1/problems/{slug}/publications"),
    ("GET", "/api/v1/problems/{slug}/versions"),
    ("GET", "/api/v1/problems/{slug}/versions/{version}"),
    ("POST", "/api/v1/problems/{slug}/publish"),
    ("POST", "/api/v1/problems/{slug}/rejudge"),
    ("POST", "/api/v1/problems/{slug}/rejudge/count"),
    ("GET", "/api/v1/problems/{slug}/rejudges"),
    ("GET", "/api/v1/problems/{slug}/rejudges/{rejudge_id}"),
    ("DELETE", "/api/v1/problems/{slug}/rejudges/{rejudge_id}"),
    ("GET", "/api/v1/problems/{slug}/rejudges/{rejudge_id}/changes"),
    ("POST", "/api/v1/problems/{slug}/rejudges/{rejudge_id}/apply"),
}
OWNERS = {
    ("GET", "/service"),
    ("GET", "/people/{person_id}/merge"),
    ("POST", "/people/{person_id}/merge"),
    ("POST", "/api/v1/people/{person_id}/merge"),
    ("GET", "/lti/platforms"),
    ("POST", "/lti/platforms"),
    ("POST", "/lti/platforms/{platform_id}/deployments"),
    ("POST", "/lti/platforms/{platform_id}/remove"),
    ("POST", "/lti/keys"),
    ("GET", "/api/v1/lti/platforms"),
    ("POST", "/api/v1/lti/platforms"),
    ("PUT", "/api/v1/lti/platforms/{platform_id}/deployments"),
    ("DELETE", "/api/v1/lti/platforms/{platform_id}"),
    ("GET", "/audit"),
    ("GET", "/api/v1/audit"),
    ("POST", "/people/{person_id}/role"),
    ("POST", "/people/{person_id}/deactivate"),
    ("POST", "/people/{person_id}/reactivate"),
    ("POST", "/people/{person_id}/password-reset"),
    ("PUT", "/api/v1/people/{person_id}/role"),
    ("POST", "/api/v1/people/{person_id}/deactivate"),
    ("POST", "/api/v1/people/{person_id}/reactivate"),
    ("POST", "/api/v1/people/{person_id}/password-reset"),
}
# Lasting access: only for a browser in which the user has recently proved their identity. Sent with these fields.
ROLE = {"role": "owner", "days": "7"}
RECENT: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/account/password"): {"new": "a long enough password"},
    ("POST", "/account/identities/add/{provider}"): {},
    ("POST", "/account/identities/{identity_id}/remove"): {},
    ("POST", "/account/tokens"): {"name": "x", "scope-account": "on", "days": ""},
    ("POST", "/account/invitations"): ROLE,
    ("POST", "/api/v1/tokens"): {"name": "x", "scopes": ["account"]},
    ("POST", "/api/v1/invitations"): {"role": "owner"},
}
IDS = (
    "identity_id",
    "attempt_id",
    "draft_id",
    "token_id",
    "invitation_id",
    "session_id",
    "webhook_id",
    "course_id",
    "selection_id",
    "comment_id",
    "exploration_id",
)
# To confirm it: for any browser that is signed in.
CONFIRM = {(method, path) for method, path in OWN if path.startswith("/sign-in/again")}
# A token may create others with no more scopes than its own.
FOR_TOKENS_TOO = {("POST", "/account/tokens"), ("POST", "/api/v1/tokens")}
# Open to guests, who may run: someone without an account who has opened a page.
OF_GUESTS = {("POST", "/problems/{slug}"): 303}
# Also the caller's own, and closed until they have solved the problem or given it up.
CLOSED = {("GET", "/api/v1/problems/{slug}/editorial")}
# Also the caller's own, and missing: the problem of these tests is solved by code, and asks no question.
MISSING = {("GET", "/api/v1/problems/{slug}/question")}
OF_INSTRUCTORS = {(method, path) for method, path in OWN | OWNED if "/invitations" in path}

# The tables with what the owner has.
OWNER_HAS = (
    *("users", "sessions", "identities", "api_tokens", "invitations", "webhooks"),
    *("attempts", "drafts", "replaced_drafts", "shares", "explorations"),
)

# Contents of the owner's objects, which no response to anyone else may contain.
SECRETS = [f"{kind}-OF-THE-OWNER" for kind in ("SOURCE", "TOKEN", "NOTE", "BROWSER", "IDENTITY", "WEBHOOK", "DRAFT")]


def routes_of(app) -> set[tuple[str, str]]:
    """Method and path of every route, static files aside."""
    return {
        (method, context.path)
        for context in iter_route_contexts(app.routes)
        for method in (context.methods or ())
        if method != "HEAD"
    }


@pytest.fixture(scope="module")
async def made(shared_service) -> dict[str, str]:
    """The owner has one object of each kind; their ids by the name that a path gives them."""
    service = shared_service
    service.http.headers.update({"User-Agent": "BROWSER-OF-THE-OWNER"})
    await sign_in(service)
    bearer = service.bearer
    run = await service.http.post(
        "/api/v1/problems/add_one/runs?wait=10", json={"source": "SOURCE-OF-THE-OWNER"}, headers=bearer
    )
    token = await service.http.post(
        "/api/v1/tokens", json={"name": "TOKEN-OF-THE-OWNER", "scopes": ["read"]}, headers=bearer
    )
    invitation = await service.http.post("/api/v1/invitations", json={"note": "NOTE-OF-THE-OWNER"}, headers=bearer)
    url = "https://example.org/WEBHOOK-OF-THE-OWNER"
    webhook = await service.http.post("/api/v1/webhooks", json={"url": url}, headers=bearer)
    me = (await service.http.get("/api/v1/me")).json()
    [session] = await service.services.accounts.sessions.list(me["id"])
    await service.services.accounts.identities.link(
        await service.services.accounts.ensure_owner(), Identity("https://id.example", "1", "IDENTITY-OF-THE-OWNER")
    )
    [identity] = await service.services.accounts.identities.list(me["id"])
    drafts, owner = service.services.drafts, await service.services.accounts.ensure_owner()
    draft = await drafts.save(owner, "add_one", "DRAFT-OF-THE-OWNER", 0)
    await drafts.restore(owner, draft, "SOURCE-OF-THE-OWNER", keep=True)
    [replaced] = await drafts.list_replaced(owner)
    return {
        "identity_id": identity.id,
        "draft_id": replaced.id,
        "attempt_id": run.json()["id"],
        "token_id": token.json()["id"],
        "invitation_id": invitation.json()["id"],
        "session_id": session.id,
        "webhook_id": webhook.json()["id"],
        "exploration_id": await explored(service.services, owner.id),
    }


async def explored(services, user_id: str) -> str:
    """The id of an exploration. The problem of these tests has no program, so it is stored without being requested."""
    row = ExplorationRow(
        id=new_id(),
        user_id=user_id,
        digest="0" * 64,
        problem="add_one",
        version=services.catalogue.get("add_one").version,
        source="SOURCE-OF-THE-OWNER",
        status="finished",
        result=Explored().model_dump(mode="json"),
        tries=0,
        created_at=now(),
    )
    async with services.database.writing() as session:
        session.add(row)
    return row.id


@pytest.fixture
def service(shared_service):
    return shared_service


@pytest.fixture
async def owned(service, made, bearers, others, found) -> AsyncIterator[dict[str, str]]:
    """The owner's objects in `made`. After each test they are all there, unchanged since the test before."""
    before = found.pop() if found else await _rows_of_the_owner(service)
    assert set(made.values()) <= {row.get("id") for rows in before.values() for row in rows}
    yield made
    found.append(await _rows_of_the_owner(service))
    assert found == [before]


async def _rows_of_the_owner(service) -> dict[str, list[dict[str, object]]]:
    """Read from the database, because the tests are many: everything but when a session or a token was last used."""
    owner = await service.services.accounts.ensure_owner()
    found: dict[str, list[dict[str, object]]] = {}
    async with service.services.database.reading() as session:
        for name in OWNER_HAS:
            table = Base.metadata.tables[name]
            columns = [each for each in table.columns if not each.name.startswith("last_")]
            of = table.c.id if name == "users" else table.c.user_id
            rows = await session.execute(select(*columns).where(of == owner.id).order_by(*table.primary_key.columns))
            found[name] = [dict(row) for row in rows.mappings()]
    return found


async def test_every_route_is_classified(service):
    assert routes_of(service.app) == PUBLIC | OWN | OWNED | INSTRUCT | OWNERS
    assert not PUBLIC & OWN
    assert not (PUBLIC | OWN) & OWNED
    assert not (PUBLIC | OWN | OWNED) & INSTRUCT
    assert not (PUBLIC | OWN | OWNED | INSTRUCT) & OWNERS
    described = (await service.http.get("/openapi.json")).json()["paths"]
    operations = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert operations <= routes_of(service.app)
    assert {(method, path) for method, path in routes_of(service.app) if path.startswith("/api/")} <= operations


def address(path: str, owned: dict[str, str]) -> str:
    names = "report check validation rejudge person course assignment announcement comment platform context selection"
    unknown = {f"{name}_id": "0" * 32 for name in (*names.split(), "one", "other", "repository", "sync")}
    unknown["version"] = "0" * 64
    where = path.format(slug="add_one", key="0", name="figure.svg", provider="oidc", token="0", **unknown, **owned)
    return f"{where}?a={owned['attempt_id']}&b={owned['attempt_id']}" if path == "/attempts/compare" else where
