"""LTI for owners (platforms, on a page and over REST, and keys) and for instructors (the courses of platforms)."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.caller import Caller
from app.accounts.service import Accounts
from app.accounts.web import Instructor, require_caller_role, site_address
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page, render_secret_page
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.lti.keys import ToolKeys
from app.teaching.lti.linked_courses import LinkedCourses, RosterResult
from app.teaching.lti.platforms import Platform, Platforms
from app.teaching.lti.registrations import NewRegistrationLink, Registrations
from app.teaching.lti.schemas import DeploymentsJSON, NewPlatformJSON, NewRegistrationLinkJSON, PlatformList

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
    path = "/lti/platforms"

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


actions = Actions("learning platforms", PlatformsPage, "/lti")


@actions.pages.get("/platforms")
async def show_platforms(page: PageOf[PlatformsPage]) -> HTMLResponse:
    return await page.show(Typed())


@actions.api.get("/platforms", summary="The learning platforms, as an owner")
async def list_platforms(caller: Owner, lti_platforms: Provided[Platforms]) -> PlatformList:
    platforms = await lti_platforms.all()
    return PlatformList(platforms=platforms)


@actions.post(
    "/platforms",
    status_code=201,
    summary="Register a learning platform (LTI 1.3), as an owner",
    responses=problem_responses(409),
)
async def add_platform(caller: Owner, body: NewPlatformJSON, lti_platforms: Provided[Platforms]) -> Platform:
    return await lti_platforms.add(caller, body.to_platform())


@actions.post(
    "/platforms/links",
    status_code=201,
    summary="Create a link with which a learning platform registers itself once, as an owner",
)
async def create_registration_link(
    caller: Owner, body: NewRegistrationLinkJSON, registrations: Provided[Registrations]
) -> NewRegistrationLink:
    return await registrations.create_link(caller, body.name, grants_instructor=body.grants_instructor)


@actions.put(
    "/platforms/{platform_id}/deployments",
    summary="Set the deployments from which launches are accepted, as an owner",
)
async def set_deployments(
    platform_id: str, caller: Owner, body: DeploymentsJSON, platforms: Provided[Platforms]
) -> Platform:
    await platforms.set_deployments(caller, platform_id, body.deployments)
    return await platforms.get(platform_id)


@actions.delete(
    "/platforms/{platform_id}",
    form="/platforms/{platform_id}/remove",
    summary="Remove a learning platform, as an owner; accounts stay",
)
async def remove_platform(platform_id: str, caller: Owner, lti_platforms: Provided[Platforms]) -> None:
    await lti_platforms.remove(caller, platform_id)


@actions.form("/keys", then="/lti/platforms#keys")
async def rotate_keys(caller: Owner, lti_keys: Provided[ToolKeys]) -> None:
    await lti_keys.rotate(caller.user)


@dataclass(frozen=True)
class LinkedCoursePage(FormPage):
    """The courses of platforms that a course is connected to."""

    course: TaughtCourse
    user: Instructor
    linked: Provided[LinkedCourses]
    path = "/courses/{course.id}/lti"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(refusal)

    async def done(self, action: str, result: Any) -> Response:
        # The page itself says how many joined.
        return (
            await self.show(result=result) if isinstance(result, RosterResult) else await super().done(action, result)
        )

    async def show(self, refusal: Refused | None = None, result: RosterResult | None = None) -> HTMLResponse:
        course, linked = self.course, self.linked
        return render_page(
            "teaching/lti/lti_course.html",
            user=self.user,
            course=course,
            linked=await linked.contexts(course),
            free=await linked.contexts(None),
            scores=await linked.scores(course),
            result=result,
            refusal=refusal,
        )


course_actions = Actions("learning platforms", LinkedCoursePage, "/courses/{course_id}/lti")


@course_actions.pages.get("")
async def show_course(page: PageOf[LinkedCoursePage]) -> HTMLResponse:
    return await page.show()


@course_actions.form("/{context_id}/connect")
async def connect(course: TaughtCourse, context_id: str, user: Instructor, lti_linked: Provided[LinkedCourses]) -> None:
    await lti_linked.connect(user, course, context_id)


@course_actions.form("/{context_id}/disconnect")
async def disconnect(
    course: TaughtCourse, context_id: str, user: Instructor, lti_linked: Provided[LinkedCourses]
) -> None:
    await lti_linked.disconnect(user, course, context_id)


@course_actions.form("/{context_id}/roster")
async def import_roster(
    course: TaughtCourse, context_id: str, user: Instructor, lti_linked: Provided[LinkedCourses]
) -> RosterResult:
    return await lti_linked.import_roster(user, course, context_id)


@course_actions.form("/scores")
async def send_scores(course: TaughtCourse, lti_linked: Provided[LinkedCourses]) -> None:
    await lti_linked.send_again(course)
