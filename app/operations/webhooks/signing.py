"""Signs webhooks, so that a receiver knows who sent them: https://github.com/standard-webhooks/standard-webhooks"""

import base64
import hashlib
import hmac


def webhook_key(deployment_secret: bytes, webhook_id: str) -> bytes:
    """32 bytes. The key is derived, so a stolen database contains no key."""
    return hmac.digest(deployment_secret, b"webhook\0" + webhook_id.encode("ascii"), hashlib.sha256)


def shown_secret(key: bytes) -> str:
    """The key as its owner sees it, once."""
    return "whsec_" + base64.b64encode(key).decode("ascii")


def signed_headers(key: bytes, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """`timestamp` is in seconds of Unix time. Receivers refuse old ones."""
    signed = f"{delivery_id}.{timestamp}.".encode("ascii") + body
    signature = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode("ascii")
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{signature}",
    }
