"""What `meshgrade problem preview` adds to the pages of its service: the quick checks, and a reload after each save."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.package.fault import PackageFault

_MAIN = b'<main id="main"'
# Asked for every half second, so that a page follows a save within two.
_MODULE = """const look = async () => (await (await fetch("/preview/state")).json()).saved;
let seen = null;
setInterval(async () => {
  try {
    const saved = await look();
    if (seen !== null && saved !== seen) location.reload();
    seen = saved;
  } catch { /* The preview has ended, or starts again. */ }
}, 500);
"""
# A page that came from a cache, or compressed, could not be changed.
_DROPPED = {b"accept-encoding", b"if-none-match", b"if-modified-since"}


@dataclass
class QuickChecks:
    """What the rules that need no judge say about what was saved last. `saved` counts the saves.

    `is_served` is False if the package cannot be read, so that pages show an earlier version.
    """

    faults: Sequence[PackageFault] = ()
    is_served: bool = True
    saved: int = field(default=0)

    def note(self, faults: Sequence[PackageFault], *, is_served: bool) -> None:
        self.faults, self.is_served = tuple(faults), is_served
        self.saved += 1


class PreviewPages:
    """ASGI wrapper of the preview's service."""

    def __init__(self, app: ASGIApp, checks: QuickChecks) -> None:
        self.app = app
        self._checks = checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["path"] == "/preview/state":
            await _answer(send, json.dumps({"saved": self._checks.saved}), "application/json")
        elif scope["path"] == "/preview/reload.js":
            await _answer(send, _MODULE, "text/javascript; charset=utf-8")
        elif not scope["path"].startswith("/problems/"):
            await self.app(scope, receive, send)
        else:
            headers = [each for each in scope["headers"] if each[0].lower() not in _DROPPED]
            await self.app({**scope, "headers": headers}, receive, _Page(send, self._checks).send)


class _Page:
    """Forwards a response. A page gets the quick checks before its main part."""

    def __init__(self, send: Send, checks: QuickChecks) -> None:
        self._send = send
        self._checks = checks
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = dict(message["headers"]).get(b"content-type", b"")
            if kind.startswith(b"text/html"):
                self._start = message
                return
        elif self._start is not None:
            self._body += message.get("body", b"")
            if message.get("more_body"):
                return
            body = self._body.replace(_MAIN, panel(self._checks).encode() + _MAIN, 1)
            headers = MutableHeaders(raw=list(self._start["headers"]))
            headers["content-length"] = str(len(body))
            headers["cache-control"] = "no-store"
            await self._send({**self._start, "headers": headers.raw})
            message = {"type": "http.response.body", "body": body}
        await self._send(message)


def panel(checks: QuickChecks) -> str:
    """The quick checks as HTML."""
    kind = "bad" if any(each.level == "error" for each in checks.faults) else "warn" if checks.faults else "good"
    lines = [_line(each) for each in sorted(checks.faults, key=lambda each: (each.level, each.file, each.line or 0))]
    earlier = "" if checks.is_served else "<p>The package cannot be read. This page shows an earlier version.</p>"
    shown = f"<ul>{''.join(lines)}</ul>" if lines else "<p>The files break no rule.</p>"
    return (
        f'<aside class="frame" aria-labelledby="quick-checks"><div class="notice {kind}">'
        f'<h2 id="quick-checks">Quick checks</h2>{earlier}{shown}</div>'
        '<script type="module" src="/preview/reload.js"></script></aside>'
    )


def _line(found: PackageFault) -> str:
    place = found.file if found.line is None else f"{found.file}:{found.line}"
    return (
        f"<li><strong>{found.level}</strong> <code>{escape(found.rule)}</code> {escape(place)}: "
        f"{escape(found.message)} {escape(found.fix)}</li>"
    )


async def _answer(send: Send, text: str, kind: str) -> None:
    body = text.encode()
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
