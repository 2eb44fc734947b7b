"""Static files may be cached forever, since their address changes with their content."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.core.web.static_files import mount_static, static_url


def _client() -> TestClient:
    app = FastAPI()
    mount_static(app)
    return TestClient(app)


def test_a_file_is_immutable() -> None:
    client = _client()
    response = client.get(static_url("core/workbench.js"))
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/javascript")
    assert "immutable" in response.headers["cache-control"]
    assert "etag" not in response.headers


def test_another_version_is_not_served() -> None:
    assert _client().get("/static/0000000000000000/core/workbench.js").status_code == 404


@pytest.mark.parametrize("outside", ["%2e%2e/settings.py", "%2e%2e/%2e%2e/grading/static/comments.css"])
def test_nothing_outside_of_the_folder_is_served(outside: str) -> None:
    assert _client().get(static_url(f"core/{outside}")).status_code == 404
