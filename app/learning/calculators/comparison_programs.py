"""Training steps of the comparison that do not belong to a problem.

Each is beside the lesson that explains its strategy. The service shows them and never imports them, because it runs no
JAX.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from app.core.settings import CHECKOUT

_LESSONS = CHECKOUT / "lessons"
# From the imports that the shared part has as well to the import of the shared part.
_IMPORTS = re.compile(
    r"^from typing import Any\n.*^from lessons\.adam_on_mlp import [^\n]*\n", re.MULTILINE | re.DOTALL
)
Spec = tuple[str | None, ...]


@dataclass(frozen=True)
class OwnProgram:
    """A program with `init` and `step`, like a submission.

    Attributes:
      lesson: its source is in the folder programs/ of this lesson.
      x: how the rows of the batch are split, one entry for each dimension that is.
      y: the same of the targets.
      is_bound: its bytes sent and its FLOPs are upper bounds.
      note: what differs from the other programs of the comparison; empty if nothing does.
    """

    name: str
    lesson: str
    title: str
    meshes: tuple[Mapping[str, int], ...]
    x: Spec
    y: Spec
    note: str = ""
    is_bound: bool = False

    @cached_property
    def source(self) -> str:
        """The whole program, with the text that it shares with the others instead of its import."""
        own = (_LESSONS / self.lesson / "programs" / f"{self.name}.py").read_text(encoding="utf-8")
        shared = (_LESSONS / "adam_on_mlp.py").read_text(encoding="utf-8")
        return _IMPORTS.sub(lambda _: shared + "\n", own)


OWN_PROGRAMS = {
    each.name: each
    for each in (
        OwnProgram("zero2", "dp-to-fsdp", "ZeRO-2", ({"fsdp": 8}, {"fsdp": 4}), ("fsdp",), ("fsdp",)),
        OwnProgram(
            "fsdp_regather",
            "memory",
            "FSDP with regather",
            ({"fsdp": 8}, {"fsdp": 4}),
            ("fsdp",),
            ("fsdp",),
            "The backward pass gathers the kernels of layers 2 and 3 again. It needs neither the biases nor the kernel "
            "of layer 1, because a step does not use the gradient of x. The usual way to write this is "
            "jax.checkpoint with a policy that does not save gathered weights. On this backend, the compiler "
            "would merge the second gather of a kernel with the first, so the program defines its own backward pass "
            "instead.",
        ),
        OwnProgram(
            "tp",
            "tensor-sequence-context",
            "Tensor parallel",
            ({"tensor": 8}, {"tensor": 4}),
            (),
            (None, "tensor"),
            "Every device has all rows of x and of layer 2's result: more devices do not split these two.",
        ),
        OwnProgram(
            "fsdp_tp",
            "tensor-sequence-context",
            "FSDP x TP",
            ({"fsdp": 4, "tensor": 2}, {"fsdp": 2, "tensor": 2}),
            ("fsdp",),
            ("fsdp", "tensor"),
        ),
        OwnProgram(
            "pipeline",
            "pipelines",
            "Pipeline x DP",
            ({"data": 4, "stage": 2}, {"data": 2, "stage": 2}),
            ("data",),
            ("data",),
            "Three layers make two stages: layer 1, and layers 2 and 3. The batch is split over data, and each "
            "part runs as 4 microbatches through its own pipeline. Both stages run one program, so the state "
            "of the first is padded to the size of the second. Its FLOPs and bytes sent are upper bounds. FLOPs "
            "count both stages in each of the 5 ticks, but a device computes one of them, and in one tick uses "
            "nothing of it. Bytes sent count both directions, but each stage sends in only one: the first its results, "
            "the second their gradients.",
            is_bound=True,
        ),
    )
}
