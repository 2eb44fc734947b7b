"""The objects that docs/rest.md lists have the fields of the models, by the description of REST.

`{"id", "name"}` lists all fields of an object. After "with", it is the body of a request and may leave some out.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.docs.pages import CHECKOUT, FENCE
from tests.faults import assert_none

REST = FENCE.sub("", (CHECKOUT / "docs" / "rest.md").read_text(encoding="utf-8"))
DESCRIBED: dict[str, Any] = json.loads((CHECKOUT / "docs" / "openapi.json").read_text(encoding="utf-8"))
# A field without a value, in a listing of fields.
LISTED = re.compile(r'(?:(?<=\{)|(?<=, ))("\w+")(?=[,}])')


def objects(described: Any) -> Iterator[dict[str, Any]]:
    """The properties of every object in a description, wherever it is."""
    if isinstance(described, dict):
        if isinstance(properties := described.get("properties"), dict):
            yield properties
        for each in described.values():
            yield from objects(each)
    elif isinstance(described, list):
        for each in described:
            yield from objects(each)


# Deprecated fields are listed with what replaces them, and not where they still are.
FIELDS = {
    frozenset(name for name, field in properties.items() if not field.get("deprecated"))
    for properties in objects(DESCRIBED)
}


def listings(text: str) -> Iterator[tuple[bool, str, Any]]:
    """Each object in the text: whether it is the body of a request, how it is written, and what is in it."""
    for before, span in re.findall(r'(\w*)[\s(]`(\{"[^`]+)`', text):
        written = " ".join(span.split())
        # `{…}` and `<the attempt>` stand for objects that are described elsewhere.
        plain = re.sub(r"<[^>]+>|\{…\}|\[…\]", "null", written)
        yield before == "with", written, json.loads(LISTED.sub(r'\1: "listed"', plain))


def lists(value: Any) -> Iterator[frozenset[str]]:
    """The names of the fields of each object that lists at least one without a value."""
    if isinstance(value, dict):
        if "listed" in value.values():
            yield frozenset(value)
        for each in value.values():
            yield from lists(each)
    elif isinstance(value, list):
        for each in value:
            yield from lists(each)


def faults(text: str) -> Iterator[str]:
    for is_request, written, value in listings(text):
        for names in lists(value):
            if is_request:
                if not any(names <= fields for fields in FIELDS):
                    yield f"no request has these fields: {written}"
            elif names not in FIELDS:
                closest = min(FIELDS, key=lambda fields: len(fields ^ names))
                differing = ", ".join(sorted(closest ^ names))
                yield f"no object has exactly these fields; the closest differs in {differing}: {written}"


def test_every_listed_object_has_the_fields_of_a_model() -> None:
    assert sum(1 for _ in listings(REST)) > 50
    assert_none(faults(REST))


def test_a_field_that_is_missing_or_invented_is_found() -> None:
    [missing] = faults('A phase is `{"after_ms"}`.')
    assert "the closest differs in" in missing
    [invented] = faults('`POST /courses` with `{"name", "colour"}`')
    assert invented.startswith("no request has these fields")
    assert list(faults('A phase is `{"after_ms", "phase"}`, and `PUT` with `{"name": "…"}`')) == []


def test_every_field_of_an_explored_program_is_named() -> None:
    section = REST.partition("\n## Explorations\n")[2].partition("\n## ")[0]
    fields = DESCRIBED["components"]["schemas"]["ExploredProgram"]["properties"]
    assert {name for name in fields if f"`{name}`" not in section} == set()


def test_the_table_of_insight_has_the_fields_of_the_model() -> None:
    [table] = re.findall(r"^\| field \| what it says \|$(.*?)\n\n", REST, re.MULTILINE | re.DOTALL)
    named = [name for row in re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert set(named) == set(DESCRIBED["components"]["schemas"]["InsightJSON"]["properties"])


def test_the_kinds_of_evidence_are_those_that_are_listed() -> None:
    section = REST.partition("\n## Evidence\n")[2].partition("\n## ")[0]
    kinds = {fields["kind"]["const"] for fields in objects(DESCRIBED) if "const" in fields.get("kind", {})}
    assert set(re.findall(r"^\| `(\w+)` \|", section.partition("|---|")[2], re.MULTILINE)) == kinds
