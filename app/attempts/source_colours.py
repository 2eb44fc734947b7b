"""A source with its syntax highlighted, for a page that shows it, as a whole or by line."""

import asyncio
from functools import lru_cache

from markupsafe import Markup

from app.comments.service import lines_of
from app.web.markdown import highlight_code
from app.web.terminal import plain_text

# In characters. Highlighting takes a second per 300,000.
_LONGEST_KEPT, _LONGEST_COLOURED = 4_000, 20_000


async def colour_source(source: str) -> Markup:
    """The source with its syntax highlighted, unless that would delay other requests."""
    if len(source) > _LONGEST_COLOURED:
        return Markup.escape(source)
    if len(source) > _LONGEST_KEPT:
        return await asyncio.to_thread(highlight_code, source)
    return _remember(source)


async def colour_lines(source: str) -> list[Markup]:
    """Each line of a stored source by itself: no element reaches beyond the line that it begins in."""
    lines = [plain_text(each) for each in lines_of(source)]
    coloured = await colour_source("\n".join(lines))
    # Highlighting adds a line break at the end.
    return [Markup(each) for each in coloured.split("\n")[: len(lines)]]


@lru_cache(maxsize=512)
def _remember(source: str) -> Markup:
    return highlight_code(source)
