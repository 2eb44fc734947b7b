"""REST bodies and responses for learning platforms."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.accounts.text import LINE_PATTERN
from app.lti.platforms import (
    LONGEST_ID,
    LONGEST_NAME,
    LONGEST_URL,
    MOST_DEPLOYMENTS,
    NewPlatform,
    Platform,
)
from app.webhooks.outside import URL_PATTERN

_NEW: dict[str, Any] = {
    "name": "Canvas of the school",
    "issuer": "https://canvas.instructure.com",
    "client_id": "10000000000042",
    "login_url": "https://sso.canvaslms.com/api/lti/authorize_redirect",
    "token_url": "https://sso.canvaslms.com/login/oauth2/token",
    "keys_url": "https://sso.canvaslms.com/api/lti/security/jwks",
    "deployments": ["42:8865aa05b4b79b64a91a86042e43af5ea8ae79eb"],
    "grants_instructor": False,
}
_PLATFORM = {"id": "4b8d2f6a1c3e5079b8d6f4a2c0e1d3b5", **_NEW, "created_at": "2026-01-05T09:30:00.000000Z"}
# The patterns are only described here. app/lti/platforms.py enforces them and says what is wrong.
_ADDRESS: dict[str, Any] = {"min_length": 1, "json_schema_extra": {"pattern": f"^{URL_PATTERN}$"}}
_LINE: dict[str, Any] = {"min_length": 1, "json_schema_extra": {"pattern": LINE_PATTERN}}
_Deployment = Annotated[str, Field(max_length=LONGEST_ID, **_LINE)]


class NewPlatformJSON(BaseModel):
    """Its addresses are https:// addresses on the internet, unless the operator allows others."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [_NEW]})

    name: str = Field(max_length=LONGEST_NAME, **_LINE)
    issuer: str = Field(max_length=200, **_ADDRESS)
    client_id: str = Field(max_length=LONGEST_ID, **_LINE)
    login_url: str = Field(max_length=LONGEST_URL, **_ADDRESS)
    token_url: str = Field(max_length=LONGEST_URL, **_ADDRESS)
    keys_url: str = Field(max_length=LONGEST_URL, **_ADDRESS)
    deployments: list[_Deployment] = Field(default=[], max_length=MOST_DEPLOYMENTS)
    grants_instructor: bool = False

    def to_platform(self) -> NewPlatform:
        return NewPlatform(**self.model_dump(exclude={"deployments"}), deployments=tuple(self.deployments))


class DeploymentsJSON(BaseModel):
    """The deployments from which launches are accepted."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"deployments": ["1", "2"]}]}
    )

    deployments: list[_Deployment] = Field(max_length=MOST_DEPLOYMENTS)


class PlatformJSON(BaseModel):
    """`grants_instructor` gives a new account the role instructor if its owner teaches in the platform."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_PLATFORM]})

    id: str
    name: str
    issuer: str
    client_id: str
    login_url: str
    token_url: str
    keys_url: str
    deployments: list[str]
    grants_instructor: bool
    created_at: datetime

    @classmethod
    def of(cls, platform: Platform) -> "PlatformJSON":
        return cls(
            id=platform.id,
            name=platform.name,
            issuer=platform.issuer,
            client_id=platform.client_id,
            login_url=platform.login_url,
            token_url=platform.token_url,
            keys_url=platform.keys_url,
            deployments=list(platform.deployments),
            grants_instructor=platform.grants_instructor,
            created_at=platform.created_at,
        )


class PlatformList(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"platforms": [_PLATFORM]}]})

    platforms: list[PlatformJSON]
