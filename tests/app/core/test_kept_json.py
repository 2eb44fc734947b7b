"""JSON that is stored again as it was read."""

import json

from app.core.kept_json import KeptJSON, to_json


def test_what_was_read_is_written_as_it_was() -> None:
    text = '{"b": [1, 2.50], "a": "\\u00e9 é"}'
    kept = KeptJSON(text)
    assert kept == json.loads(text)
    assert to_json(kept) == text


def test_anything_else_is_written_as_by_json() -> None:
    value = {"a": [1, None, "é"], "b": {}}
    assert to_json(value) == json.dumps(value)
