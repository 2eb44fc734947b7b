"""The problem page; it reads the same services as REST does."""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Annotated, Any, Literal

from fastapi import Query
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import User
from app.accounts.web import MaybeGuest, MaybeSubmitter, MaybeUser, Reader
from app.core.clock import now
from app.core.errors import NotSignedIn, PathNotFound, Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.paging import Cursor, Page
from app.core.rest.routing import MaxBytes
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.forms import FormInvalid
from app.core.web.templating import render_page
from app.grading.attempts.durations import Durations, Typical
from app.grading.attempts.own_inputs import FIELD as TYPED
from app.grading.attempts.own_inputs import meshes_of, read_own_inputs, typed_of
from app.grading.attempts.phases import WORDS
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptJSON
from app.grading.comments.service import Comments
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.status import ENDED
from app.learning.interviews.service import Interviews
from app.learning.lessons.lesson_files import Lessons
from app.learning.workbench.answer_form import MAX_FIELDS, PREFIX, AnswerForms, source_of
from app.learning.workbench.drafts import Drafts
from app.learning.workbench.editorial import Editorials
from app.learning.workbench.opening import opening_of
from app.presentation.outline import OutlineView, arrange_outline
from app.problems.catalogue import Catalogue
from app.problems.problem_texts import ProblemTexts
from app.problems.rendered_texts import texts_of
from app.problems.viewer import viewer
from app.problems.visibility import Visibility
from app.problems.written_lines import lines_to_write
from grader.checks.grading_table import grading_of
from grader.core.chips import offered_chips
from grader.inputs.typed_inputs import form_of
from grader.package.package import AnswerManifest, Limits, Package
from grader.package.pictures import picture_of
from grader.package.variants import variants_of

_PREVIOUS = 10
# Percent-encoding turns one byte into three, and newlines are sent as two bytes. The rest is for the other fields.
_LARGEST_FORM = MaxBytes(lambda settings: 6 * settings.max_source_bytes + 32 * 1024)
# The heading with which the task of a statement begins. What comes before is background.
_TASK = "Problem"
# The headings of sections that often name the way to a solution. The page folds them.
_FOLDED = frozenset({"The idea", "Pitfalls"})
_KINDS: dict[str, Literal["attempt", "run"]] = {"run": "run", "own": "run", "submit": "attempt"}


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent, was refused, and returns to the page. `source` is None if nothing was.

    `typed` are arguments of a run, and `written` answers, by the names of their inputs.
    """

    source: str | None = None
    refusal: Refused | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)


class Workbench:
    """The part of the problem page that one writes in. Safe to share between requests."""

    def __init__(
        self, drafts: Drafts, attempts: Attempts, comments: Comments, answers: AnswerForms, durations: Durations
    ) -> None:
        self._drafts, self._attempts, self._comments = drafts, attempts, comments
        self._answers, self._durations = answers, durations

    async def arrange(
        self, package: Package, user: User | None, sent: Sent, attempt_id: str | None, *, is_closed: bool
    ) -> dict[str, Any]:
        """Values for the template. Unless a source was sent, the editor starts with the draft or the starter."""
        draft = await self._drafts.get(user, package.slug) if user else None
        previous = await self._attempts.list(user, Cursor(_PREVIOUS), package.slug) if user else Page()
        under_way = next((each for each in previous if each.status not in ENDED), None)
        attempt = await self._answered(package, user, attempt_id)
        answers = await self._answers.find(user, package, sent.refusal, sent.written, attempt, is_closed=is_closed)
        return {
            "sent": sent.source is not None,
            "source": next(text for text in (sent.source, draft and draft.source, package.starter) if text is not None),
            "revision": draft.revision if draft else 0,
            "previous": previous,
            "unwritten": await self._attempts.unwritten(user, previous) if user else frozenset(),
            "comments": await self._comments.counts([each.id for each in previous]),
            "under_way": under_way,
            "waited_s": round((now() - under_way.created_at).total_seconds()) if under_way else 0,
            "last": None if under_way else next((each for each in previous if each.verdict_status), None),
            "phases": WORDS,
            "answers": answers,
            "meshes": list(meshes_of(package)),
            "chips": offered_chips() if user else (),
            "arguments": {name: form_of(spec) for name, spec in typed_of(package).items()},
            "typed": sent.typed,
            "unfit": sent.refusal.extra.get("faults", {}) if sent.refusal else {},
            "expect": expect_text(package.manifest.limits, await self._durations.typical(package.slug)),
        }

    async def _answered(self, package: Package, user: User | None, attempt_id: str | None) -> AttemptJSON | None:
        """The attempt with these answers. None if it is about something else, such as an earlier version."""
        if user is None or attempt_id is None or not isinstance(package.manifest, AnswerManifest):
            return None
        found = await self._attempts.get(user, attempt_id)
        is_of_version = found.version == package.version or found.withheld_until is not None
        return found if found.problem == package.slug and is_of_version else None


@dataclass(frozen=True)
class ProblemPage(FormPage):
    slug: str
    user: MaybeUser
    settings: Provided[Settings]
    catalogue: Provided[Catalogue]
    visibility: Provided[Visibility]
    lessons: Provided[Lessons]
    interviews: Provided[Interviews]
    texts: Provided[ProblemTexts]
    editorials: Provided[Editorials]
    workbench: Provided[Workbench]
    judge: Provided[LocalJudge]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        """The editor keeps what was sent. A form without a source is not that of this page: it has nothing to keep."""
        package = self.catalogue.get(self.slug)
        if _source_in(typed, package) is None or typed["action"] not in _KINDS:
            raise refusal
        arguments = {name.removeprefix(TYPED): text for name, text in typed.items() if name.startswith(TYPED)}
        written = {name: text for name, text in typed.items() if name.startswith(PREFIX)}
        return await self.show(package, Sent(_source_in(typed, package), refusal, arguments, written))

    async def show(self, package: Package, sent: Sent, attempt_id: str | None = None) -> HTMLResponse:
        """With `attempt_id`, the answers of this attempt are in the form, with how they were graded."""
        user = self.user
        seen = await self.visibility.visible(user, package.slug)
        texts = texts_of(package)
        [statement] = await self.texts.render(package, texts["statement.md"])
        background, task = statement.split_at(_TASK)
        preparation = self.judge.preparation()
        has_outline = picture_of(package) is not None
        return render_page(
            "learning/workbench/problem.html",
            user=user,
            problem=package,
            track=self.catalogue.section_of(package.slug),
            lessons=self.lessons.leading_to([package.slug]),
            needs=[each for each in self.catalogue.all() if each.slug in package.manifest.prerequisites],
            variants=[each.name for each in variants_of(package.manifest)] if viewer().is_staff else [],
            own_variant=self.catalogue.get(package.slug).variant_name,
            background=background,
            task=task,
            opening=opening_of(task[0]),
            has_outline=has_outline,
            outline=partial(_outline_of, package),
            folded=_FOLDED,
            lines=lines_to_write(package),
            grading=partial(grading_of, package.manifest),
            # What the statement and the hints depend on; the titles of problems that they name are in it, too.
            text_key=(package.version, package.variant_name, self.catalogue.seen, has_outline),
            interview=await self.interviews.banner(user, package.slug) if seen.exam else None,
            exam=seen.exam,
            now=now(),
            hints=[] if seen.closes("hints") else await self.texts.render(package, texts["hints.md"]),
            editorial=await self.editorials.show_to(user, package) if user else None,
            guest_runs=self.settings.guest_runs_in_total > 0,
            refusal=sent.refusal,
            preparing=preparation.of(package) if preparation else None,
            **await self.workbench.arrange(
                package, user, sent, attempt_id, is_closed=seen.closes("solutions") is not None
            ),
        )


actions = Actions("attempts", ProblemPage)


@actions.pages.get("/problems/{slug}")
async def show_problem(
    slug: str,
    catalogue: Provided[Catalogue],
    judge: Provided[LocalJudge],
    page: PageOf[ProblemPage],
    variant: Annotated[str | None, Query(max_length=32)] = None,
    attempt: Annotated[str | None, Query(max_length=32)] = None,
) -> HTMLResponse:
    package = catalogue.get(slug, variant)
    # Someone who reads a problem may soon submit to it, and a runner should then be ready.
    judge.warm(package)
    return await page.show(package, Sent(), attempt)


@actions.form("/problems/{slug}", then="/attempts/{result.id}", max_bytes=_LARGEST_FORM, max_fields=MAX_FIELDS)
async def send_source(
    typed: Typed,
    slug: str,
    user: MaybeSubmitter,
    guest: MaybeGuest,
    catalogue: Provided[Catalogue],
    drafts: Provided[Drafts],
    attempts: Provided[Attempts],
) -> AttemptJSON | RedirectResponse:
    """The form without a script. The page shows answers in place; the attempt has a page for code."""
    package = catalogue.get(slug)
    source, kind = _source_in(typed, package), _KINDS.get(typed["action"])
    if source is None or kind is None:
        raise FormInvalid("The form must have the fields 'source' and 'action' ('run', 'own' or 'submit').")
    is_answered = isinstance(package.manifest, AnswerManifest)
    if user is not None and not is_answered:
        await _keep(drafts, user, slug, source, typed["revision"])
    sender = user or (guest if kind == "run" else None)
    if sender is None and is_answered:
        raise NotSignedIn("Nothing was submitted. Sign in to get your question.")
    if sender is None:
        raise NotSignedIn("Nothing was submitted; your code is below. Sign in in another tab, then try again.")
    own = read_own_inputs(package, typed) if typed["action"] == "own" else None
    sent = await attempts.submit(sender, slug, source, kind, own_inputs=own)
    if is_answered:
        return RedirectResponse(f"/problems/{slug}?attempt={sent.id}#workbench", status_code=303)
    return sent


@actions.pages.get("/problems/{slug}/previous")
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
    return render_page("learning/fragments/attempts.html", attempts=previous, unwritten=unwritten, comments=written)


@actions.pages.get("/problems/{slug}/editorial")
async def show_editorial(
    slug: str, user: Reader, catalogue: Provided[Catalogue], editorials: Provided[Editorials]
) -> HTMLResponse:
    """The editorial or how to open it, as a fragment that the problem page inserts after an accepted attempt."""
    editorial = await editorials.show_to(user, catalogue.get(slug))
    return render_page("learning/fragments/editorial.html", editorial=editorial)


@actions.pages.get("/problems/{slug}/figures/{name}")
async def show_figure(slug: str, name: str, catalogue: Provided[Catalogue]) -> Response:
    """A figure of the statement. It is an instructor's file, so its policy forbids it to run or load anything."""
    package = catalogue.get(slug)
    if name not in package.figures:
        raise PathNotFound(f"The problem '{package.slug}' has no figure with this name.")
    policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    headers = {"Content-Security-Policy": policy, "Cache-Control": "private, no-cache"}
    return Response(package.figures[name], media_type="image/svg+xml", headers=headers)


def _outline_of(package: Package) -> OutlineView | None:
    """The solution in outline; None if the package ships none that this version of JAX made."""
    picture = picture_of(package)
    return arrange_outline(picture.solution) if picture else None


def _source_in(typed: Typed, package: Package) -> str | None:
    """The source that a form sends: the text of the editor, or the answers as JSON. None if it has neither."""
    return source_of(package.manifest, typed) if isinstance(package.manifest, AnswerManifest) else typed.get("source")


async def _keep(drafts: Drafts, user: User, slug: str, source: str, revision: str) -> None:
    """Save what was sent as the draft, as the page's script does while the user types."""
    # A draft that was changed elsewhere stays. Faults of the source are reported when it is submitted.
    with contextlib.suppress(Refused):
        await drafts.save(user, slug, source, int(revision) if re.fullmatch("[0-9]{1,9}", revision) else 0)


def expect_text(limits: Limits, typical: Typical | None) -> str:
    """How long the latest verdicts took and what a submission may use. `typical` is None without enough of them."""
    most = f"Your code may use at most {_seconds(limits.time_s)} of CPU time and {_memory(limits.memory_mb)} of memory."
    if typical is None:
        return most
    took = _seconds(max(1, ceil(typical.median_s)))
    return f"Half of the last {typical.verdicts} verdicts took at most {took}. {most}"


def _seconds(count: float) -> str:
    """Seconds up to two minutes, then minutes."""
    return f"{round(count)} s" if count < 120 else f"{round(count / 60)} min"


def _memory(mb: int) -> str:
    return f"{mb / 1024:.3g} GB" if mb >= 1024 else f"{mb} MB"
