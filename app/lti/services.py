"""What the routes for LTI need."""

from dataclasses import dataclass

from app.courses.services import CourseServices
from app.lti.keys import ToolKeys
from app.lti.launches import Launches
from app.lti.linked import LinkedCourses
from app.lti.platforms import Platforms
from app.lti.selections import Selections


@dataclass(frozen=True, kw_only=True)
class LTIServices(CourseServices):
    lti_keys: ToolKeys
    lti_platforms: Platforms
    lti_launches: Launches
    lti_linked: LinkedCourses
    lti_selections: Selections
