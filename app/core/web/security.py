"""Security headers on every response, including errors, so that an injected script cannot run."""

from collections.abc import Iterator, Mapping

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not no-referrer: with it, browsers send `Origin: null` with our own forms, which the origin check refuses.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
# In the form that ASGI requires, encoded once because every response carries them.
_RAW = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in SECURITY_HEADERS.items()]
# Nothing else has an effect on a style sheet, font or module: the policy of the page that loads them applies. A problem
# page loads two dozen of them.
_PART_TYPES = (b"text/css", b"text/javascript", b"font/woff2")
_OF_PARTS = {
    b"cross-origin-resource-policy",
    b"strict-transport-security",
    b"x-content-type-options",
}
# A browser that was here by https once does not try http again, where somebody could answer in our place.
_HSTS = (b"strict-transport-security", b"max-age=31536000")


class SecurityHeaders:
    """With `https`, browsers use nothing else from the first response on."""

    def __init__(self, *, https: bool) -> None:
        self._whole = [*_RAW, *([_HSTS] if https else [])]
        self._of_parts = [each for each in self._whole if each[0] in _OF_PARTS]

    def missing_in(self, headers: Mapping[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
        """What to add to a response with these headers. One that sets a header itself keeps its own value."""
        is_part = headers.get(b"content-type", b"").startswith(_PART_TYPES)
        return (each for each in (self._of_parts if is_part else self._whole) if each[0] not in headers)
