"""Help pages: the `type` of every problem+json response links to `/help/errors`, a rejected verdict to
`/help/reasons`."""

from fastapi import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse

from app.accounts.web import current_user
from app.core.errors import Refused
from app.core.rest.routing import PageRouter
from app.core.web.static_files import static_file
from app.core.web.templating import render_page
from app.operations.help.rest_reference import operations_of
from app.presentation.reasons import REASONS

router = PageRouter()
_FOR_A_DAY = {"Cache-Control": "public, max-age=86400"}
# What is one person's own, or answers programs.
_NOT_FOR_ROBOTS = (
    *("/account", "/admin", "/api/", "/attempts", "/audit", "/courses", "/insight", "/lti", "/people", "/shared"),
    *("/repositories", "/service", "/sign-in", "/sign-up", "/teach"),
)


@router.get("/help/errors")
async def explain_errors(request: Request) -> HTMLResponse:
    return render_page("operations/help/errors.html", user=await current_user(request), errors=every_refusal())


@router.get("/help/reasons")
async def explain_reasons(request: Request) -> HTMLResponse:
    return render_page("operations/help/reasons.html", user=await current_user(request), reasons=REASONS)


@router.get("/help/rest")
async def explain_rest(request: Request) -> HTMLResponse:
    groups = operations_of(request.app.openapi())
    return render_page("operations/help/rest.html", user=await current_user(request), groups=groups)


@router.get("/favicon.ico")
async def show_icon() -> FileResponse:
    """For programs that ask for it without reading a page; pages name mark.svg."""
    return FileResponse(static_file("core/favicon.ico"), media_type="image/x-icon", headers=_FOR_A_DAY)


@router.get("/robots.txt")
async def tell_robots() -> PlainTextResponse:
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in _NOT_FOR_ROBOTS)]
    return PlainTextResponse("\n".join([*lines, ""]), headers=_FOR_A_DAY)


def every_refusal() -> list[type[Refused]]:
    """Each kind of refusal that has its own slug, sorted by status and slug."""
    by_slug: dict[str, type[Refused]] = {}
    waiting = [Refused]
    while waiting:
        refusal = waiting.pop()
        waiting += refusal.__subclasses__()
        if "slug" in vars(refusal) and refusal is not Refused:
            by_slug[refusal.slug] = refusal
    return sorted(by_slug.values(), key=lambda refusal: (refusal.status, refusal.slug))
