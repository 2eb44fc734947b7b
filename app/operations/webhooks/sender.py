"""Sends verdicts to webhooks."""

import time

import httpcore
from sqlalchemy import select

from app.core.background_loop import Loop
from app.core.database import Database
from app.core.outbound_requests import FAULTS, AddressRefused, Outside
from app.core.outbox import Outbox, Outcome, Owners
from app.grading.attempts.overrides import override_of
from app.grading.attempts.views import AttemptViews
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import withheld_until
from app.operations.webhooks.models import DeliveryRow, WebhookRow
from app.operations.webhooks.schemas import AttemptFinishedJSON
from app.operations.webhooks.service import reports_a_change
from app.operations.webhooks.signing import signed_headers, webhook_key
from app.operations.webhooks.slow_addresses import (
    NO_RESPONSE,
    SLOW_S,
    note_quick,
    note_slow,
    to_other_addresses,
    to_slow_addresses,
)

# After the first try: 8 tries in all within 18 hours, which is enough for a receiver that was down overnight.
PAUSES_S = (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600)


# Of the ten deliveries that a process tries at a time.
_AT_ONCE_PER_USER = 2
# A try that takes longer continues beside the next ones.
_TURN_S = 1.0


class WebhookSender:
    """Makes and sends the deliveries of its `outbox`, and in `slow_outbox` those to addresses that hardly respond."""

    def __init__(self, database: Database, deployment_secret: bytes, outside: Outside, views: AttemptViews) -> None:
        user = select(WebhookRow.user_id).where(WebhookRow.id == DeliveryRow.webhook_id).scalar_subquery()
        self.outbox = Outbox(
            "verdicts to webhooks",
            database,
            DeliveryRow,
            self._send,
            pauses_s=PAUSES_S,
            owners=Owners(user, _AT_ONCE_PER_USER),
            only_if=to_other_addresses(),
            turn_s=_TURN_S,
        )
        self.slow_outbox = Outbox(
            "verdicts to slow webhooks",
            database,
            DeliveryRow,
            self._send,
            pauses_s=PAUSES_S,
            owners=Owners(user, 1),
            only_if=to_slow_addresses(),
            turn_s=_TURN_S,
        )
        self._database = database
        self._deployment_secret = deployment_secret
        self._outside = outside
        self._views = views

    @property
    def loops(self) -> list[Loop]:
        return [self.outbox.loop, self.slow_outbox.loop]

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
        data = self._views.of(attempt, withheld_until=until, override=override)
        body = AttemptFinishedJSON(timestamp=delivery.created_at, data=data).model_dump_json().encode()
        key = webhook_key(self._deployment_secret, webhook.id)
        headers = {
            "content-type": "application/json",
            "user-agent": "Meshgrade-Webhook/1",
            **signed_headers(key, delivery.id, int(time.time()), body),
        }
        begun = time.monotonic()
        outcome, responded = await self._post(webhook.url, headers, body)
        await self._note(webhook, delivery, time.monotonic() - begun, responded=responded)
        return outcome

    async def _post(self, url: str, headers: dict[str, str], body: bytes) -> tuple[Outcome, bool]:
        """The outcome, and whether the address responded or refused at once."""
        try:
            status = await self._outside.post(url, headers, body)
        except AddressRefused as error:
            return Outcome(False, str(error)), True
        except (TimeoutError, httpcore.TimeoutException):
            return Outcome(False, NO_RESPONSE), False
        except FAULTS as error:
            # A response that is not HTTP is a stranger's text, so only the kind of fault is recorded.
            return Outcome(False, f"not delivered: {type(error).__name__}"), True
        return Outcome(200 <= status < 300, f"HTTP {status}"), True

    async def _note(self, webhook: WebhookRow, delivery: DeliveryRow, took_s: float, *, responded: bool) -> None:
        is_slow = not responded or took_s > SLOW_S
        if not is_slow and webhook.slow_tries == 0:
            return
        async with self._database.writing() as session:
            if is_slow:
                await note_slow(session, webhook, delivery, PAUSES_S, responded=responded)
            else:
                await note_quick(session, webhook)
