"""A user's attempts: the list, one of them, two compared; and the ranking of a problem."""

import asyncio
from typing import Annotated, Any

from fastapi import Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.caller import User
from app.accounts.ranking_names import read_ranking_name
from app.accounts.web import MaybeUser, Reader, ReaderOrGuest, Submitter, site_address
from app.core.database import Database
from app.core.errors import ComparisonInvalid, ProblemNotFound
from app.core.rest.actions import Actions
from app.core.rest.paging import Cursor
from app.core.services import Provided
from app.core.web.diff import diff_lines
from app.core.web.templating import render_list, render_page, render_secret_page
from app.grading.attempts.filter import AttemptFilter, choices
from app.grading.attempts.next_problem import next_problem
from app.grading.attempts.own_inputs import own_in_words
from app.grading.attempts.phases import WORDS, in_words
from app.grading.attempts.progress import progress
from app.grading.attempts.ranking import name_of_first, ranking, trend
from app.grading.attempts.service import Attempts
from app.grading.attempts.shares import Shares
from app.grading.attempts.source_colours import colour_lines, colour_source
from app.grading.attempts.views import AttemptJSON, AttemptSummary
from app.grading.comments.service import Comments
from app.grading.queue.status import QueuePlace
from app.grading.queue.workers import NO_WORKER
from app.presentation.drawings.columns import FEWEST_DRAWN
from app.presentation.drawings.efficiency import bins_of, draw_spread, draw_trend
from app.presentation.drawings.placement import Mesh
from app.presentation.drawings.share_card import draw_card
from app.presentation.verdict_differences import differences_of_verdicts
from app.presentation.verdict_view import VerdictView, arrange_verdict
from app.problems.catalogue import Catalogue
from app.problems.problem_texts import ProblemTexts
from app.problems.visibility import Visibility
from grader.core.chips import offered_chips
from grader.core.text import plain_text
from grader.package.variants import like
from grader.verdicts.verdict import Verdict

actions = Actions("attempts")
_PAGE = 50
_PLACES = 100
# Drawn for a verdict without a placement.
_MESH_OF_CARD = Mesh((("data", 2), ("fsdp", 4)))
# A guest has no list of attempts, but each of their runs has its page.


@actions.pages.get("/attempts")
async def list_attempts(
    request: Request,
    user: Reader,
    attempts: Provided[Attempts],
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    comments: Provided[Comments],
    before: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """The filter is in the address, and so in the address of each further page."""
    chosen = AttemptFilter.read(request.query_params)
    page = await attempts.list(user, Cursor(_PAGE, before), only=chosen)
    tried = await progress(database, user)
    return render_list(
        "grading/attempts/attempts.html",
        user=user,
        catalogue=catalogue.seen,
        tried=tried,
        attempts=page,
        unwritten=await attempts.unwritten(user, page),
        comments=await comments.counts([each.id for each in page]),
        unseen=await comments.unseen(user),
        older=chosen.address(before=page.next) if page.next else None,
        wanted=chosen,
        more=lambda: choices(catalogue.titles(), tried),
    )


@actions.pages.get("/attempts/compare")
async def compare_attempts(
    user: Reader,
    attempts: Provided[Attempts],
    catalogue: Provided[Catalogue],
    a: Annotated[str, Query(max_length=100)] = "",
    b: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Two attempts at one problem, from the older one to the newer one, in whichever order they were chosen."""
    both = [await attempts.get(user, each, placed=False) for each in (a, b)]
    old, new = sorted(both, key=lambda each: (each.created_at, each.id))
    if old.id == new.id:
        raise ComparisonInvalid("A and B are the same attempt. Go back, and choose two different ones.")
    if old.problem != new.problem:
        raise ComparisonInvalid(
            f"A is an attempt at {old.problem!r} and B at {new.problem!r}. Go back, and choose two at the same problem."
        )
    listed = [AttemptSummary.of(each) for each in (old, new)]
    return render_page(
        "grading/attempts/compare.html",
        user=user,
        title=catalogue.title_of(old.problem),
        old=listed[0],
        new=listed[1],
        unwritten=await attempts.unwritten(user, listed),
        served=_is_served(catalogue, old),
        list_address=AttemptFilter(problem=old.problem).address(),
        measured=differences_of_verdicts(old.verdict, new.verdict) if old.verdict and new.verdict else None,
        lines=await asyncio.to_thread(diff_lines, old.source, new.source),
    )


@actions.pages.get("/attempts/{attempt_id}")
async def show_attempt(
    attempt_id: str,
    user: ReaderOrGuest,
    attempts: Provided[Attempts],
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    shares: Provided[Shares],
    comments: Provided[Comments],
    texts: Provided[ProblemTexts],
) -> HTMLResponse:
    attempt = await attempts.get(user, attempt_id)
    view = _arranged(catalogue, attempt, attempt.verdict) if attempt.verdict else None
    written = [] if user.guest else await comments.of_attempt(attempt.id)
    if any(each.is_new for each in written):
        await comments.see(attempt.id)
    return render_page(
        "grading/attempts/attempt.html",
        user=None if user.guest else user,
        attempt=attempt,
        title=catalogue.title_of(attempt.problem),
        kind=attempt.kind.capitalize(),
        earlier=await attempts.earlier(user, attempt),
        shared_at=await shares.since(user, attempt.id),
        served=_is_served(catalogue, attempt),
        explorable=_mode(catalogue, attempt) == "program",
        chips=offered_chips(),
        list_address=AttemptFilter(problem=attempt.problem).address(),
        waiting=attempt.status in {"queued", "running"},
        progress=_progress(attempt),
        phases=WORDS,
        view=view,
        pitfall=await texts.pitfall(attempt.problem, attempt.variant, attempt.pitfall),
        comments=written,
        lines=await colour_lines(attempt.source) if written else [],
        **await _success(user, attempt, database, catalogue),
        source=await colour_source(plain_text(attempt.source)),
    )


@actions.pages.get("/attempts/{attempt_id}/verdict")
async def show_verdict(
    attempt_id: str,
    user: ReaderOrGuest,
    attempts: Provided[Attempts],
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    texts: Provided[ProblemTexts],
) -> Response:
    """The verdict as a fragment that the problem page inserts; no content until there is one."""
    attempt = await attempts.get(user, attempt_id)
    if attempt.verdict is None:
        return Response(status_code=204)
    view = _arranged(catalogue, attempt, attempt.verdict)
    return render_page(
        "grading/fragments/verdict.html",
        view=view,
        pitfall=await texts.pitfall(attempt.problem, attempt.variant, attempt.pitfall),
        attempt_id=attempt.id,
        attempt_url=f"/attempts/{attempt.id}",
        explorable=not user.guest and _mode(catalogue, attempt) == "program",
        chips=offered_chips(),
        after_giving_up=attempt.after_giving_up,
        **await _success(user, attempt, database, catalogue),
    )


@actions.form("/attempts/{attempt_id}/share")
async def share_attempt(
    request: Request,
    attempt_id: str,
    user: Submitter,
    attempts: Provided[Attempts],
    shares: Provided[Shares],
    catalogue: Provided[Catalogue],
) -> HTMLResponse:
    """Responds with a page instead of a redirect, because only the link's hash is stored."""
    attempt = await attempts.get(user, attempt_id, placed=False)
    token = await shares.create(user, attempt)
    link = f"{site_address(request) or ''}/shared/{token}"
    return render_secret_page(
        "grading/attempts/share.html",
        user=user,
        attempt=attempt,
        title=catalogue.title_of(attempt.problem),
        link=link,
        path=f"/shared/{token}",
    )


@actions.form("/attempts/{attempt_id}/unshare", then="/attempts/{attempt_id}#share")
async def stop_sharing(
    attempt_id: str, user: Submitter, attempts: Provided[Attempts], shares: Provided[Shares]
) -> None:
    attempt = await attempts.get(user, attempt_id, placed=False)
    await shares.revoke(user, attempt.id)


@actions.pages.get("/shared/{token}")
async def show_shared(
    request: Request,
    token: str,
    user: MaybeUser,
    shares: Provided[Shares],
    visibility: Provided[Visibility],
    catalogue: Provided[Catalogue],
) -> HTMLResponse:
    """For anyone with the link: the source, and the verdict with as much of hidden cases as its owner sees."""
    attempt = await shares.read(token)
    if (exam := await visibility.closed(user, attempt.problem, "solutions")) is not None:
        exam.refuse(attempt.problem)
    page = render_secret_page(
        "grading/attempts/shared.html",
        user=user,
        attempt=attempt,
        title=catalogue.title_of(attempt.problem),
        kind=attempt.kind.capitalize(),
        served=_is_served(catalogue, attempt),
        view=_arranged(catalogue, attempt, attempt.verdict) if attempt.verdict else None,
        card=f"{site_address(request) or ''}/shared/{token}/card.png",
        source=await colour_source(plain_text(attempt.source)),
    )
    page.headers["X-Robots-Tag"] = "noindex, nofollow"
    return page


@actions.pages.get("/shared/{token}/card.png")
async def show_card(token: str, shares: Provided[Shares], catalogue: Provided[Catalogue]) -> Response:
    """The picture that other services show beside the link. Like the page, it is gone once the link is."""
    attempt = await shares.read(token)
    view = _arranged(catalogue, attempt, attempt.verdict) if attempt.verdict else None
    picture = view.picture if view else None
    leaf = picture.leaf.leaf if picture and picture.leaf else None
    mesh = picture.mesh if picture and picture.mesh and leaf else _MESH_OF_CARD
    is_accepted = attempt.verdict is not None and attempt.verdict.status == "accepted"
    title, sentence = catalogue.title_of(attempt.problem), view.outcome.capitalize() if view else "No verdict yet"
    png = await asyncio.to_thread(draw_card, mesh, leaf, title=title, sentence=sentence, accepted=is_accepted)
    headers = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}
    return Response(png, media_type="image/png", headers=headers)


@actions.pages.get("/problems/{slug}/ranking")
async def show_ranking(
    slug: str, user: Reader, catalogue: Provided[Catalogue], database: Provided[Database]
) -> HTMLResponse:
    package = catalogue.get(slug)
    ranked = package.manifest.mode == "program"
    places = await ranking(database, package.slug, user, _PLACES)
    first_name = await name_of_first(database, package.slug, places.first_at) if places.first_at else None
    efficiencies = await trend(database, package.slug, user)
    return render_page(
        "grading/attempts/ranking.html",
        user=user,
        problem=package,
        ranked=ranked,
        ranking=places,
        first_name=first_name,
        is_public=(await read_ranking_name(database, user)).is_public,
        bins=bins_of(places.counts) if places.counts else [],
        fewest_drawn=FEWEST_DRAWN,
        picture=draw_spread(places.counts, places.own.efficiency if places.own else None),
        efficiencies=efficiencies,
        trend=draw_trend(efficiencies) if len(efficiencies) > 1 else None,
    )


def _arranged(catalogue: Catalogue, attempt: AttemptJSON, verdict: Verdict) -> VerdictView:
    own = own_in_words(attempt.inputs) if attempt.inputs else ""
    try:
        package = like(catalogue.get(attempt.problem), attempt.variant)
    except ProblemNotFound:  # withdrawn since
        return arrange_verdict(verdict, own_inputs=own)
    is_starter = attempt.source.split() == package.starter.split()
    return arrange_verdict(verdict, is_starter=is_starter, is_answer=package.manifest.mode == "answer", own_inputs=own)


async def _success(user: User, attempt: AttemptJSON, database: Database, catalogue: Catalogue) -> dict[str, Any]:
    """What an accepted attempt's verdict also shows: what the problem teaches, and which one comes next."""
    if attempt.kind != "attempt" or attempt.verdict is None or attempt.verdict.status != "accepted":
        return {}
    try:
        manifest = catalogue.get(attempt.problem).manifest
    except ProblemNotFound:  # withdrawn since
        manifest = None
    return {"manifest": manifest, "following": await next_problem(user, database, catalogue)}


def _is_served(catalogue: Catalogue, attempt: AttemptJSON) -> bool:
    # Answers are not written in the editor.
    return _mode(catalogue, attempt) in {"call", "program"}


def _mode(catalogue: Catalogue, attempt: AttemptJSON) -> str | None:
    """The mode of the attempt's problem; None if it is no longer served."""
    return next((each.manifest.mode for each in catalogue.all() if each.slug == attempt.problem), None)


def _progress(attempt: AttemptJSON) -> str:
    if attempt.status == "queued":
        return _waiting(attempt.queue)
    return f"Running: {in_words(attempt.phase)}" if attempt.phase else "Running"


def _waiting(place: QueuePlace | None) -> str:
    """The same text as app/core/static/grading.js shows for these numbers."""
    if place is not None and not place.workers:
        return NO_WORKER
    if place is None or not place.ahead:
        return "Waiting for a free worker"
    line = f"Waiting: {place.ahead} ahead of you"
    return line if place.expected_wait_s is None else f"{line}, about {place.expected_wait_s} s"
