"""Pages for instructors: the repositories from which packages are synced, and what each sync did."""

import asyncio
from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from app.accounts.caller import User
from app.accounts.web import Instructor, site_address
from app.authoring.repositories.git import NEEDED, usable_git
from app.authoring.repositories.service import USERNAME, NewRepository, Repositories
from app.core.errors import Refused
from app.core.rest.actions import PageOf
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.forms import read_form
from app.core.web.templating import render_page, render_secret_page

router = PageRouter("/repositories")
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class RepositoryPages:
    """The list of repositories, and the page of each."""

    request: Request
    settings: Provided[Settings]
    repositories: Provided[Repositories]

    async def show_list(
        self, user: User, refusal: Refused | None = None, form: dict[str, str] | None = None
    ) -> HTMLResponse:
        repositories = await self.repositories.every()
        latest = {each.id: await self.repositories.syncs(each.id, Cursor(1)) for each in repositories}
        return render_page(
            "authoring/repositories/repositories.html",
            status_code=refusal.status if refusal else 200,
            user=user,
            repositories=repositories,
            latest={name: sync for name, syncs in latest.items() for sync in syncs},
            refusal=refusal,
            form={"kind": "git"} | (form or {}),
            paths=self.settings.sync_paths,
            git_needed=None if await asyncio.to_thread(usable_git) else NEEDED,
        )

    async def show_one(self, user: User, repository_id: str, secret: str | None = None) -> HTMLResponse:
        repository = await self.repositories.get(repository_id)
        syncs = await self.repositories.syncs(repository_id, Cursor(_SHOWN))
        render = render_page if secret is None else render_secret_page
        return render(
            "authoring/repositories/repository.html",
            user=user,
            repository=repository,
            syncs=syncs,
            is_running=any(each.status == "running" for each in syncs),
            secret=secret,
            site=site_address(self.request),
        )


@router.get("")
async def list_repositories(user: Instructor, pages: PageOf[RepositoryPages]) -> HTMLResponse:
    return await pages.show_list(user)


@router.post("")
async def add_repository(
    request: Request, user: Instructor, repositories: Provided[Repositories], pages: PageOf[RepositoryPages]
) -> Response:
    form = {name: value.strip() for name, value in (await read_form(request, max_bytes=16 * 1024)).items()}
    new = NewRepository(
        kind="folder" if form.get("kind") == "folder" else "git",
        address=form.get("address", ""),
        branch=form.get("branch", ""),
        folder=form.get("folder", "").strip("/"),
        username=form.get("username") or USERNAME,
        access_token=form.get("access_token") or None,
    )
    try:
        repository, secret = await repositories.add(user, new)
    except Refused as refusal:
        return await pages.show_list(user, refusal, form)
    return await pages.show_one(user, repository.id, secret)


@router.get("/{repository_id}")
async def show_repository(repository_id: str, user: Instructor, pages: PageOf[RepositoryPages]) -> HTMLResponse:
    return await pages.show_one(user, repository_id)
