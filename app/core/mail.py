"""Sends mails through the SMTP server that the settings name."""

import asyncio
import ssl
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import unquote, urlsplit

import aiosmtplib

from app.core.settings import Settings
from app.core.start_errors import SettingInvalid

_TIMEOUT_S = 20.0
# So that the mails of one step of an outbox take no longer than its lease.
_AT_ONCE = 3
_NEVER = 500
_HERE = ("localhost", "127.0.0.1", "::1")


class MailNotSent(Exception):
    """The message says why. `is_final`: the server would refuse it again."""

    def __init__(self, reason: str, *, is_final: bool) -> None:
        super().__init__(reason)
        self.is_final = is_final


@dataclass(frozen=True, slots=True)
class Mail:
    """`key` is unique to the mail, so that a receiver may recognise one that was sent twice."""

    key: str
    name: str
    address: str
    subject: str
    text: str


class Mailer:
    """Safe to share between requests. Without `url` and `sender`, it is off."""

    def __init__(self, url: str | None = None, sender: str | None = None) -> None:
        self._url = urlsplit(url or "")
        self._sender = sender or ""
        self._turns = asyncio.Semaphore(_AT_ONCE)

    @property
    def is_on(self) -> bool:
        return bool(self._sender)

    @property
    def _starts_tls(self) -> bool | None:
        """A password is only sent over TLS. Without one, TLS is used if a server elsewhere offers it."""
        if self._url.scheme == "smtps":
            return False
        if self._url.username:
            return True
        return False if self._url.hostname in _HERE else None

    async def send(self, mail: Mail) -> None:
        """Raises `MailNotSent`."""
        try:
            message = self._message(mail)
        except (ValueError, MessageError):
            raise MailNotSent(f"{mail.address!r} is not an email address", is_final=True) from None
        url = self._url
        async with self._turns:
            try:
                await aiosmtplib.send(
                    message,
                    recipients=[mail.address],
                    hostname=url.hostname,
                    port=url.port,
                    username=unquote(url.username) if url.username else None,
                    password=unquote(url.password) if url.password else None,
                    use_tls=url.scheme == "smtps",
                    start_tls=self._starts_tls,
                    timeout=_TIMEOUT_S,
                )
            except aiosmtplib.SMTPRecipientsRefused as refused:
                first = refused.recipients[0]
                raise MailNotSent(f"{first.code} {first.message}", is_final=first.code >= _NEVER) from None
            except aiosmtplib.SMTPResponseException as refused:
                is_of_login = isinstance(refused, aiosmtplib.SMTPAuthenticationError)
                is_final = refused.code >= _NEVER and not is_of_login
                raise MailNotSent(f"{refused.code} {refused.message}", is_final=is_final) from None
            except (aiosmtplib.SMTPException, OSError, ssl.SSLError) as error:
                raise MailNotSent(f"the mail server: {error or type(error).__name__}", is_final=False) from None

    def _message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage(policy=SMTP)
        message["From"] = self._sender
        message["To"] = Address(mail.name, addr_spec=mail.address)
        message["Subject"] = mail.subject
        message["Message-ID"] = f"<{mail.key}@{self._sender.rpartition('@')[2].rstrip('>')}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.text)
        return message


def build_mailer(settings: Settings) -> Mailer:
    """Raises `SettingInvalid`: one of the two settings is missing, or the address of this service is unknown."""
    url = settings.smtp_url.get_secret_value() if settings.smtp_url else None
    if (url is None) != (settings.smtp_sender is None):
        missing, other = ("smtp_sender", "smtp_url") if url else ("smtp_url", "smtp_sender")
        raise SettingInvalid(missing, f"{other} requires it")
    if url and settings.site is None:
        raise SettingInvalid("public_url", "mails need it for their links, because host does not name one address")
    return Mailer(url, settings.smtp_sender)
