"""Counts requests: per user if someone is signed in, and otherwise per address.

Each process counts separately. With N processes, a user can send up to N times as many, so this is not an exact quota.
"""

from fastapi import Request

from app.accounts.errors import TooManyRequests
from app.accounts.web import current_caller
from app.core.limits import MINUTE, CountsInMemory, Limit
from app.core.rest.rate_limit import rate_limit_headers
from app.core.services import Provided


class RequestCounts(CountsInMemory):
    """The REST requests of each user or address in this process. Belongs to one event loop."""

    def __init__(self, per_minute: int) -> None:
        super().__init__(
            Limit(
                *("requests", MINUTE, per_minute, TooManyRequests),
                "You sent more than {most} requests in a minute. Try again in {wait}. To wait for a verdict, send one "
                "request with ?wait=60 or follow the attempt's events.",
            )
        )


async def limit_rate(request: Request, counts: Provided[RequestCounts]) -> None:
    """A dependency of every REST route that does work. Raises `TooManyRequests`, and the errors of `current_caller`."""
    await _count(request, counts, 1)


async def count_more(request: Request, counts: RequestCounts, further: int) -> None:
    """Count each further item of a request as another request. Raises `TooManyRequests`."""
    # With more items than a minute has requests, it takes them all: otherwise it would be refused each time.
    if further := min(further, counts.limit.most - 1):
        await _count(request, counts, further)


async def _count(request: Request, counts: RequestCounts, requests: int) -> None:
    who = await _who(request)
    try:
        counts.count(who, requests)
    finally:
        _report(request, counts, who)


async def report_rate(request: Request, counts: RequestCounts) -> None:
    """For public routes with cached responses: counting such a request would cost more than responding to it."""
    _report(request, counts, await _who(request))


def _report(request: Request, counts: RequestCounts, who: str) -> None:
    request.state.rate_limit_headers = rate_limit_headers(counts.limit, counts.standing(who))


async def _who(request: Request) -> str:
    caller = await current_caller(request)
    # A class behind one address is many people: each one who is signed in has their own count.
    return f"user {caller.user.id}" if caller else f"address {request.client.host if request.client else ''}"
