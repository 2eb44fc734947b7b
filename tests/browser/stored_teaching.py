"""What instructors made that needs a judge, a network or a learning platform, as rows of the running service."""

import json
import sqlite3
from collections.abc import Mapping

from app.accounts.digest import digest
from app.teaching.lti.messages import Message

REPOSITORY, SYNC, VALIDATION, REJUDGE = "7a" * 16, "7b" * 16, "7c" * 16, "7d" * 16
PLATFORM, CONTEXT, LINK, SELECTION = "8a" * 16, "8b" * 16, "8c" * 16, "8d" * 16
TICKET = "a ticket of a launch that waits"
_BEGAN, _ENDED, _NEVER = (f"{day} 09:30:00.000000" for day in ("2026-01-05", "2026-01-06", "2036-01-05"))


def store_authoring(
    connection: sqlite3.Connection, instructor: str, problem: str, version: str, attempts: Mapping[str, str]
) -> None:
    """A repository with a sync, a validation with a fault, and a rejudge in which one attempt gains and one loses."""
    repository = {"id": REPOSITORY, "user_id": instructor, "kind": "git", "address": "https://git.example/p.git"}
    _insert(
        connection, "repositories", repository | {"branch": "", "folder": "", "username": "git", "created_at": _BEGAN}
    )
    error = {"rule": "manifest", "file": "problem.toml", "line": 14, "message": "unknown key 'point'"}
    problems = [
        _synced("one", problem, "updated", version),
        _synced("two", None, "refused", None) | {"errors": [error], "more_errors": 2},
    ]
    sync = {"id": SYNC, "repository_id": REPOSITORY, "cause": "person", "again": False, "commit": "0" * 40}
    times = {"created_at": _BEGAN, "until": _ENDED, "finished_at": _ENDED}
    _insert(connection, "repository_syncs", sync | times | {"problems": json.dumps(problems)})
    steps = [
        {"file": "cases.py", "passed": True, "message": "2 public cases and 2 hidden ones."},
        {"file": "starter.py", "passed": False, "message": "It is accepted. A starter must be rejected."},
    ]
    validation = {"id": VALIDATION, "version": version, "findings": json.dumps(steps), "total": 2}
    work = {"status": "finished", "priority": 10, "turn_at": _BEGAN, "tries": 1}
    _insert(connection, "proofs", validation | work | {"created_at": _BEGAN, "finished_at": _ENDED})
    rejudge = {"id": REJUDGE, "problem": problem, "version": version, "status": "finished", "never_lower": False}
    _insert(connection, "rejudges", rejudge | {"created_at": _BEGAN, "finished_at": _ENDED})
    for attempt, new_score in ((attempts["rejected"], 100), (attempts["accepted"], 0)):
        old = {"old_version": "0" * 64, "old_status": "rejected" if new_score else "accepted"}
        new = {"new_status": "accepted" if new_score else "rejected", "new_score": new_score}
        scores = {"old_score": 100 - new_score, "new_reason": None if new_score else "wrong_value"}
        item = {"rejudge_id": REJUDGE, "attempt_id": attempt, "status": "graded", "changed": True}
        _insert(connection, "rejudged", item | old | new | scores)


def store_platform(connection: sqlite3.Connection, instructor: str, course: str, problem: str) -> None:
    """A learning platform with a linked course, an instructor who chooses what it links to, and a launch that waits."""
    site = "https://lms.example"
    urls = {f"{name}_url": f"{site}/{name}" for name in ("login", "token", "keys")}
    names = {"id": PLATFORM, "name": "Campus", "issuer": site, "client_id": "meshgrade", "deployments": "1"}
    _insert(connection, "lti_platforms", names | urls | {"grants_instructor": True, "created_at": _BEGAN})
    context = {"id": CONTEXT, "platform_id": PLATFORM, "context": "c1", "title": "Sharding", "course_id": course}
    _insert(connection, "lti_contexts", context)
    link = {"id": LINK, "context_id": CONTEXT, "resource": "r1", "title": "FSDP", "problem": problem}
    _insert(connection, "lti_links", link)
    chosen = {"id": SELECTION, "user_id": instructor, "context_id": CONTEXT, "platform_id": PLATFORM}
    _insert(
        connection,
        "lti_selections",
        chosen | {"deployment": "1", "return_url": f"{site}/return", "expires_at": _NEVER},
    )
    message = Message(
        subject="s1",
        name="Ada",
        part="learner",
        deployment="1",
        target="",
        context="c1",
        context_title="Sharding",
        resource="r1",
        resource_title="FSDP",
        line_item=None,
        members_url=None,
        return_url=None,
        data=None,
    )
    launch = {"nonce_hash": digest("nonce"), "ticket_hash": digest(TICKET), "browser_hash": digest("browser")}
    _insert(
        connection,
        "lti_launches",
        launch | {"platform_id": PLATFORM, "message": message.to_text(), "expires_at": _NEVER},
    )


def remove_teaching(connection: sqlite3.Connection) -> None:
    for table, key in (
        *(("repositories", REPOSITORY), ("proofs", VALIDATION), ("rejudges", REJUDGE), ("lti_platforms", PLATFORM)),
    ):
        connection.execute(f"DELETE FROM {table} WHERE id = ?", (key,))


def _synced(folder: str, problem: str | None, outcome: str, version: str | None) -> dict[str, object]:
    return {
        "folder": folder,
        "problem": problem,
        "outcome": outcome,
        "version": version,
        "errors": [],
        "more_errors": 0,
    }


def _insert(connection: sqlite3.Connection, table: str, row: Mapping[str, object]) -> None:
    names, places = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(row.values()))
