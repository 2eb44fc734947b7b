"""Who may trigger a sync by webhook: GitHub signs what it sends, GitLab sends the secret itself."""

import hashlib
import hmac
import json
from collections.abc import Mapping

from app.authoring.repositories.errors import HookRefused


def hook_secret(deployment_secret: bytes, repository_id: str) -> str:
    """40 hexadecimal digits. It is derived, so a stolen database contains no secret."""
    message = b"repository hook\0" + repository_id.encode("ascii")
    return hmac.digest(deployment_secret, message, hashlib.sha256).hex()[:40]


def check_hook(secret: str, headers: Mapping[str, str], body: bytes) -> None:
    """Raises `HookRefused` unless one of the headers proves that the sender has the secret."""
    signature, token = headers.get("x-hub-signature-256"), headers.get("x-gitlab-token")
    if signature is not None:
        expected = "sha256=" + hmac.digest(secret.encode(), body, hashlib.sha256).hex()
        if hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            return
        raise HookRefused(
            "The signature in X-Hub-Signature-256 does not match the body. Check the webhook's secret at the sender."
        )
    if token is not None:
        if hmac.compare_digest(token.encode("utf-8", "replace"), secret.encode()):
            return
        raise HookRefused("The token in X-Gitlab-Token is not the secret of this repository.")
    raise HookRefused("Sign the body in X-Hub-Signature-256, or send the secret in X-Gitlab-Token.")


def is_of_interest(headers: Mapping[str, str], body: bytes, branch: str) -> bool:
    """Whether an authentic message can mean new content: it is a push, and not to another branch."""
    event = headers.get("x-github-event") or headers.get("x-gitlab-event") or "push"
    if event not in ("push", "Push Hook"):
        return False
    try:
        ref = json.loads(body).get("ref")
    except (ValueError, AttributeError, RecursionError):
        return True
    return not branch or not isinstance(ref, str) or ref == f"refs/heads/{branch}"
