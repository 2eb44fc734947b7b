"""Which client sent a request: what proxies report counts if the setting names them, and nothing else does."""

from ipaddress import ip_network

import httpx
import pytest

from app.core.settings import load_settings
from app.core.start_errors import SettingInvalid
from app.core.web.proxies import Clients, client_of
from app.grading.queue.workers import Workers
from tests.app.conftest import SITE

pytestmark = pytest.mark.anyio
PROXIES = [ip_network("10.0.0.0/24"), ip_network("127.0.0.1"), ip_network("2001:db8::/64")]


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", "", "192.0.2.1"),
        # Nobody may choose an address: this one is not a proxy of ours.
        ("192.0.2.1", "198.51.100.1", "192.0.2.1"),
        ("10.0.0.7", "", "10.0.0.7"),
        ("10.0.0.7", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "203.0.113.9,198.51.100.1", "198.51.100.1"),
        # Two of our own, one behind the other.
        ("10.0.0.7", "203.0.113.9, 198.51.100.1, 10.0.0.8", "198.51.100.1"),
        ("10.0.0.7", "10.0.0.9, 10.0.0.8", "10.0.0.9"),
        # As some proxies write it, and as a socket for both families does.
        ("10.0.0.7", "198.51.100.1:4711", "198.51.100.1"),
        ("10.0.0.7", "[2001:db8:1::1]:4711", "2001:db8:1::1"),
        ("::ffff:10.0.0.7", "198.51.100.1", "198.51.100.1"),
        ("2001:db8::7", "2001:db8:1::1", "2001:db8:1::1"),
        # What is not an address ends it.
        ("10.0.0.7", "198.51.100.1, unknown", "10.0.0.7"),
        ("10.0.0.7", "198.51.100.1, ", "10.0.0.7"),
        ("", "198.51.100.1", ""),
    ],
)
def test_the_client_is_the_last_address_that_is_no_proxy(peer, forwarded, client):
    entries = forwarded.split(",") if forwarded else []
    assert client_of(peer, entries, PROXIES)[0] == client


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("proxy.example", "neither an address"),
        ("10.0.0.1;10.0.0.2", "separate several by commas"),
        ("10.0.0.7/24", "Write 10.0.0.0/24, or only the address"),
        ("10.0.0.1,0.0.0.0/0", "contains every address"),
        ("::/0", "contains every address"),
        ("*", "neither an address"),
    ],
)
def test_a_setting_that_names_no_proxy_is_refused_at_the_start(monkeypatch, value, message):
    monkeypatch.setenv("MESHGRADE_PROXIES", value)
    with pytest.raises(SettingInvalid, match="the setting 'proxies' cannot be used") as refused:
        load_settings()
    assert message in str(refused.value)


async def test_each_client_behind_a_named_proxy_has_limits_of_its_own(start_service):
    """As in Compose and Kubernetes: the proxy is not on this machine."""

    async def ask(service, visitor):
        transport = httpx.ASGITransport(service.app, client=("172.30.77.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url=SITE) as http:
            return (await http.get("/api/v1/lessons", headers={"X-Forwarded-For": visitor})).status_code

    visitors = ["198.51.100.1", "198.51.100.1", "198.51.100.2"]
    for proxies, expected in (("172.30.77.0/24", [200, 429, 200]), ("127.0.0.1", [200, 429, 429])):
        async with start_service(proxies=proxies, requests_per_minute=1) as service:
            assert [await ask(service, each) for each in visitors] == expected


@pytest.mark.parametrize(("peer", "secure"), [("10.0.0.7", True), ("192.0.2.1", False)])
async def test_the_scheme_is_the_proxys_word(start_service, peer, secure):
    async with start_service(proxies="10.0.0.0/24") as service:
        transport = httpx.ASGITransport(service.app, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url=SITE) as http:
            page = await http.get("/problems/add_one", headers={"X-Forwarded-Proto": "https", "Accept": "text/html"})
            assert ("Secure" in page.headers["set-cookie"]) is secure


def see(clients, addresses, programs=(b"Firefox",), *, is_forwarded=False, times=20):
    for number in range(times):
        address, program = addresses[number % len(addresses)], programs[number % len(programs)]
        clients.saw(address, program, is_forwarded=is_forwarded)
    return clients.one_address


def test_one_address_for_everybody_is_noticed():
    programs = (b"Firefox", b"Chrome", b"curl")
    # A proxy that the setting does not name.
    assert see(Clients(is_public=False), ["10.0.0.7"], is_forwarded=True) == "10.0.0.7"
    # A proxy that forwards no address.
    assert see(Clients(is_public=True), ["127.0.0.1"], programs) == "127.0.0.1"
    # One person on their own machine, or a few requests.
    assert see(Clients(is_public=False), ["127.0.0.1"], programs) is None
    assert see(Clients(is_public=True), ["127.0.0.1"]) is None
    assert see(Clients(is_public=False), ["10.0.0.7"], is_forwarded=True, times=19) is None
    assert see(Clients(is_public=True), ["10.0.0.7", "10.0.0.8"], programs, is_forwarded=True) is None


def test_what_was_noticed_lasts_until_it_is_known_to_be_over():
    moment = [0.0]
    clients = Clients(is_public=False, clock=lambda: moment[0])
    see(clients, ["10.0.0.7"], is_forwarded=True)
    moment[0] = 3601.0
    assert see(clients, ["198.51.100.1"], times=3) == "10.0.0.7"
    assert see(clients, ["198.51.100.1", "198.51.100.2"], times=3) == "10.0.0.7"
    moment[0] += 3599.0
    assert clients.one_address == "10.0.0.7"
    moment[0] += 1.0
    assert clients.one_address is None


def test_a_request_past_the_proxy_now_and_then_ends_it_never():
    moment = [0.0]
    clients = Clients(is_public=False, clock=lambda: moment[0])
    for _ in range(12):
        assert see(clients, ["10.0.0.7"], is_forwarded=True) == "10.0.0.7"
        assert see(clients, ["127.0.0.1"], times=1) == "10.0.0.7"
        moment[0] += 3500.0
        assert see(clients, ["10.0.0.7"], is_forwarded=True) == "10.0.0.7"
        moment[0] += 200.0


def test_what_is_over_can_be_noticed_again():
    moment = [0.0]
    clients = Clients(is_public=False, clock=lambda: moment[0])
    see(clients, ["10.0.0.7"], is_forwarded=True)
    see(clients, ["198.51.100.1"], times=1)
    moment[0] = 3601.0
    assert see(clients, ["198.51.100.1", "198.51.100.2"], times=2) is None
    moment[0] = 7300.0
    assert see(clients, ["10.0.0.8"], is_forwarded=True) == "10.0.0.8"


async def test_the_service_page_health_and_doctor_say_that_all_clients_have_one_address(service):
    transport = httpx.ASGITransport(service.app, client=("172.18.0.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url=SITE) as http:
        for number in range(20):
            await http.get("/problems", headers={"X-Forwarded-For": f"198.51.100.{number}"})
        assert (await http.get("/readyz")).json()["warnings"] == ["All clients seem to have one address."]
        # What `doctor` reads.
        await service.services[Workers].beat()
        [own] = await service.services[Workers].all()
        assert "It is 172.18.0.1" in own.warnings[0].what
        page = (await http.get("/service", headers=service.bearer | {"Accept": "text/html"})).text
        assert "All clients seem to have one address. It is 172.18.0.1" in page
        assert "set MESHGRADE_PROXIES to it" in page
