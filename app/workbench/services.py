"""What the pages for choosing and solving problems need."""

from collections.abc import Callable
from dataclasses import dataclass

from app.attempts.durations import Durations
from app.attempts.services import AttemptServices
from app.lessons.services import LessonServices
from app.queue.preparing import Preparation
from app.workbench.drafts import Drafts
from app.workbench.reports import FaultReports
from grader.package.package import Package


@dataclass(frozen=True, kw_only=True)
class WorkbenchServices(AttemptServices, LessonServices):
    """`warm` prepares a runner for a problem. `preparation` is None if this process prepares nothing."""

    drafts: Drafts
    reports: FaultReports
    durations: Durations
    warm: Callable[[Package], None]
    preparation: Callable[[], Preparation] | None
