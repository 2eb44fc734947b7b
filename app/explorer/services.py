"""What the routes of the Explorer need."""

from dataclasses import dataclass

from app.explorer.service import Explorations
from app.workbench.services import WorkbenchServices


@dataclass(frozen=True, kw_only=True)
class ExplorerServices(WorkbenchServices):
    explorations: Explorations
