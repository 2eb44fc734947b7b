"""A class at work: each student reads a few pages and submits once, all within seconds, and waits for the verdict."""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import URL

from app.accounts.service import Accounts
from app.core.database import Database
from benchmarks.errors import BenchmarkFailed
from benchmarks.http_client import Connection

# How long a student stays on one page, which shows the verdict as soon as it exists.
_WAIT_S = 15


@dataclass(slots=True)
class Served:
    """The times in milliseconds, and how the attempts ended. `refused` describes failed requests.

    `post_ms` and `page_ms` last until a request was served, however often it was sent; `answer_ms` until each answer,
    and `busy_ms` until each that asked to come back later. Long polls are in neither.
    """

    post_ms: list[float] = field(default_factory=list)
    page_ms: list[float] = field(default_factory=list)
    answer_ms: list[float] = field(default_factory=list)
    busy_ms: list[float] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def judged(self) -> int:
        return sum(status in ("accepted", "rejected") for status in self.statuses)


async def add_students(url: str | URL, number: int) -> list[str]:
    """Add `number` students to the database of a running service. Returns an API token for each."""
    database = Database(url)
    accounts = Accounts(database, session_life=timedelta(), link_life=timedelta())
    tokens = [f"the-token-of-student-{each}" for each in range(number)]
    try:
        for each, token in enumerate(tokens):
            await accounts.preset_token(await accounts.add_user(f"student {each}", "student"), token)
    finally:
        await database.close()
    return tokens


async def work(address: str, tokens: list[str], slug: str, source: str, *, within_s: float, limit_s: float) -> Served:
    """Let all students submit within `within_s`, and wait until each has a verdict or `limit_s` have passed."""
    served = Served()
    chance = random.Random(1)
    started = time.monotonic()
    begins = [started + chance.uniform(0, within_s) for _ in tokens]
    await asyncio.gather(
        *(
            _connected(address, token, slug, source, each, started + limit_s, served)
            for token, each in zip(tokens, begins, strict=True)
        )
    )
    served.seconds = time.monotonic() - started
    return served


async def _connected(
    address: str, token: str, slug: str, source: str, begins: float, ends: float, served: Served
) -> None:
    try:
        await _student(address, token, slug, source, begins, ends, served)
    except (OSError, EOFError) as error:
        served.refused.append(f"a connection was lost: {error!r}")


async def _student(
    address: str, token: str, slug: str, source: str, begins: float, ends: float, served: Served
) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    await asyncio.sleep(max(0.0, begins - time.monotonic()))
    long_ms: list[float] = []
    async with Connection(address) as connection:

        async def ask(method: str, path: str, expected: int, taken_ms: list[float], body: object = None) -> bytes:
            began = time.perf_counter()
            while True:
                sent = time.perf_counter()
                status, answer = await connection.ask(method, path, headers, body)
                answer_ms = (time.perf_counter() - sent) * 1000
                if status != 503 or connection.retry_after_s is None or time.monotonic() > ends:
                    break
                served.busy_ms.append(answer_ms)
                await asyncio.sleep(connection.retry_after_s)
                await connection.reopen()
            if taken_ms is not long_ms:
                served.answer_ms.append(answer_ms)
            taken_ms.append((time.perf_counter() - began) * 1000)
            if status != expected:
                served.refused.append(f"{method} {path}: {status} {answer[:200]!r}")
            return answer

        await ask("GET", "/problems", 200, served.page_ms)
        await ask("GET", f"/problems/{slug}", 200, served.page_ms)
        # Make each student's text different.
        own = {"source": f"{source}\n# {token}\n"}
        made = await ask("POST", f"/api/v1/problems/{slug}/attempts", 202, served.post_ms, own)
        attempt_id = _field_of(made, "id")
        status: str | None = None
        while status is None and time.monotonic() < ends:
            await ask("GET", f"/attempts/{attempt_id}", 200, served.page_ms)
            await ask("GET", "/attempts", 200, served.page_ms)
            await ask("GET", f"/api/v1/attempts/{attempt_id}?wait={_WAIT_S}", 200, long_ms)
            page = await ask("GET", "/api/v1/attempts?limit=1", 200, served.page_ms)
            status = _field_of(page, "verdict_status")
        served.statuses.append(status or "none")


def _field_of(answer: bytes, name: str) -> str | None:
    """Return a field of the response, or of the only attempt on a page of attempts."""
    found = json.loads(answer)
    found = found["attempts"][0] if "attempts" in found else found
    if name not in found:
        raise BenchmarkFailed(f"an answer without {name}: {answer[:500]!r}")
    value = found[name]
    assert value is None or isinstance(value, str)
    return value
