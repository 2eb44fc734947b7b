"""What the webhook routes need."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.webhooks.service import Webhooks


@dataclass(frozen=True, kw_only=True)
class WebhookServices(AccountServices):
    webhooks: Webhooks
