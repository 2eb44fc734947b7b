"""What the routes for insight need."""

from dataclasses import dataclass

from app.authoring.services import AuthoringServices
from app.insight.misconceptions import Misconceptions
from app.insight.service import Insight
from app.workbench.services import WorkbenchServices


@dataclass(frozen=True, kw_only=True)
class InsightServices(AuthoringServices, WorkbenchServices):
    insight: Insight
    misconceptions: Misconceptions
