"""Memory from the buffer assignment that XLA writes for a program on a GPU."""

import pytest

from grader.program.buffer_assignment import read_buffer_assignment
from grader.program.memory import Memory
from grader.program.tokens import ProgramUnreadable

TEXT = """BufferAssignment:
allocation 0: size 7680, parameter 1, shape |f32[48,40]| at ShapeIndex {}:
 value: <381 param.1 @0> (size=7680,offset=0): f32[48,40]{1,0}
allocation 1: size 4096, parameter 0, shape |f32[16,64]| at ShapeIndex {}, maybe-live-out:
 value: <368 param.4 @0> (size=4096,offset=0): f32[16,64]{1,0}
allocation 2: size 160, output shape is |(f32[16,64], f32[])|, maybe-live-out:
 value: <1 tuple @0> (size=160,offset=0): (f32[16,64], f32[])
allocation 3: size 4, thread-local:
allocation 4: size 178992, preallocated-temp:
 value: <400 custom-call.1{0} @0> (size=98304,offset=0): f32[128,64]{1,0}

Total bytes used: 190932 (186.5KiB)
"""


def test_every_allocation_counts_once() -> None:
    memory, everything = read_buffer_assignment(TEXT)
    assert memory == Memory(7680 + 4096, 4096 + 160, 178992, 4096)
    assert everything == 7680 + 4096 + 160 + 4 + 178992


@pytest.mark.parametrize(
    "text", ["", "BufferAssignment:\n", "allocation 0: size -4, parameter 0:\n", f"allocation 0: size {'9' * 30}:\n"]
)
def test_a_text_without_allocations_is_refused(text: str) -> None:
    with pytest.raises(ProgramUnreadable, match="no buffer assignment"):
        read_buffer_assignment(text)
