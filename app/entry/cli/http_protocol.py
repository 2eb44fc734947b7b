"""HTTP with limits on requests that do not arrive: uvicorn waits for each forever, and keeps any number of them."""

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# From the connection, or from the first byte of a later request, to the end of the headers.
HEADERS_S = 10.0
# From there to the end of the body. The longest is a package, of some megabytes.
BODY_S = 120.0
# So many connections of a process may be sending headers. One more ends the one that has been at it for longest.
MOST_UNFINISHED = 500
_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedProtocol(H11Protocol):
    """One connection. uvicorn itself limits the bytes of headers, and the time between two requests."""

    # The keys, in the order in which they began. A dictionary because a set has no order.
    _unfinished: ClassVar[dict["BoundedProtocol", None]] = {}
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        state = self.conn.their_state
        if self.transport.is_closing():
            self._forget()
        elif state is h11.IDLE:
            self._expect_headers()
        elif state is h11.SEND_BODY:
            if self in self._unfinished:
                self._forget()
            if self._deadline is None:
                self._deadline = self.loop.call_later(BODY_S, self._end)
        else:
            self._forget()

    def _expect_headers(self) -> None:
        if self in self._unfinished:
            return
        self._forget()
        if len(self._unfinished) >= MOST_UNFINISHED:
            next(iter(self._unfinished))._end()
        self._unfinished[self] = None
        self._deadline = self.loop.call_later(HEADERS_S, self._end)

    def _forget(self) -> None:
        self._unfinished.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        is_answered = self.cycle is not None and not self.cycle.response_complete
        self._forget()
        if not self.transport.is_closing():
            # A browser opens connections that it may not need: to one without a byte, no answer is due.
            if not is_answered and self.conn.trailing_data[0]:
                self.transport.write(_TOO_LATE)
            self.transport.close()
