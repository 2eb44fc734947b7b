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
allocation 4: size 4235520, preallocated-temp:
 value: <401 cublas-lt-matmul.2{1} @0> (size=4194304,offset=0): s8[4194304]{0}
 value: <400 custom-call.1{0} @0> (size=32768,offset=4194304): f32[128,64]{1,0}
 value: <402 custom-call.1{1} @0> (size=4194304,offset=0): s8[4194304]{0}
 value: <403 wrapped_tanh @0> (size=16384,offset=4210688): f32[64,64]{1,0}
 value: <404 all-gather-start{1,0} @0> (size=8192,offset=4227072): s8[8192]{0}
 value: <405 reduce-scatter-start{} @0> (size=16,offset=512): ((f32[64,64]{1,0}), f32[8,64]{1,0})

Total bytes used: 190932 (186.5KiB)
"""


def test_every_allocation_counts_once_and_temporaries_without_the_workspaces_of_cublas() -> None:
    found = read_buffer_assignment(TEXT)
    # The second array takes the place of half of the first.
    assert found.memory == Memory(7680 + 4096, 4096 + 160, 32768 + 8192 + 16, 4096)
    assert (found.allocated_bytes, found.host_bytes) == (7680 + 4096 + 160 + 4 + 4235520, 0)


def test_what_is_in_the_memory_of_the_host_takes_none_of_the_device() -> None:
    on_host = """\
allocation 5: size 8388608, color 5, preallocated-temp:
 value: <401 copy-start{0} @0> (size=8388608,offset=0): f32[8,512,512]{2,1,0:S(5)}
allocation 6: size 64, color 5, parameter 2, shape |f32[16]| at ShapeIndex {}:
"""
    found = read_buffer_assignment(TEXT.replace("\nTotal", f"{on_host}\nTotal"))
    assert found.host_bytes == 8388608 + 64
    assert (found.memory, found.allocated_bytes) == (
        read_buffer_assignment(TEXT).memory,
        read_buffer_assignment(TEXT).allocated_bytes,
    )


@pytest.mark.parametrize(
    "text", ["", "BufferAssignment:\n", "allocation 0: size -4, parameter 0:\n", f"allocation 0: size {'9' * 30}:\n"]
)
def test_a_text_without_allocations_is_refused(text: str) -> None:
    with pytest.raises(ProgramUnreadable, match="no buffer assignment"):
        read_buffer_assignment(text)
