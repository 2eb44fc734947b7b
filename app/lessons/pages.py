"""The pages of the lessons."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import current_user
from app.lessons.lesson import Figure, Lesson, Misreading, Question, Steps, Text
from app.lessons.questions import answer_of, hint_of, reply_to
from app.lessons.services import LessonServices
from app.services import services_of
from app.web.markdown import Heading, render_markdown
from app.web.templating import render_page

router = APIRouter(include_in_schema=False)
MaybeUser = Annotated[User | None, Depends(current_user)]
Titles = tuple[tuple[str, str], ...]


@router.get("/lessons")
async def list_lessons(request: Request, user: MaybeUser) -> HTMLResponse:
    services = services_of(request, LessonServices)
    titles = dict(_titles(services))
    return render_page("lessons.html", user=user, lessons=services.lessons.all(), titles=titles)


@router.get("/lessons/{slug}")
async def show_lesson(request: Request, user: MaybeUser, slug: str) -> HTMLResponse:
    services = services_of(request, LessonServices)
    lesson = services.lessons.get(slug)
    titles = _titles(services)
    shown = list(_shown(lesson, titles, request.query_params))
    lessons = services.lessons.all()
    after = lessons[lessons.index(lesson) + 1 :]
    return render_page(
        "lesson.html",
        user=user,
        lesson=lesson,
        parts=shown,
        headings=_headings(lesson, titles),
        problems=[services.catalogue.get(each) for each in lesson.problems if each in dict(titles)],
        next=after[0] if after else None,
    )


def _titles(services: LessonServices) -> Titles:
    return tuple((package.slug, package.manifest.title) for package in services.catalogue.all())


def _headings(lesson: Lesson, titles: Titles) -> list[Heading]:
    texts = [part.markdown for part in lesson.parts if isinstance(part, Text)]
    return [heading for text in texts for heading in render_markdown(text, problems=titles).headings]


def _shown(lesson: Lesson, titles: Titles, query: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """Each part for the template: its kind, and what it shows as HTML.

    Args:
      query: what was answered to the questions, as `q1`, `q2`, ….
    """

    def html(markdown: str) -> Markup:
        return render_markdown(markdown, problems=titles).html

    def figure(part: Figure) -> dict[str, object]:
        # Safe: the file is a drawing of this service's own, and was checked to be one when it was read.
        return {"kind": "figure", "svg": Markup(part.svg), "caption": html(part.caption)}

    number = 0
    for at, part in enumerate(lesson.parts):
        match part:
            case Text():
                yield {"kind": "text", "html": html(part.markdown)}
            case Figure():
                yield figure(part)
            case Steps():
                steps = [{"name": each.name} | figure(each.figure) for each in part.steps]
                yield {"kind": "steps", "id": f"steps-{at}", "title": _in_a_line(html(part.title)), "steps": steps}
            case Misreading():
                yield {"kind": "misreading", "wrong": html(part.wrong), "right": html(part.right)}
            case Question():
                number += 1
                written = query.get(f"q{number}", "")
                yield {
                    "kind": "question",
                    "number": number,
                    "text": html(part.text),
                    "spec": part.spec,
                    "choices": [_in_a_line(html(each)) for each in part.spec.choices],
                    "hint": hint_of(part),
                    "written": written,
                    "reply": reply_to(part, written),
                    "right": _in_a_line(html(answer_of(part))),
                    "explanation": html(part.explanation),
                }


def _in_a_line(html: Markup) -> Markup:
    """Without its paragraph, which a label must not contain."""
    return Markup(html.strip().removeprefix("<p>").removesuffix("</p>"))
