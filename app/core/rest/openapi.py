"""The description at /openapi.json: FastAPI's, with corrections where it does not match our service."""

import json
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.core.rest import rate_limit
from app.core.rest.problem_json import MEDIA_TYPE, ProblemJSON, problem_responses
from app.core.rest.routing import RestRoute

# Written by `python -m tests.app.core.rest.examples`.
_EXAMPLES = Path(__file__).with_name("examples.json")
# In the order in which readers need them.
TAGS = [
    {"name": "problems", "description": "The problems to solve. Public."},
    {"name": "attempts", "description": "Submit, run, follow and cancel attempts; your scores and rankings."},
    {"name": "accounts", "description": "Your account, API tokens, invitations, export and deletion."},
    {"name": "webhooks", "description": "Send your verdicts to an address."},
    {
        "name": "authoring",
        "description": "For instructors: versions of a problem, validations, publications, rejudges.",
    },
    {"name": "repositories", "description": "For instructors: sync packages from git repositories and folders."},
    {"name": "people", "description": "For instructors and owners: accounts, and the audit log of changes to them."},
    {"name": "courses", "description": "Courses, their assignments, and their gradebooks."},
    {"name": "learning platforms", "description": "For owners: platforms that open problems over LTI 1.3."},
    {"name": "insight", "description": "For instructors: how students are doing at problems, and where they stop."},
    {"name": "lessons", "description": "Short lessons, whose numbers were measured. Public."},
    {"name": "explorer", "description": "What a source compiles to, without a verdict."},
    {"name": "completions", "description": "Tracks that you completed: what was verified, and a link to it."},
    {"name": "interviews", "description": "Three problems under time, without hints, and what came of them."},
    {"name": "calculators", "description": "What a training step stores, sends and computes. Public."},
    {"name": "health", "description": "For load balancers and operators."},
]
_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token"},
    "session": {"type": "apiKey", "in": "cookie", "name": "meshgrade_session", "description": "A signed-in browser"},
}
_RETRY_AFTER = {"schema": {"type": "string"}, "description": "Seconds"}


def operation_id(route: APIRoute) -> str:
    """The name of the function. Generated clients use it, so it is part of the interface: see docs/rest.md."""
    return route.name


def describe(app: FastAPI) -> None:
    """Make `app` serve the corrected description, which is built at the first request."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                webhooks=app.webhooks.routes,
                tags=TAGS,
            )
            app.openapi_schema = _correct(described, _bodies(app))
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _correct(schema: dict[str, Any], bodies: set[type[BaseModel]]) -> dict[str, Any]:
    # By path, so that the order in which routers are included changes nothing.
    schema["paths"] = dict(sorted(schema["paths"].items()))
    components = schema["components"]
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    components["headers"] = {"Retry-After": _RETRY_AFTER, **rate_limit.DESCRIBED_HEADERS}
    components["responses"] = {}
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            responses = operation["responses"]
            # In the path's order, which is also that of arguments in generated clients.
            in_path = [each for each in operation.get("parameters", []) if each["in"] == "path"]
            in_path.sort(key=lambda each: path.index(f"{{{each['name']}}}"))
            if in_path:
                others = [each for each in operation["parameters"] if each["in"] != "path"]
                operation["parameters"] = in_path + others
            # FastAPI adds its own 422 to every route with a parameter, in a format that we never use.
            if "HTTPValidationError" in str(responses.get("422")):
                del responses["422"]
            if path.startswith("/api/"):
                # Every route counts requests, and reads the database, at least for the caller.
                responses |= {str(key): each for key, each in problem_responses(429, 503).items()}
            if "401" in responses:
                operation["security"] = [{"token": []}, {"session": []}]
            _open(responses)
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            _share_errors(operation["responses"], components["responses"], is_counted=path.startswith("/api/"))
    for operations in schema["webhooks"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
    _open(components["schemas"])
    components["schemas"][ProblemJSON.__name__] = ProblemJSON.model_json_schema()
    _add_bodies(schema, bodies)
    _add_examples(components["schemas"])
    components["securitySchemes"] = _SCHEMES
    return schema


def _share_errors(responses: dict[str, Any], shared: dict[str, Any], *, is_counted: bool) -> None:
    """Describe each error once for all routes that share it, and let routes refer to it."""
    for status, response in responses.items():
        is_alike = is_counted and "headers" not in response and MEDIA_TYPE in response.get("content", {})
        names = ["Retry-After"] if status in {"429", "503"} else []
        # Without a user, there is nobody to count for, and without a database, nothing to count with.
        if is_counted and status not in {"401", "503"}:
            names += rate_limit.DESCRIBED_HEADERS
        if names:
            headers = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
            response["headers"] = response.get("headers", {}) | headers
        if is_alike:
            name = response["description"].replace(" ", "")
            shared.setdefault(name, response)
            responses[status] = {"$ref": f"#/components/responses/{name}"}


def _add_bodies(schema: dict[str, Any], bodies: set[type[BaseModel]]) -> None:
    """Describe what routes read. A model that a response has as well is closed here, and open there."""
    models: list[tuple[type[BaseModel], Literal["validation"]]] = [
        (each, "validation") for each in sorted(bodies, key=lambda each: each.__name__)
    ]
    _, described = models_json_schema(models, ref_template="#/components/schemas/{model}")
    schemas, definitions = schema["components"]["schemas"], described.get("$defs", {})
    renamed = {name: f"{name}Body" for name, each in definitions.items() if schemas.get(name, each) != each}
    for name, definition in definitions.items():
        # Generated clients call a model by its title.
        title = {"title": renamed[name]} if name in renamed else {}
        schemas[renamed.get(name, name)] = _renamed(definition, renamed) | title


def _renamed(described: Any, names: dict[str, str]) -> Any:
    if isinstance(described, dict):
        reference = described.get("$ref", "")
        if isinstance(reference, str) and (name := names.get(reference.rpartition("/")[2])):
            return {**described, "$ref": f"#/components/schemas/{name}"}
        return {key: _renamed(value, names) for key, value in described.items()}
    return [_renamed(each, names) for each in described] if isinstance(described, list) else described


def _bodies(app: FastAPI) -> set[type[BaseModel]]:
    routes = [each.original_route for each in iter_route_contexts(app.routes)]
    return {each.body_model for each in routes if isinstance(each, RestRoute) and each.body_model is not None}


def _add_examples(schemas: dict[str, Any]) -> None:
    """A real answer or body for each model that a route answers with or reads."""
    for name, examples in json.loads(_EXAMPLES.read_text(encoding="utf-8")).items():
        if name in schemas:
            schemas[name]["examples"] = examples


def _open(described: Any) -> None:
    """Allow unknown fields in responses: a client that refused them would break with the next release.

    Request bodies stay closed.
    """
    if isinstance(described, dict):
        if described.get("additionalProperties") is False:
            del described["additionalProperties"]
        for value in described.values():
            _open(value)
    elif isinstance(described, list):
        for value in described:
            _open(value)
