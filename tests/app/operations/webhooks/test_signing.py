"""The key of a webhook, and the signature that a receiver checks."""

import base64
import hashlib
import hmac

from app.operations.webhooks.signing import shown_secret, signed_headers, webhook_key

SECRET, OTHER = bytes(32), bytes(range(32))


def test_each_webhook_of_each_deployment_has_a_key_of_its_own():
    keys = {webhook_key(secret, name) for secret in (SECRET, OTHER) for name in ("a" * 32, "b" * 32)}
    assert len(keys) == 4
    assert {len(key) for key in keys} == {32}
    assert webhook_key(SECRET, "a" * 32) == webhook_key(SECRET, "a" * 32)


def test_a_key_is_no_other_use_of_the_deployment_secret():
    """Another use derives from the same secret: a name in front keeps their keys apart."""
    assert webhook_key(SECRET, "a") == hmac.digest(SECRET, b"webhook\0a", hashlib.sha256)


def test_the_signature_covers_id_time_and_body():
    key = webhook_key(SECRET, "a" * 32)
    asked = [("delivery", 1_700_000_000, b"{}"), ("other", 1_700_000_000, b"{}")]
    asked += [("delivery", 1_700_000_001, b"{}"), ("delivery", 1_700_000_000, b"{ }")]
    signatures = [signed_headers(key, *each)["webhook-signature"] for each in asked]
    assert len(set(signatures)) == 4
    expected = hmac.digest(key, b"delivery.1700000000.{}", hashlib.sha256)
    assert signatures[0] == "v1," + base64.b64encode(expected).decode()


def test_the_secret_is_shown_as_receivers_read_it():
    assert base64.b64decode(shown_secret(SECRET).removeprefix("whsec_")) == SECRET
