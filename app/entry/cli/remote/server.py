"""A Meshgrade server as commands use it. Every way in which a request can fail becomes one clear error."""

import secrets
import ssl
import time
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from app.core.clock import now
from app.core.start_errors import NotLoggedIn, ServerRefused, ServerUnusable, StartRefused
from app.entry.cli.remote.events import Event, read_events
from app.entry.cli.remote.responses import (
    Attempt,
    Editorial,
    Exploration,
    Hints,
    Me,
    Problem,
    ProblemLine,
    Problems,
    Progress,
    Publication,
    Question,
    Repositories,
    Repository,
    RepositoryMade,
    StoredVersion,
    Sync,
    Upload,
    Validation,
    Versions,
)
from grader.core.text import plain_text

M = TypeVar("M", bound=BaseModel)

_ANSWER_S = 30.0
# The server sends something every 10 s. Through a proxy that delays it for longer, an attempt cannot be followed.
_SILENCE_S = 25.0
# The server asks for the wait and the user can stop it, but nobody expects to wait an hour.
_PATIENCE_S = 600.0
_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


class Server:
    """One server, used with a token, or without one for public requests.

    Args:
      token: sent with every request. The caller has checked that it may be sent there (address.py).
      note: called with a line for each reason why a request takes longer.
    """

    def __init__(
        self,
        address: str,
        token: str | None,
        *,
        note: Callable[[str], None],
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address
        self._note = note
        self._sleep = sleep
        self._answered = False
        try:
            self._http = httpx.Client(
                base_url=address,
                headers={"Authorization": f"Bearer {token}"} if token else {},
                timeout=_ANSWER_S,
                transport=transport,
                # The token is only for this server: redirects are reported, not followed, and plain HTTP does not go
                # through a proxy that an environment variable names.
                follow_redirects=False,
                trust_env=address.startswith("https:"),
            )
        except OSError as error:
            raise StartRefused(
                f"the certificates cannot be read: {error.strerror or error}.",
                "Set SSL_CERT_FILE to a file of PEM certificates, or unset it.",
            ) from None

    def me(self) -> Me:
        return self._read(Me, self._ask("GET", "/me"))

    def problems(self) -> list[ProblemLine]:
        return self._read(Problems, self._ask("GET", "/problems")).problems

    def problem(self, slug: str) -> Problem:
        return self._read(Problem, self._ask("GET", f"/problems/{quote(slug, safe='')}"))

    def question(self, slug: str) -> Question:
        return self._read(Question, self._ask("GET", f"/problems/{quote(slug, safe='')}/question"))

    def hints(self, slug: str) -> Hints:
        return self._read(Hints, self._ask("GET", f"/problems/{quote(slug, safe='')}/hints"))

    def editorial(self, slug: str) -> Editorial:
        return self._read(Editorial, self._ask("GET", f"/problems/{quote(slug, safe='')}/editorial"))

    def give_up(self, slug: str) -> None:
        self._ask("POST", f"/problems/{quote(slug, safe='')}/give-up", json={"confirm": True})

    def upload(self, slug: str, data: bytes) -> Upload:
        """Store a zipped package as a version."""
        headers = {"Content-Type": "application/zip"}
        return self._read(Upload, self._ask("PUT", f"/problems/{quote(slug, safe='')}", content=data, headers=headers))

    def validate(self, slug: str, version: str) -> Validation:
        path = f"/problems/{quote(slug, safe='')}/validations"
        return self._read(Validation, self._ask("POST", path, json={"version": version}))

    def validation(self, slug: str, validation_id: str) -> Validation:
        return self._read(Validation, self._ask("GET", f"/problems/{quote(slug, safe='')}/validations/{validation_id}"))

    def publish(self, slug: str, version: str, *, force: bool) -> Publication:
        path = f"/problems/{quote(slug, safe='')}/publish"
        return self._read(Publication, self._ask("POST", path, json={"version": version, "force": force}))

    def versions(self, slug: str, *, limit: int) -> list[StoredVersion]:
        """The latest versions, newest first."""
        path = f"/problems/{quote(slug, safe='')}/versions"
        return self._read(Versions, self._ask("GET", path, params={"limit": limit})).versions

    def download(self, slug: str, version: str) -> bytes:
        """A stored version, zipped."""
        return self._ask("GET", f"/problems/{quote(slug, safe='')}/versions/{quote(version, safe='')}").content

    def repositories(self) -> list[Repository]:
        return self._read(Repositories, self._ask("GET", "/repositories")).repositories

    def register_repository(self, body: dict[str, str]) -> RepositoryMade:
        return self._read(RepositoryMade, self._ask("POST", "/repositories", json=body))

    def sync(self, repository_id: str) -> Sync:
        """Begin to sync a repository."""
        return self._read(Sync, self._ask("POST", f"/repositories/{repository_id}/syncs"))

    def sync_of(self, repository_id: str, sync_id: str) -> Sync:
        return self._read(Sync, self._ask("GET", f"/repositories/{repository_id}/syncs/{sync_id}"))

    def progress(self) -> Progress:
        return self._read(Progress, self._ask("GET", "/me/progress"))

    def send(self, slug: str, kind: str, source: str, inputs: dict[str, Any] | None = None) -> Attempt:
        """Submit a source. `kind` is "attempts" or "runs"; only a run may have `inputs`.

        Even if the request is repeated, it creates one attempt.
        """
        key = secrets.token_hex(16)
        path = f"/problems/{quote(slug, safe='')}/{kind}"
        body = {"source": source} | ({"inputs": inputs} if inputs else {})
        return self._read(Attempt, self._ask("POST", path, json=body, headers={"Idempotency-Key": key}))

    def explore(self, body: dict[str, Any]) -> Exploration:
        return self._read(Exploration, self._ask("POST", "/explorations", json=body))

    def attempt(self, attempt_id: str, *, wait_s: int = 0) -> Attempt:
        """The attempt as soon as it has ended, or as it is after `wait_s`."""
        return self._read(Attempt, self._ask("GET", f"/attempts/{attempt_id}", params={"wait": wait_s}))

    def cancel(self, attempt_id: str) -> Attempt:
        return self._read(Attempt, self._ask("DELETE", f"/attempts/{attempt_id}"))

    def events(self, attempt_id: str, last_event_id: str | None) -> Iterator[Event]:
        """The attempt's events until the stream ends or breaks; none if the server offers no stream."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_event_id} if last_event_id else {})
        timeout = httpx.Timeout(_ANSWER_S, read=_SILENCE_S)
        path = f"/api/v1/attempts/{attempt_id}/events"
        try:
            with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
                if response.status_code == 200 and "text/event-stream" in response.headers.get("content-type", ""):
                    yield from read_events(response.iter_bytes())
        except httpx.RequestError:
            return

    def close(self) -> None:
        self._http.close()

    def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        waited_s = 0.0
        while True:
            response = self._reach(method, f"/api/v1{path}", **options)
            if response.is_success:
                return response
            refusal, pause_s = self._refusal(response), _retry_after_s(response)
            if pause_s is None or waited_s + pause_s > _PATIENCE_S:
                raise refusal
            self._note(f"{refusal} Trying again in {pause_s:.0f} s.")
            self._sleep(pause_s)
            waited_s += pause_s

    def _reach(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One response, over as many connections as necessary: a server that restarts is back within seconds."""
        for pause_s in (*_PAUSES_S, None):
            # If the server has never responded, the address is wrong or the server is down: report it at once.
            again = pause_s is not None and self._answered
            try:
                response = self._http.request(method, path, **options)
            except httpx.RequestError as error:
                if not again:
                    raise self._unreachable(error) from error
            else:
                if not (again and _is_proxys_own(response)):
                    self._answered = True
                    return response
            self._note(f"{self.address} cannot be reached at the moment. Trying again in {pause_s:.0f} s.")
            self._sleep(pause_s or 0.0)
        raise AssertionError("unreachable")

    def _unreachable(self, error: httpx.RequestError) -> ServerUnusable:
        if (cause := _tls_fault(error)) is not None:
            return ServerUnusable(
                f"A secure connection to {self.address} failed: {cause}.",
                "Check the address. If you use your own certificate authority, set SSL_CERT_FILE to its certificate.",
            )
        if isinstance(error, httpx.TimeoutException):
            return ServerUnusable(
                f"{self.address} does not respond.", "Check the address and the network, and try again."
            )
        return ServerUnusable(
            f"{self.address} cannot be reached: {plain_text(str(error)) or type(error).__name__}.",
            "Check the address and the network, and make sure that the server is running (./meshgrade serve).",
        )

    def _refusal(self, response: httpx.Response) -> ServerRefused | ServerUnusable | NotLoggedIn:
        """The error for a response. Control characters are removed from the server's text."""
        status = response.status_code
        if response.has_redirect_location:
            target = plain_text(response.headers["location"])[:200]
            return ServerUnusable(f"{self.address} redirects to {target}.", "Log in with that address.")
        problem = _problem(response)
        if problem is None:
            return ServerUnusable(
                f"{self.address} responded with {status}, but not like a Meshgrade server.",
                "Check the address. It may belong to another program, or to a proxy whose server is down.",
            )
        detail = plain_text(f"{problem.get('title')}: {problem.get('detail')}")[:2000]
        if status == 401:
            return NotLoggedIn(
                f"{self.address} did not accept your token. {detail}",
                f"Log in with ./meshgrade login {self.address}, or set MESHGRADE_TOKEN.",
            )
        if status >= 500:
            return ServerUnusable(f"{self.address} cannot do that now. {detail}", "Try again later. Nothing is lost.")
        return ServerRefused(detail, str(problem.get("slug")))

    def _read(self, model: type[M], response: httpx.Response) -> M:
        try:
            return model.model_validate_json(response.content)
        except ValidationError:
            raise ServerUnusable(
                f"this version does not understand the response of {self.address}.",
                "Check the address. If it is right, update this checkout to the server's version.",
            ) from None


def _is_proxys_own(response: httpx.Response) -> bool:
    """Whether a proxy responded because the server behind it is starting."""
    return response.status_code in (502, 503, 504) and _problem(response) is None


def _problem(response: httpx.Response) -> dict[str, Any] | None:
    if not response.headers.get("content-type", "").startswith("application/problem+json"):
        return None
    try:
        problem = response.json()
    except ValueError:
        return None
    return problem if isinstance(problem, dict) else None


def _retry_after_s(response: httpx.Response) -> float | None:
    """Seconds of `Retry-After`, which may also be a date: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after"""
    value = response.headers.get("retry-after", "").strip()
    if response.status_code not in (429, 503) or not value:
        return None
    if value.isascii() and value.isdecimal():
        return max(1.0, float(value[:9]))
    try:
        return max(1.0, (parsedate_to_datetime(value) - now()).total_seconds())
    except (TypeError, ValueError):  # not a date, or one without a zone
        return None


def _tls_fault(error: BaseException | None) -> str | None:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return getattr(error, "verify_message", None) or error.reason or "TLS failed"
        error = error.__cause__ or error.__context__
    return None
