"""What XLA's compiler for GPUs makes of a lesson's program, with activations kept on eight H100s or moved to the host.

`tests/gpu/test_lessons_on_gpus.py` compiles the program and compares the numbers.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """The bytes of everything that the program allocates on one GPU, and of what it keeps in the host's memory."""

    on_gpu: int
    on_host: int


LAYERS, WIDTH = 16, 1024
KEPT = Measured(on_gpu=314_574_648, on_host=0)
MOVED = Measured(on_gpu=180_358_208, on_host=134_217_728)
