"""What the routes for insight need."""

from dataclasses import dataclass

from app.insight.service import Insight
from app.workbench.services import WorkbenchServices


@dataclass(frozen=True, kw_only=True)
class InsightServices(WorkbenchServices):
    insight: Insight
