"""docs/openapi.json: the description of REST that clients can be generated from without a server.

`python -m tests.write` writes it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.core.settings import Settings
from app.entry.main import create_app

COMMITTED = Path(__file__).parents[4] / "docs" / "openapi.json"
COMMAND = ".venv/bin/python -m tests.write"


def described() -> dict[str, Any]:
    """The response of /openapi.json with default settings, as a client reads it."""
    found: dict[str, Any] = json.loads(json.dumps(create_app(Settings()).openapi()))
    return found


def resolved(document: dict[str, Any], value: Any, seen: tuple[str, ...] = ()) -> Any:
    """Replace each reference in `value` by what it refers to, except inside its own target."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        if not isinstance(reference, str) or reference in seen:
            return {name: resolved(document, each, seen) for name, each in value.items()}
        found = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        return resolved(document, found, (*seen, reference))
    return [resolved(document, each, seen) for each in value] if isinstance(value, list) else value


def text_of(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def removed(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield the place of each route, parameter, field, response and listed value that `old` has and `new` lacks.

    Descriptions, titles and examples may change: nothing is generated from them.
    """
    if isinstance(old, dict):
        for key, value in old.items():
            if key in {"description", "title", "summary", "example", "examples"} and not place.endswith("properties"):
                continue
            if not isinstance(new, dict) or key not in new:
                yield f"{place}/{key}"
            else:
                yield from removed(value, new[key], f"{place}/{key}")
    elif isinstance(old, list):
        kept = {_name(each): each for each in new} if isinstance(new, list) else {}
        for each in old:
            name = _name(each)
            if name not in kept:
                yield f"{place}/{name}"
            else:
                yield from removed(each, kept[name], f"{place}/{name}")
    elif old != new:
        yield f"{place}: {old!r} became {new!r}"


def _name(each: Any) -> str:
    """The identity of a list's entry: a parameter's name, a reference, or the value."""
    if isinstance(each, dict):
        return str(each.get("name") or each.get("$ref") or each.get("type") or json.dumps(each, sort_keys=True))
    return str(each)
