"""What `doctor` finds, as `doctor --json` prints it. docs/operating.md lists the keys, which monitoring relies on."""

import importlib.metadata
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.core.chips import Platform

if TYPE_CHECKING:
    from app.core.settings import Settings
    from app.entry.cli.service_report import DatabaseReport, ServiceReport
    from app.grading.queue.workers import Worker, WorkerSetback, WorkerWall, WorkerWarning
    from grader.judging.self_test import Trial
    from grader.sandbox.doctor import WallReport


@dataclass(frozen=True, slots=True)
class Tasks:
    """`limit` is how many processes and threads are permitted, None if nothing limits them; `needed` is how many all
    `slots` may need."""

    limit: int | None
    needed: int
    slots: int

    @property
    def are_few(self) -> bool:
        return self.limit is not None and self.limit < self.needed


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """A process of the service, from its row in the database."""

    name: str
    live: bool
    can_grade: bool
    seen_s: float
    version: str
    code: str
    outdated: bool
    slots: int
    clock_offset_s: float
    walls: "tuple[WorkerWall, ...]"
    setbacks: "tuple[WorkerSetback, ...]"
    warnings: "tuple[WorkerWarning, ...]"


@dataclass(frozen=True, slots=True)
class Standing:
    """`grades` is whether an attempt sent now would be graded. If it would not, `found` says why, without a full stop.
    `workers` is how many processes can grade; None if the database does not say."""

    grades: bool
    workers: int | None
    found: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong. It is `fatal` if this machine or the service cannot grade because of it."""

    fatal: bool
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """`trial` is None if no program was graded. `database` and `service` are None if there is no service yet, and
    `workers` if no database responds."""

    ready: bool
    troubles: tuple[Trouble, ...]
    walls: "tuple[WallReport, ...]"
    trial: "Trial | None"
    database: "DatabaseReport | None"
    service: Standing | None
    workers: "tuple[WorkerReport, ...] | None"
    tasks: Tasks
    git: bool
    compilers: dict[Platform, str | None]
    versions: dict[str, str]


def make_report(
    settings: "Settings", walls: "list[WallReport]", trial: "Trial | None", service: "ServiceReport | None"
) -> DoctorReport:
    """Complete what was tried with what is only read."""
    from app.authoring.repositories.git import usable_git
    from grader.core.chips import compilers

    workers = service.workers if service else None
    standing = _standing(service)
    tasks, has_git = _tasks(settings), usable_git() is not None
    troubles = tuple(_troubles(walls, trial, standing, tasks, has_git))
    return DoctorReport(
        ready=not any(each.fatal for each in troubles),
        troubles=troubles,
        walls=tuple(walls),
        trial=trial,
        database=service.database if service else None,
        service=standing,
        workers=None if workers is None else tuple(_worker(each) for each in workers),
        tasks=tasks,
        git=has_git,
        compilers=compilers(),
        versions=_versions(),
    )


def _troubles(
    walls: "list[WallReport]",
    trial: "Trial | None",
    standing: Standing | None,
    tasks: Tasks,
    has_git: bool,
) -> Iterator[Trouble]:
    from app.authoring.repositories.git import NEEDED

    for wall in walls:
        if not wall.up:
            yield Trouble(True, f"the wall {wall.name} is missing: {wall.found}", wall.remedy)
    if trial is not None and not trial.graded:
        yield Trouble(True, trial.found, "report this output")
    if tasks.are_few:
        yield Trouble(
            False,
            f"this process and its runners may have {tasks.limit:,} processes and threads, and its {tasks.slots} "
            f"grading slots may need {tasks.needed:,}: one submission can take another's",
            "raise the limit on processes (--pids-limit, TasksMax=, ulimit -u), or lower MESHGRADE_GRADING_SLOTS",
        )
    if standing and not standing.grades:
        yield Trouble(True, f"the service grades nothing. {standing.found}", standing.remedy)
    if not has_git:
        yield Trouble(False, f"{NEEDED}; folders can be synced without it", "apt-get install git")


def _standing(found: "ServiceReport | None") -> Standing | None:
    """Whether the service grades, from the same rows as `/readyz`."""
    from app.grading.queue.standstill import standstill_of

    if found is None:
        return None
    if found.workers is None:
        return Standing(False, None, f"Its database: {found.database.found}", found.database.remedy)
    connected = sum(each.can_grade for each in found.workers)
    if (standstill := standstill_of(found.workers)) is None:
        return Standing(True, connected, "", "")
    return Standing(False, connected, standstill.what, standstill.remedy)


def _worker(worker: "Worker") -> WorkerReport:
    return WorkerReport(
        name=worker.name,
        live=worker.is_live,
        can_grade=worker.can_grade,
        seen_s=worker.seen_s,
        version=worker.version,
        code=worker.code,
        outdated=worker.is_outdated,
        slots=worker.slots,
        clock_offset_s=worker.clock_offset_s,
        walls=worker.walls,
        setbacks=worker.setbacks,
        warnings=worker.warnings,
    )


def _tasks(settings: "Settings") -> Tasks:
    from grader.sandbox.own_limits import most_tasks
    from grader.sandbox.task_limits import needed_tasks

    slots = settings.grading_slots
    waiting = settings.pool_generic + settings.pool_per_problem + settings.pool_problems + slots
    # Verifiers that have ended their work wait for more, one for each core.
    waiting += os.cpu_count() or 1
    return Tasks(limit=most_tasks(), needed=needed_tasks(slots, waiting), slots=slots)


def _versions() -> dict[str, str]:
    names = ("jax", "jaxlib", "flax", "optax", "numpy")
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}
