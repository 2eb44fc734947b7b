"""A small object store that speaks as much of the S3 protocol as backups need, and accepts one key."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

KEY, BUCKET = "AKIDOFTHETEST", "backups"
_NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


class ObjectStoreServer(ThreadingHTTPServer):
    """`objects` maps keys to contents. With `is_down`, every request is refused."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.is_down = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ObjectStoreServer

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, status: int, code: str, message: str) -> None:
        text = f"<Error><Code>{code}</Code><Message>{message}</Message><Resource>/</Resource></Error>"
        self._answer(status, text.encode(), Content_Type="application/xml")

    def _begin(self) -> tuple[str, dict[str, list[str]], bytes] | None:
        """The key, the query and the body of a request, unless it is refused."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.server.is_down:
            return self._refuse(503, "SlowDown", "Reduce your request rate.")
        if f"Credential={KEY}/" not in self.headers.get("Authorization", ""):
            return self._refuse(403, "InvalidAccessKeyId", "The key does not exist.")
        told = self.headers.get("x-amz-content-sha256", "")
        if len(told) == 64 and told != hashlib.sha256(body).hexdigest():
            return self._refuse(400, "XAmzContentSHA256Mismatch", "The body has another hash.")
        parts = urlsplit(self.path)
        bucket, _, key = unquote(parts.path).removeprefix("/").partition("/")
        if bucket != BUCKET:
            return self._refuse(404, "NoSuchBucket", "The bucket does not exist.")
        return key, parse_qs(parts.query, keep_blank_values=True), body

    def do_GET(self) -> None:
        begun = self._begin()
        if begun is None:
            return
        key, query, _ = begun
        objects = self.server.objects
        if "location" in query:
            self._answer(200, f"<LocationConstraint {_NAMESPACE}>us-east-1</LocationConstraint>".encode())
        elif not key:
            prefix = query.get("prefix", [""])[0]
            found = [each for each in sorted(objects) if each.startswith(prefix)]
            listed = "".join(f"<Contents><Key>{escape(each)}</Key><Size>1</Size></Contents>" for each in found)
            listed = f"<Name>{BUCKET}</Name><IsTruncated>false</IsTruncated>{listed}"
            text = f"<ListBucketResult {_NAMESPACE}>{listed}</ListBucketResult>"
            self._answer(200, text.encode(), Content_Type="application/xml")
        elif key in objects:
            self._answer(200, objects[key], ETag='"e"', Last_Modified="Mon, 05 Jan 2026 09:30:00 GMT")
        else:
            self._refuse(404, "NoSuchKey", "The object does not exist.")

    do_HEAD = do_GET

    def do_PUT(self) -> None:
        begun = self._begin()
        if begun is not None:
            self.server.objects[begun[0]] = begun[2]
            self._answer(200, ETag='"e"')

    def do_DELETE(self) -> None:
        begun = self._begin()
        if begun is not None:
            self.server.objects.pop(begun[0], None)
            self._answer(204)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def object_store() -> Iterator[ObjectStoreServer]:
    server = ObjectStoreServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
