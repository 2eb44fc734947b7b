"""The deployment secret where several machines grade for one service: in the database that they share.

The data folder of the server that starts first hands its secret over. From then on the database's is in force for all,
so that a worker needs to be told nothing but the database.
"""

from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from app.database import Database, insert_into
from app.migrate import explain
from app.queue.models import DeploymentRow


async def share_secret(database: Database, own: bytes) -> bytes:
    """Put this server's secret into the database, unless there is one; return the one in force."""
    async with database.writing() as session:
        await session.execute(
            insert_into(session, DeploymentRow).values(id=1, secret=own.hex()).on_conflict_do_nothing()
        )
        return bytes.fromhex((await session.scalars(select(DeploymentRow.secret))).one())


async def shared_secret(database: Database) -> bytes | None:
    """The secret in the database; None where no server has put one there.

    Raises:
      DatabaseUnusable: it cannot be read.
    """
    if not database.shared:
        return None
    try:
        async with database.reading() as session:
            connection = await session.connection()
            if not await connection.run_sync(lambda each: inspect(each).has_table(DeploymentRow.__tablename__)):
                return None
            found = await session.scalar(select(DeploymentRow.secret))
    except DBAPIError as error:
        raise explain(error, database.name) from error
    return None if found is None else bytes.fromhex(found)
