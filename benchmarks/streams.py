"""Measure what those who wait cost while nothing happens: each person follows a queued attempt as often as allowed.

Usage: python -m benchmarks.streams [--people N ...] [--seconds N]

Half of them follow it with event streams and half with long polls of a minute. Grading the first attempt never ends, so
the others stay in the queue. The first row, without people, is the service at rest.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from sqlalchemy import URL

from app.grading.queue.events import FOLLOWED_AT_MOST
from benchmarks.errors import BenchmarkFailed
from benchmarks.http_client import Connection
from benchmarks.processes import cpu_s, pss_mb
from benchmarks.server import Server
from benchmarks.students import add_students
from benchmarks.workload import CALL_SLUG, copy_package

# Within this time the streams begin, and read what was waiting for their attempts.
_SETTLE_S = 5.0
_POLL_S = 60


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams")
    parser.add_argument("--people", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each row is measured")
    asked = parser.parse_args()
    if min(asked.people) < 1 or asked.seconds <= 0:
        parser.error("--people must be at least 1 and --seconds above 0")
    titles = "people", "waits", "share of a core", "CPU ms for a wait, a minute", "statements a minute", "MB"
    print(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    with tempfile.TemporaryDirectory(prefix="meshgrade-streams-") as made:
        asyncio.run(_measure(Path(made), [0, *sorted(asked.people)], asked.seconds))


async def _measure(folder: Path, people: list[int], seconds: float) -> None:
    source = copy_package(CALL_SLUG, folder / "problems").reference
    statements = folder / "statements"
    statements.write_bytes(bytes(8))
    settings = {"MESHGRADE_GRADING_SLOTS": "1", "STAND_IN_WAIT_S": "86400", "STAND_IN_STATEMENTS": str(statements)}
    module = "benchmarks.stand_in_judge"
    with Server(folder / "data", folder / "problems", "", print, module, settings=settings) as server:
        database = URL.create("sqlite+aiosqlite", database=str(folder / "data" / "meshgrade.sqlite3"))
        tokens = await add_students(database, max(people))
        async with AsyncExitStack() as streams:
            opened, rest = 0, 0.0
            for number in people:
                for token in tokens[opened:number]:
                    await _follow(server.address, token, source, streams)
                opened = number
                await asyncio.sleep(_SETTLE_S)
                before, asked, started = cpu_s(server.pid), statements.read_bytes(), time.monotonic()
                await asyncio.sleep(seconds)
                executed = int.from_bytes(statements.read_bytes(), "little") - int.from_bytes(asked, "little")
                share = (cpu_s(server.pid) - before) / (time.monotonic() - started)
                rest = share if not number else rest
                count = number * FOLLOWED_AT_MOST
                each = f"{(share - rest) * 60_000 / count:.1f}" if count else ""
                row = number, count, f"{share:.3f}", each, f"{executed * 60 / seconds:.0f}", f"{pss_mb(server.pid):.0f}"
                print(f"| {' | '.join(map(str, row))} |", flush=True)


async def _follow(address: str, token: str, source: str, streams: AsyncExitStack) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    async with Connection(address) as connection:
        path = f"/api/v1/problems/{CALL_SLUG}/attempts"
        status, answer = await connection.ask("POST", path, headers, {"source": source})
    if status != 202:
        raise BenchmarkFailed(f"an attempt was not queued: {status} {answer[:500]!r}")
    attempt_id = json.loads(answer)["id"]
    host, _, port = address.rpartition(":")
    for _ in range(FOLLOWED_AT_MOST // 2):
        poll = asyncio.create_task(_poll(address, f"/api/v1/attempts/{attempt_id}?wait={_POLL_S}", headers))
        streams.callback(poll.cancel)
        reader, writer = await asyncio.open_connection(host, int(port))
        streams.callback(writer.close)
        asked = f"GET /api/v1/attempts/{attempt_id}/events HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}"
        writer.write("\r\n".join([*asked, "", ""]).encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise BenchmarkFailed(f"a stream was refused: {head[:500]!r}")
        drain = asyncio.create_task(_drain(reader))
        streams.callback(drain.cancel)


async def _poll(address: str, path: str, headers: dict[str, str]) -> None:
    async with Connection(address) as connection:
        while True:
            await connection.ask("GET", path, headers)


async def _drain(reader: asyncio.StreamReader) -> None:
    while await reader.read(65_536):
        pass


if __name__ == "__main__":
    sys.exit(main())
