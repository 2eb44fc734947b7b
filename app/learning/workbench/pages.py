"""The problem page; it reads the same services as REST does."""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import Reader, allow_scope, current_guest, current_user
from app.core.clock import now
from app.core.database import Database
from app.core.errors import AnswersUnfit, NotSignedIn, PathNotFound, QuestionChanged, QuestionsNotDrawn, Refused
from app.core.rest.paging import Cursor, Page
from app.core.services import Provided, Services, services_of
from app.core.settings import Settings
from app.core.web.form_token import FIELD, check_form_token
from app.core.web.forms import FormInvalid, read_unchecked_form
from app.core.web.templating import render_page
from app.grading.attempts.durations import Durations
from app.grading.attempts.own_inputs import FIELD as TYPED
from app.grading.attempts.own_inputs import meshes_of, read_own_inputs, typed_of
from app.grading.attempts.phases import WORDS
from app.grading.attempts.questions import last_try_of, question_of, sample_question
from app.grading.attempts.service import Attempts
from app.grading.comments.service import Comments
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.preparation import Preparation
from app.grading.queue.status import ENDED
from app.learning.interviews.service import Interviews
from app.learning.lessons.lesson_files import Lessons
from app.learning.workbench.answer_form import MAX_FIELDS, PREFIX, AnswerForm, source_of
from app.learning.workbench.answer_form import form_of as answer_form_of
from app.learning.workbench.drafts import Drafts
from app.learning.workbench.editorial import render, show_to
from app.learning.workbench.limits_text import expect_text
from app.problems.catalogue import Catalogue
from app.problems.rendered_texts import texts_of
from app.problems.viewer import viewer
from app.problems.visibility import Visibility
from app.problems.written_lines import lines_to_write
from grader.checks.grading_table import grading_of
from grader.core.chips import offered_chips
from grader.inputs.typed_inputs import form_of
from grader.package.package import AnswerManifest, Package
from grader.package.variants import variants_of

router = APIRouter(include_in_schema=False)
_PREVIOUS = 10
_MAX_TYPED_BYTES = 32 * 1024
# The heading with which the task of a statement begins. What comes before is background.
_TASK = "Problem"
_KINDS: dict[str, Literal["attempt", "run"]] = {"run": "run", "own": "run", "submit": "attempt"}
MaybeUser = Annotated[User | None, Depends(current_user)]
_submitter = allow_scope("submit")


@router.get("/problems/{slug}")
async def show_problem(
    request: Request,
    slug: str,
    user: MaybeUser,
    catalogue: Provided[Catalogue],
    judge: Provided[LocalJudge],
    variant: Annotated[str | None, Query(max_length=32)] = None,
) -> HTMLResponse:
    package = catalogue.get(slug, variant)
    # Someone who reads a problem may soon submit to it, and a runner should then be ready.
    judge.warm(package)
    return await _problem_page(request, package, user)


@router.post("/problems/{slug}")
async def send_source(request: Request, slug: str) -> Response:
    """The form without a script. A refused source returns with the page, so that nothing is lost."""
    services = services_of(request)
    package = services[Catalogue].get(slug)
    # Percent-encoding turns one byte into three, and newlines are sent as two bytes. The rest is for the names.
    form = await read_unchecked_form(
        request, max_bytes=6 * services[Settings].max_source_bytes + _MAX_TYPED_BYTES, max_fields=MAX_FIELDS
    )
    source, kind = form.get("source"), _KINDS.get(form.get("action", ""))
    is_answered = isinstance(package.manifest, AnswerManifest)
    if isinstance(package.manifest, AnswerManifest):
        source = source_of(package.manifest, form)
    if source is None or kind is None:
        raise FormInvalid("The form must have the fields 'source' and 'action' ('run', 'own' or 'submit').")
    user = await _submitter(request)
    try:
        check_form_token(request, form.get(FIELD, ""))
        if user is not None and not is_answered:
            await _keep(services, user, slug, source, form.get("revision", ""))
        sender = user or (await current_guest(request) if kind == "run" else None)
        if sender is None:
            if is_answered:
                raise NotSignedIn("Nothing was submitted. Sign in to get your question.")
            raise NotSignedIn("Nothing was submitted; your code is below. Sign in in another tab, then try again.")
        own = read_own_inputs(package, form) if form["action"] == "own" else None
        attempt = await services[Attempts].submit(sender, slug, source, kind, own_inputs=own)
    except Refused as refusal:
        typed = {name.removeprefix(TYPED): text for name, text in form.items() if name.startswith(TYPED)}
        written = {name: text for name, text in form.items() if name.startswith(PREFIX)}
        return await _problem_page(request, package, user, source=source, refusal=refusal, typed=typed, written=written)
    return RedirectResponse(f"/attempts/{attempt.id}", status_code=303)


@router.get("/problems/{slug}/previous")
async def list_previous(
    slug: str,
    user: Reader,
    catalogue: Provided[Catalogue],
    attempts: Provided[Attempts],
    comments: Provided[Comments],
) -> HTMLResponse:
    """The user's latest attempts, as a fragment that the problem page inserts."""
    catalogue.get(slug)
    previous = await attempts.list(user, Cursor(_PREVIOUS), slug)
    unwritten = await attempts.unwritten(user, previous)
    written = await comments.counts([each.id for each in previous])
    return render_page("fragments/attempts.html", attempts=previous, unwritten=unwritten, comments=written)


@router.get("/problems/{slug}/editorial")
async def show_editorial(request: Request, slug: str, user: Reader) -> HTMLResponse:
    """The editorial or how to open it, as a fragment that the problem page inserts after an accepted attempt."""
    services = services_of(request)
    package = services[Catalogue].get(slug)
    return render_page("fragments/editorial.html", editorial=await show_to(user, services, package))


@router.get("/problems/{slug}/figures/{name}")
async def show_figure(slug: str, name: str, catalogue: Provided[Catalogue]) -> Response:
    """A figure of the statement. It is an instructor's file, so its policy forbids it to run or load anything."""
    package = catalogue.get(slug)
    if name not in package.figures:
        raise PathNotFound(f"The problem '{package.slug}' has no figure with this name.")
    policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    headers = {"Content-Security-Policy": policy, "Cache-Control": "private, no-cache"}
    return Response(package.figures[name], media_type="image/svg+xml", headers=headers)


async def _problem_page(
    request: Request,
    package: Package,
    user: User | None,
    *,
    source: str | None = None,
    refusal: Refused | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
    written: Mapping[str, str] = MappingProxyType({}),
) -> HTMLResponse:
    """`source` is one that was sent and returns. Without it, the editor starts with the draft or the starter.

    `typed` are arguments of a run, and `written` answers, by the names of their inputs.
    """
    services = services_of(request)
    draft = await services[Drafts].get(user, package.slug) if user else None
    previous = await services[Attempts].list(user, Cursor(_PREVIOUS), package.slug) if user else Page()
    seen = await services[Visibility].visible(user, package.slug)
    is_closed = seen.closes("solutions") is not None
    texts = texts_of(package)
    [statement] = await render(services, package, texts["statement.md"])
    background, task = statement.split_at(_TASK)
    return render_page(
        "problem.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        problem=package,
        track=services[Catalogue].section_of(package.slug),
        lessons=services[Lessons].leading_to([package.slug]),
        needs=[each for each in services[Catalogue].all() if each.slug in package.manifest.prerequisites],
        variants=[each.name for each in variants_of(package.manifest)] if viewer().is_staff else [],
        own_variant=services[Catalogue].get(package.slug).variant_name,
        background=background,
        task=task,
        lines=lines_to_write(package),
        grading=grading_of(package.manifest),
        interview=await services[Interviews].banner(user, package.slug) if seen.exam else None,
        exam=seen.exam,
        now=now(),
        hints=[] if seen.closes("hints") else await render(services, package, texts["hints.md"]),
        editorial=await show_to(user, services, package) if user else None,
        guest_runs=services[Settings].guest_runs_in_total > 0,
        sent=source is not None,
        source=next(text for text in (source, draft and draft.source, package.starter) if text is not None),
        revision=draft.revision if draft else 0,
        refusal=refusal,
        previous=previous,
        unwritten=await services[Attempts].unwritten(user, previous) if user else frozenset(),
        comments=await services[Comments].counts([each.id for each in previous]),
        under_way=(under_way := next((each for each in previous if each.status not in ENDED), None)),
        phases=WORDS,
        answers=await _answer_form(services, package, user, refusal, written, is_closed=is_closed),
        meshes=list(meshes_of(package)),
        chips=offered_chips() if user else (),
        arguments={name: form_of(spec) for name, spec in typed_of(package).items()},
        typed=typed,
        unfit=refusal.extra.get("faults", {}) if refusal else {},
        expect=expect_text(package.manifest.limits, await services[Durations].typical(package.slug)),
        waited_s=round((now() - under_way.created_at).total_seconds()) if under_way else 0,
        last=None if under_way else next((each for each in previous if each.verdict_status), None),
        preparing=preparing.of(package.slug) if (preparing := _preparation(services)) else None,
    )


async def _answer_form(
    services: Services,
    package: Package,
    user: User | None,
    refusal: Refused | None,
    written: Mapping[str, str],
    *,
    is_closed: bool,
) -> AnswerForm | None:
    """None for code, and while the questions are not drawn. A guest gets a sample."""
    if not isinstance(package.manifest, AnswerManifest):
        return None
    try:
        async with services[Database].reading() as session:
            current = await (question_of(session, user, package) if user else sample_question(session, package))
            last = await last_try_of(session, user, package) if user and current.state == "open" else {}
    except QuestionsNotDrawn:
        return None
    current = replace(current, is_closed=is_closed)
    faults = refusal.extra.get("faults", {}) if isinstance(refusal, AnswersUnfit) else {}
    # What was written for an earlier question would be wrong for this one.
    values = {} if isinstance(refusal, QuestionChanged) else written
    return await answer_form_of(services, package, package.manifest, current, values, faults, last)


async def _keep(services: Services, user: User, slug: str, source: str, revision: str) -> None:
    """Save what was sent as the draft, as the page's script does while the user types."""
    # A draft that was changed elsewhere stays. Faults of the source are reported when it is submitted.
    with contextlib.suppress(Refused):
        await services[Drafts].save(user, slug, source, int(revision) if re.fullmatch("[0-9]{1,9}", revision) else 0)


def _preparation(services: Services) -> Preparation | None:
    return services[LocalJudge].preparation()
