"""Shared by the tests of the pages."""

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

Tag = tuple[str, dict[str, str]]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Tag] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


@pytest.fixture
def tags_of() -> Callable[[str], list[Tag]]:
    """Every start tag of a page with its attributes, as a browser's parser sees them."""

    def read(html: str) -> list[Tag]:
        parser = _Tags()
        parser.feed(html)
        return parser.found

    return read
