"""A log line for each step of an attempt, written by the process that did it, with its worker's name."""

import logging
from collections.abc import Callable

from app.grading.queue.events import Change

log = logging.getLogger(__name__)


def step_log(worker: str) -> Callable[[str, Change], None]:
    """A function that logs a step. Pass it only the steps of this process, because every process has its own log."""

    def log_step(attempt_id: str, change: Change) -> None:
        line = {"attempt_id": attempt_id, "state": change.status, "phase": change.phase, "worker": worker}
        log.info("attempt", extra=line)

    return log_step
