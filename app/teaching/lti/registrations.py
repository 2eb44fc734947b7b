"""Platforms that register themselves by a link of an owner (dynamic registration)."""

from datetime import UTC, datetime

from app.accounts.audit.log import record
from app.accounts.caller import Caller, User, user_of
from app.accounts.models import UserRow
from app.accounts.recent_sign_in import RecentSignIn
from app.accounts.text_rules import check_line
from app.core.database import Database
from app.core.errors import FieldInvalid
from app.core.view import View
from app.teaching.lti.errors import RegistrationRefused
from app.teaching.lti.platform_requests import PlatformRequests
from app.teaching.lti.platforms import LONGEST_NAME, NewPlatform, Platform, Platforms
from app.teaching.lti.registration_links import RegistrationLink, RegistrationLinks
from app.teaching.lti.tool_registration import read_configuration, read_registration, registration_of


class NewRegistrationLink(View):
    """`url` is shown once. A platform that opens it before `expires_at` can register itself."""

    url: str
    expires_at: datetime


class Registrations:
    """Safe to share between requests. The routes check that the caller of `create_link` is an owner."""

    def __init__(
        self,
        database: Database,
        recent: RecentSignIn,
        platforms: Platforms,
        requests: PlatformRequests,
        deployment_secret: bytes,
        site: str | None,
    ) -> None:
        self._database = database
        self._recent = recent
        self._platforms = platforms
        self._requests = requests
        self._links = RegistrationLinks(deployment_secret)
        self._site = site

    async def create_link(self, caller: Caller, name: str, *, grants_instructor: bool) -> NewRegistrationLink:
        """Raises `SessionNeeded`, `SignInAgain` and `FieldInvalid`."""
        self._recent.require(caller)
        name = check_line("name", name, LONGEST_NAME)
        if self._site is None:
            raise FieldInvalid("This service does not know its address. The operator must set MESHGRADE_PUBLIC_URL.")
        token, link = self._links.issue(caller.user.id, name, grants_instructor=grants_instructor)
        async with self._database.writing() as session:
            record(session, caller.user, "lti-link-created", None, "", f"{name} ({link.id})")
        return NewRegistrationLink(
            url=f"{self._site}/lti/register/{token}", expires_at=datetime.fromtimestamp(link.expires_at, UTC)
        )

    async def look(self, token: str) -> RegistrationLink:
        """The link of this token, which stays valid. Raises `RegistrationRefused`."""
        link = self._links.read(token)
        await self._owner(link)
        if await self._platforms.was_registered(link.id):
            raise RegistrationRefused("This registration link was already used. Ask an owner for a new one.")
        return link

    async def register(self, token: str, address: str, registration_token: str) -> Platform:
        """Register this service with the platform whose configuration is at the address, and the platform here.

        Raises:
          RegistrationRefused: the link is not valid, or the configuration contradicts itself.
          FieldInvalid: an address is not permitted.
          PlatformFailed, PlatformTaken.
        """
        link = await self.look(token)
        owner = await self._owner(link)
        self._platforms.check_address("openid_configuration", address)
        platform = read_configuration(address, await self._requests.configuration(address))
        self._platforms.check_address("registration_endpoint", platform.registration_url)
        new = NewPlatform.read_from(
            platform,
            name=link.name,
            client_id="",
            deployments=(),
            grants_instructor=link.grants_instructor,
        )
        # Before the platform knows of us: it would keep a registration that is of no use.
        await self._platforms.check(new)
        request = registration_of(self._site or "", platform)
        answer = await self._requests.register(platform.registration_url, registration_token, request)
        client_id, deployments = read_registration(answer)
        complete = new.model_copy(update={"client_id": client_id, "deployments": deployments})
        return await self._platforms.add_by_link(owner, link.id, complete)

    async def _owner(self, link: RegistrationLink) -> User:
        async with self._database.reading() as session:
            row = await session.get(UserRow, link.user_id)
        if row is None or row.role != "owner" or row.deactivated_at is not None:
            raise RegistrationRefused(
                "The account that made this registration link is no longer an owner. Ask for a new one."
            )
        return user_of(row)
