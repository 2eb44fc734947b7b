"""Lets requests begin a few at a time, and refuses at once those that would wait for too long.

A request often runs from its beginning to its end without a pause, because SQLite answers within the event loop. So if
hundreds arrive at once and all begin, the loop looks at no socket for seconds: it takes no further request, refuses
none, and sends no event. Here, a few milliseconds' worth of them begin in each round of the loop. The others wait in
line, where the time until their turn is known: their number, times the mean duration of the latest ones.

What somebody sends goes before what somebody reads, except in every fourth turn, and is the last to be refused: a page
can be read again, but a text that was not stored can be lost. A request that has begun is never counted again, so a
long poll, an event stream or a slow upload holds up nobody.
"""

import asyncio
import json
import logging
import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.errors import ServerBusy
from app.core.rest.problem_json import MEDIA_TYPE, problem_content
from app.core.web.sent_headers import SentHeaders
from app.core.web.templating import ENVIRONMENT
from app.core.web.theme import theme

log = logging.getLogger(__name__)

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# Probes and metrics are needed most when the service is busy, and a page is unreadable without its files.
_ALWAYS = frozenset({"/healthz", "/readyz", "/metrics"})
# Waiting this long is better than coming back after as many seconds.
LONGEST_READ_S = 2.0
# Browsers and proxies still wait for the answer.
LONGEST_SENT_S = 10.0
# In each round of the loop, as many begin as take this long together, and at least one.
_ROUND_S = 0.01
_MOST_IN_A_ROUND = 20
# So many senders begin before a reader who waits. Otherwise readers would wait for as long as others send.
_SENDERS_BEFORE_A_READER = 3
# What a request takes, until some have been measured.
_FIRST_GUESS_S = 0.01
# The weight of the latest request in their mean, so that a single slow one does not make the line look long.
_WEIGHT = 0.03
# The least and the most in `Retry-After`.
_SOONEST_S = 2.0
_LATEST_S = 30.0
# While all connections to the database are in use, the first in line waits, but not longer than for a connection.
_FULL_S = 1.0
_FREE_AGAIN_S = 0.005
_LOG_EVERY_S = 60.0
# Stands for the number of seconds in a prepared response.
_SECONDS = "{seconds}"


@dataclass(frozen=True, slots=True)
class _Waiting:
    turn: asyncio.Future[None]
    since: float


class RequestLine:
    """The requests that this process has received and not begun. Belongs to one event loop.

    Args:
      is_full: whether another request would only wait for a connection to the database.
    """

    def __init__(self, is_full: Callable[[], bool] = lambda: False) -> None:
        self._is_full = is_full
        self._sent: deque[_Waiting] = deque()
        self._read: deque[_Waiting] = deque()
        self._moves = False
        self._senders = 0
        self._each_s = _FIRST_GUESS_S
        # How many began in this round of the loop, and when.
        self._begun = 0
        self._began_at = 0.0
        self._back_at = 0.0
        self._logged_at = -math.inf

    @property
    def waiting(self) -> int:
        return len(self._sent) + len(self._read)

    async def wait(self, method: str) -> int:
        """Wait for the turn of a request. Returns 0, or at once in how many seconds to send a refused one again."""
        loop = asyncio.get_running_loop()
        if not self._moves:
            self._moves, self._begun, self._began_at = True, 1, loop.time()
            loop.call_soon(self._move, loop)
            return 0
        is_read = method in _READING
        ahead = self.waiting if is_read else len(self._sent)
        if ahead * self._each_s > (LONGEST_READ_S if is_read else LONGEST_SENT_S):
            return self._refuse(loop.time())
        turn = loop.create_future()
        (self._read if is_read else self._sent).append(_Waiting(turn, loop.time()))
        await turn
        return 0

    def _move(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the first in line begin, and come back in the loop's next round."""
        if not (line := self._next_line()):
            self._moves = False
            return
        moment = loop.time()
        if self._is_full() and moment - line[0].since < _FULL_S:
            loop.call_later(_FREE_AGAIN_S, self._move, loop)
            return
        if self._begun:
            self._each_s += _WEIGHT * ((moment - self._began_at) / self._begun - self._each_s)
        most = min(max(1, int(_ROUND_S / max(self._each_s, 1e-6))), _MOST_IN_A_ROUND)
        self._begun, self._began_at = 0, moment
        while self._begun < most and (line := self._next_line()):
            turn = line.popleft().turn
            self._senders = self._senders + 1 if line is self._sent else 0
            if not turn.done():  # its client is still there
                turn.set_result(None)
                self._begun += 1
        loop.call_soon(self._move, loop)

    def _next_line(self) -> deque[_Waiting]:
        """The line whose first request begins next. It is empty if nobody waits."""
        if self._read and (not self._sent or self._senders >= _SENDERS_BEFORE_A_READER):
            return self._read
        return self._sent

    def _refuse(self, moment: float) -> int:
        """Each one that is refused gets a moment of its own, with room between two for requests that are new."""
        if moment - self._logged_at > _LOG_EVERY_S:
            self._logged_at = moment
            log.warning(
                "requests are refused because %d wait for this process, %.0f ms each", self.waiting, self._each_s * 1000
            )
        self._back_at = max(self._back_at + 2 * self._each_s, moment + _SOONEST_S)
        if self._back_at > moment + _LATEST_S:
            self._back_at = moment + _LATEST_S
            return random.randint(round(_LATEST_S / 2), round(_LATEST_S))
        return round(self._back_at - moment)


def goes_in_line(path: str) -> bool:
    """Whether requests for this path wait for their turn, and can be refused."""
    return path not in _ALWAYS and not path.startswith("/static/")


def too_busy(scope: Scope, sent: SentHeaders, seconds: int) -> ASGIApp:
    """The response to a request that was refused: prepared bytes, with the number of seconds filled in."""
    is_page = not scope["path"].startswith("/api/") and "text/html" in sent.first(b"accept")
    is_read = scope["method"] in _READING
    body = (_page(theme(), is_read) if is_page else _problem(is_read)).replace(_SECONDS.encode(), b"%d" % seconds)
    headers = [
        (b"content-type", b"text/html; charset=utf-8" if is_page else MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"retry-after", b"%d" % seconds),
        (b"cache-control", b"no-store"),
    ]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": ServerBusy.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return answer


@cache
def _problem(is_read: bool) -> bytes:
    again = f"Send it again in {_SECONDS} seconds; nothing that you sent before is lost."
    detail = f"Meshgrade is very busy. {again if is_read else f'This request stored nothing. {again}'}"
    return json.dumps(problem_content(ServerBusy(detail)), ensure_ascii=False).encode()


@cache
def _page(chosen: str, is_read: bool) -> bytes:
    template = ENVIRONMENT.get_template("core/busy.html")
    return template.render(seconds=_SECONDS, is_read=is_read, title=ServerBusy.title).encode()
