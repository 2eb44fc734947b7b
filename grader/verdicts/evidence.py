"""Evidence of a check as data, in a few kinds that pages know how to draw.

A check that builds one of these kinds needs no code in any page. Bytes and operations are those of one device. Names of
leaves, specs and texts may come from a submission: `SafeText` cleans them, and pages escape and shorten them.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from grader.core.strict_model import SafeText, StrictModel

Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(allow_inf_nan=False)]
# Axis name to size, in the order of the axes; devices are numbered row by row.
Mesh = dict[SafeText, Annotated[int, Field(ge=1)]]
# The tuple is not strict, because JSON has only lists. Its elements are strict.
Shape = Annotated[tuple[Count, ...], Field(strict=False)]
# [start, stop) of one dimension.
Extent = Annotated[tuple[Count, Count], Field(strict=False)]
Slices = Annotated[tuple[Extent, ...], Field(strict=False)]
# What each device holds, in mesh order.
Held = Annotated[tuple[Slices, ...], Field(strict=False)]
Axes = Annotated[tuple[SafeText, ...], Field(strict=False)]


class OnMesh(StrictModel):
    """Evidence about one mesh. `cases` names the program's cases, if the mesh has several programs."""

    mesh: Mesh
    cases: list[SafeText] = Field(default_factory=list)


class Leaf(StrictModel):
    """One array in the input state or in the step's output. `got` is null if there is no such leaf.

    `ok` says whether the check accepts it, because a check can accept placements other than the reference's. `shape` is
    the reference's. `got_shape` is null if it is the same; otherwise the slices of `got` are slices of that shape.
    """

    path: SafeText
    when: Literal["in", "out"]
    shape: Shape
    dtype: SafeText
    ok: bool
    expected_spec: SafeText
    got_spec: SafeText
    expected: Held
    got: Held | None
    got_shape: Shape | None = None


class Leaves(OnMesh):
    """The placement of each leaf."""

    kind: Literal["leaves"] = "leaves"
    leaves: list[Leaf]


class Amount(StrictModel):
    """One quantity; null means unknown or meaningless. `whole` is the value on a device if nothing were split.

    `at_least` and `at_most` are the smallest and the largest value that the check accepts; null if it sets none.
    """

    name: SafeText
    mine: Count | None
    reference: Count | None
    whole: Count | None
    at_least: Count | None = None
    at_most: Count | None = None


class Amounts(OnMesh):
    """Quantities on one device. `title` names the quantity, and `whole_title` says what `whole` means."""

    kind: Literal["amounts"] = "amounts"
    title: SafeText
    unit: Literal["bytes", "operations", "products"]
    whole_title: SafeText
    rows: list[Amount]


class Traffic(StrictModel):
    """A sum over collectives: bytes of whole tensors, and bytes that each device sends."""

    executions: Count
    bytes: Count
    ring_bytes: Count


class CollectiveSum(StrictModel):
    """All collectives of one kind over the same axes. `axes` is null if their groups do not run along axes."""

    collective: SafeText
    axes: Axes | None
    group_size: Count
    in_loop: bool
    mine: Traffic | None
    reference: Traffic | None


class CollectiveCall(StrictModel):
    """One collective of a program. `bytes` is that of one execution; `executions` is null if the number is unknown."""

    collective: SafeText
    axes: Axes | None
    bytes: Count
    executions: Count | None
    in_loop: bool


class Limit(StrictModel):
    """A rule's bounds on some collectives, over all their executions.

    `at_least` and `at_most` are the smallest and the largest value that it accepts; null if it sets no such bound.
    `reference` is null for a rule about single leaves; `name` then has the leaf that is furthest out of bounds.
    """

    name: SafeText
    unit: Literal["bytes", "executions"]
    mine: Count
    reference: Count | None
    at_least: Count | None
    at_most: Count | None


class Collectives(OnMesh):
    """Communication: sums for both programs, the first collectives of each in program order, and the limits."""

    kind: Literal["collectives"] = "collectives"
    sums: list[CollectiveSum]
    mine: list[CollectiveCall]
    reference: list[CollectiveCall]
    limits: list[Limit] = Field(default_factory=list)


class Factor(StrictModel):
    """The factor by which a quantity changes from the main mesh to this one; null if it is unknown."""

    name: SafeText
    mine: Number | None
    reference: Number | None


class Factors(OnMesh):
    """How quantities change with the mesh."""

    kind: Literal["factors"] = "factors"
    factors: list[Factor]


class Facts(StrictModel):
    """Numbers, texts and booleans by name. `about` names their subject. `mesh` is null if they apply to every mesh."""

    kind: Literal["facts"] = "facts"
    mesh: Mesh | None = None
    cases: list[SafeText] = Field(default_factory=list)
    about: SafeText
    values: dict[SafeText, bool | int | SafeText]


class ToleranceUsed(StrictModel):
    """Passes where |got - expected| <= atol + rtol * |expected|."""

    rtol: Number
    atol: Number


class Tolerances(StrictModel):
    """The tolerance for each compared dtype."""

    kind: Literal["tolerances"] = "tolerances"
    by_dtype: dict[SafeText, ToleranceUsed]


class OutputTolerance(ToleranceUsed):
    """The tolerance of one output. The path is empty if the result is a single array."""

    output: SafeText
    dtype: SafeText


class OutputTolerances(StrictModel):
    """The outputs that have their own tolerance. The others have their dtype's."""

    kind: Literal["output_tolerances"] = "output_tolerances"
    outputs: list[OutputTolerance]


class WorstElement(StrictModel):
    """The element with the largest error. The relative error is null if it is infinite or not a number."""

    index: list[Count]
    expected: SafeText
    got: SafeText
    relative_error: Number | None


class ShapePair(StrictModel):
    """The two shapes of one array. `leaf` is its path, empty if the result is a single array."""

    leaf: SafeText
    expected: Shape
    got: Shape


class Difference(StrictModel):
    """How a result differs: the values as text, or the names of the leaves if those differ.

    `shapes` is null unless the shape is what differs.
    """

    expected: SafeText | list[SafeText]
    got: SafeText | list[SafeText]
    worst: WorstElement | None = None
    shapes: ShapePair | None = None


class Frame(StrictModel):
    """A line of a traceback."""

    line: int
    function: SafeText
    text: SafeText


class Fault(StrictModel):
    """How the submission failed: where a syntax error is, the exception, or what ended its process.

    `compiler` is the text of an error inside XLA. `shapes` are those of an array that enters a step with one shape and
    leaves it with another.
    """

    kind: Literal["fault"] = "fault"
    line: int | None = None
    column: int | None = None
    type: SafeText | None = None
    traceback: list[Frame] = Field(default_factory=list)
    ended_by: SafeText | None = None
    compiler: SafeText | None = None
    shapes: ShapePair | None = None

    @classmethod
    def entries_of(cls, detail: Mapping[str, object]) -> list["Fault"]:
        """The entry for a `SubmissionFault.detail`, whose form the session has checked; none if it is empty."""
        return [cls.model_validate(detail)] if detail else []


class FailedCase(StrictModel):
    """A public case that failed; for a program, with the mesh and the step."""

    kind: Literal["case"] = "case"
    case: SafeText
    mesh: Mesh | None = None
    where: SafeText = ""
    inputs: dict[SafeText, SafeText] = Field(default_factory=dict)
    difference: Difference | None = None
    fault: Fault | None = None


Evidence = Annotated[
    Leaves | Amounts | Collectives | Factors | Facts | Tolerances | OutputTolerances | FailedCase | Fault,
    Field(discriminator="kind"),
]
