"""Dependencies that count requests: per user if someone is signed in, and otherwise per address."""

from fastapi import Request

from app.accounts.errors import TooManyRequests
from app.accounts.web import current_caller
from app.core.rest.rate_limit import RateLimit
from app.core.services import Provided


async def limit_rate(request: Request, limit: Provided[RateLimit]) -> None:
    """A dependency of every REST route that does work. Raises `TooManyRequests`, and the errors of `current_caller`."""
    await _take(request, limit, 1)


async def count_more(request: Request, limit: RateLimit, further: int) -> None:
    """Count each further item of a request as another request. Raises `TooManyRequests`."""
    if further:
        await _take(request, limit, further)


async def _take(request: Request, limit: RateLimit, cost: int) -> None:
    permitted, standing = await limit.take(await _who(request), cost)
    request.state.rate_limit_headers = standing.headers
    if not permitted:
        raise TooManyRequests(
            f"You sent more than {standing.permitted} requests in a minute. Try again in {standing.renewed_in_s} s. To "
            "wait for a verdict, send one request with ?wait=60 or follow the attempt's events.",
            headers={"Retry-After": str(standing.renewed_in_s)},
        )


async def report_rate(request: Request, limit: RateLimit) -> None:
    """For public routes with cached responses: counting such a request would cost more than responding to it."""
    request.state.rate_limit_headers = (await limit.look(await _who(request))).headers


async def _who(request: Request) -> str:
    caller = await current_caller(request)
    # A class behind one address is many people: each one who is signed in has their own count.
    return f"user {caller.user.id}" if caller else f"address {request.client.host if request.client else ''}"
