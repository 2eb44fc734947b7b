"""Pages of completed tracks, the badge of one that is shared, and what a verifier of badges asks for."""

import asyncio
from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import MaybeUser, Reader, site_address
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_page, render_secret_page
from app.learning.completions.badges import ISSUER_PATH, KEYS_PATH, REVOKED_PATH, Badges, issuer_of, revocations_of
from app.learning.completions.errors import BadgeKeyNotFound, SiteUnnamed
from app.learning.completions.service import Completions
from app.presentation.drawings.placement import Mesh
from app.presentation.drawings.share_card import draw_card
from app.problems.catalogue import Catalogue

router = PageRouter()
# Drawn if no program of the track was compiled for a mesh.
_MESH_OF_CARD = Mesh((("devices", 8),))
# Neither a search engine nor a cache may keep what its owner can take back.
_REVOCABLE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}


@router.get("/tracks/{track}/completion")
async def show_completion(
    user: Reader, track: str, completions: Provided[Completions], catalogue: Provided[Catalogue]
) -> HTMLResponse:
    verified = await completions.verified(user, track)
    section = next(each for each in catalogue.sections() if each.id == track)
    return render_page(
        "learning/completions/completion.html",
        user=user,
        verified=verified,
        section=section,
        shared_at=await completions.shared_since(user, track),
    )


@router.get("/completed/{token}")
async def show_shared_completion(
    request: Request,
    token: str,
    user: MaybeUser,
    completions: Provided[Completions],
    catalogue: Provided[Catalogue],
) -> HTMLResponse:
    """For anyone with the link: what was verified, and of whom."""
    completion = await completions.read(token)
    site = site_address(request)
    page = render_secret_page(
        "learning/completions/completed.html",
        user=user,
        completion=completion,
        verified=completion.verified,
        served={each.slug for each in catalogue.all()},
        card=f"{site or ''}/completed/{token}/card.png",
        badge=f"/completed/{token}/badge.jwt" if site else None,
    )
    page.headers.update(_REVOCABLE)
    return page


@router.get("/completed/{token}/card.png")
async def show_completion_card(token: str, completions: Provided[Completions]) -> Response:
    """The picture that other services show beside the link: the largest mesh that was verified."""
    completion = await completions.read(token)
    meshes = [Mesh(tuple(mesh.items())) for each in completion.verified.problems for mesh in each.meshes]
    mesh = max(meshes, key=lambda each: (each.devices, len(each.axes)), default=_MESH_OF_CARD)
    verified = completion.verified
    lines = {"title": f"{completion.name} completed {verified.title}", "sentence": verified.first_words}
    png = await asyncio.to_thread(draw_card, mesh, None, **lines, accepted=True)
    return Response(png, media_type="image/png", headers=_REVOCABLE)


@router.get("/completed/{token}/badge.jwt")
async def download_badge(
    request: Request, token: str, completions: Provided[Completions], badges: Provided[Badges]
) -> Response:
    completion = await completions.read(token)
    site = _site(request)
    badge = await badges.sign(completion, f"{site}/completed/{token}", site)
    name = f"meshgrade-{completion.verified.track}.jwt"
    headers = {**_REVOCABLE, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(badge, media_type="application/vc+jwt", headers=headers)


@router.get(ISSUER_PATH)
async def show_issuer(request: Request) -> dict[str, Any]:
    return issuer_of(_site(request))


@router.get(f"{KEYS_PATH}/{{key_id}}")
async def show_badge_key(key_id: str, badges: Provided[Badges]) -> dict[str, Any]:
    """The public key that badges name as their `kid`."""
    key = await badges.public_key(key_id)
    if key is None:
        raise BadgeKeyNotFound("No badge of this service was signed with a key of this id.")
    return key


@router.get(REVOKED_PATH)
async def list_revoked(request: Request, completions: Provided[Completions]) -> dict[str, Any]:
    return revocations_of(await completions.revoked(), _site(request))


def _site(request: Request) -> str:
    """Raises `SiteUnnamed`."""
    site = site_address(request)
    if site is None:
        raise SiteUnnamed(
            "A badge names the service that signed it, and this one does not know its address. The operator can set "
            "MESHGRADE_PUBLIC_URL."
        )
    return site
