"""Pages for instructors: every problem with its versions, and what can be done with one of them."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.accounts.web import Instructor
from app.authoring.package_zip import MAX_ZIP_BYTES
from app.authoring.service import Authoring
from app.core.errors import PathNotFound, Refused
from app.core.rest.actions import AS_TYPED, Actions, FormPage, PageOf, Typed
from app.core.rest.body import RequestBody
from app.core.rest.paging import Cursor
from app.core.rest.routing import MaxBytes
from app.core.services import Provided
from app.core.web.diff import diff_lines
from app.core.web.templating import render_page
from app.grading.queue.workers import Workers
from app.problems.catalogue import Catalogue
from app.problems.package_store import PackageStore
from app.problems.rendered_texts import RenderedTexts, texts_of
from grader.checks.grading_table import grading_of
from grader.package.package import Package

Version = Annotated[str, Query(pattern="^[0-9a-f]{64}$")]
# A statement, or a long submission. Percent-encoding turns one character into at most twelve bytes.
_LONGEST_FILE = 256 << 10
_SHOWN = 50


@dataclass(frozen=True)
class VersionPage(FormPage):
    slug: str
    user: Instructor
    catalogue: Provided[Catalogue]
    authoring: Provided[Authoring]
    packages: Provided[PackageStore]
    texts: Provided[RenderedTexts]

    async def fill(self, action: str, typed: Typed) -> Response | None:
        # A button whose version does not exist leads nowhere, whatever its text looks like.
        await self.packages.version_of(self.slug, typed["version"])
        return None

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed["version"], refusal)

    async def show(self, version: str, refusal: Refused | None = None) -> HTMLResponse:
        slug = self.slug
        package = await self.packages.version_of(slug, version)
        published = (await self.packages.published()).get(slug)
        figures = f"/authoring/{slug}/versions/{version}/figures"
        statement, hints, editorial = [
            await self.texts.show(each, figures, self.catalogue.titles(), package.figures)
            for each in texts_of(package).values()
        ]
        return render_page(
            "authoring/authoring_version.html",
            user=self.user,
            package=package,
            published=published,
            validation=await self.authoring.validations.latest(version),
            judged_by_others=await self.authoring.judged_by_others(slug, version),
            statement=statement[0].html,
            grading=grading_of(package.manifest),
            hints=[each.html for each in hints],
            editorial=editorial[0].html,
            sizes={name: len(text.encode()) for name, text in package.files.items()},
            folders=_folders(package),
            refusal=refusal,
        )


class FileForm(RequestBody):
    """The content of the file `path`, or `remove`."""

    path: str = ""
    text: Annotated[str, AS_TYPED] = ""
    remove: bool = False


@dataclass(frozen=True)
class EditorPage(FormPage):
    slug: str
    version: str
    user: Instructor
    packages: Provided[PackageStore]

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed["path"].strip(), typed["text"], refusal)

    async def show(self, path: str, text: str | None = None, refusal: Refused | None = None) -> HTMLResponse:
        """`text` is what was typed; None for the text of the file."""
        package = await self.packages.version_of(self.slug, self.version)
        return render_page(
            "authoring/authoring_edit.html",
            user=self.user,
            package=package,
            path=path,
            text=package.files.get(path, "") if text is None else text,
            is_new=path not in package.files,
            refusal=refusal,
        )


actions = Actions("authoring", EditorPage, "/authoring")


@actions.pages.get("")
async def list_problems(
    user: Instructor,
    authoring: Provided[Authoring],
    catalogue: Provided[Catalogue],
    problem: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """`problem` is the slug, the title or a part of it: if it means one problem, its versions follow."""
    problems, titles = await authoring.history.problems(), catalogue.titles()
    chosen = catalogue.find(problem)
    slug = chosen.slug if chosen else problem.strip()
    if slug in {each.slug for each in problems}:
        return RedirectResponse(f"/authoring/{slug}", status_code=303)
    return render_page(
        "authoring/authoring.html",
        user=user,
        problems=problems,
        titles=titles,
        choices={each.slug: titles.get(each.slug, each.slug) for each in problems},
        sought=problem,
        max_mib=MAX_ZIP_BYTES >> 20,
    )


@actions.pages.get("/{slug}")
async def show_problem(
    slug: str, user: Instructor, authoring: Provided[Authoring], catalogue: Provided[Catalogue]
) -> HTMLResponse:
    versions = await authoring.history.versions(slug, Cursor(_SHOWN))
    validations = await authoring.validations.list(slug, Cursor(100))
    # Newest first: reversed, so that the latest one of each version replaces the others.
    latest = {each.version: each for each in reversed(validations.items)}
    return render_page(
        "authoring/authoring_problem.html",
        user=user,
        slug=slug,
        title=catalogue.title_of(slug),
        versions=versions,
        latest=latest,
        publications=await authoring.history.publications(slug, Cursor(_SHOWN)),
        published=next((each.version for each in versions if each.published), None),
        max_mib=MAX_ZIP_BYTES >> 20,
    )


@actions.pages.get("/{slug}/validations/{validation_id}")
async def show_validation(
    slug: str,
    validation_id: str,
    user: Instructor,
    authoring: Provided[Authoring],
    catalogue: Provided[Catalogue],
    packages: Provided[PackageStore],
    workers: Provided[Workers],
) -> HTMLResponse:
    validation = await authoring.validations.get(slug, validation_id)
    published = await packages.published()
    return render_page(
        "authoring/validation.html",
        user=user,
        title=catalogue.title_of(slug),
        validation=validation,
        is_published=published.get(slug) == validation.version,
        no_worker=await workers.notice() if validation.status == "queued" else "",
    )


@actions.pages.get("/{slug}/compare")
async def compare(
    slug: str, user: Instructor, packages: Provided[PackageStore], a: Version = "", b: Version = ""
) -> HTMLResponse:
    """What differs from version `a` to version `b`, file by file."""
    old, new = [await packages.version_of(slug, each) for each in (a, b)]
    names = sorted(name for name in {*old.files, *new.files} if old.files.get(name) != new.files.get(name))
    changes = []
    for name in names:
        before, after = old.files.get(name, ""), new.files.get(name, "")
        state = "new" if name not in old.files else "removed" if name not in new.files else "changed"
        changes.append((name, state, await asyncio.to_thread(diff_lines, before, after)))
    return render_page(
        "authoring/authoring_compare.html", user=user, title=new.manifest.title, old=old, new=new, changes=changes
    )


@actions.pages.get("/{slug}/versions/{version}")
async def show_version(version: str, page: PageOf[VersionPage]) -> HTMLResponse:
    return await page.show(version)


@actions.pages.get("/{slug}/versions/{version}/figures/{name}")
async def show_figure(
    slug: str, version: str, name: str, user: Instructor, packages: Provided[PackageStore]
) -> Response:
    """A figure of a version, which need not be published, served as safely as to a student."""
    package = await packages.version_of(slug, version)
    if name not in package.figures:
        raise PathNotFound(f"Version {version[:12]} of '{slug}' has no figure with this name.")
    policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    headers = {"Content-Security-Policy": policy, "Cache-Control": "private, no-cache"}
    return Response(package.figures[name], media_type="image/svg+xml", headers=headers)


@actions.pages.get("/{slug}/versions/{version}/edit")
async def show_editor(page: PageOf[EditorPage], path: Annotated[str, Query(max_length=200)] = "") -> HTMLResponse:
    return await page.show(path)


@actions.form("/{slug}/versions/{version}/edit", max_bytes=MaxBytes(12 * _LONGEST_FILE))
async def edit(
    slug: str,
    version: str,
    user: Instructor,
    body: FileForm,
    authoring: Provided[Authoring],
    packages: Provided[PackageStore],
) -> Response:
    """Store a new version that differs from this one in a single file."""
    package, text = await packages.version_of(slug, version), body.text
    files = {name: content for name, content in package.files.items() if name != body.path}
    if not body.remove:
        files[body.path] = text if text.endswith("\n") or not text else text + "\n"
    upload = await authoring.add(user, slug, files)
    return RedirectResponse(f"/authoring/{slug}/versions/{upload.version}", status_code=303)


def _folders(package: Package) -> list[tuple[str, str, list[str]]]:
    """The files of a package in groups: a label, the folder that all names of the group begin with, and the names."""
    folders = [("Accepted submissions", "submissions/accepted/"), ("Rejected submissions", "submissions/rejected/")]
    others = [name for name in package.files if not name.startswith("submissions/")]
    of_each = [
        (label, folder, [name for name in package.files if name.startswith(folder)]) for label, folder in folders
    ]
    return [("Package", "", others), *of_each]
