"""The texts of packages as pages show them: parsed once by a process with a limit, and stored beside the packages.

What is stored depends on a text alone: links and figures are resolved when it is shown. If a text exceeds the limit, it
is shown as it was written. That is stored too, so nobody waits for it again.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sqlalchemy import delete

import app.core.web
from app.core.bounded_calls import LimitExceeded, bounded
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.web.markdown import Prose, parse_texts, plain_prose, prose_of
from app.problems.models import RenderedRow
from grader.package.fault import PackageFault
from grader.package.package import Package

CPU_S = 5
_CACHE_SIZE = 256
_MODULES = ("highlight.py", "markdown.py", "tex.py")
_LIBRARIES = ("latex2mathml", "markdown-it-py", "mdit-py-plugins", "nh3")


def texts_of(package: Package) -> dict[str, dict[str, str]]:
    """What pages show of each file of the package: its texts by the prefix of their anchors."""
    return {
        "statement.md": {"s": package.statement},
        "hints.md": {f"hint-{number}": hint for number, hint in enumerate(package.hints, 1)},
        "editorial.md": {"editorial": package.editorial},
    }


def too_complex(file: str, exceeded: str) -> PackageFault:
    message = f"{file} {exceeded} when it is shown as a page. Shorten it, and remove repeated marks such as [, * and $"
    return PackageFault("page", file, None, message)


class RenderedTexts:
    """Belongs to one event loop. `texts` of its methods are by the prefix of their anchors, as `texts_of` has them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read: dict[str, dict[str, Any]] = {}
        self._under_way: dict[str, asyncio.Task[dict[str, Any]]] = {}

    async def show(
        self,
        texts: Mapping[str, str],
        figures: str,
        problems: Mapping[str, str],
        drawings: Mapping[str, str] = MappingProxyType({}),
    ) -> list[Prose]:
        """Each text for a page, in order. See `prose_of`."""
        rendered = await self._get(texts)
        if "exceeded" in rendered:
            return [plain_prose(text) for text in texts.values()]
        return [prose_of(rendered["parsed"][anchors], figures, problems, drawings) for anchors in texts]

    async def fault(self, texts: Mapping[str, str]) -> str | None:
        """Why these texts would be shown unformatted, as the end of a sentence."""
        return (await self._get(texts)).get("exceeded")

    async def forget_older(self) -> None:
        """Remove what other versions of the service rendered."""
        async with self._database.writing() as session:
            await session.execute(delete(RenderedRow).where(RenderedRow.renderer != renderer()))

    async def _get(self, texts: Mapping[str, str]) -> dict[str, Any]:
        digest = hashlib.sha256(json.dumps([renderer(), list(texts.items())]).encode()).hexdigest()
        if found := self._read.get(digest):
            return found
        # All requests that arrive meanwhile wait for the same task, and it continues if one of them is dropped.
        if digest not in self._under_way:
            self._under_way[digest] = task = asyncio.create_task(self._load(digest, dict(texts)))
            task.add_done_callback(lambda _: self._under_way.pop(digest))
        found = await asyncio.shield(self._under_way[digest])
        if len(self._read) >= _CACHE_SIZE:
            self._read.pop(next(iter(self._read)))
        self._read[digest] = found
        return found

    async def _load(self, digest: str, texts: dict[str, str]) -> dict[str, Any]:
        async with self._database.reading() as session:
            row = await session.get(RenderedRow, digest)
        if row is not None:
            return row.rendered
        try:
            rendered = {"parsed": await bounded(parse_texts, texts, cpu_s=CPU_S)}
        except LimitExceeded as fault:
            rendered = {"exceeded": str(fault)}
        values = {"digest": digest, "renderer": renderer(), "rendered": rendered, "rendered_at": now()}
        async with self._database.writing() as session:
            await session.execute(insert_into(session, RenderedRow).values(values).on_conflict_do_nothing())
        return rendered


@cache
def renderer() -> str:
    """A hash of the code that renders: what another version stored is not used."""
    code = hashlib.sha256()
    for name in _MODULES:
        code.update(Path(app.core.web.__path__[0], name).read_bytes())
    code.update(repr([(name, version(name)) for name in _LIBRARIES]).encode())
    return code.hexdigest()
