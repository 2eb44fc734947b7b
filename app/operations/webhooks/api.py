"""REST: send your verdicts to your own address."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from app.accounts.caller import User
from app.accounts.web import Reader, require_scope
from app.core.rest.paging import NewestFirst
from app.core.rest.problem_json import located_response, problem_responses
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.operations.webhooks.schemas import (
    AttemptFinishedJSON,
    DeliveryPage,
    NewWebhookJSON,
    WebhookList,
    WebhookMadeJSON,
)
from app.operations.webhooks.service import Webhook, Webhooks

router = RestRouter("webhooks")
Keeper = Annotated[User, Depends(require_scope("account"))]


# The deliveries, described for OpenAPI. Nothing calls this route.
sent = APIRouter(tags=["webhooks"])


@sent.post(
    "attempt.finished",
    summary="One of your attempts or runs has a verdict",
    responses={
        "2XX": {"description": "Received. After any other response, or none within ten seconds, we try again later."}
    },
    status_code=204,
    operation_id="attempt_finished",
)
def attempt_finished(
    body: AttemptFinishedJSON,
    webhook_id: Annotated[str, Header(description="The same for each try of this delivery")],
    webhook_timestamp: Annotated[str, Header(description="When it was sent, in seconds since 1970")],
    webhook_signature: Annotated[
        str, Header(description="`v1,` and the Base64 of the HMAC-SHA256 of id, timestamp and body; see docs/rest.md")
    ],
) -> None:
    """Signed according to Standard Webhooks. Ignore unknown fields, because releases add some."""


@router.post(
    "/webhooks",
    summary="Send your verdicts to an address",
    status_code=201,
    responses={**located_response(201, "webhook"), **problem_responses(409)},
)
async def add_webhook(
    response: Response, user: Keeper, body: NewWebhookJSON, webhooks: Provided[Webhooks]
) -> WebhookMadeJSON:
    webhook, secret = await webhooks.add(user, body.url)
    response.headers["Location"] = f"/api/v1/webhooks/{webhook.id}"
    response.headers["Cache-Control"] = "no-store"
    return WebhookMadeJSON(**webhook.model_dump(), secret=secret)


@router.get("/webhooks", summary="Your webhooks")
async def list_webhooks(user: Reader, webhooks: Provided[Webhooks]) -> WebhookList:
    return WebhookList(webhooks=await webhooks.list(user))


@router.get("/webhooks/{webhook_id}", summary="One webhook")
async def get_webhook(user: Reader, webhook_id: str, webhooks: Provided[Webhooks]) -> Webhook:
    return await webhooks.get(user, webhook_id)


@router.delete("/webhooks/{webhook_id}", summary="Delete a webhook", status_code=204)
async def delete_webhook(user: Keeper, webhook_id: str, webhooks: Provided[Webhooks]) -> None:
    await webhooks.delete(user, webhook_id)


@router.get("/webhooks/{webhook_id}/deliveries", summary="The deliveries of a webhook, newest first")
async def list_deliveries(
    user: Reader,
    webhook_id: str,
    webhooks: Provided[Webhooks],
    cursor: NewestFirst,
) -> DeliveryPage:
    deliveries = await webhooks.deliveries(user, webhook_id, cursor)
    return DeliveryPage(deliveries=deliveries, next=deliveries.next)
