"""Fills the examples of the description of REST (app/core/rest/examples.json) from what the service reads and answers.

    python -m tests.app.core.rest.examples tests/app/operations/webhooks

runs these tests, and takes an example from them for each model that has none, or whose example no longer holds. It also
removes those of models that no route reads or answers with.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.app.core.rest.openapi_document import described

FILE = Path("app/core/rest/examples.json")
# A reader looks at no more.
_LONGEST = 4_000
_FOLDER = "MESHGRADE_TEST_EXAMPLES"


def recorded(app: ASGIApp) -> ASGIApp:
    """The app, which also stores the bodies that it reads and answers with while examples are filled."""
    folder = os.environ.get(_FOLDER)
    if not folder:
        return app

    async def record(scope: Scope, receive: Receive, send: Send) -> None:
        sent, answered, status = b"", b"", 500

        async def reading() -> Message:
            nonlocal sent
            message = await receive()
            sent += message.get("body", b"")
            return message

        async def answering(message: Message) -> None:
            nonlocal answered, status
            status = message.get("status", status)
            answered += message.get("body", b"")
            await send(message)

        await app(scope, reading, answering)
        route = scope.get("route")
        if 200 <= status < 300:
            for model, body in ((getattr(route, "response_model", None), answered), (_body_of(route), sent)):
                if model is not None and body:
                    _store(Path(folder), model.__name__, body)

    return record


def _body_of(route: object) -> Any:
    return getattr(route, "body_model", None)


def _store(folder: Path, name: str, body: bytes) -> None:
    try:
        value = json.loads(body)
    except ValueError:
        return  # a stream, or a file
    with (folder / f"{name}-{os.getpid()}").open("a", encoding="utf-8") as file:
        file.write(json.dumps(value, ensure_ascii=False) + "\n")


def named(document: dict[str, Any]) -> set[str]:
    """The models that a route reads or answers with: those that a reader of the description sees an example of."""
    operations = [*document["paths"].values(), *document["webhooks"].values()]
    return {name for each in operations for operation in each.values() for name in _models_of(operation)} - {
        "ProblemJSON"
    }


def _models_of(operation: dict[str, Any]) -> Iterator[str]:
    for part in (operation.get("requestBody", {}), *operation["responses"].values()):
        for content in part.get("content", {}).values():
            if "$ref" in content.get("schema", {}):
                yield content["schema"]["$ref"].rpartition("/")[2]


def holds(document: dict[str, Any], name: str, example: object) -> bool:
    """Whether the example is valid for the model."""
    schemas = document["components"]["schemas"]
    return jsonschema_rs.Draft202012Validator({**schemas[name], "components": {"schemas": schemas}}).is_valid(example)


def _fullest(found: list[Any]) -> Any:
    """Return the example that shows most: the one with the fewest fields that are null or empty."""
    short = [each for each in found if len(json.dumps(each)) <= _LONGEST] or found

    def emptiness(value: Any) -> int:
        if isinstance(value, dict):
            return sum(map(emptiness, value.values())) + (not value)
        if isinstance(value, list):
            return sum(map(emptiness, value)) + (not value)
        return value in (None, "")

    return min(short, key=lambda each: (emptiness(each), len(json.dumps(each))))


def written() -> dict[str, Any]:
    """The examples of each model."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def wanting(document: dict[str, Any], examples: dict[str, Any]) -> set[str]:
    """Return the models without a valid example, and those with an example that no route names."""
    models = named(document)
    return {
        name
        for name in models
        if name not in examples or not all(holds(document, name, each) for each in examples[name])
    } | (examples.keys() - models)


def fill(tests: list[str]) -> None:
    document = described()
    examples = {name: each for name, each in written().items() if name in named(document)}
    missing = wanting(document, examples)
    with tempfile.TemporaryDirectory() as folder:
        if missing:
            command = [sys.executable, "-m", "pytest", "-q", *tests]
            subprocess.run(command, env=os.environ | {_FOLDER: folder}, check=True)
        for name in sorted(missing):
            files = Path(folder).glob(f"{name}-*")
            found = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
            if not found:
                print(f"{name}: no test had one. Name tests that do, or write the example.", file=sys.stderr)
                continue
            examples[name] = [_fullest(found)]
            print(f"{name}: filled.")
    FILE.write_text(json.dumps(dict(sorted(examples.items())), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    fill(sys.argv[1:] or ["tests/app"])
