"""The tag of a list's page: equal only if the page is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from app.core.view import View
from app.core.web.etags import is_known, tag_of_page
from app.core.web.form_token import BROWSER, Browser
from app.core.web.next_page import SHOWN_PAGE
from app.core.web.sent_headers import SentHeaders
from app.core.web.theme import SHOWN_THEME, Theme
from app.core.web.time_zone import CHOSEN_ZONE

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


class Entry(View):
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Row:
    entries: tuple[Entry, ...]


@contextmanager
def shown(
    cookie: bytes = b"meshgrade_session=a", page: str = "/list", theme: Theme = "dark", zone: str = ""
) -> Iterator[None]:
    tokens = [
        (BROWSER, BROWSER.set(Browser(SentHeaders([(b"cookie", cookie)])))),
        (SHOWN_PAGE, SHOWN_PAGE.set(page)),
        (SHOWN_THEME, SHOWN_THEME.set(theme)),
        (CHOSEN_ZONE, CHOSEN_ZONE.set(zone)),
    ]
    try:
        yield
    finally:
        for variable, token in tokens:
            variable.reset(token)  # type: ignore[attr-defined]


def tag(
    *texts: str, name: str = "list.html", ago: str = "just now", marked: object = frozenset(), **around: object
) -> str | None:
    with shown(**around):  # type: ignore[arg-type]
        read = {"row": Row(tuple(Entry(text=each, at=NOON) for each in texts)), "marked": marked}
        return tag_of_page(name, read, lambda _: ago)


def test_an_equal_list_has_an_equal_tag():
    first = tag("a", "b", marked={"x", "y", "z"})
    assert first is not None
    assert first.startswith('W/"')
    # Not the same objects.
    assert tag("".join(["a"]), "b", marked={"z", "y", "x"}) == first


@pytest.mark.parametrize(
    "other",
    [
        {"name": "other.html"},
        {"ago": "1 minute ago"},
        {"marked": frozenset("a")},
        {"cookie": b"meshgrade_session=b"},
        {"page": "/list?before=1"},
        {"theme": "light"},
        {"zone": "Europe/Berlin"},
    ],
    ids=str,
)
def test_whatever_a_page_depends_on_changes_its_tag(other):
    assert tag("a", **other) not in (tag("a"), None)
    assert tag("b") != tag("a")
    assert tag("a", "b") != tag("b", "a")


def test_what_cannot_be_compared_leaves_the_page_without_a_tag():
    assert tag("a", marked=lambda: None) is None
    itself: list[object] = []
    itself.append(itself)
    assert tag("a", marked=itself) is None


def test_a_page_that_sets_a_cookie_or_answers_a_form_has_no_tag():
    assert tag("a", cookie=b"") is None
    assert tag("a", page="") is None


@pytest.mark.parametrize("sent", ['W/"1"', '"1"', '"0", W/"1"', "*"])
def test_a_tag_is_known_however_it_is_sent(sent):
    assert is_known('W/"1"', sent)
    assert is_known('"1"', sent)


@pytest.mark.parametrize("sent", ["", '"0"', "1", 'W/"0"'])
def test_another_tag_is_not_known(sent):
    assert not is_known('W/"1"', sent)
