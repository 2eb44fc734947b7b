"""A source with its syntax highlighted, for a page that shows it."""

import asyncio
from functools import lru_cache

from markupsafe import Markup

from app.web.markdown import highlight_code

# In characters. Highlighting takes a second per 300,000.
_LONGEST_KEPT, _LONGEST_COLOURED = 4_000, 20_000


async def colour_source(source: str) -> Markup:
    """The source with its syntax highlighted, unless that would delay other requests."""
    if len(source) > _LONGEST_COLOURED:
        return Markup.escape(source)
    if len(source) > _LONGEST_KEPT:
        return await asyncio.to_thread(highlight_code, source)
    return _remember(source)


@lru_cache(maxsize=512)
def _remember(source: str) -> Markup:
    return highlight_code(source)
