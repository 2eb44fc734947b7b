"""The learning platforms that owners have registered. The only writer of that table."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import Action, record
from app.accounts.audit.models import AuditRow
from app.accounts.caller import Caller, User
from app.accounts.recent_sign_in import RecentSignIn
from app.accounts.text_rules import check_line
from app.core.clock import now
from app.core.database import Database
from app.core.errors import FieldInvalid, WebhookURLRefused
from app.core.ids import is_id, new_id
from app.core.outbound_requests import check_url
from app.core.outbox import Failing, failing
from app.core.view import View
from app.teaching.lti.errors import LaunchRefused, PlatformNotFound, PlatformTaken
from app.teaching.lti.models import PlatformRow, ScoreRow

LONGEST_NAME = 100
LONGEST_ID = 200
LONGEST_URL = 1000
MOST_DEPLOYMENTS = 50
_MOST = 100


class NewPlatform(View):
    """`grants_instructor` gives a new account the role instructor if its owner teaches in the platform."""

    name: str
    issuer: str
    client_id: str
    login_url: str
    token_url: str
    keys_url: str
    deployments: tuple[str, ...]
    grants_instructor: bool


class Platform(NewPlatform):
    """`grants_instructor` gives a new account the role instructor if its owner teaches in the platform."""

    id: str
    created_at: datetime

    @property
    def identity_issuer(self) -> str:
        """The issuer of its identities: never that of a sign-in provider, so neither can sign in as the other."""
        return identity_issuer(self.issuer)


def identity_issuer(issuer: str) -> str:
    return f"lti {issuer}"


class Platforms:
    """Safe to share between requests. The routes check that the caller is an owner."""

    def __init__(self, database: Database, recent: RecentSignIn, *, private: bool) -> None:
        self._database = database
        self._recent = recent
        self._private = private

    async def all(self) -> list[Platform]:
        async with self._database.reading() as session:
            rows = await session.scalars(select(PlatformRow).order_by(PlatformRow.created_at, PlatformRow.id))
            return [_platform(row) for row in rows]

    async def failing_scores(self) -> Failing:
        """The scores, to all platforms, whose last try failed."""
        return await failing(self._database, ScoreRow)

    async def get(self, platform_id: str) -> Platform:
        """Raises `PlatformNotFound`."""
        async with self._database.reading() as session:
            return await self.get_in(session, platform_id)

    async def get_in(self, session: AsyncSession, platform_id: str) -> Platform:
        """As `get`, in the caller's transaction."""
        return _platform(await _find(session, platform_id))

    async def by_issuer(self, issuer: str, client_id: str | None) -> Platform:
        """The platform that begins a launch. Raises `LaunchRefused`."""
        query = select(PlatformRow).where(PlatformRow.issuer == issuer.replace("\0", ""))
        if client_id:
            query = query.where(PlatformRow.client_id == client_id.replace("\0", ""))
        async with self._database.reading() as session:
            rows = (await session.scalars(query.limit(2))).all()
        if len(rows) != 1:
            raise LaunchRefused(
                f"{'No' if not rows else 'More than one'} learning platform is registered with the issuer "
                f"{issuer[:100]!r} and the client id {client_id or ''!r:.100}. An owner of this site can register it."
            )
        return _platform(rows[0])

    async def add(self, caller: Caller, new: NewPlatform) -> Platform:
        """Raises `SessionNeeded`, `SignInAgain`, `FieldInvalid` and `PlatformTaken`.

        The platform decides who signs in to which account, so adding one needs a recent sign-in.
        """
        self._recent.require(caller)
        return await self._add(caller.user, new_id(), new, "lti-platform-added", "")

    async def add_by_link(self, owner: User, link_id: str, new: NewPlatform) -> Platform:
        """A platform that registered itself by an owner's link, whose id it gets. Raises `FieldInvalid` and
        `PlatformTaken`.
        """
        return await self._add(owner, link_id, new, "lti-platform-registered", f" ({link_id})")

    async def was_registered(self, link_id: str) -> bool:
        """Whether a platform has registered itself by this link, even if it has been removed since."""
        used = select(AuditRow.id).where(
            AuditRow.action == "lti-platform-registered", AuditRow.detail.endswith(f" ({link_id})")
        )
        async with self._database.reading() as session:
            return await session.scalar(used.limit(1)) is not None

    async def check(self, new: NewPlatform) -> None:
        """Refuse a platform that cannot be added, whatever its client id. Raises `FieldInvalid` and `PlatformTaken`."""
        async with self._database.reading() as session:
            await self._check_in(session, self._row("", new.model_copy(update={"client_id": "unknown"})))

    def check_address(self, field: str, url: str, longest: int = LONGEST_URL) -> str:
        """Raises `FieldInvalid`."""
        if not 1 <= len(url) <= longest:
            raise FieldInvalid(f"{field}: must be an address of 1 to {longest} characters.")
        try:
            check_url(url, private=self._private)
        except WebhookURLRefused as refusal:
            raise FieldInvalid(f"{field}: {refusal}") from None
        return url

    def _row(self, platform_id: str, new: NewPlatform) -> PlatformRow:
        return PlatformRow(
            id=platform_id,
            name=check_line("name", new.name, LONGEST_NAME),
            issuer=self.check_address("issuer", new.issuer, 200),
            client_id=check_line("client_id", new.client_id, LONGEST_ID),
            login_url=self.check_address("login_url", new.login_url),
            token_url=self.check_address("token_url", new.token_url),
            keys_url=self.check_address("keys_url", new.keys_url),
            deployments=_deployments(new.deployments),
            grants_instructor=new.grants_instructor,
            created_at=now(),
        )

    async def _check_in(self, session: AsyncSession, row: PlatformRow) -> None:
        same = (await session.scalars(select(PlatformRow).where(PlatformRow.issuer == row.issuer))).all()
        # Its accounts are those of the issuer, so another set of keys could sign in as any of them.
        if any(each.keys_url != row.keys_url for each in same):
            raise PlatformTaken(
                f"The issuer {row.issuer!r} is already registered with another keys_url. Use the same one."
            )
        if len(await self._ids(session)) >= _MOST:
            raise PlatformTaken(f"There are {_MOST} platforms, which is the maximum. Remove one first.")

    async def _add(self, user: User, platform_id: str, new: NewPlatform, action: Action, origin: str) -> Platform:
        row = self._row(platform_id, new)
        try:
            async with self._database.writing() as session:
                await self._check_in(session, row)
                session.add(row)
                record(session, user, action, None, "", f"{row.name}{origin}")
        except IntegrityError:
            raise PlatformTaken(f"{row.issuer!r} with the client id {row.client_id!r} is already registered.") from None
        return _platform(row)

    async def set_deployments(self, caller: Caller, platform_id: str, deployments: Iterable[str]) -> None:
        """Raises `SessionNeeded`, `SignInAgain`, `FieldInvalid` and `PlatformNotFound`."""
        self._recent.require(caller)
        text = _deployments(deployments)
        async with self._database.writing() as session:
            row = await _find(session, platform_id)
            if row.deployments != text:
                row.deployments = text
                record(session, caller.user, "lti-platform-changed", None, "", row.name)

    async def remove(self, caller: Caller, platform_id: str) -> None:
        """Its accounts stay, and can no longer sign in through it. Raises `PlatformNotFound`."""
        async with self._database.writing() as session:
            row = await _find(session, platform_id)
            record(session, caller.user, "lti-platform-removed", None, "", row.name)
            await session.execute(delete(PlatformRow).where(PlatformRow.id == row.id))

    async def _ids(self, session: AsyncSession) -> list[str]:
        return list(await session.scalars(select(PlatformRow.id)))


async def _find(session: AsyncSession, platform_id: str) -> PlatformRow:
    row = await session.get(PlatformRow, platform_id) if is_id(platform_id) else None
    if row is None:
        raise PlatformNotFound(f"No learning platform has the id {platform_id[:64]!r}.")
    return row


def _deployments(ids: Iterable[str]) -> str:
    lines = list(dict.fromkeys(check_line("deployments", each, LONGEST_ID) for each in ids))
    if len(lines) > MOST_DEPLOYMENTS:
        raise FieldInvalid(f"deployments: give at most {MOST_DEPLOYMENTS}.")
    return "\n".join(lines)


def _platform(row: PlatformRow) -> Platform:
    return Platform.read_from(row, deployments=tuple(row.deployments.splitlines()))
