"""What the rejudge routes need."""

from dataclasses import dataclass

from app.courses.services import CourseServices
from app.rejudging.service import Rejudging


@dataclass(frozen=True, kw_only=True)
class RejudgingServices(CourseServices):
    rejudging: Rejudging
