"""Style sheets, fonts, scripts and the editor bundle, at URLs that change when any of them changes.

A file's name begins with its room: `learning/lessons.css` is the file `lessons.css` in app/learning/static.
"""

import gzip
import hashlib
import mimetypes
import os
import re
from functools import cache
from pathlib import Path

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

mimetypes.add_type("font/woff2", ".woff2")
_APP = Path(__file__).resolve().parents[2]
FOLDERS = {folder.parent.name: folder for folder in sorted(_APP.glob("*/static"))}
# Not `import("…")`: that module is loaded when it is needed.
_IMPORT = re.compile(r"""\b(?:from|import)\s*"(\.{1,2}/[\w./-]+\.js)\"""")
_IDENTITY = "identity"
# A fifth of the bytes of our scripts and style sheets. The bundle has no comments but the one about its licences.
_COMMENTS = {
    ".css": re.compile(rb"^[ \t]*/\*.*?\*/\n", re.DOTALL | re.MULTILINE),
    ".js": re.compile(rb"^[ \t]*(?://[^\n]*|/\*\*.*?\*/)\n", re.DOTALL | re.MULTILINE),
}


def accepts(accept_encoding: str, coding: str) -> bool:
    """Whether a client's header allows this coding: `br;q=0` does not, and neither does a missing header."""
    for each in accept_encoding.lower().split(","):
        name, _, weight = each.partition(";")
        if name.strip() == coding:
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def static_files() -> list[Path]:
    """All static files of all rooms."""
    return sorted(path for folder in FOLDERS.values() for path in folder.rglob("*") if path.is_file())


def static_file(name: str) -> Path:
    """The file with this name, such as `core/tokens.css`."""
    room, _, rest = name.partition("/")
    return FOLDERS[room] / rest


def _name(file: Path) -> str:
    room, _, *rest = file.relative_to(_APP).parts
    return "/".join([room, *rest])


@cache
def static_version() -> str:
    """Hash of all static files. It is a folder in the URL, so modules always import modules of the same version."""
    digest = hashlib.sha256()
    for file in static_files():
        content = file.read_bytes()
        digest.update(f"{_name(file)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def static_url(name: str) -> str:
    """Address of the file with this name."""
    return f"/static/{static_version()}/{name}"


@cache
def module_urls(name: str) -> list[str]:
    """Addresses of a module and of all modules that it imports, for a page to load them at the same time."""
    found: list[Path] = []
    waiting = [static_file(name).resolve()]
    while waiting:
        file = waiting.pop(0)
        if file not in found:
            found.append(file)
            waiting += [(file.parent / each).resolve() for each in _IMPORT.findall(file.read_text())]
    return [static_url(_name(file)) for file in found]


@cache
def _encoded(file: Path) -> dict[str, bytes]:
    """The file by its content codings, the smallest first. The build of the editor stores a `.br` beside its files.

    Other scripts and style sheets are sent without comments, even as `identity`.
    """
    brotli = file.with_name(f"{file.name}.br")
    codings = {"br": brotli.read_bytes()} if brotli.is_file() else {}
    content, plain = file.read_bytes(), {}
    if not codings and (comments := _COMMENTS.get(file.suffix)):
        content = comments.sub(b"", content)
        plain = {_IDENTITY: content}
    zipped = gzip.compress(content, mtime=0)
    return codings | ({"gzip": zipped} if len(zipped) < 0.9 * len(content) else {}) | plain


class _Immutable(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "max-age=31536000, immutable"
        # Nobody asks again for a file whose address changes with it, and a page loads thirty of them.
        del response.headers["etag"], response.headers["last-modified"]
        return response

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        sent = Headers(scope=scope)
        codings = _encoded(Path(full_path))
        accepted = sent.get("accept-encoding", "")
        coding = next((each for each in codings if each == _IDENTITY or accepts(accepted, each)), None)
        # The response to a range is the whole file if it is without comments.
        if coding is None or ("range" in sent and _IDENTITY not in codings):
            plain = super().file_response(full_path, stat_result, scope, status_code)
            plain.headers.add_vary_header("Accept-Encoding")
            return plain
        headers = FileResponse(full_path, status_code, stat_result=stat_result).headers
        del headers["content-length"], headers["accept-ranges"]
        if coding != _IDENTITY:
            headers["content-encoding"] = coding
        headers.add_vary_header("Accept-Encoding")
        return Response(codings[coding], status_code, dict(headers))


def mount_static(app: FastAPI) -> None:
    """Serve the folder of each room only under the current version, and compress all files now."""
    for file in static_files():
        _encoded(file)
    for room, folder in FOLDERS.items():
        app.mount(f"/static/{static_version()}/{room}", _Immutable(directory=folder), name=f"static of {room}")
