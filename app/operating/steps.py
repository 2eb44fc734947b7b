"""A log line for each step of an attempt."""

import logging

from app.queue.events import Change

log = logging.getLogger(__name__)


def log_step(attempt_id: str, change: Change) -> None:
    log.info("attempt", extra={"attempt_id": attempt_id, "state": change.status, "phase": change.phase})
