"""The roles of the processes that share a PostgreSQL, and what each may read and write.

The owner of the tables migrates them and restores backups. A server reads and writes rows, and cannot change tables or
what the audit log says. A worker runs beside submitted code, so `WORKER` lists all that it may read and write.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql
from sqlalchemy import Connection, func, select, text

from app.core.database import Database
from app.core.start_errors import RightsMissing

_LEASE = ("fence_token", "lease_until")
# What a worker writes to any row of work.
_WORK = ("share", "status", "priority", "turn_at", "tries", "finished_at", *_LEASE)


@dataclass(frozen=True, slots=True)
class Rights:
    """What a role may do with a table.

    Args:
      read: the columns that it may read; None for all.
      update: the columns that it may change in rows that exist.
    """

    table: str
    read: tuple[str, ...] | None = None
    insert: bool = False
    update: tuple[str, ...] = ()
    delete: bool = False


WORKER = (
    # What there is to do, and what it is judged by.
    Rights(
        "attempts",
        update=(
            *_WORK,
            *("version", "phase", "not_before", "started_at", "gradings"),
            *("verdict", "score", "verdict_status", "verdict_reason", "faults", "efficiency", "fingerprint"),
        ),
    ),
    Rights("explorations", update=(*_WORK, "phase", "result")),
    Rights("lesson_runs", update=(*_WORK, "result", "compiled")),
    Rights("proofs", update=(*_WORK, "findings", "total")),
    Rights("packages", update=("known", "explained", "pictures")),
    Rights("published"),
    Rights("questions", insert=True),
    Rights("rejudged", read=("trial_id", "attempt_id")),
    Rights("shared_answers", insert=True, delete=True),
    # The line, and the processes that serve it.
    Rights("fair_shares", insert=True, update=("round", "long_round")),
    Rights(
        "workers",
        insert=True,
        update=(
            *("name", "version", "code", "slots", "can_grade"),
            *("walls", "setbacks", "warnings", "clock_offset_s", "seen_at"),
        ),
        delete=True,
    ),
    Rights("deployment", read=("id", "judging_secret", "code")),
    Rights("alembic_version"),
    Rights(
        "procrastinate_jobs",
        insert=True,
        update=("status", "attempts", "scheduled_at", "priority", "queue_name", "lock", "worker_id", "abort_requested"),
        delete=True,
    ),
    # A trigger of it that runs when a job is deleted.
    Rights("procrastinate_periodic_defers", update=("job_id",)),
    Rights("procrastinate_workers", insert=True, update=("last_heartbeat",), delete=True),
    Rights("procrastinate_events", insert=True),
    # To whom a verdict is reported. The server reads the addresses, and sends.
    Rights("webhooks", read=("id", "user_id")),
    Rights("webhook_deliveries", read=("id",), insert=True),
    Rights("lti_scores", insert=True, update=("user_id", "next_try_at", "tries", *_LEASE)),
    Rights("lti_links", read=("id", "context_id", "problem", "assignment_id", "line_item")),
    Rights("lti_contexts", read=("id", "platform_id", "course_id")),
    Rights("lti_platforms", read=("id", "issuer")),
    Rights("identities", read=("issuer", "subject", "user_id")),
    Rights("course_members"),
    Rights("assignment_problems", read=("assignment_id", "problem")),
)
# A server may read, insert, update and delete rows of all tables but these.
_READ_ONLY = ("alembic_version",)
_APPEND_ONLY = ("audit_log",)


# PostgreSQL cuts longer names off, and the two roles could become one.
LONGEST_DATABASE = 63 - len("_server")


def server_role(database: str) -> str:
    return f"{database}_server"


def worker_role(database: str) -> str:
    return f"{database}_worker"


def creation(database: str) -> list[str]:
    """The statements that create the roles, unless they exist. Neither can sign in before it has a password."""
    statements = []
    for each in (server_role(database), worker_role(database)):
        body = _text("BEGIN CREATE ROLE {} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END", sql.Identifier(each))
        # As a literal: a name may contain what ends a quotation by dollars.
        statements.append(_text("DO {}", sql.Literal(body)))
    return statements


def grants(database: str) -> list[str]:
    """The statements that take all rights from the roles, and grant what they need. Run them in one transaction, as the
    owner of the tables."""
    server, worker = sql.Identifier(server_role(database)), sql.Identifier(worker_role(database))
    statements = [
        _text("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", sql.Identifier(database)),
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    ]
    for role in (server, worker):
        statements += [
            _text("GRANT CONNECT ON DATABASE {} TO {}", sql.Identifier(database), role),
            _text("GRANT USAGE ON SCHEMA public TO {}", role),
            _text("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}", role),
            _text("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}", role),
        ]
    statements.append(_text("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}", server))
    statements += [
        _text("REVOKE INSERT, UPDATE, DELETE ON {} FROM {}", sql.Identifier(each), server) for each in _READ_ONLY
    ]
    statements += [_text("REVOKE UPDATE, DELETE ON {} FROM {}", sql.Identifier(each), server) for each in _APPEND_ONLY]
    for rights in WORKER:
        granted = sql.SQL(", ").join(_granted(rights))
        statements.append(_text("GRANT {} ON {} TO {}", granted, sql.Identifier(rights.table), worker))
    return statements


def renew_grants(connection: Connection) -> bool:
    """Grant the roles of this database what this version needs. Returns whether there are any.

    Nothing is done on SQLite, or if this user does not own the tables.
    """
    if connection.dialect.name != "postgresql":
        return False
    database = connection.scalar(text("SELECT current_database()"))
    roles = {"server": server_role(database), "worker": worker_role(database)}
    found = connection.scalar(text("SELECT count(*) FROM pg_roles WHERE rolname IN (:server, :worker)"), roles)
    is_owner = text("SELECT tableowner = current_user FROM pg_tables WHERE tablename = 'alembic_version'")
    if found != len(roles) or not connection.scalar(is_owner):
        return False
    for statement in grants(database):
        # A name may contain percent signs, with which the driver would begin a parameter.
        connection.exec_driver_sql(statement.replace("%", "%%"))
    return True


async def require_rights_of_worker(database: Database) -> None:
    """Make sure that this user has the rights of a worker. With less, it would take work and lose what it did.

    Raises:
      RightsMissing: it lacks one.
    """
    if not database.shared:
        return
    needs = [(rights.table, right, column) for rights in WORKER for right, column in _each_right(rights)]
    has = (
        func.has_column_privilege(table, column, right) if column else func.has_table_privilege(table, right)
        for table, right, column in needs
    )
    async with database.reading() as session:
        granted = (await session.execute(select(*has))).one()
    for (table, right, column), is_granted in zip(needs, granted, strict=True):
        if not is_granted:
            raise RightsMissing(database.name, f"it needs {right} on {table}{f', column {column}' if column else ''}")


def _each_right(rights: Rights) -> Iterator[tuple[str, str | None]]:
    """Each right, and the column that it is for; None for all columns."""
    for column in rights.read or (None,):
        yield "SELECT", column
    for column in rights.update:
        yield "UPDATE", column
    for right, is_granted in (("INSERT", rights.insert), ("DELETE", rights.delete)):
        if is_granted:
            yield right, None


def _granted(rights: Rights) -> Iterator[sql.Composable]:
    yield _of_columns("SELECT", rights.read) if rights.read else sql.SQL("SELECT")
    if rights.insert:
        yield sql.SQL("INSERT")
    if rights.update:
        yield _of_columns("UPDATE", rights.update)
    if rights.delete:
        yield sql.SQL("DELETE")


def _of_columns(right: LiteralString, columns: Sequence[str]) -> sql.Composable:
    return sql.SQL(right) + sql.SQL(" ({})").format(sql.SQL(", ").join(map(sql.Identifier, columns)))


def _text(statement: LiteralString, *parts: sql.Composable) -> str:
    return sql.SQL(statement).format(*parts).as_string()
