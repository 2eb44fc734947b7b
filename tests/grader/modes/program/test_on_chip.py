"""A program for TPUs, or a sentence that says why there is none, whatever the compiler does."""

from dataclasses import replace

import numpy as np
import pytest

from grader.core.chips import CHIPS
from grader.core.context import QUIET
from grader.core.errors import SubmissionFault
from grader.modes.program import on_chip
from grader.program.measurement import Artifact
from grader.sandbox.null_sandbox import NullSandbox
from tests.grader.checks.program.made_up_programs import program
from tests.grader.program.test_schedule import program_json


@pytest.fixture
def compile_for(monkeypatch):
    """Compiles for v5e with a compiler that answers with a reply, or with a fault."""
    monkeypatch.setattr(on_chip, "compiler_of", lambda platform: "libtpu 0.0.42.1")
    artifact = Artifact(np.zeros(4, np.uint8), ({"shape": [8], "dtype": "float32"},), 0)

    def compile_with(reply, mesh=None):
        def answer(message, values):
            if isinstance(reply, SubmissionFault):
                raise reply
            assert (message["op"], message["topology"]) == ("compile_for", "v5e:2x4")
            return {"ok": True, "program": reply}, {}

        measured = replace(program(mesh or {"x": 8}), artifact=artifact)
        return on_chip.compile_for(CHIPS["v5e"], measured, NullSandbox(answer), QUIET)

    return compile_with


def test_the_answer_is_the_program(compile_for):
    found = compile_for(program_json())
    assert (found.where, found.fault) == ("v5e:2x4 (libtpu 0.0.42.1)", "")
    assert found.program.schedule.computations[0].name == "main"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            SubmissionFault("memory_limit", "The compiler says: no"),
            "The program does not fit on a chip. The compiler says: no",
        ),
        (
            SubmissionFault("time_limit", "Your code"),
            "The compiler was stopped: it can use 600 s of CPU time, and 1200 s in all. "
            "If the machine was busy, try again.",
        ),
        (
            SubmissionFault("killed", "Your code"),
            "The compiler ended without an answer. This is a fault of XLA, not a mistake in your code. To find the "
            "operation that crashes it, leave out parts of the program until it compiles.",
        ),
        (SubmissionFault("error", "XLA fails.", compiler="It is odd."), "XLA fails. XLA says: It is odd."),
        (SubmissionFault("not_exportable", "It calls native code."), "It calls native code."),
        ({"schedule": 1}, "The program for x=8 could not be read: program: fields are missing or unknown"),
        (None, "The program for x=8 could not be read: program: expected an object"),
    ],
    ids=lambda value: value.reason if isinstance(value, SubmissionFault) else None,
)
def test_whatever_the_compiler_does_is_said(compile_for, reply, said):
    found = compile_for(reply)
    assert found.program is None
    assert found.fault.startswith(said)


def test_a_mesh_that_no_slice_has_is_not_checked(compile_for):
    found = compile_for(None, {"x": 2})
    assert (found.topology, found.program) == ("v5e", None)
    assert found.fault == "Not checked: slices here have 4, 8, 16, 32, 64, 128 or 256 chips, not 2."


def test_without_a_compiler_nothing_is_checked(compile_for, monkeypatch):
    monkeypatch.setattr(on_chip, "compiler_of", lambda platform: None)
    assert compile_for(None).fault == "Not checked: the TPU compiler is not installed here."
