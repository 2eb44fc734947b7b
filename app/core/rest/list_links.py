"""Links between the pages of a list, whose filter is in their addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from app.core.rest.paging import Page

# The entries on one page of a list.
SHOWN = 50
# A list with no more entries than this needs no search.
_SEARCHED = 10


@dataclass(frozen=True, slots=True)
class ListLinks:
    """`path` is that of the list, `narrowing` has the values of its filter, and `after` is where the page begins.

    `beside` has the values that stay when the filter is cleared, and `cursor` is the name of the parameter that begins
    a page.
    """

    path: str
    page: Page[Any]
    after: str | None = None
    narrowing: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    cursor: str = "after"

    @property
    def clear(self) -> str:
        return self._address(self.beside)

    @property
    def whole(self) -> str:
        """The first page of what the filter finds."""
        return self._address({**self.beside, **self.narrowing})

    @property
    def first(self) -> str | None:
        return self.whole if self.after else None

    @property
    def further(self) -> str | None:
        if self.page.next is None:
            return None
        return self._address({**self.beside, **self.narrowing, self.cursor: self.page.next})

    @property
    def is_narrowed(self) -> bool:
        return any(self.narrowing.values())

    @property
    def has_search(self) -> bool:
        return len(self.page) > _SEARCHED or self.is_narrowed or bool(self.after or self.page.next)

    def _address(self, values: Mapping[str, str]) -> str:
        query = urlencode({name: value for name, value in values.items() if value})
        return f"{self.path}?{query}" if query else self.path
