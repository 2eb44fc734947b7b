"""The pages of LTI for owners (platforms and keys) and for instructors (the courses of platforms)."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.caller import Caller, User
from app.accounts.web import Instructor, accounts_of, require_caller_role, site_address
from app.core.errors import Refused, SignInAgain
from app.core.services import Provided, services_of
from app.core.web.forms import read_form
from app.core.web.templating import render_page, render_secret_page
from app.teaching.courses.course_in_path import TaughtCourse
from app.teaching.courses.service import Course
from app.teaching.lti.keys import ToolKeys
from app.teaching.lti.linked_courses import LinkedCourses, RosterResult
from app.teaching.lti.platforms import NewPlatform, Platforms

router = APIRouter(include_in_schema=False)
Owner = Annotated[Caller, Depends(require_caller_role("owner", "account"))]
_HERE = "/lti/platforms"
_MAX_BYTES = 32 * 1024


@router.get("/lti/platforms")
async def show_platforms(request: Request, caller: Owner) -> HTMLResponse:
    return await _platforms_page(request, caller)


@router.post("/lti/platforms")
async def register_platform(request: Request, caller: Owner, lti_platforms: Provided[Platforms]) -> Response:
    form = await read_form(request, max_bytes=_MAX_BYTES)
    new = NewPlatform(
        **{name: form.get(name, "").strip() for name in ("name", "issuer", "client_id")},
        **{name: form.get(name, "").strip() for name in ("login_url", "token_url", "keys_url")},
        deployments=tuple(form.get("deployments", "").split()),
        grants_instructor=form.get("grants_instructor") == "on",
    )
    try:
        await lti_platforms.add(caller, new)
    except SignInAgain as needed:
        raise needed.back_to(_HERE) from None
    except Refused as refusal:
        return await _platforms_page(request, caller, refusal, form)
    return RedirectResponse(_HERE, status_code=303)


@router.post("/lti/platforms/{platform_id}/deployments")
async def set_deployments(
    request: Request, platform_id: str, caller: Owner, lti_platforms: Provided[Platforms]
) -> Response:
    form = await read_form(request, max_bytes=_MAX_BYTES)
    ids = form.get("deployments", "").split()
    try:
        await lti_platforms.set_deployments(caller, platform_id, ids)
    except SignInAgain as needed:
        raise needed.back_to(_HERE) from None
    except Refused as refusal:
        return await _platforms_page(request, caller, refusal)
    return RedirectResponse(_HERE, status_code=303)


@router.post("/lti/platforms/{platform_id}/remove")
async def remove_platform(
    request: Request, platform_id: str, caller: Owner, lti_platforms: Provided[Platforms]
) -> Response:
    await read_form(request)
    await lti_platforms.remove(caller, platform_id)
    return RedirectResponse(_HERE, status_code=303)


@router.post("/lti/keys")
async def rotate_keys(request: Request, caller: Owner, lti_keys: Provided[ToolKeys]) -> Response:
    await read_form(request)
    await lti_keys.rotate(caller.user)
    return RedirectResponse(f"{_HERE}#keys", status_code=303)


@router.get("/courses/{course_id}/lti")
async def show_course(request: Request, course: TaughtCourse, user: Instructor) -> HTMLResponse:
    return await _course_page(request, course, user)


@router.post("/courses/{course_id}/lti/{context_id}/connect")
async def connect(
    request: Request, course: TaughtCourse, context_id: str, lti_linked: Provided[LinkedCourses]
) -> Response:
    await read_form(request)
    await lti_linked.connect(course, context_id)
    return _go(course)


@router.post("/courses/{course_id}/lti/{context_id}/disconnect")
async def disconnect(
    request: Request, course: TaughtCourse, context_id: str, lti_linked: Provided[LinkedCourses]
) -> Response:
    await read_form(request)
    await lti_linked.disconnect(course, context_id)
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
        return await _course_page(request, course, user, refusal)
    return await _course_page(request, course, user, result=result)


@router.post("/courses/{course_id}/lti/scores")
async def send_scores(request: Request, course: TaughtCourse, lti_linked: Provided[LinkedCourses]) -> Response:
    await read_form(request)
    await lti_linked.send_again(course)
    return _go(course)


async def _platforms_page(
    request: Request, caller: Caller, refusal: Refused | None = None, form: dict[str, str] | None = None
) -> HTMLResponse:
    services = services_of(request)
    return render_secret_page(
        "lti_platforms.html",
        refusal=refusal,
        user=caller.user,
        recent=accounts_of(request).recent.covers(caller),
        site=site_address(request) or "",
        platforms=await services[Platforms].all(),
        keys=await services[ToolKeys].views(),
        form=form or {},
    )


async def _course_page(
    request: Request,
    course: Course,
    user: User,
    refusal: Refused | None = None,
    result: RosterResult | None = None,
) -> HTMLResponse:
    services = services_of(request)
    return render_page(
        "lti_course.html",
        status_code=refusal.status if refusal else 200,
        user=user,
        course=course,
        linked=await services[LinkedCourses].contexts(course),
        free=await services[LinkedCourses].contexts(None),
        scores=await services[LinkedCourses].scores(course),
        result=result,
        refusal=refusal,
    )


def _go(course: Course) -> Response:
    return RedirectResponse(f"/courses/{course.id}/lti", status_code=303)
