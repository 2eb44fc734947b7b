"""REST: the draft of a problem, its editorial and its question."""

from dataclasses import replace

from fastapi import Request

from app.accounts.caller import GUEST_ID
from app.accounts.web import Reader, Submitter, SubmitterOrGuest, client_address
from app.core.database import Database
from app.core.errors import EditorialClosed
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.core.settings import Settings
from app.grading.attempts.questions import question_of
from app.grading.queue.local_judge import LocalJudge
from app.learning.workbench.drafts import Draft, Drafts
from app.learning.workbench.editorial import Editorials
from app.learning.workbench.formatting import Formatter
from app.learning.workbench.question_schemas import QuestionJSON
from app.learning.workbench.schemas import (
    EditorialJSON,
    FormattedSourceJSON,
    SaveDraftJSON,
    SourceToFormatJSON,
)
from app.problems.catalogue import Catalogue
from app.problems.visibility import Visibility

router = RestRouter("attempts")


@router.get("/problems/{slug}/draft", summary="Your draft at a problem", response_model=Draft)
async def read_draft(slug: str, user: Reader, drafts: Provided[Drafts]) -> Draft:
    return await drafts.get(user, slug)


@router.put(
    "/problems/{slug}/draft",
    summary="Save a draft, based on a revision",
    response_model=Draft,
    responses=problem_responses(409),
)
async def save_draft(
    slug: str,
    user: Submitter,
    body: SaveDraftJSON,
    drafts: Provided[Drafts],
    catalogue: Provided[Catalogue],
    judge: Provided[LocalJudge],
) -> Draft:
    # Someone who writes will submit, and the page may have been opened long ago.
    judge.warm(catalogue.get(slug))
    return await drafts.save(user, slug, body.source, body.revision)


@router.post("/format", summary="Format Python as ruff does; nothing is stored", response_model=FormattedSourceJSON)
async def format_python(
    request: Request,
    user: SubmitterOrGuest,
    body: SourceToFormatJSON,
    settings: Provided[Settings],
    formatter: Provided[Formatter],
) -> FormattedSourceJSON:
    asker = f"address {client_address(request)}" if user.id == GUEST_ID else f"account {user.id}"
    return FormattedSourceJSON(source=await formatter.format(body.source, settings.max_source_bytes, asker))


@router.get(
    "/problems/{slug}/editorial",
    summary="The editorial, once you have solved the problem or given up on it",
    response_model=EditorialJSON,
)
async def read_editorial(
    slug: str, user: Reader, visibility: Provided[Visibility], editorials: Provided[Editorials]
) -> EditorialJSON:
    package = (await visibility.visible(user, slug)).require("editorial")
    access = await editorials.access_of(user, package)
    if not access.is_open:
        raise EditorialClosed("It opens when one of your attempts is accepted, or when you give up on the problem.")
    return EditorialJSON(problem=package.slug, editorial=package.editorial, gave_up_at=access.gave_up_at)


@router.get(
    "/problems/{slug}/question",
    summary="Your question in an answer-mode problem",
    response_model=QuestionJSON,
)
async def read_question(
    slug: str,
    user: Reader,
    database: Provided[Database],
    visibility: Provided[Visibility],
) -> QuestionJSON:
    seen = await visibility.visible(user, slug)
    async with database.reading() as session:
        current = await question_of(session, user, seen.package)
    is_closed = seen.closes("solutions") is not None
    return QuestionJSON.at_problem(seen.package, replace(current, is_closed=is_closed))
