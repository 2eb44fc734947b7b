"""Packages as an instructor sends them."""

import io
import re
import zipfile
from collections.abc import Mapping
from uuid import NAMESPACE_URL, uuid5

import httpx

from tests.app.conftest import FILES

ZIP = {"Content-Type": "application/zip"}


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def another(slug: str, manifest: str = FILES["problem.toml"]) -> dict[str, str]:
    """The tests' problem as another problem, with its own slug and uuid."""
    uuid = uuid5(NAMESPACE_URL, slug)
    return FILES | {
        "problem.toml": re.sub(r'uuid = ".*"', f'uuid = "{uuid}"', manifest.replace('"add_one"', f'"{slug}"', 1))
    }


async def upload(service, files: Mapping[str, str | bytes], slug: str = "add_one") -> httpx.Response:
    """Upload a package as the owner."""
    return await service.http.put(f"/api/v1/problems/{slug}", content=zipped(files), headers=service.bearer | ZIP)
