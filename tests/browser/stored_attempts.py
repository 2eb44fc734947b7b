"""Attempts with a made-up verdict, in the database of the running service."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from app.grading.queue.leases import faults_of
from grader.verdicts.verdict import Verdict
from tests.browser.browser import CHECKOUT, Service

SOURCE = "def init(mesh, seed): ..."
_OF_THE_JUDGE = CHECKOUT / "tests/grader/stored_verdicts"


def read_stored(file: Path) -> Verdict:
    """Read a verdict of the judge, as if it were on the problem that these tests serve."""
    verdict = Verdict.model_validate_json(file.read_bytes())
    return verdict.model_copy(update={"problem": "fsdp_step"})


def verdict_of_call(status: str) -> Verdict:
    """The judge's verdict on a function of mode `call`, `accepted` or `rejected`."""
    return read_stored(_OF_THE_JUDGE / f"call_{status}.json")


@contextmanager
def database(service: Service) -> Iterator[sqlite3.Connection]:
    """The database of the service. What the block changes is committed at its end."""
    with closing(sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=60)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection


def owner_of(connection: sqlite3.Connection) -> str:
    (owner,) = connection.execute("SELECT id FROM users WHERE role = 'owner'").fetchone()
    return str(owner)


@contextmanager
def stored(
    service: Service, verdicts: Mapping[str, Verdict], *, source: str = SOURCE, **columns: str
) -> Iterator[None]:
    """Keep the owner's attempts with these ids in the database until the block ends."""
    with database(service) as connection:
        owner = owner_of(connection)
        for attempt_id, verdict in verdicts.items():
            store_attempt(connection, owner, attempt_id, verdict, source=source, **columns)
    try:
        yield
    finally:
        with database(service) as connection:
            connection.executemany("DELETE FROM attempts WHERE id = ?", [(attempt_id,) for attempt_id in verdicts])


def store_attempt(
    connection: sqlite3.Connection,
    owner: str,
    attempt_id: str,
    verdict: Verdict,
    *,
    source: str = SOURCE,
    **columns: str,
) -> None:
    """Store an attempt. `columns` replace the usual values of its row."""
    row = {
        "id": attempt_id,
        "user_id": owner,
        "problem": verdict.problem,
        "version": verdict.version,
        "kind": "attempt",
        "source": source,
        "status": "finished",
        "priority": 0,
        "tries": 1,
        "verdict": verdict.model_dump_json(),
        "score": verdict.score,
        "verdict_status": verdict.status,
        "verdict_reason": verdict.reason,
        "faults": json.dumps(faults_of(verdict)) if verdict.reason else None,
        "efficiency": verdict.efficiency.score if verdict.efficiency else None,
        "created_at": "2026-01-05 09:30:00.000000",
        "started_at": "2026-01-05 09:30:00.000000",
        "finished_at": "2026-01-05 09:30:02.000000",
        **columns,
    }
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO attempts ({', '.join(row)}) VALUES ({places})", tuple(row.values()))
