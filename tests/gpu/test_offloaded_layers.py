"""The lesson on memory says of activations in the host's memory what this compiler makes of its program."""

import pytest

from grader.explorer.description import explored
from tests.lessons.offloaded_layers import KEPT, LAYERS, MOVED, WIDTH, Measured
from tests.lessons.shipped_lessons import SHIPPED

pytestmark = pytest.mark.xdist_group("gpu")


@pytest.mark.parametrize(("policy", "measured"), [("kept", KEPT), ("moved", MOVED)])
def test_the_numbers_of_the_lesson_are_those_of_the_compiler(judge, policy: str, measured: Measured):
    lesson = SHIPPED.get("memory")
    [program] = [each for each in lesson.explorable if "host" in each.title]
    source = lesson.blocks[program.program - 1].code
    assert "policy=moved)" in source
    source = source.replace("policy=moved)", f"policy={policy})")
    [found] = explored(judge.inspect_function(program.function, source, chip="h100")).programs
    assert found.leaves.leaves[0].shape == (LAYERS, WIDTH, WIDTH)
    assert found.on_chip is not None
    assert (found.on_chip.peak_bytes, found.on_chip.host_bytes) == (measured.on_gpu, measured.on_host)
