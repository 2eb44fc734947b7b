"""The pages of the Explorer: the form, and what was found."""

import re
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query, Request
from pydantic import JsonValue, ValidationError
from starlette.responses import HTMLResponse, Response

from app.accounts.roles import is_at_least
from app.accounts.web import MaybeGuest, MaybeSubmitter, MaybeUser, Submitter, current_caller
from app.core.errors import EditorialClosed, NotSignedIn, ProblemNotFound, Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.paging import Cursor, Page
from app.core.rest.routing import MaxBytes
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.templating import render_page
from app.grading.attempts.service import Attempts
from app.grading.attempts.source_colours import colour_lines
from app.grading.queue.workers import Workers
from app.learning.explorer import guests
from app.learning.explorer.errors import FunctionRefused, NothingToExplore, OptionsRefused
from app.learning.explorer.example_pictures import picture_of
from app.learning.explorer.examples import all_examples, example_of
from app.learning.explorer.exploration_view import arrange_explored
from app.learning.explorer.explorer_form import (
    ExplorerForm,
    form_in,
    form_of_example,
    form_of_program,
    function_of,
    with_options,
)
from app.learning.explorer.schemas import ExplorationJSON, RequestedExploration
from app.learning.explorer.service import MAX_KEPT, Explorations
from app.learning.lessons.lesson_files import Lessons
from app.learning.workbench.drafts import Drafts
from app.learning.workbench.restore_pages import RestorePage, Restoring
from app.learning.workbench.solutions import Solutions
from app.presentation.outline import OutlineView, arrange_outline, outline_of
from app.problems.catalogue import Catalogue
from app.problems.visibility import Visibility
from grader.core.chips import CHIPS, Chip, ChipName, offered_chips
from grader.core.xla_options import OPTIONS, read_typed
from grader.explorer.exploration import Explored
from grader.inputs.module_rules import MAX_MODULE_BYTES, MAX_MODULES
from grader.package.package import Package
from grader.package.pictures import picture_of as shipped_picture

_SHOWN = 20
# The last line of a traceback.
_ERROR = re.compile(r"[\w.]+: ")
Name = Annotated[str | None, Query(max_length=100)]
# Percent-encoding turns one byte into three, and newlines are sent as two bytes. The rest is for the other fields.
_LARGEST_FORM = MaxBytes(lambda settings: 12 * settings.max_source_bytes + 6 * MAX_MODULE_BYTES + 65_536)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What the address asks for.

    The source is that of an attempt or of an exploration, the draft or the starter of a problem, a program of a lesson,
    or an example. With a `solution` of the problem, it is the user's own accepted one, to compare with that. A `chip`
    that exists is chosen in the form. With `xla_options`, it is compared with itself without them.
    """

    problem: Name = None
    solution: Name = None
    example: Name = None
    lesson: Name = None
    program: Name = None
    attempt: Name = None
    exploration: Name = None
    chip: Name = None
    xla_options: Annotated[str | None, Query(max_length=1000)] = None


@dataclass(frozen=True)
class ExplorerPage(FormPage):
    request: Request
    user: MaybeUser
    guest: MaybeGuest
    settings: Provided[Settings]
    catalogue: Provided[Catalogue]
    explorations: Provided[Explorations]
    attempts: Provided[Attempts]
    drafts: Provided[Drafts]
    lessons: Provided[Lessons]
    solutions: Provided[Solutions]

    async def fill(self, action: str, typed: Typed) -> Response | None:
        """On a page without JavaScript, a button adds a module to be written."""
        if "more" not in typed or typed["problem"]:
            return None
        form = form_in(typed)
        return await self.show(replace(form, modules=(*form.modules, ("", ""))))

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        slug = typed["problem"]
        is_served = slug and not isinstance(refusal, ProblemNotFound | NothingToExplore)
        package = self.explorations.package(slug) if is_served else None
        return await self.show(replace(form_in(typed), package=package), refusal=refusal)

    async def choose(self, chosen: _Chosen) -> ExplorerForm:
        """The form with the source that the address names, and what that source compiles to, if that is known."""
        form = await self._find(chosen)
        if chosen.chip in CHIPS:
            form = replace(form, chip=chosen.chip)
        if chosen.xla_options:
            form = replace(form, options=chosen.xla_options, is_without=True, result=None)
        if form.package is not None and form.result is None and not form.against and not form.options:
            result = await self.explorations.stored_result(form.package, form.source, _chip_of(form.chip))
            form = replace(form, result=result)
        return form

    async def _find(self, chosen: _Chosen) -> ExplorerForm:
        if chosen.exploration is not None:
            return self._form_of(await self.explorations.get(self.user or self.guest, chosen.exploration))
        if chosen.attempt is not None:
            if self.user is None:
                raise NotSignedIn("Sign in to explore one of your attempts.")
            sent = await self.attempts.get(self.user, chosen.attempt, placed=False)
            return ExplorerForm(self.explorations.package(sent.problem), sent.source)
        if chosen.problem:
            package = self.explorations.package(chosen.problem)
            if chosen.solution:
                return await self._form_of_solution(package, chosen.solution)
            draft = await self.drafts.get(self.user, package.slug) if self.user else None
            return ExplorerForm(package, (draft.source if draft else None) or package.starter)
        if chosen.lesson:
            return form_of_program(self.lessons.get(chosen.lesson), chosen.program or "")
        return form_of_example((chosen.example and example_of(chosen.example)) or all_examples()[0])

    async def show(
        self, form: ExplorerForm, *, before: str | None = None, at_chip: bool = False, refusal: Refused | None = None
    ) -> HTMLResponse:
        viewer = self.user or self.guest
        guests_compile = self.settings.guest_runs_in_total > 0
        result = form.result
        page = await self.explorations.list(viewer, Cursor(_SHOWN, before)) if viewer else Page()
        return render_page(
            "learning/explorer/explore.html",
            user=self.user,
            problems=[each for each in self.catalogue.all() if each.manifest.mode == "program"],
            form=form,
            has_form=self.user is not None or guests_compile or refusal is not None,
            shown=form.exploration,
            view=arrange_explored(result) if result and result.programs else None,
            fault=result and result.fault,
            at_chip=at_chip,
            lines=await colour_lines(form.source) if result else [],
            examples=[(each, picture_of(each.slug)) for each in all_examples()],
            lessons=[each for each in self.lessons.all() if each.explorable],
            most_modules=MAX_MODULES,
            solutions=await self._solutions_of(form.package),
            refusal=refusal,
            explorations=page,
            older=page.next,
            titles=self.catalogue.titles(),
            most=MAX_KEPT,
            chips=_chips_for(form.chip),
            xla_options=list(OPTIONS.values()),
            guests=guests_compile,
            of_guests=guests.MAX_DEVICES,
        )

    def _form_of(self, found: ExplorationJSON) -> ExplorerForm:
        """Raises: ProblemNotFound, NothingToExplore: its problem is no longer served, or has changed its mode."""
        function, slug = found.function, found.problem
        package = self.explorations.package(slug) if slug else None
        chip, id_ = found.chip or "", found.id
        form = ExplorerForm(package, found.source, found.against or "", chip=chip, result=found.result, exploration=id_)
        form = with_options(form, found)
        if function is None:
            return form
        init, modules = function.init or "", tuple(function.modules.items())
        form = replace(form, name=function.name, mesh=function.mesh_text, inputs=function.inputs_text, init=init)
        return replace(form, modules=modules)

    async def _form_of_solution(self, package: Package, name: str) -> ExplorerForm:
        """The user's accepted source beside an accepted one of the package, or beside the reference.

        An instructor without an accepted source sees that of the package alone.

        Raises:
          NotSignedIn.
          EditorialClosed: no attempt of the user's is accepted.
        """
        if self.user is None:
            raise NotSignedIn("Sign in to compare your solution with others.")
        mine = await self.solutions.accepted_attempt(self.user, package.slug)
        if mine is None and not await _is_instructor(self.request):
            raise EditorialClosed("Other solutions open once one of your attempts is accepted.")
        others = {each.name: each.source for each in package.accepted}
        source = others.get(name, package.reference)
        return (
            ExplorerForm(package, mine.source, source, solution=name)
            if mine
            else ExplorerForm(package, source, solution=name)
        )

    async def _solutions_of(self, package: Package | None) -> list[tuple[str, str]]:
        """The name of each solution that ships with the problem, and its docstring. Empty if they are closed."""
        if self.user is None or package is None:
            return []
        mine = await self.solutions.accepted_attempt(self.user, package.slug)
        if mine is None and not await _is_instructor(self.request):
            return []
        others = [(each.name, " ".join(each.misunderstanding.split()) or each.name) for each in package.accepted]
        return [("reference", "The reference."), *others]


actions = Actions("explorer", ExplorerPage)


@actions.pages.get("/explore")
async def show_form(
    chosen: PageOf[_Chosen], visibility: Provided[Visibility], page: PageOf[ExplorerPage], before: Name = None
) -> HTMLResponse:
    await visibility.require_explorer(page.user or page.guest, chosen.problem)
    return await page.show(await page.choose(chosen), before=before, at_chip=bool(chosen.chip))


@actions.form("/explore", then="/explore/{result.id}", max_bytes=_LARGEST_FORM, max_fields=16 + 2 * MAX_MODULES)
async def explore(
    typed: Typed, user: MaybeSubmitter, guest: MaybeGuest, explorations: Provided[Explorations]
) -> RequestedExploration:
    sender = user or guest
    if sender is None:
        raise NotSignedIn("Nothing was explored; your code is below. Sign in in another tab, then try again.")
    form = form_in(typed)
    return await explorations.request(
        sender,
        typed["problem"] or function_of(form),
        form.source,
        form.against if form.against.strip() else None,
        chip=_chip_of(form.chip),
        options=_options_of(form.options),
        against_options=_options_of(form.against_options) if form.against_options.strip() or form.is_without else None,
        replaces=typed["replaces"],
    )


@actions.pages.get("/explore/{exploration_id}")
async def show_exploration(
    user: MaybeUser,
    guest: MaybeGuest,
    exploration_id: str,
    explorations: Provided[Explorations],
    catalogue: Provided[Catalogue],
    workers: Provided[Workers],
) -> HTMLResponse:
    found = await explorations.get(user or guest, exploration_id)
    function, titles = found.function, catalogue.titles()
    result = found.result or found.partial_result
    modules = function.modules if function else {}
    response = render_page(
        "learning/explorer/exploration.html",
        user=user,
        exploration=found,
        title=function.name if function else catalogue.title_of(found.problem or ""),
        is_served=found.problem in titles,
        view=arrange_explored(result) if result else None,
        no_worker=await workers.notice() if found.status == "queued" else "",
        lines=await colour_lines(found.source),
        other_lines=await colour_lines(found.against) if found.against is not None else [],
        modules=[(name, await colour_lines(text)) for name, text in modules.items()],
    )
    # The owner shares it with a link, and not with search engines.
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@actions.pages.get("/explore/{exploration_id}/picture")
async def show_picture(
    user: MaybeUser, guest: MaybeGuest, exploration_id: str, explorations: Provided[Explorations]
) -> Response:
    """The first mesh as a fragment that the problem page inserts below the code; no content until that is known."""
    found = await explorations.get(user or guest, exploration_id)
    result = found.result or found.partial_result
    if result is None:
        return Response(status_code=204)
    return _picture(result, exploration_id, is_partial=found.result is None)


@actions.pages.get("/problems/{slug}/picture")
async def show_starter_picture(
    slug: str,
    user: MaybeUser,
    explorations: Provided[Explorations],
    visibility: Provided[Visibility],
    chip: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """The same for the problem's starter, which ships with its package. Without that, or for the chip that is named, no
    content until someone has explored it.
    """
    package = explorations.package(slug)
    await visibility.require_explorer(user, package.slug)
    shipped = shipped_picture(package)
    if not chip and shipped is not None and (starter := _explored(shipped.starter)) is not None:
        return _picture(starter, starter_of=arrange_outline(shipped.solution))
    result = await explorations.stored_result(package, package.starter, _chip_of(chip))
    return Response(status_code=204) if result is None else _picture(result)


@actions.form("/explore/{exploration_id}/restore", page=FormPage)
async def restore_exploration(
    user: Submitter,
    exploration_id: str,
    body: Restoring,
    explorations: Provided[Explorations],
    page: PageOf[RestorePage],
) -> Response:
    """Open the source in the editor of its problem."""
    found = await explorations.get(user, exploration_id)
    if found.problem is None:
        raise NothingToExplore("This function does not belong to a problem, so there is no editor to open it in.")
    action = f"/explore/{exploration_id}/restore"
    return await page.restore(user, found.problem, found.source, action, body)


def _explored(stored: dict[str, JsonValue] | None) -> Explored | None:
    """None also for one in another form than this release reads, which an author may have uploaded."""
    try:
        return None if stored is None else Explored.model_validate(stored)
    except ValidationError:
        return None


def _picture(
    result: Explored,
    exploration_id: str | None = None,
    *,
    starter_of: OutlineView | None = None,
    is_partial: bool = False,
) -> HTMLResponse:
    """`starter_of` is the solution in outline, of which a starter that stops has at least the inputs."""
    view = arrange_explored(result) if result.fault is None else None
    lines = [(line, *note) for line, note in view.notes.items()] if view else _line_of_fault(result)
    return render_page(
        "learning/fragments/picture.html",
        result=result,
        view=view,
        outline=arrange_outline(outline_of(result.programs[0])) if view else starter_of,
        lines=lines,
        id=exploration_id,
        is_partial=is_partial,
    )


def _line_of_fault(result: Explored) -> list[tuple[int, str, str]]:
    """The line that stops the program, in the form of a note: the error below a traceback, or else the first line."""
    fault = result.fault
    if fault is None or fault.line is None:
        return []
    first, *others = fault.message.strip().splitlines()
    text = others[-1] if others and _ERROR.match(others[-1]) else first
    return [(fault.line, text, "bad")]


async def _is_instructor(request: Request) -> bool:
    """Instructors read the files of every package, with a token that may."""
    caller = await current_caller(request)
    return caller is not None and "instruct" in caller.scopes and is_at_least(caller.user.role, "instructor")


def _chips_for(chosen: str) -> list[Chip]:
    """The chips that we have a compiler for, and the one that an example or a link has chosen."""
    offered = offered_chips()
    return [each for each in CHIPS.values() if each in offered or each.name == chosen]


def _chip_of(name: str) -> ChipName | None:
    """Raises `FunctionRefused`: there is no chip of this name."""
    if name and name not in CHIPS:
        raise FunctionRefused(f"There is no chip {name[:40]!r} here. Choose one of {', '.join(CHIPS)}, or none.")
    return CHIPS[name].name if name else None


def _options_of(text: str) -> dict[str, str]:
    """Raises `OptionsRefused`: an option of XLA is not taken."""
    try:
        return read_typed(text)
    except ValueError as error:
        raise OptionsRefused(str(error)) from None
