"""Fixtures that the tests of drawings share."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest

Parse = Callable[[str], ElementTree.Element]


@pytest.fixture
def parse() -> Parse:
    """Read a drawing with a strict parser, which refuses unescaped text and unclosed tags."""

    def read(svg: str) -> ElementTree.Element:
        root = ElementTree.fromstring(svg)
        assert root.tag == "svg"
        assert root.get("role") == "img"
        assert root[0].tag == "title"
        assert root[0].text
        assert not any(key == "style" or key.startswith("on") for part in root.iter() for key in part.keys())  # noqa: SIM118
        return root

    return read
