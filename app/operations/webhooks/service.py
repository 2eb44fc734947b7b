"""Registers webhooks, and reads the state of their deliveries."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy import ColumnElement, and_, delete, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts.caller import User
from app.core.clock import now
from app.core.database import Database
from app.core.errors import DeliveryNotFound, TooManyWebhooks, WebhookNotFound
from app.core.ids import is_id, new_id
from app.core.outbound_requests import check_url
from app.core.outbox import Failing, due_now, failing
from app.core.rest.paging import Cursor, Page, paged
from app.core.view import View
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import withheld_of
from app.operations.webhooks.models import DeliveryRow, WebhookRow
from app.operations.webhooks.signing import shown_secret, webhook_key

_MOST = 10


class Webhook(View):
    id: str
    url: str
    created_at: datetime


class Delivery(View):
    """`answer` is the outcome of the last try. `next_try_at` is null once it has arrived or was given up."""

    id: str
    attempt_id: Annotated[str, Field(serialization_alias="attempt")]
    created_at: datetime
    tries: int
    next_try_at: datetime | None
    delivered_at: datetime | None
    answer: str | None


async def queue_deliveries(session: AsyncSession, attempt_id: str) -> None:
    """Queue an attempt's verdict for the webhooks of its user, in the transaction that stores the verdict.

    The verdict of a rejudge is sent once it is applied, as the attempt's.
    """
    webhook_ids = await session.scalars(
        select(WebhookRow.id)
        .join(AttemptRow, AttemptRow.user_id == WebhookRow.user_id)
        .where(AttemptRow.id == attempt_id, AttemptRow.kind != "rejudge")
    )
    moment = now()
    session.add_all(
        DeliveryRow(id=new_id(), webhook_id=webhook_id, attempt_id=attempt_id, created_at=moment, **due_now())
        for webhook_id in webhook_ids
    )


def reports_a_change() -> ColumnElement[bool]:
    """Whether a delivery is not of the first verdict of its attempt, but of a rejudge or of points changed by hand."""
    row, before, attempt = DeliveryRow, aliased(DeliveryRow), AttemptRow
    is_second = exists().where(
        before.webhook_id == row.webhook_id, before.attempt_id == row.attempt_id, before.created_at < row.created_at
    )
    # Its first delivery may be deleted by now, or the webhook newer than the first verdict.
    is_late = exists().where(
        attempt.id == row.attempt_id,
        WebhookRow.id == row.webhook_id,
        or_(attempt.rejudged_at <= row.created_at, attempt.finished_at < WebhookRow.created_at),
    )
    return or_(is_second, is_late)


async def _shown(session: AsyncSession, user: User) -> list[ColumnElement[bool]]:
    """Conditions that leave out what tells that a withheld verdict has changed."""
    withheld = await withheld_of(session, user.id)
    if not withheld.attempts:
        return []
    return [~and_(DeliveryRow.attempt_id.in_(withheld.attempts), reports_a_change())]


class Webhooks:
    """Safe to share between requests. Users see only their own webhooks; other webhooks are not found.

    Args:
      private: also permit addresses inside the service's own network, and http://.
    """

    def __init__(self, database: Database, deployment_secret: bytes, *, private: bool) -> None:
        self._database = database
        self._deployment_secret = deployment_secret
        self._private = private

    async def add(self, user: User, url: str) -> tuple[Webhook, str]:
        """Register an address.

        Returns:
          the webhook and its secret, which cannot be shown again.
        Raises:
          WebhookURLRefused, TooManyWebhooks.
        """
        check_url(url, private=self._private)
        row = WebhookRow(id=new_id(), user_id=user.id, url=url, created_at=now())
        async with self._database.writing() as session:
            have = await session.scalar(select(func.count()).where(WebhookRow.user_id == user.id))
            if (have or 0) >= _MOST:
                raise TooManyWebhooks(f"You have {have} webhooks, which is the maximum. Delete one first.")
            session.add(row)
        return Webhook.of(row), shown_secret(webhook_key(self._deployment_secret, row.id))

    async def get(self, user: User, webhook_id: str) -> Webhook:
        """Raises `WebhookNotFound`, even if it exists for another user."""
        async with self._database.reading() as session:
            return Webhook.of(await self._find(session, user, webhook_id))

    async def delete(self, user: User, webhook_id: str) -> None:
        """Remove a webhook and its pending deliveries. Raises `WebhookNotFound`."""
        async with self._database.writing() as session:
            row = await self._find(session, user, webhook_id)
            await session.execute(delete(WebhookRow).where(WebhookRow.id == row.id))

    async def deliveries(self, user: User, webhook_id: str, cursor: Cursor) -> Page[Delivery]:
        """Past and pending, newest first. Raises `WebhookNotFound`, and `DeliveryNotFound` for the cursor."""
        row = DeliveryRow
        async with self._database.reading() as session:
            webhook = await self._find(session, user, webhook_id)
            query = select(row).where(row.webhook_id == webhook.id, *await _shown(session, user))
            by = (row.created_at, row.id)
            return await paged(session, query, by, cursor, Delivery.of, missing=_no_delivery)

    async def failing(self) -> Failing:
        """The deliveries of all users whose last try failed."""
        return await failing(self._database, DeliveryRow)

    async def list(self, user: User) -> list[Webhook]:
        async with self._database.reading() as session:
            rows = await session.scalars(
                select(WebhookRow)
                .where(WebhookRow.user_id == user.id)
                .order_by(WebhookRow.created_at.desc(), WebhookRow.id)
            )
            return [Webhook.of(row) for row in rows]

    async def _find(self, session: AsyncSession, user: User, webhook_id: str) -> WebhookRow:
        row = await session.get(WebhookRow, webhook_id) if is_id(webhook_id) else None
        if row is None or row.user_id != user.id:
            raise WebhookNotFound(f"You have no webhook with the id {webhook_id[:64]!r}.")
        return row


def _no_delivery(delivery_id: str) -> DeliveryNotFound:
    return DeliveryNotFound(f"This webhook has no delivery with the id {delivery_id!r}.")
