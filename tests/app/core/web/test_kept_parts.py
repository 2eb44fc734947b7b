"""Parts that many readers get alike are rendered once, and a page of them is one gzip stream."""

import gzip
import random
import zlib

import pytest
from jinja2 import DictLoader, Environment

from app.core.web import kept_parts
from app.core.web.kept_parts import KeptPart, KeptParts, PageResponse, gzip_parts

TEXT = "Where arrays live, and how devices communicate. " * 200


def environment(**templates: str) -> Environment:
    return Environment(loader=DictLoader(templates), autoescape=True, extensions=[KeptParts])


def test_a_part_is_rendered_once_for_each_key() -> None:
    pages = environment(page="{{ reader }}: {% kept key %}{{ count() }} <{{ key }}>{% endkept %}")
    counted = iter(range(10))
    shown = [
        pages.get_template("page").render(reader=reader, key=key, count=lambda: next(counted))
        for reader, key in (("ada", "a"), ("grace", "a"), ("ada", "b"), ("ada", "<"))
    ]
    assert shown == ["ada: 0 <a>", "grace: 0 <a>", "ada: 1 <b>", "ada: 2 <&lt;>"]


def test_without_a_key_a_part_is_not_kept() -> None:
    page = environment(page="{% kept none %}{{ reader }}{% endkept %}").get_template("page")
    assert [page.render(reader=each) for each in ("ada", "grace")] == ["ada", "grace"]


def test_two_places_with_one_key_have_their_own_parts() -> None:
    page = environment(page="{% kept 1 %}a{% endkept %}\n{% kept 1 %}b{% endkept %}").get_template("page")
    assert page.render() == "a\nb"


def test_the_part_that_was_not_used_for_the_longest_time_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_parts, "_MOST_CHARS", 20)
    page = environment(page="{% kept key %}{{ count() }}{% endkept %}").get_template("page")
    rendered: list[str] = []

    def render(key: str) -> None:
        page.render(key=key, count=lambda: rendered.append(key) or key * 10)

    for key in ("a", "b", "a", "c", "a", "b"):
        render(key)
    assert rendered == ["a", "b", "c", "b"]


def test_kept_parts_and_others_are_one_stream() -> None:
    chance = random.Random(1)
    kept = [KeptPart(TEXT), KeptPart(""), KeptPart("\N{GREEK SMALL LETTER ALPHA}" * 70_000), KeptPart(TEXT)]
    for _ in range(20):
        # Other parts repeat what is in kept ones, at distances that a wrong stream would not find.
        parts = [chance.choice([*kept, TEXT.encode(), b"", TEXT[:50].encode() * 700]) for _ in range(8)]
        plain = b"".join(kept_parts.plain_of(each) for each in parts)
        packed = gzip_parts(parts)
        assert gzip.decompress(packed) == plain
        reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
        assert b"".join(reader.decompress(packed[at : at + 1]) for at in range(len(packed))) == plain
        assert reader.eof
        assert not reader.unused_data


def test_a_page_has_the_parts_of_its_template() -> None:
    page = environment(
        base="<main>{% block main %}{% endblock %}</main>",
        page="{% extends 'base' %}{% block main %}{{ reader }}{% kept 1 %}" + TEXT + "{% endkept %}.{% endblock %}",
    ).get_template("page")
    response = PageResponse(page.generate(reader="ada"))
    assert response.parts == [b"<main>ada", TEXT, b".</main>"]
    assert response.body == f"<main>ada{TEXT}.</main>".encode()
    again = PageResponse(page.generate(reader="grace"))
    assert again.parts[1] is response.parts[1]
