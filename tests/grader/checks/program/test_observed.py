"""What the process that traced a step reports of it: its primitives, and whether it was traced again."""

import pytest

from grader.checks.program import primitives, retrace
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, subject


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({"required": ["scan", "psum"]}, "does not use scan."),
        ({"any_of": ["scan", "while"]}, "uses none of scan, while."),
        ({"forbidden": ["psum"]}, "uses psum."),
        ({"required": ["scan"], "forbidden": ["psum"]}, "does not use scan and uses psum."),
        ({"required": ["psum"], "any_of": ["scan", "add"], "forbidden": ["while"]}, ""),
    ],
)
def test_primitives_are_required_by_name(bounds: dict[str, list[str]], text: str):
    used = program(EIGHT, primitives={"psum": 2, "add": 5})
    finding = primitives.check(subject((used, used)), primitives.Bounds(**bounds))
    assert (finding.passed, finding.reason) == ((True, None) if not text else (False, "wrong_structure"))
    assert text in finding.message


def test_primitives_are_required_on_every_mesh():
    pairs = (program(EIGHT, primitives={"scan": 1}),) * 2, (program(FOUR), program(FOUR))
    assert not primitives.check(subject(*pairs), primitives.Bounds(required=["scan"])).passed


def test_a_second_trace_is_seen_on_any_mesh():
    once = (program(EIGHT), program(EIGHT))
    assert retrace.check(subject(once), retrace.Bounds()).passed
    finding = retrace.check(subject(once, (program(FOUR, retraced=True), program(FOUR))), retrace.Bounds())
    assert (finding.passed, finding.reason) == (False, "retraced")
    assert "On mesh x=4" in finding.message
