"""Compresses pages and their figures. Static files are compressed once, at the start (static_files.py); REST never is.

Compression shows someone who watches the network how long a page became, and so a little about secrets that it contains
beside text that they chose. docs/security.md says why that shows nothing here.
"""

import asyncio
from collections.abc import Mapping, Sequence

from app.core.web.cookies import SESSION_COOKIE
from app.core.web.kept_parts import KeptPart, gzip_parts, plain_of
from app.core.web.sent_headers import SentHeaders
from app.core.web.static_files import accepts

CODING = (b"content-encoding", b"gzip")
_TYPES = {b"text/html", b"image/svg+xml"}
_SMALLEST = 500
# With more bytes than these to compress, it is done in a thread, so that the other requests do not wait.
_LONG = 128 * 1024


def may_compress(sent: SentHeaders) -> bool:
    """Whether the response to a request may be compressed, if it is a page or a figure."""
    if not accepts(sent.first(b"accept-encoding"), "gzip"):
        return False
    # Measuring takes thousands of requests with chosen text, which only another site can make a browser send.
    is_foreign = sent.first(b"sec-fetch-site") in {"cross-site", "same-site"}
    return not (is_foreign and SESSION_COOKIE in sent.cookies)


def is_compressible(status: int, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a response with these headers is a page or a figure without a secret."""
    is_text = headers.get(b"content-type", b"").partition(b";")[0] in _TYPES
    is_plain = b"content-encoding" not in headers and headers.get(b"cache-control") != b"no-store"
    return is_text and is_plain and status != 206


async def compressed(parts: Sequence[bytes | KeptPart]) -> bytes | None:
    """The whole body of a response; None if it is so short that compressing it would save nothing."""
    if sum(len(plain_of(each)) for each in parts) < _SMALLEST:
        return None
    is_long = sum(len(each) for each in parts if not isinstance(each, KeptPart)) >= _LONG
    return await asyncio.to_thread(gzip_parts, parts) if is_long else gzip_parts(parts)
