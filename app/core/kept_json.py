"""JSON from a column that is stored again as it is, without being formatted again."""

import json
from typing import Any


class KeptJSON(dict[str, Any]):
    """An object with its JSON, which is what is stored or sent. So the object must not be changed."""

    def __init__(self, text: str) -> None:
        super().__init__(json.loads(text))
        self.text = text


def to_json(value: object) -> str:
    """JSON for a column."""
    return value.text if isinstance(value, KeptJSON) else json.dumps(value)
