"""Training steps of the comparison that do not belong to a problem.

Their sources are in app/calculators/programs. The service shows them and never imports them, because it runs no JAX.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_FOLDER = Path(__file__).parent / "programs"
Spec = tuple[str | None, ...]


@dataclass(frozen=True)
class OwnProgram:
    """A program with `init` and `step`, like a submission.

    Attributes:
      x: how the rows of the batch are split, one entry for each dimension that is.
      y: the same of the targets.
      is_bound: its bytes sent and its FLOPs are upper bounds.
      note: what differs from the other programs of the comparison; empty if nothing does.
    """

    name: str
    title: str
    meshes: tuple[Mapping[str, int], ...]
    x: Spec
    y: Spec
    note: str = ""
    is_bound: bool = False

    @cached_property
    def source(self) -> str:
        return (_FOLDER / f"{self.name}.py").read_text(encoding="utf-8")


OWN_PROGRAMS = {
    each.name: each
    for each in (
        OwnProgram("zero2", "ZeRO-2", ({"fsdp": 8}, {"fsdp": 4}), ("fsdp",), ("fsdp",)),
        OwnProgram(
            "fsdp_regather",
            "FSDP with regather",
            ({"fsdp": 8}, {"fsdp": 4}),
            ("fsdp",),
            ("fsdp",),
            "The backward pass gathers the kernels of layers 2 and 3 again. It needs no bias, and not the kernel "
            "of layer 1, because a step has no use for the gradient of x. The usual way to write this is "
            "jax.checkpoint with a policy that does not save gathered weights. On this backend, the compiler "
            "would merge the second gather of a kernel with the first, so the program has a backward pass of its "
            "own instead.",
        ),
        OwnProgram(
            "tp",
            "Tensor parallel",
            ({"tensor": 8}, {"tensor": 4}),
            (),
            (None, "tensor"),
            "Every device has all rows of x and of layer 2's result: more devices do not divide these two.",
        ),
        OwnProgram(
            "fsdp_tp",
            "FSDP x TP",
            ({"fsdp": 4, "tensor": 2}, {"fsdp": 2, "tensor": 2}),
            ("fsdp",),
            ("fsdp", "tensor"),
        ),
        OwnProgram(
            "pipeline",
            "Pipeline x DP",
            ({"data": 4, "stage": 2}, {"data": 2, "stage": 2}),
            ("data",),
            ("data",),
            "Three layers make two stages: layer 1, and layers 2 and 3. The batch is split over data, and each "
            "part runs as 4 microbatches through a pipeline of its own. Both stages run one program, so the state "
            "of the first is padded to the size of the second. Its FLOPs and bytes sent are upper bounds. FLOPs "
            "count both stages in each of the 5 ticks, but a device computes one of them, and in one tick uses "
            "nothing of it. Bytes sent count both directions, but a stage sends in one only: the first its "
            "results, the second their gradients.",
            is_bound=True,
        ),
    )
}
