"""What a package shows before anybody runs anything: its solution in outline, and what its starter compiles to.

A page that compiled these when somebody opens it would make the first reader wait. They follow from the package and the
version of JAX, so `meshgrade problem check` and each validation compile them once (app/authoring/package_pictures.py).
"""

import importlib.metadata
import math
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from grader.core.strict_model import SafeText, StrictModel
from grader.verdicts.evidence import Axes, Count, Held, Mesh, Shape


class OutlinedLeaf(StrictModel):
    """Leaves with equal placement: the first of them, and how many `others` there are.

    `held` has a slice of each dimension for each device in mesh order; null if there is no mesh, or no room to draw it.
    """

    path: SafeText
    dtype: SafeText
    shape: Shape
    others: Count = 0
    spec: SafeText = ""
    held: Held | None = None

    @model_validator(mode="after")
    def _slices_have_the_dimensions(self) -> Self:
        if any(len(slices) != len(self.shape) for slices in self.held or ()):
            raise ValueError("a slice of a leaf has other dimensions than the leaf")
        return self


class OutlinedCollective(StrictModel):
    """Neighbours in program order that are alike: `number` of them, with all `executions` of these together.

    A device sends `sent` bytes in these. If their number is unknown, `executions` is null, and `sent` is for one
    execution of each. `line` is the line of the source that causes them.
    """

    collective: SafeText
    axes: Axes | None
    sent: Count
    executions: Count | None
    in_loop: bool = False
    number: Annotated[int, Field(ge=1)] = 1
    line: Annotated[int, Field(ge=1)] | None = None


class Outline(StrictModel):
    """A program on one mesh: its inputs, what its devices send, and its outputs. The mesh is empty in call mode.

    `other_inputs`, `other_collectives` and `other_outputs` count what is left out.
    """

    mesh: Mesh
    inputs: list[OutlinedLeaf]
    collectives: list[OutlinedCollective]
    outputs: list[OutlinedLeaf]
    other_inputs: Count = 0
    other_collectives: Count = 0
    other_outputs: Count = 0

    @model_validator(mode="after")
    def _each_device_holds_a_slice(self) -> Self:
        devices = math.prod(self.mesh.values())
        if any(each.held is not None and len(each.held) != devices for each in (*self.inputs, *self.outputs)):
            raise ValueError("a leaf has slices of another number of devices than the mesh")
        return self


class Picture(StrictModel):
    """What is drawn of one variant. `of` is a hash of everything that decides it, except JAX.

    `starter` is a stored exploration without its program texts, on the first mesh: grader/explorer/exploration.py. Null
    in call mode, where nothing is compiled for a mesh.
    """

    of: str
    solution: Outline
    starter: dict[str, JsonValue] | None = None


class Pictures(StrictModel):
    """pictures.json: the picture of each variant by its name, which is empty without variants. `jax` compiled them."""

    jax: str
    variants: dict[str, Picture]

    @classmethod
    def of_this_jax(cls, variants: dict[str, Picture]) -> "Pictures":
        return cls(jax=importlib.metadata.version("jax"), variants=variants)

    def holds(self, others: "Pictures | None") -> bool:
        """Whether others were made from the same files by the same JAX: numbers of bytes may differ by processor."""
        return (
            others is not None
            and others.jax == self.jax
            and {name: each.of for name, each in others.variants.items()}
            == {name: each.of for name, each in self.variants.items()}
        )

    def text(self) -> str:
        return f"{self.model_dump_json(exclude_defaults=True)}\n"
