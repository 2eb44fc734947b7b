"""Tables of webhooks and their deliveries."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base, UTCDateTime
from app.core.outbox import OutboxRow, failing_index


class WebhookRow(Base):
    """An address that a user's verdicts are sent to.

    `slow_tries` is how many tries in a row took long or got no response (app/operations/webhooks/slow_addresses.py).
    Nothing is sent before `paused_until`.

    Its secret is derived (app/operations/webhooks/signing.py), not stored.
    """

    __tablename__ = "webhooks"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    url: Mapped[str] = mapped_column(String(2000))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
    slow_tries: Mapped[int] = mapped_column(Integer(), default=0, server_default="0")
    paused_until: Mapped[datetime | None] = mapped_column(UTCDateTime())


class DeliveryRow(OutboxRow, Base):
    """One verdict for one webhook, stored together with the verdict."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("ix_webhook_deliveries_webhook_id_created_at_id", "webhook_id", "created_at", "id"),
        Index("ix_webhook_deliveries_next_try_at", "next_try_at"),
        Index("ix_webhook_deliveries_attempt_id", "attempt_id"),
        failing_index("webhook_deliveries"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    webhook_id: Mapped[str] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"))
    attempt_id: Mapped[str] = mapped_column(ForeignKey("attempts.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(UTCDateTime())
