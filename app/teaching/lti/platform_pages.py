"""LTI for owners (platforms, on a page and over REST, and keys) and for instructors (the courses of platforms)."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import Caller, User
from app.accounts.service import Accounts
from app.accounts.web import Instructor, require_caller_role, site_address
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.forms import read_form
from app.core.web.templating import render_page, render_secret_page
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.service import Course
from app.teaching.lti.keys import ToolKeys
from app.teaching.lti.linked_courses import LinkedCourses, RosterResult
from app.teaching.lti.platforms import Platform, Platforms
from app.teaching.lti.registrations import NewRegistrationLink, Registrations
from app.teaching.lti.schemas import DeploymentsJSON, NewPlatformJSON, NewRegistrationLinkJSON, PlatformList

router = PageRouter()
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]

_NOTHING = Typed()


@dataclass(frozen=True)
class PlatformsPage(FormPage):
    """The platforms, and the keys of this service."""

    request: Request
    caller: Owner
    accounts: Provided[Accounts]
    platforms: Provided[Platforms]
    keys: Provided[ToolKeys]
    address = "/lti/platforms"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        is_link = action == "create_registration_link"
        by_hand = typed if action == "add_platform" else Typed()
        return await self.show(by_hand, refusal, link_form=typed if is_link else Typed())

    async def done(self, action: str, result: Any) -> Response:
        return (
            await self.show(Typed(), link=result)
            if isinstance(result, NewRegistrationLink)
            else await super().done(action, result)
        )

    async def show(
        self,
        form: Typed,
        refusal: Refused | None = None,
        *,
        link_form: Typed = _NOTHING,
        link: NewRegistrationLink | None = None,
    ) -> HTMLResponse:
        """`form` is what was typed to register a platform, `link_form` what was typed to make a link, and `link` one
        that was just made.
        """
        return render_secret_page(
            "teaching/lti/lti_platforms.html",
            refusal=refusal,
            user=self.caller.user,
            recent=self.accounts.recent.covers(self.caller),
            site=site_address(self.request) or "",
            platforms=await self.platforms.all(),
            keys=await self.keys.views(),
            form=form,
            link_form=link_form,
            link=link,
        )


actions = Actions("learning platforms", PlatformsPage, "/lti/platforms")


@actions.pages.get("")
async def show_platforms(page: PageOf[PlatformsPage]) -> HTMLResponse:
    return await page.show(Typed())


@actions.api.get("", summary="The learning platforms, as an owner")
async def list_platforms(caller: Owner, lti_platforms: Provided[Platforms]) -> PlatformList:
    platforms = await lti_platforms.all()
    return PlatformList(platforms=platforms)


@actions.post(
    "",
    status_code=201,
    summary="Register a learning platform (LTI 1.3), as an owner",
    responses=problem_responses(409),
)
async def add_platform(caller: Owner, body: NewPlatformJSON, lti_platforms: Provided[Platforms]) -> Platform:
    return await lti_platforms.add(caller, body.to_platform())


@actions.post(
    "/links",
    status_code=201,
    summary="Create a link with which a learning platform registers itself once, as an owner",
)
async def create_registration_link(
    caller: Owner, body: NewRegistrationLinkJSON, registrations: Provided[Registrations]
) -> NewRegistrationLink:
    return await registrations.create_link(caller, body.name, grants_instructor=body.grants_instructor)


@actions.put(
    "/{platform_id}/deployments",
    summary="Set the deployments from which launches are accepted, as an owner",
)
async def set_deployments(
    platform_id: str, caller: Owner, body: DeploymentsJSON, platforms: Provided[Platforms]
) -> Platform:
    await platforms.set_deployments(caller, platform_id, body.deployments)
    return await platforms.get(platform_id)


@actions.delete(
    "/{platform_id}",
    form="/{platform_id}/remove",
    summary="Remove a learning platform, as an owner; accounts stay",
)
async def remove_platform(platform_id: str, caller: Owner, lti_platforms: Provided[Platforms]) -> None:
    await lti_platforms.remove(caller, platform_id)


@router.post("/lti/keys")
async def rotate_keys(request: Request, caller: Owner, lti_keys: Provided[ToolKeys]) -> Response:
    await read_form(request)
    await lti_keys.rotate(caller.user)
    return RedirectResponse(f"{PlatformsPage.address}#keys", status_code=303)


@router.get("/courses/{course_id}/lti")
async def show_course(course: TaughtCourse, user: Instructor, lti_linked: Provided[LinkedCourses]) -> HTMLResponse:
    return await _course_page(lti_linked, course, user)


@router.post("/courses/{course_id}/lti/{context_id}/connect")
async def connect(
    request: Request, course: TaughtCourse, context_id: str, user: Instructor, lti_linked: Provided[LinkedCourses]
) -> Response:
    await read_form(request)
    await lti_linked.connect(user, course, context_id)
    return _go(course)


@router.post("/courses/{course_id}/lti/{context_id}/disconnect")
async def disconnect(
    request: Request, course: TaughtCourse, context_id: str, user: Instructor, lti_linked: Provided[LinkedCourses]
) -> Response:
    await read_form(request)
    await lti_linked.disconnect(user, course, context_id)
    return _go(course)


@router.post("/courses/{course_id}/lti/{context_id}/roster")
async def import_roster(
    request: Request,
    course: TaughtCourse,
    context_id: str,
    user: Instructor,
    lti_linked: Provided[LinkedCourses],
) -> Response:
    """Responds with the page itself, which says how many joined."""
    await read_form(request)
    try:
        result = await lti_linked.import_roster(user, course, context_id)
    except Refused as refusal:
        return await _course_page(lti_linked, course, user, refusal)
    return await _course_page(lti_linked, course, user, result=result)


@router.post("/courses/{course_id}/lti/scores")
async def send_scores(request: Request, course: TaughtCourse, lti_linked: Provided[LinkedCourses]) -> Response:
    await read_form(request)
    await lti_linked.send_again(course)
    return _go(course)


async def _course_page(
    lti_linked: LinkedCourses,
    course: Course,
    user: User,
    refusal: Refused | None = None,
    result: RosterResult | None = None,
) -> HTMLResponse:
    return render_page(
        "teaching/lti/lti_course.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        course=course,
        linked=await lti_linked.contexts(course),
        free=await lti_linked.contexts(None),
        scores=await lti_linked.scores(course),
        result=result,
        refusal=refusal,
    )


def _go(course: Course) -> Response:
    return RedirectResponse(f"/courses/{course.id}/lti", status_code=303)
