"""Nothing that a user may name makes the service talk to its own network."""

import asyncio
import ipaddress
import socket
import ssl
from datetime import timedelta
from pathlib import Path

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.core.clock import now
from app.core.errors import WebhookURLRefused
from app.core.outbound_requests import AddressRefused, Outside, check_url, is_public
from tests.app.receiver import receiving
from tests.faults import for_each

pytestmark = pytest.mark.anyio

INSIDE = """
    127.0.0.1 127.8.8.8 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 192.0.0.8
    192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
    ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1
    64:ff9b::7f00:1 64:ff9b:1::1 2002:7f00:1::1 2001:0:7f00:1::1 2001:db8::1 100::1
""".split()
PUBLIC = "1.1.1.1 8.8.8.8 93.184.215.14 172.15.0.1 172.32.0.1 100.63.0.1 2606:4700::1111 2a00:1450:4001::1".split()


# Each block of IANA's registries of special-purpose addresses, as published, and multicast.
SPECIAL = """
    0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29
    192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24
    192.88.99.0/24 192.88.99.2/32 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
    224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
    ::1/128 ::/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128
    2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28
    2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 ff00::/8
""".split()


@for_each("block", SPECIAL)
def test_no_block_of_the_registries_is_sent_to(block):
    network = ipaddress.ip_network(block)
    assert not is_public(str(network[0]))
    assert not is_public(str(network[-1]))
    assert not is_public(str(network[network.num_addresses // 2]))


@for_each(
    "block",
    "11.0.0.0/8 100.128.0.0/10 192.31.197.0/24 192.52.194.0/24 192.88.98.0/24 192.88.100.0/24 192.175.49.0/24 "
    "198.20.0.0/15 223.255.255.0/24 2001:200::/23 2001:db9::/32 2003::/16 2620:4f:8001::/48 3fff:1000::/20".split(),
)
def test_their_neighbours_are(block):
    network = ipaddress.ip_network(block)
    assert is_public(str(network[0]))
    assert is_public(str(network[-1]))


@for_each("address", INSIDE)
def test_an_address_inside_is_none_to_send_to(address):
    assert not is_public(address)


@for_each("address", PUBLIC)
def test_an_address_of_the_internet_is_one(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "//example.org/",
        "example.org",
        "https://",
        "https:///path",
        "https://user:secret@example.org/",
        "https://example.org/#part",
        "https://exämple.org/",
        "https://example.org/a b",
        "https://example.org:99999/",
        "https://[::1/",
        "https://example.org:22/",
        "https://localhost/",
        "https://8.8.8.8/",
        "https://example.org/\n",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://169.254.169.254/latest/meta-data/",
        "https://example.org/\r\nHost: other",
    ],
)
def test_an_address_that_nothing_is_sent_to_is_refused_at_once(url):
    with pytest.raises(WebhookURLRefused):
        check_url(url, private=False)


@pytest.mark.parametrize("url", ["https://example.org", "https://a-b.example.org:8443/hook/%20x?key=v&more"])
def test_an_address_of_the_internet_is_taken(url):
    check_url(url, private=False)


def test_an_operator_may_permit_what_is_inside():
    check_url("http://127.0.0.1:8080/hook", private=True)
    for url in ("ftp://127.0.0.1/", "http://", "http://127.0.0.1:99999/", "http://[::1/", "http://a b/", "http://ä/"):
        with pytest.raises(WebhookURLRefused):
            check_url(url, private=True)


@pytest.mark.parametrize("spelling", ["localhost", "0x7f000001", "2130706433", "127.1", "0177.0.0.1", "127.0.0.1"])
async def test_no_spelling_of_this_machine_is_connected_to(receiver, spelling):
    address = receiver.url.replace("127.0.0.1", spelling)
    with pytest.raises((AddressRefused, socket.gaierror)):
        await Outside(private=False).post(address, {}, b"{}")
    assert receiver.got == []


async def test_a_name_that_stands_for_an_inside_address_is_refused(receiver, monkeypatch):
    _stand_for(monkeypatch, ["93.184.215.14", "127.0.0.1"])
    with pytest.raises(AddressRefused, match=r"127\.0\.0\.1"):
        await Outside(private=False).post(receiver.url.replace("127.0.0.1", "example.org"), {}, b"{}")
    assert receiver.got == []


async def test_a_name_is_looked_up_once_and_connected_to_as_found(receiver, monkeypatch):
    """A second look, by the socket itself, could find another address than the one that was checked."""
    asked = _stand_for(monkeypatch, ["127.0.0.1"])
    status = await Outside(private=True).post(receiver.url.replace("127.0.0.1", "example.org"), {}, b"{}")
    assert status == 200
    assert asked.count("example.org") == 1
    assert receiver.got[0][1]["host"].startswith("example.org:")


async def test_of_two_addresses_the_one_that_answers_is_used(receiver, monkeypatch):
    _stand_for(monkeypatch, ["127.0.0.2", "127.0.0.1"])  # the receiver listens at the second one alone
    assert await Outside(private=True).post(receiver.url.replace("127.0.0.1", "example.org"), {}, b"{}") == 200


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".org"])
async def test_a_name_that_is_none_is_not_found(receiver, host):
    with pytest.raises(socket.gaierror):
        await Outside(private=True).post(receiver.url.replace("127.0.0.1", host), {}, b"{}")


async def test_a_redirect_is_not_followed(receiver):
    receiver.status = "307 Temporary Redirect"
    assert await Outside(private=True).post(receiver.url, {}, b"{}") == 307
    assert len(receiver.got) == 1


async def test_a_proxy_of_the_environment_is_not_used(receiver, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert await Outside(private=True).post(receiver.url, {}, b"{}") == 200


async def test_a_receiver_that_does_not_answer_is_left(receiver, monkeypatch):
    monkeypatch.setattr("app.core.outbound_requests._TIMEOUT_S", 0.2)
    receiver.silent = True
    with pytest.raises((TimeoutError, httpcore.RemoteProtocolError)):
        await Outside(private=True).post(receiver.url, {}, b"{}")


async def test_a_certificate_is_checked(tmp_path):
    """A receiver gets nothing if its certificate is not trusted, or names another host."""
    certificate = _certificate(tmp_path, "receiver.test")
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate)
    async with receiving(served) as receiver:
        url = receiver.url.replace("http://127.0.0.1", "https://127.0.0.1")
        with pytest.raises(httpcore.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await Outside(private=True).post(url, {}, b"{}")
        trusting = ssl.create_default_context(cafile=certificate)
        with pytest.raises(httpcore.ConnectError, match="IP address mismatch"):
            await Outside(private=True, tls=trusting).post(url, {}, b"{}")
        assert receiver.got == []


def _certificate(folder: Path, name: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now() - timedelta(days=1))
        .not_valid_after(now() + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "certificate.pem"
    path.write_bytes(secret + certificate.public_bytes(pem))
    return path


def _stand_for(monkeypatch, addresses: list[str]) -> list[str]:
    asked: list[str] = []

    async def look_up(self, host, port, **options):
        asked.append(host)
        if host != "example.org":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", look_up)
    return asked
