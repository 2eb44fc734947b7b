"""Sends verdicts to webhooks: each at least once, repeated with growing pauses, and never twice at the same time."""

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import timedelta

import httpcore
from sqlalchemy import and_, select

from app.attempts.overrides import override_of
from app.attempts.schemas import AttemptJSON
from app.attempts.views import AttemptView, view_of, without_verdict
from app.clock import now
from app.database import Database
from app.lease import FREE, is_free, keep_working, lock, take, write
from app.queue.models import AttemptRow
from app.queue.withheld import withheld_until
from app.webhooks.models import DeliveryRow, WebhookRow
from app.webhooks.outside import AddressRefused, Outside
from app.webhooks.schemas import AttemptFinishedJSON
from app.webhooks.signing import signed_headers, webhook_key

# After the first try: 8 tries in all within 18 hours, which is enough for a receiver that was down overnight.
PAUSES_S = (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600)
_AT_ONCE = 10
# Longer than any try takes, so another process takes a delivery only if the first one died.
_LEASE = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class _Due:
    id: str
    url: str
    webhook_id: str
    fence_token: str
    tries: int
    body: bytes


class WebhookSender:
    """Any number of processes may have one. Only one of them takes a delivery at a time."""

    def __init__(self, database: Database, deployment_secret: bytes, outside: Outside) -> None:
        self._database = database
        self._deployment_secret = deployment_secret
        self._outside = outside

    async def run(self) -> None:
        """Send deliveries until cancelled."""
        await keep_working(self.send_due, "sending to webhooks failed; trying again soon")

    async def send_due(self) -> int:
        """Try up to ten deliveries that are due. Returns how many were tried."""
        deliveries = await self._take()
        await asyncio.gather(*(self._try(each) for each in deliveries))
        return len(deliveries)

    async def _take(self) -> list[_Due]:
        is_due = and_(DeliveryRow.next_try_at <= now(), is_free(DeliveryRow))
        # Read first, so that an idle sender never takes the write lock, of which SQLite has only one.
        async with self._database.reading() as session:
            if await session.scalar(select(DeliveryRow.id).where(is_due).limit(1)) is None:
                return []
        due = select(DeliveryRow).where(is_due).order_by(DeliveryRow.next_try_at).limit(_AT_ONCE)
        async with self._database.writing() as session:
            leased = []
            for row in await lock(session, due):
                if row.tries > len(PAUSES_S):
                    row.fence_token = row.lease_until = None
                    row.next_try_at, row.answer = None, "the sender died during each try"
                    continue
                attempt = await session.get_one(AttemptRow, row.attempt_id)
                until = (await withheld_until(session, [attempt.id])).get(attempt.id)
                if until is not None and attempt.rejudged_at is not None:
                    # That a hidden verdict has changed would say which one it was.
                    row.next_try_at = until
                    continue
                row.tries += 1
                fence_token = take(row, _LEASE)
                webhook = await session.get_one(WebhookRow, row.webhook_id)
                view = replace(view_of(attempt), override=await override_of(session, attempt))
                body = _body(row, without_verdict(view, until))
                leased.append(_Due(row.id, webhook.url, webhook.id, fence_token, row.tries, body))
            return leased

    async def _try(self, due: _Due) -> None:
        key = webhook_key(self._deployment_secret, due.webhook_id)
        headers = {
            "content-type": "application/json",
            "user-agent": "Meshgrade-Webhook/1",
            **signed_headers(key, due.id, int(time.time()), due.body),
        }
        arrived, answer = False, ""
        try:
            status = await self._outside.post(due.url, headers, due.body)
            arrived, answer = 200 <= status < 300, f"HTTP {status}"
        except AddressRefused as error:
            answer = str(error)
        except TimeoutError:
            answer = "no response in time"
        except (OSError, httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            # A response that is not HTTP is a stranger's text, so only the kind of fault is recorded.
            answer = f"not delivered: {type(error).__name__}"
        await self._record(due, arrived, answer)

    async def _record(self, due: _Due, arrived: bool, answer: str) -> None:
        again = None
        if not arrived and due.tries <= len(PAUSES_S):
            again = now() + timedelta(seconds=PAUSES_S[due.tries - 1])
        async with self._database.writing() as session:
            # `False` if it was deleted with its webhook, or if another process took it after too long a pause.
            ended = {"next_try_at": again, "delivered_at": now() if arrived else None, "answer": answer[:200]}
            await write(session, DeliveryRow, due.id, due.fence_token, **FREE, **ended)


def _body(delivery: DeliveryRow, attempt: AttemptView) -> bytes:
    body = AttemptFinishedJSON(timestamp=delivery.created_at, data=AttemptJSON.of(attempt))
    return body.model_dump_json().encode()
