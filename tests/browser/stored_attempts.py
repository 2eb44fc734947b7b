"""Attempts with a made-up verdict, in the database of the running service."""

import sqlite3

from grader.verdicts.verdict import Verdict


def store_attempt(connection: sqlite3.Connection, owner: str, attempt_id: str, verdict: Verdict) -> None:
    row = {
        "id": attempt_id,
        "user_id": owner,
        "problem": verdict.problem,
        "version": verdict.version,
        "kind": "attempt",
        "source": "def init(mesh, seed): ...",
        "status": "finished",
        "priority": 0,
        "tries": 1,
        "verdict": verdict.model_dump_json(),
        "score": verdict.score,
        "verdict_status": verdict.status,
        "efficiency": verdict.efficiency.score if verdict.efficiency else None,
        "created_at": "2026-01-05 09:30:00.000000",
    }
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO attempts ({', '.join(row)}) VALUES ({places})", tuple(row.values()))
