"""A PostgreSQL that stops leaves one line in the log of each process."""

import asyncio
import logging

import psycopg
import pytest
from procrastinate.exceptions import ConnectorException
from sqlalchemy.exc import OperationalError, ProgrammingError

from app.operations.operating.outage_log import Outages
from tests.app.entry.cli.test_worker import working
from tests.app.grading.attempts.test_submit import ATTEMPTS

LOST = psycopg.OperationalError("connection failed: Connection refused\n\tIs the server running?")


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


class Closed(psycopg.AsyncConnection):
    """A connection that the server closed, or that this process closed itself."""

    def __init__(self, *, broken: bool) -> None:
        self._is_broken = broken

    def __del__(self) -> None:
        """Nothing was opened."""

    @property
    def broken(self) -> bool:
        return self._is_broken

    def __repr__(self) -> str:
        return "<psycopg.AsyncConnection [BAD]>"


def record(error: Exception | None = None, *arguments: object, **extra: object) -> logging.LogRecord:
    info = None if error is None else (type(error), error, None)
    made = logging.LogRecord("app.somewhere", logging.ERROR, "x.py", 1, "it failed", arguments or None, info)
    made.__dict__.update(extra)
    return made


@pytest.mark.parametrize(
    "made",
    [
        record(LOST),
        record(OperationalError("SELECT 1", {}, LOST)),
        record(caused(ConnectorException("Database error."), LOST)),
        record(psycopg.errors.AdminShutdown("terminating connection due to administrator command")),
        record(psycopg.errors.CannotConnectNow("the database system is starting up")),
        # As psycopg's pool and our own queue write it.
        record(None, "pool-1", LOST),
        record(None, Closed(broken=True)),
        record(None, 1.0, caused(ConnectorException(), LOST)),
        record(None, "OperationalError", database_error=OperationalError("SELECT 1", {}, LOST)),
        # As psycopg writes it if the server ends while a query is being cancelled.
        record(None, "AdminShutdown", name="psycopg"),
        record(None, "OperationalError", name="psycopg"),
    ],
)
def test_a_lost_connection_is_recognised_wherever_it_is(made):
    outages = Outages()
    line = outages.replaced(made)
    assert line.getMessage().startswith("PostgreSQL does not respond (")
    assert (line.exc_info, "\n" in line.getMessage()) == (None, False)
    assert outages.replaced(made) is None


@pytest.mark.parametrize(
    "made",
    [
        record(),
        record(ZeroDivisionError("a fault of ours")),
        record(ProgrammingError("SELEC", {}, psycopg.errors.SyntaxError("syntax error"))),
        record(OperationalError("INSERT", {}, psycopg.errors.DiskFull("could not extend file"))),
        record(OperationalError("SELECT 1", {}, psycopg.errors.QueryCanceled("statement timeout"))),
        record(None, "pool-1", "a word"),
        record(None, "AdminShutdown"),
        record(None, "CancelledError", name="psycopg"),
        record(None, "QueryCanceled", name="psycopg"),
        record(None, Closed(broken=False)),
    ],
)
def test_every_other_record_stays_as_it_is_even_during_an_outage(made):
    outages = Outages()
    assert outages.replaced(made) is made
    outages.replaced(record(LOST))
    assert outages.replaced(made) is made


def test_a_later_outage_has_a_line_of_its_own():
    moment = [0.0]
    outages = Outages(lambda: moment[0])
    lines = []
    for seconds in (0, 1, 30, 60, 91, 92):
        moment[0] = seconds
        lines.append(outages.replaced(record(LOST)))
    assert [each is not None for each in lines] == [True, False, False, False, True, False]


@pytest.mark.anyio
@pytest.mark.xdist_group("postgresql")
async def test_a_restart_of_postgresql_leaves_one_line_and_no_traceback(start_service, shared_url, postgres_server):
    """It left 51 in ten seconds: of each loop, each connection and each wait, most with a traceback."""
    async with (
        start_service(database_url=shared_url, grading_slots=0) as service,
        working(MESHGRADE_DATABASE_URL=shared_url) as worker,
    ):
        await asyncio.to_thread(postgres_server.stop)
        line = await asyncio.wait_for(worker.stderr.readline(), 60)
        await asyncio.to_thread(postgres_server.ensure_postgres_running)
        async with asyncio.timeout(60):
            while (sent := await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)).is_error:
                await asyncio.sleep(0.1)
        address = f"/api/v1/attempts/{sent.json()['id']}?wait=60"
        # Every loop of the worker has met the outage by then, and works again.
        assert (await service.http.get(address, headers=service.bearer)).json()["status"] == "finished"
        worker.terminate()
        _, rest = await asyncio.wait_for(worker.communicate(), 60)
    assert b" error app.operations.operating.outage_log: PostgreSQL does not respond (" in line
    assert [each for each in rest.splitlines() if each.split()[1] != b"info"] == []
