"""REST bodies and responses for learning platforms."""

from typing import Annotated, Any

from pydantic import Field

from app.accounts.text_rules import LINE_PATTERN
from app.core.outbound_requests import URL_PATTERN
from app.core.rest.body import RequestBody
from app.core.view import View
from app.teaching.lti.platforms import LONGEST_ID, LONGEST_NAME, LONGEST_URL, MOST_DEPLOYMENTS, NewPlatform, Platform

# The patterns are only described here. app/teaching/lti/platforms.py enforces them and says what is wrong.
_ADDRESS: dict[str, Any] = {"min_length": 1, "json_schema_extra": {"pattern": f"^{URL_PATTERN}$"}}
_LINE: dict[str, Any] = {"min_length": 1, "json_schema_extra": {"pattern": LINE_PATTERN}}
_Deployment = Annotated[str, Field(max_length=LONGEST_ID, **_LINE)]


class NewPlatformJSON(RequestBody):
    """Its addresses are https:// addresses on the internet, unless the operator allows others."""

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


class DeploymentsJSON(RequestBody):
    """The deployments from which launches are accepted."""

    deployments: list[_Deployment] = Field(max_length=MOST_DEPLOYMENTS)


class NewRegistrationLinkJSON(RequestBody):
    """`name` is what the platform will be called here."""

    name: str = Field(max_length=LONGEST_NAME, **_LINE)
    grants_instructor: bool = False


class PlatformList(View):
    platforms: list[Platform]
