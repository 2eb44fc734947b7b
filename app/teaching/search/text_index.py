"""The full text of what ships, in the database: SQLite's FTS5 or PostgreSQL's own. Only this module has their SQL.

Nothing that someone types reaches a parser of the database as it is: `query_terms` keeps letters and digits, and each
word is quoted.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.database import Database
from app.teaching.search.models import DocumentRow, SectionRow
from app.teaching.search.texts import Document, Section

# A shorter word is the beginning of too many.
_SHORTEST = 3
_MOST_WORDS = 8
_AT_ONCE = 20
_LONGEST_TEXT = 20_000
_LIMIT = "2s"
_WORD = re.compile(r"[^\W_]+")
# Words that are next to each other, such as those of check_vma or jax.lax.psum.
Term = tuple[str, ...]

# PostgreSQL would read module.name as a host, a/b as a file, and <b> as a tag. SQLite divides at each of these.
_DIVIDING = "./:@-+_<>&=?~%#\\"
_WORDS = "to_tsvector('simple', translate({}, CAST(:dividing AS text), repeat(' ', length(CAST(:dividing AS text)))))"
_ADD = {
    "sqlite": text(
        "INSERT INTO shared_answers_search (rowid, heading, text) "
        "SELECT id, heading, text FROM searched_sections WHERE id >= :first"
    ),
    "postgresql": text(
        "INSERT INTO shared_answers_search (id, words) "
        f"SELECT id, setweight({_WORDS.format('heading')}, 'A') || setweight({_WORDS.format('text')}, 'D') "
        "FROM searched_sections WHERE id >= :first"
    ).bindparams(dividing=_DIVIDING),
}
# What FTS5 has indexed is named once more to be removed, because it does not keep the texts itself.
_REMOVE = {
    "sqlite": text(
        "INSERT INTO shared_answers_search (shared_answers_search, rowid, heading, text) "
        "SELECT 'delete', id, heading, text FROM searched_sections WHERE document = :document"
    ),
    "postgresql": text(
        "DELETE FROM shared_answers_search WHERE id IN (SELECT id FROM searched_sections WHERE document = :document)"
    ),
}
_COLUMNS = "d.key, d.digest, d.kind, d.title, s.path, s.heading, s.text"
_JOINED = "JOIN searched_sections AS s ON s.id = w.id JOIN searched_documents AS d ON d.key = s.document"
_FIND = {
    "sqlite": text(
        f"SELECT {_COLUMNS} FROM (SELECT rowid AS id, rank FROM shared_answers_search "
        "WHERE shared_answers_search MATCH :query AND rank MATCH 'bm25(4.0, 1.0)' ORDER BY rank LIMIT :most) w "
        f"{_JOINED} ORDER BY w.rank, s.id"
    ),
    "postgresql": text(
        f"SELECT {_COLUMNS} FROM (SELECT id, ts_rank_cd(words, query) AS rank FROM shared_answers_search, "
        "to_tsquery('simple', :query) query WHERE words @@ query ORDER BY rank DESC, id LIMIT :most) w "
        f"{_JOINED} ORDER BY w.rank DESC, s.id"
    ),
}


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A section that has every word. `document` is the key of what it belongs to, and `digest` its state."""

    document: str
    digest: str
    kind: str
    title: str
    path: str
    heading: str
    text: str


def query_terms(query: str) -> list[Term]:
    """What to look for: a term for each part of the query between spaces. None if no word is long enough yet."""
    terms = [tuple(_WORD.findall(part)[:_MOST_WORDS]) for part in query.lower().split()[:_MOST_WORDS]]
    is_enough = any(len(word) >= _SHORTEST for term in terms for word in term)
    return [term for term in terms if term] if is_enough else []


class TextIndex:
    """Safe to share between requests."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._dialect = database.engine.dialect.name

    async def digests(self) -> dict[str, str]:
        """The digest of each document that is indexed, by key."""
        async with self._database.reading() as session:
            return await _digests(session)

    async def replace(self, documents: Sequence[tuple[Document, Sequence[Section]]]) -> None:
        """Index these documents, each instead of what it was before, unless another server has done so meanwhile."""
        for start in range(0, len(documents), _AT_ONCE):
            async with self._database.writing() as session:
                await self._begin(session)
                stored = await _digests(session)
                new = [
                    each for each in documents[start : start + _AT_ONCE] if stored.get(each[0].key) != each[0].digest
                ]
                await self._remove(session, [each.key for each, _ in new])
                await self._add(session, new)

    async def remove(self, keys: Iterable[str]) -> None:
        async with self._database.writing() as session:
            await self._begin(session)
            await self._remove(session, sorted(keys))

    async def find(self, terms: Sequence[Term], most: int) -> list[FoundSection]:
        """At most `most` sections that have all of these terms, best first. The last word of a term may go on."""
        if not terms:
            return []
        if self._dialect == "sqlite":
            query = " AND ".join(f'"{" ".join(term)}" *' for term in terms)
        else:
            query = " & ".join(f"({' <-> '.join(map(repr, term))}:*)" for term in terms)
        async with self._database.reading() as session:
            if self._dialect == "postgresql":
                await session.execute(text(f"SET LOCAL statement_timeout = '{_LIMIT}'"))
            rows = (await session.execute(_FIND[self._dialect], {"query": query, "most": most})).all()
            if self._dialect == "postgresql":
                await session.execute(text("SET LOCAL statement_timeout TO DEFAULT"))
        return [FoundSection(*row) for row in rows]

    async def _begin(self, session: AsyncSession) -> None:
        """Wait for other servers that index. On SQLite, a transaction that writes is alone anyway."""
        if self._dialect == "postgresql":
            await session.execute(text("LOCK TABLE searched_documents IN SHARE ROW EXCLUSIVE MODE"))

    async def _remove(self, session: AsyncSession, keys: Sequence[str]) -> None:
        for key in keys:
            await session.execute(_REMOVE[self._dialect], {"document": key})
        await session.execute(delete(SectionRow).where(SectionRow.document.in_(keys)))
        await session.execute(delete(DocumentRow).where(DocumentRow.key.in_(keys)))

    async def _add(self, session: AsyncSession, documents: Sequence[tuple[Document, Sequence[Section]]]) -> None:
        first = (await session.scalar(select(func.max(SectionRow.id))) or 0) + 1
        session.add_all(
            DocumentRow(key=each.key, digest=each.digest, kind=each.kind, title=each.title) for each, _ in documents
        )
        await session.flush()
        sections = [(each.key, section) for each, found in documents for section in found]
        session.add_all(
            SectionRow(id=number, document=key, path=each.path, heading=each.heading, text=each.text[:_LONGEST_TEXT])
            for number, (key, each) in enumerate(sections, first)
        )
        await session.flush()
        await session.execute(_ADD[self._dialect], {"first": first})


async def _digests(session: AsyncSession) -> dict[str, str]:
    return {key: digest for key, digest in await session.execute(select(DocumentRow.key, DocumentRow.digest))}
