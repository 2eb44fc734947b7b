"""The pages of the lessons, and runs of the programs in them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from fastapi import Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.web import MaybeGuest, MaybeSubmitter, MaybeUser
from app.core.errors import NotSignedIn, Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.rest.routing import MaxBytes
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.markdown import Heading, render_markdown
from app.core.web.next_page import own_page
from app.core.web.templating import render_page
from app.grading.queue.workers import Workers
from app.learning.lessons.errors import LessonProgramNotFound
from app.learning.lessons.jupyter_notebook import notebook_of
from app.learning.lessons.lesson import Figure, Lesson, Misreading, Program, Question, SideNote, Steps, Text
from app.learning.lessons.lesson_files import Lessons
from app.learning.lessons.next_stop import next_stop
from app.learning.lessons.program_run_view import view_program
from app.learning.lessons.questions import answer_of, hint_of, reply_to
from app.learning.lessons.reading import LessonReads
from app.learning.lessons.runs import LessonRun, LessonRuns
from app.problems.catalogue import Catalogue

Titles = tuple[tuple[str, str], ...]
# Renders Markdown with the titles of problems.
_HTML = Callable[[str], Markup]
# More corrections than these are folded: a page that warns everywhere warns of nothing.
_OPEN_CORRECTIONS = 3
# Percent-encoding turns one byte into three, and newlines are sent as two bytes.
_LARGEST_FORM = MaxBytes(lambda settings: 6 * settings.max_source_bytes + 4096)


class ReadMark(RequestBody):
    """`next` is the page that the reader goes on to, or empty to stay."""

    read: bool = False
    next: str = ""


@dataclass(frozen=True, slots=True)
class _Refused:
    """A refused run, whose source is shown again with the page, so that nothing is lost."""

    program: int
    source: str
    refusal: Refused


@dataclass(frozen=True)
class LessonPage(FormPage):
    slug: str
    request: Request
    user: MaybeUser
    guest: MaybeGuest
    settings: Provided[Settings]
    catalogue: Provided[Catalogue]
    lessons: Provided[Lessons]
    reads: Provided[LessonReads]
    runs: Provided[LessonRuns]
    workers: Provided[Workers]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        if isinstance(refusal, LessonProgramNotFound):
            raise refusal
        return await self.show({}, _Refused(_program_in(typed), typed["source"], refusal))

    async def show(self, query: Mapping[str, str], refused: _Refused | None = None) -> HTMLResponse:
        """Raises `LessonNotFound`."""
        lesson, viewer = self.lessons.get(self.slug), self.user or self.guest
        runs = await self.runs.latest(viewer, lesson) if viewer else {}
        titles = _titles(self.catalogue)
        shown = list(_folded_together(_shown(lesson, titles, query, runs, refused)))
        return render_page(
            "learning/lessons/lesson.html",
            status_code=refused.refusal.status if refused else 200,
            user=self.user,
            may_run=self.user is not None or self.settings.guest_runs_in_total > 0,
            going=next((each.program for each in runs.values() if each.result is None), None),
            # Without a script, the page is loaded again. A browser only scrolls if its address is the same and has a #.
            again="" if "again" in query else "?again=1",
            lesson=lesson,
            is_read=lesson.slug in await self.reads.of(self.request, self.user),
            parts=shown,
            no_worker=await self.workers.notice() if any(each.status == "queued" for each in runs.values()) else "",
            headings=_headings(lesson, titles),
            problems=[self.catalogue.get(each) for each in lesson.problems if each in dict(titles)],
            next=next_stop(lesson, self.lessons.all(), dict(titles)),
        )


actions = Actions("lessons", LessonPage)


@actions.pages.get("/lessons/{slug}")
async def show_lesson(request: Request, page: PageOf[LessonPage]) -> HTMLResponse:
    return await page.show(request.query_params)


@actions.pages.get("/lessons/{slug}/lesson.ipynb")
async def download_notebook(
    request: Request,
    slug: str,
    lessons: Provided[Lessons],
    catalogue: Provided[Catalogue],
    settings: Provided[Settings],
) -> Response:
    """The lesson as a Jupyter notebook, with its figures inside."""
    address = settings.public_url or str(request.base_url)
    notebook = notebook_of(lessons.get(slug), address.rstrip("/"), catalogue.titles())
    headers = {"Content-Disposition": f'attachment; filename="{slug}.ipynb"'}
    return Response(notebook, media_type="application/x-ipynb+json", headers=headers)


@actions.form("/lessons/{slug}/read", page=FormPage)
async def mark_as_read(
    request: Request,
    slug: str,
    user: MaybeSubmitter,
    body: ReadMark,
    lessons: Provided[Lessons],
    reads: Provided[LessonReads],
) -> Response:
    """Mark the lesson as read by this reader, who needs no account, or remove the mark."""
    response = RedirectResponse(own_page(body.next, f"/lessons/{slug}#read"), status_code=303)
    await reads.mark(request, response, user, lessons.get(slug), is_read=body.read)
    return response


@actions.form("/lessons/{slug}/runs", then="/lessons/{slug}#program-{result.program}", max_bytes=_LARGEST_FORM)
async def run_program(
    typed: Typed,
    slug: str,
    user: MaybeSubmitter,
    guest: MaybeGuest,
    lessons: Provided[Lessons],
    runs: Provided[LessonRuns],
) -> LessonRun:
    sender = user or guest
    if sender is None:
        raise NotSignedIn("Nothing was run; your program is below. Sign in in another tab, then try again.")
    return await runs.request(sender, lessons.get(slug), _program_in(typed), typed["source"])


def _program_in(typed: Typed) -> int:
    """The number of the program that a form runs. 0, which no program has, if it is not a number."""
    number = typed["program"]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 4 else 0


def _titles(catalogue: Catalogue) -> Titles:
    return tuple(catalogue.titles().items())


def _headings(lesson: Lesson, titles: Titles) -> list[Heading]:
    texts = [part.markdown for part in lesson.parts if isinstance(part, Text)]
    return [heading for text in texts for heading in render_markdown(text, problems=titles).headings]


def _shown(
    lesson: Lesson,
    titles: Titles,
    query: Mapping[str, str],
    runs: Mapping[int, LessonRun],
    refused: _Refused | None,
) -> Iterator[dict[str, object]]:
    """Each part for the template: its kind, and what it shows as HTML.

    Args:
      query: what was answered to the questions, as `q1`, `q2`, ….
      runs: the viewer's run of each program that they ran.
    """

    def html(markdown: str) -> Markup:
        return render_markdown(markdown, problems=titles).html

    def figure(part: Figure) -> dict[str, object]:
        # Safe: the file is a drawing of this service's own, and was checked to be one when it was read.
        return {"kind": "figure", "svg": Markup(part.svg), "caption": html(part.caption)}

    number = corrections = 0
    for at, part in enumerate(lesson.parts):
        match part:
            case Text():
                yield {"kind": "text", "html": html(part.markdown)}
            case Program(block=block) if not block.runs_here:
                code = html(_fenced("python", block.code))
                yield {"kind": "text", "html": code + html(_fenced("text", block.output)) if block.output else code}
            case Program():
                again = refused if refused and refused.program == part.number else None
                is_explorable = any(each.program == part.number for each in lesson.explorable)
                yield _shown_program(part, runs.get(part.number), again, html, is_explorable=is_explorable)
            case Figure():
                yield figure(part)
            case Steps():
                steps = [{"name": each.name} | figure(each.figure) for each in part.steps]
                yield {"kind": "steps", "id": f"steps-{at}", "title": _in_a_line(html(part.title)), "steps": steps}
            case Misreading():
                corrections += 1
                is_open = corrections <= _OPEN_CORRECTIONS
                wrong = _in_a_line(html(part.wrong))
                yield {"kind": "misreading", "is_open": is_open, "wrong": wrong, "right": html(part.right)}
            case SideNote():
                yield {"kind": "aside", "html": html(part.markdown)}
            case Question():
                number += 1
                drawn = figure(_renamed(part.figure, f"answer-{number}-")) if part.figure else None
                yield _shown_question(part, number, query.get(f"q{number}", ""), html) | {"figure": drawn}


def _shown_program(
    part: Program, run: LessonRun | None, refused: _Refused | None, html: _HTML, *, is_explorable: bool
) -> dict[str, object]:
    """`run` is the viewer's latest one, and `refused` a source of this program that could not be run."""
    view = view_program(part, run, refused.source if refused else None)
    return {
        "kind": "program",
        "code": html(_fenced("python", part.block.code)),
        "output": html(_fenced("text", part.block.output)) if part.block.output else "",
        "view": view,
        "sent": html(view.sent.sentence) if view.sent else "",
        "refusal": refused.refusal if refused else None,
        "is_explorable": is_explorable,
    }


def _shown_question(part: Question, number: int, written: str, html: _HTML) -> dict[str, object]:
    """`written` is what the viewer answered, or empty."""
    reply = reply_to(part, written)
    return {
        "kind": "question",
        "number": number,
        "text": html(part.text),
        "spec": part.spec,
        "choices": [_in_a_line(html(each)) for each in part.spec.choices],
        "hint": hint_of(part),
        "written": written,
        "reply": reply,
        "slip": _in_a_line(html(reply.slip)) if reply and reply.slip else "",
        "right": _in_a_line(html(answer_of(part))),
        "explanation": html(part.explanation),
    }


def _renamed(figure: Figure, prefix: str) -> Figure:
    """The figure with other ids, because the lesson may show it twice."""
    svg = re.sub(r'(?<=\sid=")', prefix, figure.svg)
    named = re.sub(r'(?<=aria-labelledby=")[^"]*', lambda ids: " ".join(prefix + each for each in ids[0].split()), svg)
    return replace(figure, svg=named)


def _folded_together(parts: Iterable[dict[str, object]]) -> Iterator[dict[str, object]]:
    """The parts, with all folded corrections between two other parts as one."""
    for is_folded, group in groupby(parts, key=lambda each: each.get("is_open") is False):
        if is_folded:
            yield {"kind": "mistakes", "mistakes": list(group)}
        else:
            yield from group


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}```"


def _in_a_line(html: Markup) -> Markup:
    """Without its paragraph, which a label must not contain."""
    return Markup(html.strip().removeprefix("<p>").removesuffix("</p>"))
