"""Addresses that do not respond in time: each is tried apart from the others, and seldom until it responds.

A try takes up to ten seconds, so addresses that never respond would hold up the deliveries of everybody. After two slow
tries in a row, an address leaves the line of the others. From then on, one try at a time stands for all deliveries to
it that are due, and after each one without a response it is paused, longer each time. It returns to the others when it
responds quickly.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, case, null, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.clock import now
from app.core.database import FromNow
from app.core.lease import is_free
from app.operations.webhooks.models import DeliveryRow, WebhookRow

# A receiver should only store what it gets, and respond.
SLOW_S = 3.0
NO_RESPONSE = "no response in time"
_SLOW_TRIES = 2
_FIRST_PAUSE_S = 30.0
_LONGEST_PAUSE_S = 600.0


def to_other_addresses() -> list[ColumnElement[bool]]:
    """Conditions for deliveries to addresses that respond, as far as is known."""
    slow = select(WebhookRow.id).where(WebhookRow.slow_tries >= _SLOW_TRIES)
    return [DeliveryRow.webhook_id.not_in(slow)]


def to_slow_addresses() -> list[ColumnElement[bool]]:
    """Conditions for deliveries to addresses that did not respond in time and are not paused."""
    is_over = or_(WebhookRow.paused_until.is_(None), WebhookRow.paused_until <= FromNow())
    return [DeliveryRow.webhook_id.in_(select(WebhookRow.id).where(WebhookRow.slow_tries >= _SLOW_TRIES, is_over))]


async def note_quick(session: AsyncSession, webhook: WebhookRow) -> None:
    """The address has responded quickly, or refused at once, so it costs nobody time."""
    values: dict[str, Any] = {"slow_tries": 0, "paused_until": None}
    await session.execute(update(WebhookRow).where(WebhookRow.id == webhook.id).values(values))


async def note_slow(
    session: AsyncSession, webhook: WebhookRow, delivery: DeliveryRow, pauses_s: Sequence[float], *, responded: bool
) -> None:
    """A try of this delivery took long, or got no response.

    Args:
      pauses_s: of the outbox.
    """
    row = WebhookRow
    more = update(row).where(row.id == webhook.id).values(slow_tries=row.slow_tries + 1).returning(row.slow_tries)
    slow_tries = await session.scalar(more)
    if responded or slow_tries is None or slow_tries < _SLOW_TRIES:
        return
    pause_s = min(_FIRST_PAUSE_S * 2 ** (slow_tries - _SLOW_TRIES), _LONGEST_PAUSE_S)
    await session.execute(update(row).where(row.id == webhook.id).values(paused_until=FromNow(pause_s)))
    # This try stands for all of them, so that each is given up as early as if it had been tried itself.
    others = update(DeliveryRow).where(
        DeliveryRow.webhook_id == webhook.id,
        DeliveryRow.id != delivery.id,
        DeliveryRow.next_try_at <= now(),
        is_free(DeliveryRow),
    )
    next_try_at = case(
        *((DeliveryRow.tries == tries, FromNow(pause_s)) for tries, pause_s in enumerate(pauses_s)), else_=null()
    )
    values: dict[str, Any] = {"tries": DeliveryRow.tries + 1, "next_try_at": next_try_at, "answer": NO_RESPONSE}
    await session.execute(others.values(values).execution_options(synchronize_session=False))
