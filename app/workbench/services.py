"""What the pages need where a problem is chosen and solved."""

from collections.abc import Callable
from dataclasses import dataclass

from app.attempts.services import AttemptServices
from app.queue.preparing import Preparation
from app.workbench.drafts import Drafts
from grader.package.package import Package


@dataclass(frozen=True, kw_only=True)
class WorkbenchServices(AttemptServices):
    """`warm` makes a runner ready for a problem. `preparation` is None where this process prepares nothing."""

    drafts: Drafts
    warm: Callable[[Package], None]
    preparation: Callable[[], Preparation] | None
