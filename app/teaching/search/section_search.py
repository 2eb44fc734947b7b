"""Finds sections of lessons, statements and help pages by their words, and keeps their index up to date."""

import asyncio
import re
from collections.abc import Iterator, Sequence

from app.core.background_loop import Loop
from app.core.view import View
from app.teaching.search.text_index import FoundSection, Term, TextIndex, query_terms
from app.teaching.search.texts import SearchedTexts

_SNIPPET = 160
_BEFORE = 50
# What is between two words of a term: usually one character.
_BETWEEN = r"[\W_]{1,3}"


class Span(View):
    """A part of a snippet. `found` is whether it is a word of the query."""

    text: str
    found: bool


class SectionHit(View):
    """A section. `source` is what it belongs to, such as "Lesson: Meshes"."""

    title: str
    source: str
    path: str
    snippet: tuple[Span, ...]


class SectionSearch:
    """Belongs to one event loop."""

    def __init__(self, texts: SearchedTexts, index: TextIndex) -> None:
        # Other servers publish problems, too. What this one publishes makes the loop hurry, as any request does.
        self.loop = Loop("indexing texts for the search", self.refresh, idle_pause_s=30.0)
        self._texts, self._index = texts, index
        self._indexed: dict[str, str] | None = None
        # One at a time: a slower one that began before a problem was published would bring back the previous text.
        self._turn = asyncio.Lock()

    async def refresh(self) -> int:
        """Index what has changed since it was indexed, by this server or another. Returns how many documents."""
        async with self._turn:
            documents = self._texts.documents()
            current = {each.key: each.digest for each in documents}
            if current == self._indexed:
                return 0
            stored = await self._index.digests()
            changed = [(each, await each.read()) for each in documents if stored.get(each.key) != each.digest]
            await self._index.replace(changed)
            if gone := stored.keys() - current.keys():
                await self._index.remove(gone)
            self._indexed = current
            return len(changed)

    async def find(self, query: str, most: int) -> list[SectionHit]:
        """At most `most` sections that the viewer of the request may read, best first."""
        terms = query_terms(query)
        # More than are shown: some may be of another version than the viewer reads.
        found = await self._index.find(terms, 2 * most + 10)
        shown = [each for each in found if self._texts.shows(each.document, each.digest)]
        if len(shown) < len(found):
            # A server of another release may have indexed its own texts since.
            self._indexed = None
        return [_hit_of(each, terms) for each in shown[:most]]


def _hit_of(section: FoundSection, terms: Sequence[Term]) -> SectionHit:
    return SectionHit(
        title=section.heading or section.title,
        source=f"{section.kind}: {section.title}",
        path=section.path,
        snippet=tuple(snippet_of(section.text, terms)),
    )


def snippet_of(text: str, terms: Sequence[Term]) -> Iterator[Span]:
    """The part of the text around the first of these terms. Each is marked, even at the beginning of a longer word."""
    text = " ".join(text.split())
    # The longest first, so that a term is marked as far as it was typed. Its words are letters and digits.
    one = "|".join(sorted((_BETWEEN.join(each) for each in terms), key=len, reverse=True))
    marked = re.compile(rf"(?<![^\W_])(?:{one})(?:[-_](?:{one}))*", re.IGNORECASE)
    first = marked.search(text)
    start = max(0, (first.start() if first else 0) - _BEFORE)
    if start:
        start = text.find(" ", start, start + _BEFORE) + 1 or start
    end = len(text) if start + _SNIPPET >= len(text) else max(text.rfind(" ", start, start + _SNIPPET), start + _BEFORE)
    if start:
        yield Span(text="… ", found=False)
    at = start
    for match in marked.finditer(text, start, end):
        if match.start() > at:
            yield Span(text=text[at : match.start()], found=False)
        yield Span(text=match[0], found=True)
        at = match.end()
    if at < end:
        yield Span(text=text[at:end], found=False)
    if end < len(text):
        yield Span(text=" …", found=False)
