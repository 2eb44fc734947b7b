"""The examples of nginx and Caddy: headers, limits and streaming fit the service, and the programs accept them."""

import re
from pathlib import Path

import pytest

from app.authoring.package_zip import MAX_ZIP_BYTES
from app.core.settings import Settings
from app.grading.attempts.api import router

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "proxy"
NGINX, CADDY = (FOLDER / "nginx.conf").read_text(), (FOLDER / "Caddyfile").read_text()
MOST_BYTES = max(MAX_ZIP_BYTES, Settings(max_source_bytes=1024 * 1024).max_body_bytes)
HTTP = "http {{ client_body_temp_path {0}; proxy_temp_path {0}; fastcgi_temp_path {0}; uwsgi_temp_path {0}; "
HTTP += "scgi_temp_path {0}; access_log off; include {0}/site.conf; }}"
locations = re.findall(r"location ([^{]+) \{(.*?)\n    \}", NGINX, re.DOTALL)


def proxied() -> list[str]:
    return [body for _, body in locations if "proxy_pass" in body]


def test_nginx_reports_the_client_and_the_scheme():
    assert len(proxied()) == 2
    for body in proxied():
        for line in (
            "proxy_set_header Host $host;",
            "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
            "proxy_set_header X-Forwarded-Proto $scheme;",
            "proxy_set_header X-Request-Id $request_id;",
            "proxy_http_version 1.1;",
        ):
            assert line in body


def test_nginx_sends_events_on_at_once():
    [path] = [getattr(route, "path", "") for route in router.routes if getattr(route, "path", "").endswith("/events")]
    [(pattern, body)] = [(name, body) for name, body in locations if name.startswith("~")]
    assert re.search(pattern.removeprefix("~ "), f"/api/v1{path}".replace("{attempt_id}", "1" * 32))
    assert "proxy_buffering off;" in body
    # Not a longer one, such as a list.
    assert not re.search(pattern.removeprefix("~ "), "/api/v1/attempts/1/events/2")


def test_the_longest_request_passes():
    assert int(re.search(r"client_max_body_size (\d+)m;", NGINX)[1]) << 20 >= MOST_BYTES
    assert int(re.search(r"max_size (\d+)MB", CADDY)[1]) * 1_000_000 >= MOST_BYTES


def test_an_answer_may_wait_for_a_minute():
    for seconds in re.findall(r"proxy_read_timeout (\d+)s", NGINX) + re.findall(r"header_timeout (\d+)s", CADDY):
        assert int(seconds) > 60


@pytest.mark.parametrize("text", [NGINX, CADDY])
def test_both_reach_the_port_of_the_service_and_keep_metrics_inside(text):
    assert f"127.0.0.1:{Settings.model_fields['port'].default}" in text
    assert re.search(r"/metrics \{\s+(return|respond) 404", text)
