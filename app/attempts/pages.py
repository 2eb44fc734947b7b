"""A user's attempts: the list, one of them, two compared; and the ranking of a problem."""

import asyncio
import contextlib
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.ranking_names import read_ranking_name
from app.accounts.web import admit_guests, current_user, require_scope, site_address
from app.attempts.filter import KINDS, STATUSES, AttemptFilter
from app.attempts.own_inputs import own_in_words
from app.attempts.phases import WORDS, in_words
from app.attempts.ranking import name_of_first, ranking, trend
from app.attempts.services import AttemptServices
from app.attempts.source_colours import colour_lines, colour_source
from app.attempts.standing import progress
from app.attempts.views import AttemptView, summary_of
from app.errors import AttemptFinished, ComparisonInvalid, ProblemNotFound
from app.queue.turns import QueuePlace
from app.queue.workers import NO_WORKER
from app.services import services_of
from app.web.diff import diff_lines
from app.web.drawings.efficiency import bins_of, draw_spread, draw_trend
from app.web.forms import read_form
from app.web.reasons import REASONS
from app.web.templating import render_page, render_secret_page
from app.web.verdict_view import VerdictView, arrange_verdict
from grader.text import plain_text
from grader.verdict import Verdict

router = APIRouter(include_in_schema=False)
_PAGE = 50
_PLACES = 100
Reader = Annotated[User, Depends(require_scope("read"))]
MaybeUser = Annotated[User | None, Depends(current_user)]
Submitter = Annotated[User, Depends(require_scope("submit"))]
# A guest has no list of attempts, but each of their runs has its page.
ReaderOrGuest = Annotated[User, Depends(admit_guests("read"))]
SubmitterOrGuest = Annotated[User, Depends(admit_guests("submit"))]


@router.get("/attempts")
async def list_attempts(
    request: Request, user: Reader, before: Annotated[str | None, Query(max_length=100)] = None
) -> HTMLResponse:
    """The filter is in the address, and so in the address of each further page."""
    services = services_of(request, AttemptServices)
    chosen = AttemptFilter.read(request.query_params)
    page = await services.attempts.list(user, limit=_PAGE + 1, before=before, only=chosen)
    page, more = page[:_PAGE], len(page) > _PAGE
    titles = {each.slug: each.manifest.title for each in services.catalogue.all()}
    tried = await progress(services.database, user)
    return render_page(
        "attempts.html",
        user=user,
        attempts=page,
        unwritten=await services.attempts.unwritten(user, page),
        comments=await services.comments.counts([each.id for each in page]),
        unseen=await services.comments.unseen(user),
        older=chosen.address(before=page[-1].id) if more else None,
        wanted=chosen,
        titles=titles,
        problems=sorted(tried, key=lambda slug: (titles.get(slug) or slug).lower()),
        kinds=KINDS,
        statuses=STATUSES,
        reasons=list(REASONS),
        reason_names={reason: found.name for reason, found in REASONS.items()},
    )


@router.get("/attempts/compare")
async def compare_attempts(
    request: Request,
    user: Reader,
    a: Annotated[str, Query(max_length=100)] = "",
    b: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Two attempts at one problem, from the older one to the newer one, in whichever order they were chosen."""
    services = services_of(request, AttemptServices)
    both = [await services.attempts.get(user, each, placed=False) for each in (a, b)]
    old, new = sorted(both, key=lambda each: (each.created_at, each.id))
    if old.id == new.id:
        raise ComparisonInvalid("A and B are the same attempt. Go back, and choose two different ones.")
    if old.problem != new.problem:
        raise ComparisonInvalid(
            f"A is an attempt at {old.problem!r} and B at {new.problem!r}. Go back, and choose two at the same problem."
        )
    listed = [summary_of(each) for each in (old, new)]
    return render_page(
        "compare.html",
        user=user,
        title=_title(request, old),
        old=listed[0],
        new=listed[1],
        unwritten=await services.attempts.unwritten(user, listed),
        served=_is_served(request, old),
        list_address=AttemptFilter(problem=old.problem).address(),
        lines=await asyncio.to_thread(diff_lines, old.source, new.source),
    )


@router.get("/attempts/{attempt_id}")
async def show_attempt(request: Request, attempt_id: str, user: ReaderOrGuest) -> HTMLResponse:
    services = services_of(request, AttemptServices)
    attempts = services.attempts
    attempt = await attempts.get(user, attempt_id)
    comments = [] if user.guest else await services.comments.of_attempt(attempt.id)
    if any(each.is_new for each in comments):
        await services.comments.see(attempt.id)
    before = await attempts.list(user, attempt.problem, limit=1, before=attempt.id)
    return render_page(
        "attempt.html",
        user=None if user.guest else user,
        attempt=attempt,
        title=_title(request, attempt),
        kind=attempt.kind.capitalize(),
        earlier=before[0].id if before else None,
        shared_at=await services.shares.since(user, attempt.id),
        served=_is_served(request, attempt),
        explorable=_mode(request, attempt) == "program",
        list_address=AttemptFilter(problem=attempt.problem).address(),
        waiting=attempt.status in {"queued", "running"},
        progress=_progress(attempt),
        phases=WORDS,
        view=_arranged(request, attempt, attempt.verdict) if attempt.verdict else None,
        comments=comments,
        lines=await colour_lines(attempt.source) if comments else [],
        source=await colour_source(plain_text(attempt.source)),
    )


@router.get("/attempts/{attempt_id}/verdict")
async def show_verdict(request: Request, attempt_id: str, user: ReaderOrGuest) -> Response:
    """The verdict as a fragment that the problem page inserts; no content until there is one."""
    attempts = services_of(request, AttemptServices).attempts
    attempt = await attempts.get(user, attempt_id)
    if attempt.verdict is None:
        return Response(status_code=204)
    view = _arranged(request, attempt, attempt.verdict)
    return render_page(
        "fragments/verdict.html",
        view=view,
        attempt_url=f"/attempts/{attempt.id}",
        after_giving_up=attempt.after_giving_up,
    )


@router.post("/attempts/{attempt_id}/cancel")
async def cancel_attempt(request: Request, attempt_id: str, user: SubmitterOrGuest) -> Response:
    await read_form(request)
    attempts = services_of(request, AttemptServices).attempts
    # It may finish before the click arrives. Its page then shows the verdict, which is even better.
    with contextlib.suppress(AttemptFinished):
        await attempts.cancel(user, attempt_id)
    return RedirectResponse(f"/attempts/{attempt_id}", status_code=303)


@router.post("/attempts/{attempt_id}/share")
async def share_attempt(request: Request, attempt_id: str, user: Submitter) -> HTMLResponse:
    """Responds with a page instead of a redirect, because only the link's hash is stored."""
    await read_form(request)
    services = services_of(request, AttemptServices)
    attempt = await services.attempts.get(user, attempt_id, placed=False)
    token = await services.shares.create(user, attempt)
    link = f"{site_address(request) or ''}/shared/{token}"
    return render_secret_page(
        "share.html", user=user, attempt=attempt, title=_title(request, attempt), link=link, path=f"/shared/{token}"
    )


@router.post("/attempts/{attempt_id}/unshare")
async def stop_sharing(request: Request, attempt_id: str, user: Submitter) -> Response:
    await read_form(request)
    services = services_of(request, AttemptServices)
    attempt = await services.attempts.get(user, attempt_id, placed=False)
    await services.shares.revoke(user, attempt.id)
    return RedirectResponse(f"/attempts/{attempt.id}#share", status_code=303)


@router.get("/shared/{token}")
async def show_shared(request: Request, token: str, user: MaybeUser) -> HTMLResponse:
    """For anybody with the link: the source, and the verdict with what its owner sees of hidden cases, not more."""
    attempt = await services_of(request, AttemptServices).shares.read(token)
    page = render_secret_page(
        "shared.html",
        user=user,
        attempt=attempt,
        title=_title(request, attempt),
        kind=attempt.kind.capitalize(),
        served=_is_served(request, attempt),
        view=_arranged(request, attempt, attempt.verdict) if attempt.verdict else None,
        source=await colour_source(plain_text(attempt.source)),
    )
    page.headers["X-Robots-Tag"] = "noindex, nofollow"
    return page


@router.get("/problems/{slug}/ranking")
async def show_ranking(request: Request, slug: str, user: Reader) -> HTMLResponse:
    services = services_of(request, AttemptServices)
    package = services.catalogue.get(slug)
    ranked = package.manifest.mode == "program"
    places = await ranking(services.database, package.slug, user, _PLACES)
    first_name = await name_of_first(services.database, package.slug, places.first_at) if places.first_at else None
    efficiencies = await trend(services.database, package.slug, user)
    return render_page(
        "ranking.html",
        user=user,
        problem=package,
        ranked=ranked,
        ranking=places,
        first_name=first_name,
        is_public=(await read_ranking_name(services.database, user)).is_public,
        bins=bins_of(places.counts) if places.counts else [],
        picture=draw_spread(places.counts, places.own.efficiency if places.own else None) if places.counts else None,
        efficiencies=efficiencies,
        trend=draw_trend(efficiencies) if len(efficiencies) > 1 else None,
    )


def _arranged(request: Request, attempt: AttemptView, verdict: Verdict) -> VerdictView:
    own = own_in_words(attempt.own_inputs) if attempt.own_inputs else ""
    try:
        package = services_of(request, AttemptServices).catalogue.get(attempt.problem)
    except ProblemNotFound:  # withdrawn since
        return arrange_verdict(verdict, own_inputs=own)
    is_starter = attempt.source.split() == package.starter.split()
    return arrange_verdict(verdict, is_starter=is_starter, is_answer=package.manifest.mode == "answer", own_inputs=own)


def _title(request: Request, attempt: AttemptView) -> str:
    catalogue = services_of(request, AttemptServices).catalogue
    try:
        return catalogue.get(attempt.problem).manifest.title
    except ProblemNotFound:  # withdrawn since, but its attempts stay readable
        return attempt.problem


def _is_served(request: Request, attempt: AttemptView) -> bool:
    # Answers are not written in the editor.
    return _mode(request, attempt) in {"call", "program"}


def _mode(request: Request, attempt: AttemptView) -> str | None:
    """The mode of the attempt's problem; None if it is no longer served."""
    catalogue = services_of(request, AttemptServices).catalogue
    return next((each.manifest.mode for each in catalogue.all() if each.slug == attempt.problem), None)


def _progress(attempt: AttemptView) -> str:
    if attempt.status == "queued":
        return _waiting(attempt.queue)
    return f"Running: {in_words(attempt.phase)}" if attempt.phase else "Running"


def _waiting(place: QueuePlace | None) -> str:
    """The same text as app/web/static/grading.js shows for these numbers."""
    if place is not None and not place.workers:
        return NO_WORKER
    if place is None or not place.ahead:
        return "Waiting for a free worker"
    line = f"Waiting: {place.ahead} ahead of you"
    return line if place.expected_wait_s is None else f"{line}, about {place.expected_wait_s} s"
