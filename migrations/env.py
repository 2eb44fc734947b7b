"""Alembic's entry point: migrations run on a connection that app/migrate.py opened."""

from alembic import context

from app.accounts import models as account_models  # noqa: F401 (fills the metadata)
from app.audit import models as audit_models  # noqa: F401 (fills the metadata)
from app.authoring import models as authoring_models  # noqa: F401 (fills the metadata)
from app.courses import models as course_models  # noqa: F401 (fills the metadata)
from app.database import Base
from app.problems import models as problem_models  # noqa: F401 (fills the metadata)
from app.queue import models as queue_models  # noqa: F401 (fills the metadata)
from app.rejudging import models as rejudging_models  # noqa: F401 (fills the metadata)
from app.webhooks import models as webhook_models  # noqa: F401 (fills the metadata)
from app.workbench import models as workbench_models  # noqa: F401 (fills the metadata)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite cannot alter a column: Alembic copies the table instead.
    render_as_batch=True,
    compare_type=True,
)
context.run_migrations()
