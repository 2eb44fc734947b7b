"""Every page carries the strict policy, errors included."""

from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.responses import Response

from app.core.web.security import CONTENT_SECURITY_POLICY, SECURITY_HEADERS
from tests.app.around import surround


def _client() -> TestClient:
    app = FastAPI()

    @app.get("/fine")
    def fine() -> dict[str, str]:
        return {}

    @app.get("/broken")
    def broken() -> None:
        raise RuntimeError("a slip of ours")

    @app.get("/own")
    def own() -> Response:
        return Response(headers={"Content-Security-Policy": "sandbox"})

    surround(app)
    return TestClient(app, raise_server_exceptions=False)


def test_pages_not_found_and_unhandled_errors_all_carry_them() -> None:
    client = _client()
    for path, status in (("/fine", 200), ("/nowhere", 404), ("/broken", 500)):
        response = client.get(path)
        assert response.status_code == status
        assert {name: response.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS


def test_a_style_sheet_carries_those_that_have_an_effect_on_it() -> None:
    app = FastAPI()
    app.get("/style")(lambda: Response(media_type="text/css"))
    surround(app)
    headers = TestClient(app).get("/style").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Content-Security-Policy" not in headers


def test_the_policy_allows_nothing_inline() -> None:
    assert CONTENT_SECURITY_POLICY.startswith("default-src 'none'")
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "http" not in CONTENT_SECURITY_POLICY


def test_a_response_can_be_stricter() -> None:
    assert _client().get("/own").headers["Content-Security-Policy"] == "sandbox"
