"""The secrets of several machines that grade for one service, in the database that they share.

The deployment secret comes from the data folder of the server that starts first. From then on, all servers use the one
in the database. A worker needs nothing but the database's address. It gets the judging secret, from which the
deployment secret cannot be computed: a worker runs beside submissions, and only draws hidden cases.
"""

from sqlalchemy import inspect, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import InstrumentedAttribute

from app.core.data_folder import judging_secret_of
from app.core.database import Database, insert_into
from app.core.migrate import explain
from app.grading.queue.models import DeploymentRow


async def share_secret(database: Database, own: bytes) -> bytes:
    """Store this server's secret in the database, unless there is one. Returns the one in use."""
    async with database.writing() as session:
        await session.execute(
            insert_into(session, DeploymentRow).values(id=1, secret=own.hex()).on_conflict_do_nothing()
        )
        secret = bytes.fromhex((await session.scalars(select(DeploymentRow.secret))).one())
        await session.execute(update(DeploymentRow).values(judging_secret=judging_secret_of(secret).hex()))
        return secret


async def shared_secret(database: Database) -> bytes | None:
    """The deployment secret in the database; None if no server has stored one.

    Raises:
      DatabaseUnusable: the database cannot be read.
    """
    return await _read(database, DeploymentRow.secret)


async def shared_judging_secret(database: Database) -> bytes | None:
    """The judging secret in the database; None if no server has stored one.

    Raises:
      DatabaseUnusable: the database cannot be read.
    """
    return await _read(database, DeploymentRow.judging_secret)


async def _read(
    database: Database, column: InstrumentedAttribute[str] | InstrumentedAttribute[str | None]
) -> bytes | None:
    if not database.shared:
        return None
    try:
        async with database.reading() as session:
            connection = await session.connection()
            if not await connection.run_sync(lambda each: inspect(each).has_table(DeploymentRow.__tablename__)):
                return None
            secret = await session.scalar(select(column))
    except DBAPIError as error:
        raise explain(error, database.name) from error
    return None if secret is None else bytes.fromhex(secret)
