"""The deployment secret of several machines that grade for one service, in the database that they share.

It comes from the data folder of the server that starts first. From then on, all use the one in the database, so that a
worker only needs the database's address.
"""

from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from app.core.database import Database, insert_into
from app.core.migrate import explain
from app.grading.queue.models import DeploymentRow


async def share_secret(database: Database, own: bytes) -> bytes:
    """Store this server's secret in the database, unless there is one. Returns the one in use."""
    async with database.writing() as session:
        await session.execute(
            insert_into(session, DeploymentRow).values(id=1, secret=own.hex()).on_conflict_do_nothing()
        )
        return bytes.fromhex((await session.scalars(select(DeploymentRow.secret))).one())


async def shared_secret(database: Database) -> bytes | None:
    """The secret in the database; None if no server has stored one.

    Raises:
      DatabaseUnusable: the database cannot be read.
    """
    if not database.shared:
        return None
    try:
        async with database.reading() as session:
            connection = await session.connection()
            if not await connection.run_sync(lambda each: inspect(each).has_table(DeploymentRow.__tablename__)):
                return None
            secret = await session.scalar(select(DeploymentRow.secret))
    except DBAPIError as error:
        raise explain(error, database.name) from error
    return None if secret is None else bytes.fromhex(secret)
