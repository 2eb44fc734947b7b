"""A source with its syntax highlighted, for a page that shows it, as a whole or by line."""

import asyncio
from functools import lru_cache

from markupsafe import Markup

from app.core.web.highlight import highlight_code
from app.grading.comments.service import lines_of
from grader.core.text import plain_text

_LONGEST_KEPT = 4_000


async def colour_source(source: str) -> Markup:
    """The source with its syntax highlighted, which takes some tens of milliseconds for a long one."""
    if len(source) > _LONGEST_KEPT:
        return await asyncio.to_thread(highlight_code, source)
    return _remember(source)


async def colour_lines(source: str) -> list[Markup]:
    """Each line of a stored source by itself: no element reaches beyond the line that it begins in."""
    lines = [plain_text(each) for each in lines_of(source)]
    return [Markup(each) for each in (await colour_source("\n".join(lines))).split("\n")]


@lru_cache(maxsize=512)
def _remember(source: str) -> Markup:
    return highlight_code(source)
