"""Every setting of the service, read once from the environment (`MESHGRADE_…`); see docs/settings.md."""

import difflib
import os
import re
import socket
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import URL

from app.core.ip_addresses import is_ip_address
from app.core.start_errors import SettingInvalid
from grader.package.ceiling import Ceiling

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]

_PREFIX = "MESHGRADE_"
# Of the command line, of tests, of Typer, and what Kubernetes sets for a service with this name.
_OF_OTHERS = re.compile(r"MESHGRADE_(TOKEN|SERVER|INSECURE|COMPLETE|TEST_\w+|SERVICE_\w+|PORT_\d\w*)$")
CHECKOUT = Path(__file__).resolve().parents[2]
# The tokens that RFC 6750 allows in an Authorization header. No client could send any other.
_BEARER = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def _cores() -> int:
    return max(1, len(os.sched_getaffinity(0)))


def _cores_and_one() -> int:
    return _cores() + 1


def _processes_that_help() -> int:
    """How many may answer requests: two, unless graders need all cores."""
    return 1 if _cores() <= 2 else 2


def _problems_that_fit() -> int:
    """As many as a sixteenth of the memory holds, at 100 MB each, so that usually every problem stays warm."""
    return min(24, max(4, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 16 // 100_000_000))


def _host_and_process() -> str:
    return f"{re.sub(r'[^A-Za-z0-9._-]', '-', socket.gethostname())[:80] or 'localhost'}:{os.getpid()}"


class Settings(BaseSettings):
    """All settings, immutable. An empty variable counts as unset."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        # The message that refuses an owner token must not print it.
        hide_input_in_errors=True,
    )

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    public_url: str | None = None
    proxies: str = "127.0.0.1,::1"
    data: Path = CHECKOUT / "data"
    problems: Path = CHECKOUT / "problems"
    lessons: Path = CHECKOUT / "lessons"
    database_url: str | None = None
    database_connections: int = Field(default=15, ge=2, le=1000)
    owner_token: SecretStr | None = None
    grading_slots: int = Field(default_factory=_cores, ge=0, le=256)
    api_processes: int = Field(default_factory=_processes_that_help, ge=1, le=16)
    isolation: Literal["bubblewrap", "container"] = "bubblewrap"
    pool_generic: int = Field(default=1, ge=0, le=64)
    pool_per_problem: int = Field(default_factory=_cores_and_one, ge=0, le=256)
    pool_problems: int = Field(default_factory=_problems_that_fit, ge=1, le=256)
    package_time_s: float = Field(default=120.0, gt=0, le=600)
    package_wall_s: float = Field(default=300.0, gt=0, le=1200)
    package_memory_mb: int = Field(default=4096, ge=512, le=65536)
    package_output_mb: int = Field(default=128, ge=1, le=1024)
    max_source_bytes: int = Field(default=64 * 1024, ge=1, le=1024 * 1024)
    requests_per_minute: int = Field(default=1200, ge=1)
    max_waiting_per_user: int = Field(default=20, ge=1)
    webhooks_private: bool = False
    lti_private: bool = False
    sync_folders: str | None = None
    sync_private: bool = False
    max_tries: int = Field(default=3, ge=1, le=20)
    max_deaths: int = Field(default=8, ge=1, le=20)
    lease_s: float = Field(default=6.0, gt=0, le=3600)
    retry_s: float = Field(default=2.0, gt=0, le=3600)
    drain_s: float = Field(default=30.0, ge=0, le=3600)
    session_days: float = Field(default=30.0, gt=0, le=366)
    confirm_after_minutes: float = Field(default=15.0, gt=0, le=366 * 24 * 60)
    sign_in_link_minutes: float = Field(default=60.0, gt=0, le=7 * 24 * 60)
    sign_up: Literal["open", "invitation", "closed"] = "invitation"
    sign_ups_per_address: int = Field(default=60, ge=1)
    sign_ups_in_total: int = Field(default=600, ge=1)
    guest_runs_per_address: int = Field(default=20, ge=1)
    guest_runs_in_total: int = Field(default=200, ge=0)
    s3_endpoint: str = Field(default="https://s3.amazonaws.com", max_length=255)
    runs_kept_days: int | None = Field(default=None, ge=1, le=36_500)
    people_kept_days: int | None = Field(default=None, ge=30, le=36_500)
    oidc_issuer: str | None = Field(default=None, max_length=255)
    oidc_client_id: str | None = None
    oidc_client_secret: SecretStr | None = None
    oidc_name: str = Field(default="single sign-on", min_length=1, max_length=60)
    github_client_id: str | None = None
    github_client_secret: SecretStr | None = None
    smtp_url: SecretStr | None = None
    smtp_sender: str | None = Field(default=None, max_length=320)
    metrics_token: SecretStr | None = None
    worker_name: str = Field(default_factory=_host_and_process, max_length=100)
    log_format: LogFormat = "text"
    log_level: LogLevel = "info"

    @field_validator("owner_token", "metrics_token")
    @classmethod
    def _long_enough_to_be_a_secret(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None:
            check_token(token.get_secret_value())
        return token

    @field_validator("proxies")
    @classmethod
    def _addresses_or_networks(cls, proxies: str) -> str:
        for each in _listed(proxies):
            try:
                network = ip_network(each)
            except ValueError:
                raise ValueError(_how_to_write(each)) from None
            if network.prefixlen == 0:
                raise ValueError(
                    f"{each} contains every address, so every client could choose the one that it is counted under. "
                    "Name only your proxies"
                )
        return proxies

    @field_validator("public_url")
    @classmethod
    def _address_without_a_path(cls, address: str | None) -> str | None:
        if address is None:
            return None
        address = address.removesuffix("/")
        parts = _parts_of(address, "https://grader.example.org")
        if "@" in parts.netloc:
            raise ValueError("it must not contain a user name or a password")
        if parts.path or parts.query or parts.fragment or address.endswith(("?", "#")):
            raise ValueError(
                f"it has a path or a query after {parts.netloc}, and the service cannot be served below a path. Give "
                "it a host name of its own, such as https://grader.example.org, and let your proxy forward every path"
            )
        return address

    @field_validator("oidc_issuer")
    @classmethod
    def _address_of_a_provider(cls, address: str | None) -> str | None:
        if address is not None:
            _parts_of(address, "https://id.example.org/realms/school")
            if "?" in address or "#" in address:
                raise ValueError("it must not contain ? or #. Copy `issuer` from the provider's discovery document")
        return address

    @field_validator("s3_endpoint")
    @classmethod
    def _address_of_a_store(cls, address: str) -> str:
        parts = _parts_of(address, "https://s3.example.org")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError("it must end after the host, because backups name the bucket")
        return address.rstrip("/")

    @field_validator("smtp_url")
    @classmethod
    def _address_of_a_mail_server(cls, address: SecretStr | None) -> SecretStr | None:
        if address is not None:
            try:
                parts = urlsplit(address.get_secret_value())
                is_complete = parts.scheme in ("smtp", "smtps") and bool(parts.hostname) and parts.port != 0
            except ValueError:
                is_complete = False
            if not is_complete or parts.path not in ("", "/") or parts.query or parts.fragment:
                raise ValueError(
                    "it must be smtp://host:587 or smtps://host:465, with user:password@ in front of the host if the "
                    "server requires it. Percent-encode other characters than letters and digits in a password"
                )
        return address

    @field_validator("smtp_sender")
    @classmethod
    def _address_of_a_sender(cls, sender: str | None) -> str | None:
        if sender is not None and not re.fullmatch(r"[^<>@\r\n]*<[^<>@\s,]+@[^<>@\s,]+>|[^<>@\s,]+@[^<>@\s,]+", sender):
            raise ValueError("it must be an email address, such as jax@example.org or Meshgrade <jax@example.org>")
        return sender

    @field_validator("worker_name")
    @classmethod
    def _name_for_logs(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9._:-]+", name):
            raise ValueError("it may contain only letters A to Z, digits and . _ : -")
        return name

    @property
    def proxy_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        return tuple(ip_network(each) for each in _listed(self.proxies))

    @property
    def ceiling(self) -> Ceiling:
        """The upper bounds for the limits of a package."""
        return Ceiling(self.package_time_s, self.package_wall_s, self.package_memory_mb, self.package_output_mb)

    @property
    def sync_paths(self) -> tuple[Path, ...]:
        """The folders of `sync_folders`."""
        return tuple(Path(each) for each in (self.sync_folders or "").split(os.pathsep) if each)

    @property
    def sole(self) -> bool:
        """Whether no other process can lease an attempt. The data folder, which one server locks, has the database, and
        only the first process of that server grades."""
        return self.database_url is None

    @property
    def is_https(self) -> bool:
        """Whether browsers reach it only by https, through a proxy."""
        return (self.public_url or "").startswith("https://")

    @property
    def listens_here_alone(self) -> bool:
        """Whether only this machine can reach it, unless there is a proxy in front."""
        return self.host == "localhost" or (is_ip_address(self.host) and ip_address(self.host).is_loopback)

    @property
    def site(self) -> str | None:
        """The address with which links to the service begin: `public_url`, or the address where it listens.

        None if it listens on every network and `public_url` is not set.
        """
        if self.public_url is not None:
            return self.public_url
        if self.host == "" or (is_ip_address(self.host) and ip_address(self.host).is_unspecified):
            return None
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    @property
    def database(self) -> str | URL:
        """The SQLAlchemy URL in use."""
        # Not an f-string: the name of a folder can contain ? or %.
        return self.database_url or URL.create("sqlite+aiosqlite", database=str(self.data / "meshgrade.sqlite3"))

    @property
    def max_body_bytes(self) -> int:
        """The longest JSON with a permitted source: each byte is written as \\u00XX, plus room for the keys."""
        return 6 * self.max_source_bytes + 4096


def _parts_of(address: str, example: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        # Reading it parses it: a port that is not a number raises, too.
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete or re.search(r"\s", address):
        raise ValueError(f"it must be a complete address that starts with https:// or http://, such as {example}")
    return parts


def _listed(proxies: str) -> list[str]:
    return [each.strip() for each in proxies.split(",") if each.strip()]


def _how_to_write(proxy: str) -> str:
    try:
        network = ip_network(proxy, strict=False)
    except ValueError:
        return f"{proxy!r} is neither an address (10.0.0.7) nor a network (10.0.0.0/24); separate several by commas"
    return f"{proxy!r} is an address within the network {network}. Write {network}, or only the address"


def check_token(token: str) -> None:
    """Refuse an API token that is easy to guess, or that no client could send."""
    if len(token) < 16:
        raise ValueError("the token has fewer than 16 characters. Create one with: openssl rand -hex 32")
    if not _BEARER.fullmatch(token):
        raise ValueError("the token may contain only letters, digits and . _ ~ + / - (and = at the end)")


def load_settings(**overrides: object) -> Settings:
    """Read the environment. `overrides`, from the command line, overrides it; `None` does not.

    Raises:
      SettingInvalid: names every wrong variable and says what is wrong with it, without its value.
    """
    values = {name: value for name, value in overrides.items() if value is not None}
    faults: list[tuple[str, str]] = []
    settings = None
    try:
        settings = Settings(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        for fault in error.errors(include_input=False, include_url=False):
            name = str(fault["loc"][0]) if fault["loc"] else "settings"
            faults.append((name, str(fault["msg"]).removeprefix("Value error, ")))
    faults += _unknown(os.environ)
    if faults or settings is None:
        raise SettingInvalid(*faults[0], *faults[1:])
    return settings


def load_server_settings(**overrides: object) -> Settings:
    """`load_settings` for a process that serves. Raises `SettingInvalid`, even for a folder that does not exist."""
    faults: list[tuple[str, str]] = []
    try:
        settings = load_settings(**overrides)
    except SettingInvalid as error:
        faults, settings = list(error.faults), Settings.model_construct()
    for name, folder in _folders():
        if fault := _fault_of(folder):
            faults.append((name, f"{folder.absolute()} {fault}"))
    if faults:
        raise SettingInvalid(*faults[0], *faults[1:])
    return settings


def _folders() -> Iterator[tuple[str, Path]]:
    """The folders that a server reads, even if other settings are wrong."""
    for name in ("problems", "lessons"):
        yield name, Path(os.environ.get(f"{_PREFIX}{name.upper()}") or Settings.model_fields[name].default)
    for each in os.environ.get(f"{_PREFIX}SYNC_FOLDERS", "").split(os.pathsep):
        if each:
            yield "sync_folders", Path(each)


def _fault_of(folder: Path) -> str | None:
    try:
        if not folder.is_dir():
            return "is not a folder" if folder.exists() else "does not exist"
    except PermissionError:
        return "cannot be reached by this user"
    return None if os.access(folder, os.R_OK | os.X_OK) else "cannot be read by this user"


def _unknown(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Variables that look like settings and are none."""
    names = {f"{_PREFIX}{name.upper()}" for name in Settings.model_fields}
    for variable, value in sorted(environment.items()):
        name = variable.upper()
        if not name.startswith(_PREFIX) or not value or name in names or _OF_OTHERS.match(name):
            continue
        close = difflib.get_close_matches(name, names, 1, cutoff=0.75)
        yield variable, f"there is no such setting{f'. Did you mean {close[0]}?' if close else ''}"
