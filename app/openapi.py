"""The description at /openapi.json: FastAPI's, corrected where it would describe another service than ours."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app import rate_limit
from app.problem_json import problem_responses

_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token"},
    "session": {"type": "apiKey", "in": "cookie", "name": "meshgrade_session", "description": "A signed-in browser"},
}


def describe(app: FastAPI) -> None:
    """Make `app` serve the corrected description; it is built when it is first asked for."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _correct(
                get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            )
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _correct(schema: dict[str, Any]) -> dict[str, Any]:
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            responses = operation["responses"]
            if path.startswith("/api/"):
                _describe_rate_limit(responses)
            # FastAPI adds its own 422 to every route with a parameter, in a shape that we never answer in.
            if "HTTPValidationError" in str(responses.get("422")):
                del responses["422"]
            if "401" in responses:
                operation["security"] = [{"token": []}, {"session": []}]
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)
    schema["components"]["securitySchemes"] = _SCHEMES
    return schema


def _describe_rate_limit(responses: dict[str, Any]) -> None:
    responses.setdefault("429", problem_responses(429)[429])
    responses["429"].setdefault("headers", {})["Retry-After"] = {
        "schema": {"type": "string"},
        "description": "Seconds",
    }
    for status, response in responses.items():
        if status == "401":  # nobody is known to count for
            continue
        for name, example in rate_limit.HEADERS.items():
            response.setdefault("headers", {})[name] = {"schema": {"type": "string"}, "example": example}
