"""Invitations are mailed once each, through an SMTP server on this machine."""

import re
import socket
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage

import anyio
import pytest
from aiosmtpd.controller import Controller
from pydantic import SecretStr

from app.core.mail import Mail, Mailer, MailNotSent, build_mailer
from app.core.settings import Settings
from app.core.start_errors import SettingInvalid
from tests.app.accounts.people import browser, send_form, sign_in, sign_up
from tests.app.loops import quicken
from tests.app.teaching.courses.test_courses import JSON, create
from tests.app.teaching.courses.test_roster_people import imported, members_of, use

pytestmark = pytest.mark.anyio
ROSTER = "name,email\nZoë Ångström,zoe@example.org\nNo Address,\nGone,gone@example.org\n"


class Mailbox:
    """Accepts mails, but for those to `gone@`, and for none while `is_busy`."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, EmailMessage]] = []
        self.is_busy = False

    async def handle_RCPT(self, server, session, envelope, address, options) -> str:
        if self.is_busy:
            return "451 try again later"
        if address.startswith("gone@"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope) -> str:
        for each in envelope.rcpt_tos:
            self.mails.append((each, message_from_bytes(envelope.content, policy=policy.default)))
        return "250 OK"


@pytest.fixture
def mailbox() -> Iterator[tuple[Mailbox, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    box = Mailbox()
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    yield box, port
    controller.stop()


def mail_to(address: str) -> Mail:
    return Mail("key", "Ada", address, "Hello", "Text\n")


async def test_an_invitation_is_mailed_once_and_a_refusal_is_shown(start_service, database_url, mailbox, monkeypatch):
    box, port = mailbox
    quicken(monkeypatch)
    monkeypatch.setattr("app.teaching.courses.roster_mails.PAUSES_S", (0.01, 0.01))
    settings = {"smtp_url": f"smtp://127.0.0.1:{port}", "smtp_sender": "JAX <jax@example.org>"}
    async with (
        start_service(database_url=database_url, **settings) as service,
        browser(service) as tess,
        browser(service) as zoe,
    ):
        await sign_up(service, tess, "tess", "instructor")
        course = await create(tess)
        await imported(tess, course, ROSTER)
        page, roster = f"/courses/{course['id']}/people", f"/api/v1/courses/{course['id']}/roster"
        form = f"/courses/{course['id']}/invitations/mails"
        sent = await send_form(tess, page, form)
        assert sent.headers["location"] == f"{page}?mails=2&earlier=0&nowhere=1"
        assert "2 mails are being sent" in (await tess.get(sent.headers["location"])).text
        with anyio.fail_after(60):
            while [each["mail"] for each in (await tess.get(roster)).json()["people"]] != ["failed", "none", "sent"]:
                await anyio.sleep(0.02)
        shown = (await tess.get(page)).text
        assert "The mail could not be sent:</strong> 550 no such user" in shown
        assert "Mail sent <time" in shown
        again = (await tess.post(f"/api/v1{form}", headers=JSON)).json()
        assert again == {"mails": 1, "earlier": 1, "without_address": 1}
        [(address, mail)] = box.mails
        assert (address, mail["subject"], mail["from"]) == (
            "zoe@example.org",
            "Your invitation to JAX",
            "JAX <jax@example.org>",
        )
        assert str(mail["to"]) == "Zoë Ångström <zoe@example.org>"
        link = re.search(r"\S+/sign-up\S+", mail.get_content())[0]
        await use(zoe, link, "darkcat26")
        assert await members_of(service, course) == {"darkcat26"}
        await sign_in(service)
        log = (await service.http.get("/api/v1/audit", headers=JSON)).json()["entries"]
        details = [each["detail"] for each in log if each["action"] == "invitations-mailed"]
        assert details == ["JAX: 1", "JAX: 2"]
        assert (await zoe.post(f"/api/v1{form}", headers=JSON)).status_code == 403


async def test_without_a_mail_server_there_is_no_button(service):
    async with browser(service) as tess:
        await sign_up(service, tess, "tess", "instructor")
        course = await create(tess)
        assert "Mail the invitations" not in (await tess.get(f"/courses/{course['id']}/people")).text
        refused = await tess.post(f"/api/v1/courses/{course['id']}/invitations/mails", headers=JSON)
        assert (refused.status_code, refused.json()["slug"]) == (409, "mail-off")


async def test_what_passes_is_told_from_what_does_not(mailbox):
    box, port = mailbox
    mailer = Mailer(f"smtp://127.0.0.1:{port}", "jax@example.org")
    await mailer.send(mail_to("ada@example.org"))
    assert len(box.mails) == 1
    for address, is_busy, is_final in (
        ("gone@example.org", False, True),
        ("ada@example.org", True, False),
        ("no address", False, True),
        ("a@example.org\nBcc: b@example.org", False, True),
    ):
        box.is_busy = is_busy
        with pytest.raises(MailNotSent) as failure:
            await mailer.send(mail_to(address))
        assert failure.value.is_final is is_final, address
    # This server offers no TLS, so it gets no password.
    with pytest.raises(MailNotSent, match="STARTTLS"):
        await Mailer(f"smtp://me:secret@127.0.0.1:{port}", "jax@example.org").send(mail_to("ada@example.org"))
    with pytest.raises(MailNotSent, match="the mail server") as failure:
        await Mailer("smtp://127.0.0.1:1", "jax@example.org").send(mail_to("ada@example.org"))
    assert failure.value.is_final is False
    assert len(box.mails) == 1


@pytest.mark.parametrize(
    "values",
    [
        {"smtp_url": "mail.example.org"},
        {"smtp_url": "smtp://mail.example.org/path"},
        {"smtp_url": "smtp://"},
        {"smtp_sender": "nobody"},
        {"smtp_sender": "a@example.org, b@example.org"},
    ],
)
def test_a_wrong_setting_is_refused_without_its_value(values):
    with pytest.raises(ValueError, match="it must be") as refused:
        Settings(**values)
    assert "example.org/path" not in str(refused.value)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"smtp_url": SecretStr("smtp://mail")}, "smtp_sender"),
        ({"smtp_sender": "a@example.org"}, "smtp_url"),
        ({"smtp_url": SecretStr("smtp://mail"), "smtp_sender": "a@example.org", "host": "0.0.0.0"}, "public_url"),
    ],
)
def test_both_settings_and_an_address_are_needed(values, name):
    with pytest.raises(SettingInvalid) as refused:
        build_mailer(Settings(**values))
    assert refused.value.faults[0][0] == name
