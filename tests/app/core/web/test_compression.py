"""Pages are compressed if the client accepts it. Responses with a secret and event streams never are."""

import gzip

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.core.web.compression import compressed
from app.core.web.cookies import SESSION_COOKIE
from app.core.web.static_files import accepts, module_urls, mount_static, static_file, static_url
from tests.app.accounts.people import browser, form_token, sign_in
from tests.app.around import surround

TEXT = "Where arrays live, and how devices communicate. " * 100


def _client() -> TestClient:
    app = FastAPI()
    app.get("/page")(lambda: HTMLResponse(TEXT))
    app.get("/short")(lambda: HTMLResponse("short"))
    app.get("/secret")(lambda: HTMLResponse(TEXT, headers={"Cache-Control": "no-store"}))
    app.get("/rest")(lambda: {"text": TEXT})
    app.get("/figure")(lambda: Response(TEXT, media_type="image/svg+xml"))
    app.get("/events")(lambda: StreamingResponse(iter([TEXT]), media_type="text/event-stream"))
    mount_static(app)
    surround(app)
    return TestClient(app)


@pytest.mark.parametrize("path", ["/page", "/figure"])
def test_a_page_and_a_figure_are_compressed(path: str) -> None:
    answer = _client().get(path)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) < len(TEXT) / 10
    assert answer.text == TEXT


@pytest.mark.parametrize("path", ["/secret", "/rest", "/events", "/short"])
def test_everything_else_is_sent_as_it_is(path: str) -> None:
    assert "content-encoding" not in _client().get(path).headers


@pytest.mark.parametrize("header", ["identity", "br", "gzip;q=0", "gzip; q=0.0, br"])
def test_a_client_that_does_not_accept_gzip_gets_the_text(header: str) -> None:
    answer = _client().get("/page", headers={"Accept-Encoding": header})
    assert "content-encoding" not in answer.headers
    assert answer.text == TEXT


@pytest.mark.parametrize(
    ("site", "signed_in", "compressed"),
    [("cross-site", True, False), ("same-site", True, False), ("same-origin", True, True), ("cross-site", False, True)],
)
def test_what_another_site_asks_for_with_a_session_is_not_compressed(
    site: str, signed_in: bool, compressed: bool
) -> None:
    cookies = {"Cookie": f"{SESSION_COOKIE}=x"} if signed_in else {}
    answer = _client().get("/page", headers={"Sec-Fetch-Site": site, **cookies})
    assert ("content-encoding" in answer.headers) is compressed


async def _in_parts(scope: Scope, receive: Receive, send: Send) -> None:
    response = StreamingResponse(iter([TEXT, TEXT]), media_type="text/html")
    await response(scope, receive, send)


def test_a_page_that_is_sent_in_parts_is_whole() -> None:
    app = FastAPI()
    app.mount("/", _in_parts)
    surround(app)
    answer = TestClient(app).get("/page")
    assert answer.text == TEXT * 2
    assert "content-encoding" not in answer.headers


@pytest.mark.anyio
async def test_a_body_is_compressed_unless_it_is_short() -> None:
    for length in (499, 500, 128 * 1024, 300_000):
        body = b"x" * length
        short = await compressed([body])
        assert short is None if length < 500 else gzip.decompress(short) == body, length


def test_head_of_a_page_has_the_length_that_get_has() -> None:
    client = _client()
    got, head = client.get("/page"), client.head("/page")
    assert head.headers["content-length"] == got.headers["content-length"]
    assert head.headers["content-encoding"] == "gzip"
    assert head.content == b""


def test_accepts_reads_codings_and_weights() -> None:
    assert accepts("gzip, deflate, br, zstd", "br")
    assert accepts("GZIP;q=0.5", "gzip")
    assert not accepts("gzip;q=0.000", "gzip")
    assert not accepts("", "gzip")


@pytest.mark.parametrize(("accepted", "coding"), [("gzip, deflate, br", "br"), ("gzip", "gzip"), ("identity", None)])
def test_the_editor_is_sent_in_the_smallest_coding(accepted: str, coding: str | None) -> None:
    client, headers = _client(), {"Accept-Encoding": accepted}
    largest = max(static_file("core/editor").glob("*.js"), key=lambda file: file.stat().st_size)
    address = static_url(f"core/editor/{largest.name}")
    with client.stream("GET", address, headers=headers) as answer:
        sent = len(b"".join(answer.iter_raw()))
    assert answer.headers.get("content-encoding") == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) == sent
    assert "immutable" in answer.headers["cache-control"]


def test_every_coding_of_a_static_file_is_that_file() -> None:
    client = _client()
    for coding in ("gzip", "identity"):
        answer = client.get(static_url("core/mark.svg"), headers={"Accept-Encoding": coding})
        assert answer.content == static_file("core/mark.svg").read_bytes()


def test_scripts_and_style_sheets_are_sent_without_comments() -> None:
    client = _client()
    for name in ("core/base.css", "core/draft.js"):
        plain, zipped = (
            client.get(static_url(name), headers={"Accept-Encoding": coding}).text for coding in ("identity", "gzip")
        )
        assert plain == zipped
        lines = static_file(name).read_text(encoding="utf-8").splitlines()
        assert set(plain.splitlines()) < set(lines)
        assert not [each for each in plain.splitlines() if each.lstrip().startswith(("/*", "//"))]
        assert len(plain) > len("\n".join(lines)) / 2


def test_a_range_is_of_the_file_itself() -> None:
    headers = {"Accept-Encoding": "gzip", "Range": "bytes=0-9"}
    answer = _client().get(static_url("core/mark.svg"), headers=headers)
    assert (answer.status_code, answer.content) == (206, static_file("core/mark.svg").read_bytes()[:10])


def test_a_page_names_every_module_that_its_script_will_import() -> None:
    names = [url.rpartition("/")[2] for url in module_urls("core/workbench.js")]
    assert names[0] == "workbench.js"
    assert "editor_menu.js" in names, "it is imported by code_box.js"
    assert not {"editor.js", "diff.js"} & set(names), "they are imported later"
    assert len(module_urls("core/editor.js")) > 1


@pytest.mark.anyio
async def test_a_form_has_another_token_in_each_response_and_both_are_valid(service) -> None:
    async with browser(service) as http:
        await sign_in(service, http)
        tokens = [form_token((await http.get("/account")).text) for _ in range(2)]
        assert len(set(tokens)) == 2
        for token in tokens:
            fields = {"form_token": token, "theme": "dark"}
            answer = await http.post("/theme", data=fields, headers={"Origin": "http://meshgrade.test"})
            assert answer.status_code == 303


@pytest.mark.anyio
async def test_a_page_of_the_service_is_compressed_and_one_with_a_secret_is_not(service) -> None:
    async with browser(service) as http:
        await sign_in(service, http)
        assert (await http.get("/problems")).headers["content-encoding"] == "gzip"
        assert "content-encoding" not in (await http.get("/account/tokens")).headers
