"""What lessons say of their programs on GPUs is what this compiler makes of them."""

import pytest

from grader.explorer.description import explored
from grader.inputs.explored_function import read_function
from tests.lessons import ragged_exchange
from tests.lessons.offloaded_layers import KEPT, LAYERS, MOVED, WIDTH, Measured
from tests.lessons.shipped_lessons import SHIPPED

pytestmark = pytest.mark.xdist_group("gpu")


@pytest.mark.parametrize(("policy", "measured"), [("kept", KEPT), ("moved", MOVED)])
def test_activations_in_the_memory_of_the_host(judge, policy: str, measured: Measured):
    lesson = SHIPPED.get("roofline")
    [program] = [each for each in lesson.explorable if "host" in each.title]
    source = lesson.blocks[program.program - 1].code
    assert "policy=moved)" in source
    source = source.replace("policy=moved)", f"policy={policy})")
    [found] = explored(judge.inspect_function(program.function, source, chip="h100")).programs
    assert found.leaves.leaves[0].shape == (LAYERS, WIDTH, WIDTH)
    assert found.on_chip is not None
    assert (found.on_chip.peak_bytes, found.on_chip.host_bytes) == (measured.on_gpu, measured.on_host)


def test_tokens_without_slots(judge):
    [block] = [each for each in SHIPPED.get("experts").blocks if "ragged_all_to_all" in each.code]
    function = read_function("exchange", "expert=8", 'x: float32[512, 64] P("expert")\nexpert: int32[512] P("expert")')
    [found] = explored(judge.inspect_function(function, block.code, chip="h100")).programs
    [sent] = [each.ring_bytes for each in found.collectives if each.collective == "ragged-all-to-all"]
    assert sent == ragged_exchange.SENT
