"""The description at /openapi.json: FastAPI's, with corrections where it does not match our service."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel

from app.rest import rate_limit
from app.rest.deprecation import describe_deprecations
from app.rest.problem_json import problem_responses

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
    {"name": "people", "description": "For instructors and owners: accounts, and what was done to them."},
    {"name": "courses", "description": "Courses, what is due in them, and their gradebooks."},
    {"name": "learning platforms", "description": "For owners: platforms that open problems by LTI 1.3."},
    {"name": "insight", "description": "For instructors: how students do at problems, and where they stop."},
    {"name": "lessons", "description": "Short lessons, whose numbers were measured. Public."},
    {"name": "explorer", "description": "What a source compiles to, without a verdict."},
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
            _put_examples_back(described, app)
            app.openapi_schema = _correct(described)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _correct(schema: dict[str, Any]) -> dict[str, Any]:
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            responses = operation["responses"]
            if path.startswith("/api/"):
                _describe_rate_limit(responses)
                # Every route reads the database, at least for the caller.
                responses.setdefault("503", problem_responses(503)[503])
            if "503" in responses:
                responses["503"].setdefault("headers", {})["Retry-After"] = _RETRY_AFTER
            # FastAPI adds its own 422 to every route with a parameter, in a format that we never use.
            if "HTTPValidationError" in str(responses.get("422")):
                del responses["422"]
            if "401" in responses:
                operation["security"] = [{"token": []}, {"session": []}]
            _open(responses)
    for operations in schema["webhooks"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)
    _open(schema["components"]["schemas"])
    describe_deprecations(schema["paths"])
    schema["components"]["securitySchemes"] = _SCHEMES
    return schema


def _put_examples_back(schema: dict[str, Any], app: FastAPI) -> None:
    """FastAPI leaves out every null, even in examples, where it is a value that a client must expect."""
    models = {model.__name__: model for model in _models(BaseModel)}
    for name, described in schema["components"]["schemas"].items():
        extra = models[name].model_config.get("json_schema_extra") if name in models else None
        if "examples" in described and isinstance(extra, dict):
            described["examples"] = extra["examples"]
    for context in iter_route_contexts(app.routes):
        operations = schema["paths"].get(context.path, {})
        for method in context.methods or ():
            declared = getattr(context, "responses", {}) if method.lower() in operations else {}
            for status, response in declared.items():
                for media, content in response.get("content", {}).items():
                    if "example" in content:
                        answer = operations[method.lower()]["responses"][str(status)]
                        answer["content"][media]["example"] = content["example"]


def _models(parent: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in parent.__subclasses__():
        yield model
        yield from _models(model)


def _open(described: Any) -> None:
    """Allow unknown fields in responses: a client that refused them would break with the next release.

    Request bodies are described at their operation, not in the components, and stay closed.
    """
    if isinstance(described, dict):
        if described.get("additionalProperties") is False:
            del described["additionalProperties"]
        for value in described.values():
            _open(value)
    elif isinstance(described, list):
        for value in described:
            _open(value)


def _describe_rate_limit(responses: dict[str, Any]) -> None:
    responses.setdefault("429", problem_responses(429)[429])
    responses["429"].setdefault("headers", {})["Retry-After"] = _RETRY_AFTER
    for status, response in responses.items():
        if status == "401":  # there is no user to count for
            continue
        for name, example in rate_limit.HEADERS.items():
            response.setdefault("headers", {})[name] = {"schema": {"type": "string"}, "example": example}
