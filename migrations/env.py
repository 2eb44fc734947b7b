"""Alembic's entry point: migrations run on a connection that app/core/migrate.py opened."""

from alembic import context

from app.accounts import models as account_models  # noqa: F401 (fills the metadata)
from app.accounts.audit import models as audit_models  # noqa: F401 (fills the metadata)
from app.authoring import models as authoring_models  # noqa: F401 (fills the metadata)
from app.core import limits  # noqa: F401 (fills the metadata)
from app.core.database import Base
from app.grading.queue import models as queue_models  # noqa: F401 (fills the metadata)
from app.learning.workbench import models as workbench_models  # noqa: F401 (fills the metadata)
from app.operations.webhooks import models as webhook_models  # noqa: F401 (fills the metadata)
from app.problems import models as problem_models  # noqa: F401 (fills the metadata)
from app.teaching.courses import models as course_models  # noqa: F401 (fills the metadata)
from app.teaching.rejudging import models as rejudging_models  # noqa: F401 (fills the metadata)
from app.teaching.search import models as search_models  # noqa: F401 (fills the metadata)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite cannot alter a column: Alembic copies the table instead.
    render_as_batch=True,
    compare_type=True,
)
context.run_migrations()
