"""One of the owner's objects of each kind. Whatever the tests request, the objects stay there, unchanged."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from app.accounts.identities import Identity
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Base, Database
from app.core.ids import new_id
from app.learning.explorer.models import ExplorationRow
from app.learning.lessons.models import LessonRunRow
from app.learning.workbench.drafts import Drafts
from app.problems.catalogue import Catalogue
from grader.explorer.exploration import Explored
from grader.explorer.script import Printed
from tests.app.accounts.people import sign_in

# The tables with what the owner has.
OWNER_HAS = (
    *("users", "sessions", "identities", "api_tokens", "invitations", "webhooks"),
    *("attempts", "drafts", "replaced_drafts", "shares", "explorations", "lesson_runs", "interviews"),
)

# Contents of the owner's objects, which no response to anyone else may contain.
SECRETS = [f"{kind}-OF-THE-OWNER" for kind in ("SOURCE", "TOKEN", "NOTE", "BROWSER", "IDENTITY", "WEBHOOK", "DRAFT")]


@pytest.fixture(scope="module")
async def made(shared_service) -> dict[str, str]:
    """Make one object of each kind for the owner, and return their ids by the names that paths give them."""
    service = shared_service
    service.http.headers.update({"User-Agent": "BROWSER-OF-THE-OWNER"})
    await sign_in(service)
    bearer = service.bearer
    run = await service.http.post(
        "/api/v1/problems/add_one/runs?wait=60", json={"source": "SOURCE-OF-THE-OWNER"}, headers=bearer
    )
    token = await service.http.post(
        "/api/v1/tokens", json={"name": "TOKEN-OF-THE-OWNER", "scopes": ["read"]}, headers=bearer
    )
    invitation = await service.http.post("/api/v1/invitations", json={"note": "NOTE-OF-THE-OWNER"}, headers=bearer)
    url = "https://example.org/WEBHOOK-OF-THE-OWNER"
    webhook = await service.http.post("/api/v1/webhooks", json={"url": url}, headers=bearer)
    interview = (await service.http.post("/api/v1/interviews", json={"level": "easy"}, headers=bearer)).json()["id"]
    await service.http.post(f"/api/v1/interviews/{interview}/end", headers=bearer)
    me = (await service.http.get("/api/v1/me")).json()
    [session] = await service.services[Accounts].sessions.list(me["id"])
    await service.services[Accounts].identities.link(
        await service.services[Accounts].ensure_owner(), Identity("https://id.example", "1", "IDENTITY-OF-THE-OWNER")
    )
    [identity] = await service.services[Accounts].identities.list(me["id"])
    drafts, owner = service.services[Drafts], await service.services[Accounts].ensure_owner()
    draft = await drafts.save(owner, "add_one", "DRAFT-OF-THE-OWNER", 0)
    await drafts.restore(owner, draft, "SOURCE-OF-THE-OWNER", keep=True)
    [replaced] = await drafts.list_replaced(owner)
    return {
        "interview_id": interview,
        "identity_id": identity.id,
        "draft_id": replaced.id,
        "attempt_id": run.json()["id"],
        "token_id": token.json()["id"],
        "invitation_id": invitation.json()["id"],
        "session_id": session.id,
        "webhook_id": webhook.json()["id"],
        "exploration_id": await explored(service.services, owner.id),
        "lesson_run_id": await ran(service.services, owner.id),
    }


async def explored(services, user_id: str) -> str:
    """Store an exploration, which cannot be requested because these tests' problem has no program. Returns its id."""
    row = ExplorationRow(
        id=new_id(),
        user_id=user_id,
        digest="0" * 64,
        problem="add_one",
        version=services[Catalogue].get("add_one").version,
        source="SOURCE-OF-THE-OWNER",
        status="finished",
        result=Explored().model_dump(mode="json"),
        tries=0,
        created_at=now(),
    )
    async with services[Database].writing() as session:
        session.add(row)
    return row.id


async def ran(services, user_id: str) -> str:
    """Store a run of a lesson's program. Returns its id."""
    row = LessonRunRow(
        id=new_id(),
        user_id=user_id,
        lesson="meshes-and-specs",
        program=1,
        source="SOURCE-OF-THE-OWNER",
        status="finished",
        result=Printed(stdout="SOURCE-OF-THE-OWNER").model_dump(mode="json"),
        tries=0,
        created_at=now(),
    )
    async with services[Database].writing() as session:
        session.add(row)
    return row.id


@pytest.fixture
def service(shared_service):
    return shared_service


@pytest.fixture
async def owned(service, made, bearers, others, found) -> AsyncIterator[dict[str, str]]:
    """The owner's objects in `made`. After each test, all of them must still be there, unchanged."""
    before = found.pop() if found else await _rows_of_the_owner(service)
    assert set(made.values()) <= {row.get("id") for rows in before.values() for row in rows}
    yield made
    found.append(await _rows_of_the_owner(service))
    assert found == [before]


async def _rows_of_the_owner(service) -> dict[str, list[dict[str, object]]]:
    """All of the owner's rows, except when a session or token was last used. Read directly, because it is fast."""
    owner = await service.services[Accounts].ensure_owner()
    found: dict[str, list[dict[str, object]]] = {}
    async with service.services[Database].reading() as session:
        for name in OWNER_HAS:
            table = Base.metadata.tables[name]
            columns = [each for each in table.columns if not each.name.startswith("last_")]
            of = table.c.id if name == "users" else table.c.user_id
            rows = await session.execute(select(*columns).where(of == owner.id).order_by(*table.primary_key.columns))
            found[name] = [dict(row) for row in rows.mappings()]
    return found
