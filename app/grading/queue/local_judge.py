"""What routes ask of the judge that runs in their own process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.core.neighbours import Neighbours
from app.grading.queue.preparation import Preparation
from grader.package.package import Package
from grader.package.variants import of_variant

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

_TOPIC = "a problem was opened"


def _warm_nothing(package: Package) -> None:
    pass


@dataclass(frozen=True, slots=True)
class LocalJudge:
    """The default is for a process that leaves grading to workers.

    `warm` prepares a runner for a problem. `preparation` and `pool_stats` return None if the process prepares nothing
    or has no pool. `next_draw` is that of `Grader`.
    """

    warm: Callable[[Package], None] = _warm_nothing
    preparation: Callable[[], Preparation | None] = lambda: None
    pool_stats: "Callable[[], PoolStats | None]" = lambda: None
    next_draw: Callable[[Package], str | None] = lambda _: None


def warm_at(neighbours: Neighbours) -> Callable[[Package], None]:
    """The `warm` of a process that does not grade: its neighbour that does prepares the runner."""
    return lambda package: neighbours.send(_TOPIC, version=package.version, variant=package.variant_name)


def warm_for(neighbours: Neighbours, warm: Callable[[Package], None], find: Callable[[str], Package | None]) -> None:
    """Prepare runners for what is opened in neighbours. `find` returns a package by its version."""

    def receive(message: Mapping[str, Any]) -> None:
        if package := find(message["version"]):
            warm(of_variant(package, message["variant"]) if message["variant"] else package)

    neighbours.on(_TOPIC, receive)
