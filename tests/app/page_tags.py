"""Start tags of a page, as a browser's parser sees them."""

from html.parser import HTMLParser

Tag = tuple[str, dict[str, str]]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Tag] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def tags_of(html: str) -> list[Tag]:
    """Every start tag with its attributes, in order."""
    parser = _Tags()
    parser.feed(html)
    return parser.found
