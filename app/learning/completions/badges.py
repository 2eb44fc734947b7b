"""Badges of completed tracks: credentials of Open Badges 3.0, signed by the service as JSON Web Tokens.

https://www.imsglobal.org/spec/ob/v3p0/ says what a credential contains, and under "JSON Web Token Proof Format" how it
is signed: the claims of the credential itself, with RS256.
"""

import hashlib
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from joserfc import jwt
from joserfc.jwk import RSAKey
from sqlalchemy import select

from app.core.clock import now
from app.core.database import Database
from app.core.ids import new_id
from app.core.sealed_keys import ALGORITHM, KeySeal
from app.learning.completions.models import BadgeKeyRow
from app.learning.completions.service import Completion

_CONTEXT = ["https://www.w3.org/ns/credentials/v2", "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"]
ISSUER_PATH = "/badges/issuer.json"
KEYS_PATH = "/badges/keys"
REVOKED_PATH = "/badges/revoked.json"


class Badges:
    """Safe to share between requests and processes. The key pair is created when the first badge is."""

    def __init__(self, database: Database, deployment_secret: bytes) -> None:
        self._database = database
        self._seal = KeySeal(deployment_secret, "badge key")

    async def sign(self, completion: Completion, link: str, site: str) -> str:
        """The badge, as a compact JSON Web Token. `site` is the address of this service, without a slash at the end."""
        key = await self._key()
        header = {"alg": ALGORITHM, "typ": "JWT", "kid": f"{site}{KEYS_PATH}/{key.kid}"}
        credential = credential_of(completion, link, site)
        claims = {
            "iss": credential["issuer"]["id"],
            "jti": credential["id"],
            "nbf": int(completion.shared_at.timestamp()),
        }
        return jwt.encode(header, credential | claims, key)

    async def public_key(self, key_id: str) -> dict[str, Any] | None:
        """The public key with this id, as a JSON Web Key; None if there is no such one."""
        key = await self._key()
        return _public(key) if key.kid == key_id else None

    async def _key(self) -> RSAKey:
        # Two processes may create one at the same time. Both then use the older one.
        query = select(BadgeKeyRow).order_by(BadgeKeyRow.created_at, BadgeKeyRow.id).limit(1)
        async with self._database.reading() as session:
            row = await session.scalar(query)
        if row is None:
            key_id = new_id()
            async with self._database.writing() as session:
                session.add(BadgeKeyRow(id=key_id, sealed=self._seal.create(key_id), created_at=now()))
            async with self._database.reading() as session:
                row = await session.scalar(query)
        assert row is not None
        return self._seal.open(row.sealed)


def credential_of(completion: Completion, link: str, site: str) -> dict[str, Any]:
    """An `OpenBadgeCredential` about a completion, without a proof. `link` is the page that anyone can read."""
    verified = completion.verified
    return {
        "@context": _CONTEXT,
        "id": badge_id(completion.id),
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "name": verified.title,
        "issuer": issuer_of(site),
        "validFrom": _moment(completion.shared_at),
        "credentialSubject": {
            "type": ["AchievementSubject"],
            "identifier": [_identity(completion)],
            "achievement": {
                "id": f"{site}/problems?track={verified.track}",
                "type": ["Achievement"],
                "achievementType": "Badge",
                "name": verified.title,
                "description": verified.teaches or verified.title,
                "criteria": {"id": link, "narrative": _criteria(completion)},
            },
        },
        "evidence": [{"id": link, "type": ["Evidence"], "name": "What was verified", "narrative": verified.words}],
        "credentialStatus": {"id": f"{site}{REVOKED_PATH}", "type": "1EdTechRevocationList"},
    }


def issuer_of(site: str) -> dict[str, Any]:
    """This service, as the `Profile` of an issuer."""
    return {"id": f"{site}{ISSUER_PATH}", "type": ["Profile"], "name": f"Meshgrade at {_host(site)}", "url": site}


def revocations_of(revoked: list[str], site: str) -> dict[str, Any]:
    """The list of revoked badges, as a `1EdTechRevocationList`."""
    listed = [{"id": badge_id(each), "revoked": True} for each in revoked]
    return {"id": f"{site}{REVOKED_PATH}", "issuer": f"{site}{ISSUER_PATH}", "revokedCredential": listed}


def badge_id(completion_id: str) -> str:
    """The id of a completion's badge, a URN."""
    return UUID(hex=completion_id).urn


def _identity(completion: Completion) -> dict[str, Any]:
    """The name of the account, hashed: a verifier can check the name that its holder gives, but not read it here."""
    salt = hashlib.sha256(completion.id.encode()).hexdigest()[:32]
    hashed = hashlib.sha256(f"{completion.name}{salt}".encode()).hexdigest()
    return {
        "type": "IdentityObject",
        "hashed": True,
        "identityHash": f"sha256${hashed}",
        "identityType": "name",
        "salt": salt,
    }


def _criteria(completion: Completion) -> str:
    titles = "; ".join(each.title for each in completion.verified.problems)
    return (
        f"Every problem of the track was solved: {titles}. A solution counts if the judge accepts it. The judge runs "
        f"it on hidden inputs, and reads shardings, collectives and memory from the compiled program."
    )


def _public(key: RSAKey) -> dict[str, Any]:
    return {name: value for name, value in key.as_dict(private=False).items() if name in {"kty", "n", "e", "kid"}}


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _host(site: str) -> str:
    return site.split("://", 1)[-1]
