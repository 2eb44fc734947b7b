"""Dependencies that count the requests of one person, or of one address where nobody is signed in."""

from fastapi import Request

from app.accounts.services import AccountServices
from app.accounts.web import current_caller
from app.errors import TooManyRequests
from app.services import services_of


async def limit_rate(request: Request) -> None:
    """A dependency of every route of REST that does work. Raises `TooManyRequests`, and what `current_caller` does."""
    await _take(request, 1)


async def count_more(request: Request, further: int) -> None:
    """What one request asks for beside the first thing counts like requests of its own. Raises `TooManyRequests`."""
    if further:
        await _take(request, further)


async def _take(request: Request, cost: int) -> None:
    limit = services_of(request, AccountServices).rate_limit
    permitted, standing = await limit.take(await _who(request), cost)
    request.state.rate_limit_headers = standing.headers
    if not permitted:
        raise TooManyRequests(
            f"More than {standing.permitted} requests in a minute. Try again in {standing.renewed_in_s} s; to wait for "
            "a verdict, ask once with ?wait=60 or follow its events.",
            headers={"Retry-After": str(standing.renewed_in_s)},
        )


async def tell_rate(request: Request) -> None:
    """For public routes whose answers are kept as bytes: counting a request would cost more than answering it."""
    limit = services_of(request, AccountServices).rate_limit
    request.state.rate_limit_headers = (await limit.look(await _who(request))).headers


async def _who(request: Request) -> str:
    caller = await current_caller(request)
    # A class behind one address is many people: signed in, each of them counts for themselves.
    return f"user {caller.user.id}" if caller else f"address {request.client.host if request.client else ''}"
