"""Pages for instructors: the repositories from which packages are synced, and what each sync did."""

import asyncio
from dataclasses import dataclass

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Instructor, site_address
from app.authoring.repositories.git import NEEDED, usable_git
from app.authoring.repositories.schemas import RepositoryMadeJSON
from app.authoring.repositories.service import Repositories
from app.core.errors import Refused
from app.core.rest.actions import FormPage, PageOf, Typed
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.templating import render_page, render_secret_page

router = PageRouter("/repositories")
_SHOWN = 10


@dataclass(frozen=True)
class RepositoriesPage(FormPage):
    """The list of repositories, and the page of each."""

    request: Request
    user: Instructor
    settings: Provided[Settings]
    repositories: Provided[Repositories]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show_list(refusal, typed)

    async def done(self, action: str, result: RepositoryMadeJSON) -> Response:
        # The secret can be shown only once, so there is no redirect.
        return await self.show_one(result.id, result.webhook_secret)

    async def show_list(self, refusal: Refused | None = None, form: Typed | None = None) -> HTMLResponse:
        repositories = await self.repositories.every()
        latest = {each.id: await self.repositories.syncs(each.id, Cursor(1)) for each in repositories}
        return render_page(
            "authoring/repositories/repositories.html",
            user=self.user,
            repositories=repositories,
            latest={name: sync for name, syncs in latest.items() for sync in syncs},
            refusal=refusal,
            form=form or Typed(),
            paths=self.settings.sync_paths,
            git_needed=None if await asyncio.to_thread(usable_git) else NEEDED,
        )

    async def show_one(self, repository_id: str, secret: str | None = None) -> HTMLResponse:
        repository = await self.repositories.get(repository_id)
        syncs = await self.repositories.syncs(repository_id, Cursor(_SHOWN))
        render = render_page if secret is None else render_secret_page
        return render(
            "authoring/repositories/repository.html",
            user=self.user,
            repository=repository,
            syncs=syncs,
            is_running=any(each.status == "running" for each in syncs),
            secret=secret,
            site=site_address(self.request),
        )


@router.get("")
async def list_repositories(page: PageOf[RepositoriesPage]) -> HTMLResponse:
    return await page.show_list()


@router.get("/{repository_id}")
async def show_repository(repository_id: str, page: PageOf[RepositoriesPage]) -> HTMLResponse:
    return await page.show_one(repository_id)
