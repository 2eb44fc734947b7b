"""A program-mode problem, and a grader that measures programs that were never compiled."""

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from app.grading.queue.null_grader import NullGrader
from grader.core.chips import CHIPS
from grader.core.errors import Cancelled, SubmissionFault
from grader.core.xla_options import GivenOption
from grader.program.listing import ListedComputation, ListedInstruction, Listing
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from grader.program.program_graph import GraphEnd, GraphNode, ProgramGraph
from grader.review.reader import read_package
from tests.app.conftest import write_package
from tests.grader.checks.program.made_up_programs import exchange, product, program, whole
from tests.grader.program.test_schedule import schedule_of

PROGRAM = Path(__file__).resolve().parents[3] / "grader" / "packages" / "move_mean"


@pytest.fixture
def package(tmp_path):
    """The problems of these tests: one of call mode, and one of program mode."""
    write_package(tmp_path)
    return read_package(Path(shutil.copytree(PROGRAM, tmp_path / "problems" / "move_mean")))


LISTING = Listing(
    (
        ListedComputation("main", "", (ListedInstruction("g = f32[8] all-gather(p)", 1),)),
        ListedComputation("region", "body of loop", (ListedInstruction("n = s32[] add(s, s)", None),)),
    ),
    left_out=3,
)


GRAPH = ProgramGraph(
    nodes=(GraphNode("collective", "", None, False, False, 1, (1,), (0,), 0, 0, None),),
    edges=(),
    arguments=(GraphEnd(0, 0, 4_096),),
    outputs=(),
    is_folded=False,
    left_out=0,
)


class Measuring(NullGrader):
    """A grader that sees an all-gather on line 1 of a source with `gather`, no program in one with `broken`, and
    one for chips alone in one with `ragged`. If a test clears `rest`, it tells the
    program for the first mesh and waits.
    """

    def __init__(self):
        self.inspected, self.options = [], []
        self.rest = threading.Event()
        self.rest.set()

    def inspect(self, package, source, context, *, chip=None, options=None, on_first=None):
        self.inspected.append(source)
        self.options.append(options)
        found = [_measured(source, mesh, size) for mesh, size in (({"x": 8}, 8), ({"x": 4}, 4))]
        if on_first is not None and not self.rest.is_set():
            on_first(found[0])
            assert self.rest.wait(60)
        return tuple(
            replace(each, on_chip=_on(chip, each.facts.devices, source), is_only_on_chip="ragged" in source)
            for each in found
        )

    def inspect_function(self, function, source, context, *, chip=None, options=None, on_first=None):
        self.inspected.append(source)
        return (
            replace(
                _measured(source, function.mesh, function.devices), on_chip=_on(chip, function.devices, source, options)
            ),
        )


def _on(chip, devices, source, options=None):
    """Return a schedule that libtpu printed, for 8 devices; for others, the message that there is no compiler. It is
    another one for a source with `ring`.
    """
    if chip is None:
        return None
    topology = CHIPS[chip].topology(devices)
    if devices != 8:
        return OnChip(topology, None, "Not checked: the TPU compiler is not installed here.", tried=False)
    name = "ring" if "ring" in source else "layers_in_a_loop"
    program = ChipFacts(Memory(4 << 20, 2 << 20, 0, 0), 8 << 30, 10**9, schedule_of(name))
    return OnChip(topology, program, options=tuple(GivenOption(*each) for each in (options or {}).items()))


def _measured(source, mesh, size):
    if "broken" in source:
        raise SubmissionFault("syntax_error", "invalid syntax", line=2, column=1)
    gathers = "gather" in source
    measured = program(
        mesh,
        collectives=[exchange("all-gather", 32_768, size, source_line=1)] if gathers else [],
        dots=[product(8_000, 1)],
        w=whole((512, 16), size) if gathers else None,
    )
    return replace(measured, listing=LISTING, graph=GRAPH) if gathers else measured


class Waiting(Measuring):
    """A grader that measures nothing until the test allows it, and stops once `stop` is set."""

    def __init__(self):
        super().__init__()
        self.begun, self.go, self.stopped = threading.Event(), threading.Event(), threading.Event()

    def inspect(self, package, source, context, *, chip=None, options=None, on_first=None):
        self.begun.set()
        while not self.go.wait(0.01):
            if context.stop.is_set():
                self.stopped.set()
                raise Cancelled("stopped")
        return super().inspect(package, source, context, on_first=on_first)
