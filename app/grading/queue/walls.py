"""Whether the sandbox's walls are up. The service grades only while every one of them is."""

import logging
from collections.abc import Callable, Mapping, Sequence

from app.core.errors import GradingRefused
from app.core.start_errors import GradingImpossible
from app.grading.queue.protocol import WallReport
from app.grading.queue.server_code import OtherCode
from grader.core.errors import WallMissing

log = logging.getLogger(__name__)


class Walls:
    """Fails closed: nothing is graded before the first probe has finished, or after a probe that failed."""

    def __init__(self, probe: Callable[[], Sequence[WallReport]]) -> None:
        self._probe = probe
        self._missing: list[WallMissing] = []
        self._reported: tuple[str, ...] = ()
        self._other_code: OtherCode | None = None
        self.probed = False

    @classmethod
    def elsewhere(cls) -> "Walls":
        """For a process that grades nothing. Those that grade probe their own walls."""
        walls = cls(lambda: ())
        walls.probed = True
        return walls

    @property
    def are_up(self) -> bool:
        return self.probed and not self._missing

    @property
    def may_grade(self) -> bool:
        """Whether this process may take work: its walls are up, and it runs the grader of the server."""
        return self.are_up and self._other_code is None

    @property
    def is_outdated(self) -> bool:
        """Whether this process runs another grader than the server, as far as it knows."""
        return self._other_code is not None

    def note_other_code(self, other: OtherCode | None) -> None:
        """This process runs another grader than the server, or (None) the same."""
        if other is not None and self._other_code is None:
            log.error("nothing more is taken: %s; restart this process with the server's code", other)
        self._other_code = other

    @property
    def missing(self) -> list[dict[str, str]]:
        """Each wall that is known to be missing, with what is wrong and the remedy."""
        return [{"wall": each.wall, "found": each.found, "remedy": each.remedy} for each in self._missing]

    @property
    def states(self) -> dict[str, bool]:
        """Whether each wall is up, according to the latest probe or grading."""
        return dict.fromkeys(self._reported, True) | {each.wall: False for each in self._missing}

    def probe(self) -> None:
        """Probe every wall again. It blocks: call it in a thread."""
        try:
            reports = self._probe()
            missing = [WallMissing(each.name, each.found, each.remedy) for each in reports if not each.up]
            self._reported = tuple(each.name for each in reports)
            if not reports:
                missing = [WallMissing("sandbox", "no wall was probed", "run: ./meshgrade doctor")]
        except WallMissing as error:
            missing = [error]
        except Exception as error:  # a probe that fails proves nothing, so nothing may be graded
            log.exception("probing the walls failed")
            missing = [WallMissing("sandbox", f"the probe failed: {error}", "run: ./meshgrade doctor")]
        self._missing, self.probed = missing, True

    def adopt(self, states: Mapping[str, bool], missing: Sequence[Mapping[str, str]]) -> None:
        """Refuse work as the process does that grades for this one. These are its `states` and `missing`."""
        self._reported = tuple(states)
        self._missing = [WallMissing(each["wall"], each["found"], each["remedy"]) for each in missing]

    def record(self, error: WallMissing) -> None:
        """A grading met a missing wall: refuse until a probe finds it up."""
        self._missing = [error]

    def require_at_start(self) -> None:
        """Raises `GradingImpossible` while a wall is missing, for a process whose only purpose is to grade."""
        if self._missing:
            raise GradingImpossible(
                "; ".join(f"the wall '{each.wall}' is missing: {each.found}" for each in self._missing) + ".",
                "To fix it: " + "; ".join(dict.fromkeys(each.remedy for each in self._missing)),
            )

    def require(self) -> None:
        """Raises `GradingRefused` if a wall is known to be missing. Before the first probe, attempts may queue."""
        if self._missing:
            names = ", ".join(each.wall for each in self._missing)
            remedies = "; ".join(dict.fromkeys(each.remedy for each in self._missing))
            raise GradingRefused(f"Missing: {names}. To fix it: {remedies}", walls=self.missing)
