"""REST: send your verdicts to an address of yours."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of
from app.webhooks.schemas import (
    AttemptFinishedJSON,
    DeliveryJSON,
    DeliveryPage,
    NewWebhookJSON,
    WebhookJSON,
    WebhookList,
    WebhookMadeJSON,
)
from app.webhooks.service import Webhooks
from app.webhooks.services import WebhookServices

router = APIRouter(tags=["webhooks"])
Reader = Annotated[User, Depends(require_scope("read"))]
Keeper = Annotated[User, Depends(require_scope("account"))]


# The deliveries, described for OpenAPI. Nothing calls this route.
sent = APIRouter(tags=["webhooks"])


@sent.post(
    "attempt.finished",
    summary="One of your attempts or runs has its verdict",
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


def _webhooks(request: Request) -> Webhooks:
    return services_of(request, WebhookServices).webhooks


@router.post(
    "/webhooks",
    summary="Send your verdicts to an address",
    status_code=201,
    responses={
        201: {"headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the webhook"}}},
        **problem_responses(400, 401, 403, 409, 413, 415, 422),
    },
    openapi_extra=body_of(NewWebhookJSON),
)
async def add_webhook(request: Request, response: Response, user: Keeper) -> WebhookMadeJSON:
    body = await read_json(request, NewWebhookJSON)
    webhook, secret = await _webhooks(request).add(user, body.url)
    response.headers["Location"] = f"/api/v1/webhooks/{webhook.id}"
    response.headers["Cache-Control"] = "no-store"
    return WebhookMadeJSON(**WebhookJSON.of(webhook).model_dump(), secret=secret)


@router.get("/webhooks", summary="Your webhooks", responses=problem_responses(401, 403))
async def list_webhooks(request: Request, user: Reader) -> WebhookList:
    return WebhookList(webhooks=[WebhookJSON.of(each) for each in await _webhooks(request).list(user)])


@router.get("/webhooks/{webhook_id}", summary="One webhook", responses=problem_responses(401, 403, 404))
async def get_webhook(request: Request, user: Reader, webhook_id: str) -> WebhookJSON:
    return WebhookJSON.of(await _webhooks(request).get(user, webhook_id))


@router.delete(
    "/webhooks/{webhook_id}",
    summary="Delete a webhook",
    status_code=204,
    responses=problem_responses(401, 403, 404),
)
async def delete_webhook(request: Request, user: Keeper, webhook_id: str) -> None:
    await _webhooks(request).delete(user, webhook_id)


@router.get(
    "/webhooks/{webhook_id}/deliveries",
    summary="The deliveries of a webhook, newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_deliveries(
    request: Request,
    user: Reader,
    webhook_id: str,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> DeliveryPage:
    deliveries = await _webhooks(request).deliveries(user, webhook_id, limit + 1, before)
    return DeliveryPage(
        deliveries=[DeliveryJSON.of(each) for each in deliveries[:limit]],
        next=deliveries[limit - 1].id if len(deliveries) > limit else None,
    )
