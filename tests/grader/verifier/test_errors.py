"""Errors of XLA: those inside its own passes, and all others."""

import pytest

from grader.verifier.errors import failed, failed_inside_xla

OWN = """\
INTERNAL: during context [hlo verifier]: Expected instruction to have shape equal to f32[6], actual shape is f32[4]:
%concatenate.5 = f32[4]{0} concatenate(%slice.1, %slice)

Suspected Python Code Location:
  submission.py:20:13 [joins]
  submission.py:30:4 [<module>]

Failed after spmd-partitioning"""


def test_a_fault_in_what_a_pass_wrote_is_of_xla_and_has_the_innermost_line():
    refused = failed_inside_xla(RuntimeError(OWN))
    assert refused is not None
    assert refused.reason == "error"
    assert "not a mistake in your code. It suspects line 20." in str(refused)
    assert refused.detail == {"line": 20, "compiler": OWN.removeprefix("INTERNAL: ")}


def test_without_a_location_no_line_is_named():
    refused = failed_inside_xla(RuntimeError("INTERNAL: RET_CHECK failure (xla/a.cc:3) ok"))
    assert refused is not None
    assert "suspects" not in str(refused)
    assert refused.detail == {"compiler": "RET_CHECK failure (xla/a.cc:3) ok"}


@pytest.mark.parametrize(
    "text",
    [
        "INTERNAL: Mosaic failed to compile TPU kernel: not implemented",
        "UNIMPLEMENTED: an operation that [hlo verifier] does not know",
        "RESOURCE_EXHAUSTED: Out of memory allocating 4 bytes.",
    ],
)
def test_other_errors_stay_errors_of_the_program(text):
    assert failed_inside_xla(RuntimeError(text)) is None
    refused = failed("is compiled", RuntimeError(text))
    assert refused.reason == ("memory_limit" if "RESOURCE" in text else "error")
    assert str(refused) == f"The program fails when it is compiled: RuntimeError: {text}"
