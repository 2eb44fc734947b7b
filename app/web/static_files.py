"""Style sheets, scripts and the editor bundle, at URLs that change when any of them changes."""

import hashlib
from functools import cache
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"


@cache
def static_version() -> str:
    """Hash of all static files. It is a folder in the URL, so modules always import modules of the same version."""
    digest = hashlib.sha256()
    for file in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(FOLDER).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def static_url(name: str) -> str:
    """Address of a file in app/web/static."""
    return f"/static/{static_version()}/{name}"


class _Immutable(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def mount_static(app: FastAPI) -> None:
    """Serve the folder with ETags, only under its current version."""
    app.mount(f"/static/{static_version()}", _Immutable(directory=FOLDER), name="static")
