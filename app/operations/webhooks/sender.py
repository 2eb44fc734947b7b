"""Sends verdicts to webhooks."""

import time

from sqlalchemy import select

from app.core.database import Database
from app.core.outbound_requests import FAULTS, AddressRefused, Outside
from app.core.outbox import Outbox, Outcome
from app.grading.attempts.overrides import override_of
from app.grading.attempts.schemas import AttemptJSON
from app.grading.attempts.views import view_of
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import withheld_until
from app.operations.webhooks.models import DeliveryRow, WebhookRow
from app.operations.webhooks.schemas import AttemptFinishedJSON
from app.operations.webhooks.service import reports_a_change
from app.operations.webhooks.signing import signed_headers, webhook_key

# After the first try: 8 tries in all within 18 hours, which is enough for a receiver that was down overnight.
PAUSES_S = (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600)


class WebhookSender:
    """Makes and sends the deliveries of its `outbox`."""

    def __init__(self, database: Database, deployment_secret: bytes, outside: Outside) -> None:
        self.outbox = Outbox("verdicts to webhooks", database, DeliveryRow, self._send, pauses_s=PAUSES_S)
        self._database = database
        self._deployment_secret = deployment_secret
        self._outside = outside

    async def _send(self, delivery: DeliveryRow) -> Outcome:
        async with self._database.reading() as session:
            webhook = await session.get(WebhookRow, delivery.webhook_id)
            attempt = await session.get(AttemptRow, delivery.attempt_id)
            if webhook is None or attempt is None:  # deleted a moment ago, and this row with it
                return Outcome(False, None, is_sent=False)
            until = (await withheld_until(session, [attempt.id])).get(attempt.id)
            if until is not None and await session.scalar(
                select(DeliveryRow.id).where(DeliveryRow.id == delivery.id, reports_a_change())
            ):
                # That a hidden verdict has changed would say which one it was.
                return Outcome(False, delivery.answer, until, is_sent=False)
            override = await override_of(session, attempt)
        data = AttemptJSON.of(view_of(attempt, override=override, withheld_until=until))
        body = AttemptFinishedJSON(timestamp=delivery.created_at, data=data).model_dump_json().encode()
        key = webhook_key(self._deployment_secret, webhook.id)
        headers = {
            "content-type": "application/json",
            "user-agent": "Meshgrade-Webhook/1",
            **signed_headers(key, delivery.id, int(time.time()), body),
        }
        try:
            status = await self._outside.post(webhook.url, headers, body)
        except AddressRefused as error:
            return Outcome(False, str(error))
        except TimeoutError:
            return Outcome(False, "no response in time")
        except FAULTS as error:
            # A response that is not HTTP is a stranger's text, so only the kind of fault is recorded.
            return Outcome(False, f"not delivered: {type(error).__name__}")
        return Outcome(200 <= status < 300, f"HTTP {status}")
