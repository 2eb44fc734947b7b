"""A misconception from a real attempt: it becomes a rejected submission in a new draft version of its problem."""

import ast
import asyncio

from sqlalchemy import select

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.accounts.text_rules import check_line
from app.authoring.service import Authoring, Upload
from app.core.database import Database
from app.core.errors import AttemptNotFound, MisconceptionRefused
from app.core.ids import is_id
from app.core.rest.paging import Cursor
from app.grading.queue.models import AttemptRow
from app.problems.package_store import PackageStore
from app.teaching.insight.problem_summary import Cluster
from grader.core.text import plain_text
from grader.review.variant_use import naming

LONGEST = 500


class Misconceptions:
    """Safe to share between requests. The routes check that the caller is an instructor."""

    def __init__(self, database: Database, packages: PackageStore, authoring: Authoring) -> None:
        self._database = database
        self._packages = packages
        self._authoring = authoring

    async def base(self, slug: str) -> str:
        """The version that a draft continues: the newest one that was stored since publishing, else the served one."""
        [newest] = await self._authoring.history.versions(slug, Cursor(1))
        [found] = [each for each in await self._authoring.history.problems() if each.slug == slug]
        return newest.version if found.newer or found.published is None else found.published

    async def add(self, user: User, slug: str, attempt_id: str, text: str, base: str | None = None) -> Upload:
        """Store a version that is `base` with the attempt's source as one more rejected submission.

        It does not name its author. Adding the same attempt again replaces its file.

        Raises:
          FieldInvalid: the text.
          AttemptNotFound: no student has such an attempt at the problem.
          MisconceptionRefused: the attempt was not rejected.
          VersionNotFound: for `base`. PackageRefused.
        """
        text = check_line("text", text, LONGEST)
        row = AttemptRow
        query = (
            select(row)
            .join(UserRow, UserRow.id == row.user_id)
            .where(row.id == attempt_id, row.problem == slug, row.kind == "attempt", UserRow.role == "student")
        )
        async with self._database.reading() as session:
            attempt = await session.scalar(query) if is_id(attempt_id) else None
        if attempt is None:
            raise AttemptNotFound(f"No student has an attempt {attempt_id[:64]!r} at this problem.")
        if attempt.verdict_status != "rejected" or attempt.verdict_reason is None:
            raise MisconceptionRefused("Only a rejected attempt can show a misunderstanding. Choose a rejected one.")
        package = await self._packages.version_of(slug, base or await self.base(slug))
        path = f"submissions/rejected/{attempt.verdict_reason}/attempt_{attempt.id[:12]}.py"
        source = await asyncio.to_thread(with_docstring, attempt.source, text)
        if attempt.variant is not None:
            source = f"{naming(attempt.variant)}\n{source}"
        return await self._authoring.add(user, slug, {**package.files, path: source})


def suggestion(cluster: Cluster) -> str:
    """What the attempts of a cluster show, as a text that an instructor completes."""
    if cluster.signs:
        return plain_text(f"Measured: {'; '.join(cluster.signs)}.")[:LONGEST]
    return plain_text(f"The check {cluster.check} fails.")[:LONGEST] if cluster.check else ""


def with_docstring(source: str, text: str) -> str:
    """The source with `text` as its docstring, instead of the one that it has."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    rest = _without_docstring(source.replace("\r\n", "\n").replace("\r", "\n"))
    return f'"""{quoted}"""\n' + rest.rstrip("\n") + "\n"


def _without_docstring(source: str) -> str:
    """A `from __future__` may only follow a docstring, so the old one cannot stay below the new one."""
    try:
        tree = ast.parse(source)
        if ast.get_docstring(tree, clean=False) is None:
            return source
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    first, last = tree.body[0].lineno, tree.body[0].end_lineno or 1
    lines = source.split("\n")
    # Comments precede it, and code may follow it on its last line, after a semicolon.
    behind = lines[last - 1].encode()[tree.body[0].end_col_offset or 0 :].decode().lstrip(" \t;")
    return "\n".join([*lines[: first - 1], *([behind] if behind else []), *lines[last:]])
