"""A problem package in memory: the manifest (problem.toml) and the text of every file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    TypeAdapter,
    model_validator,
)

from grader.core.reasons import Reason
from grader.core.wire import DTYPES
from grader.package.budget import Budget
from grader.verdicts.fingerprint import KnownFingerprints
from grader.verdicts.pictures import Pictures
from grader.verdicts.verdict import Mode

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,63}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=80)]
Mesh = dict[Name, Annotated[int, Field(ge=1, le=64)]]
# One entry per dimension: a mesh axis, several axes, or "" for a dimension that is not split.
Spec = list[str | list[Name]]


class _Closed(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Limits(_Closed):
    """What one grading of one submission can use for all cases together, without JAX's start-up.

    `time_s` is CPU time, and `wall_s` is wall-clock time, a backstop for a submission that sleeps.
    """

    time_s: float = Field(default=20.0, gt=0, le=600)
    wall_s: float = Field(default=60.0, gt=0, le=1200)
    memory_mb: int = Field(default=2048, ge=512, le=65536)
    output_mb: int = Field(default=64, ge=1, le=1024)


class Tolerance(_Closed):
    """A value passes if |got - expected| <= atol + rtol * |expected|."""

    rtol: float = Field(ge=0, le=1)
    # An infinite tolerance would let anything pass.
    atol: float = Field(ge=0, allow_inf_nan=False)


class OutputTolerance(Tolerance):
    """The tolerance of some outputs, which replaces their dtype's.

    `outputs` are globs of leaf paths. Without `dtype`, it is for all dtypes except integers and booleans.
    """

    outputs: list[Line] = Field(min_length=1, max_length=32)
    dtype: str | None = None

    def is_for(self, path: str, dtype: str) -> bool:
        right_dtype = dtype == self.dtype if self.dtype else dtype.startswith(("float", "bfloat", "complex"))
        return right_dtype and any(fnmatchcase(path, each) for each in self.outputs)


class ToleranceTable(dict[str, Tolerance]):
    """The tolerances of a manifest: by dtype, and of single outputs. The first entry that is for an output counts."""

    def __init__(self, by_dtype: Mapping[str, Tolerance], of_outputs: Sequence[OutputTolerance] = ()) -> None:
        super().__init__(by_dtype)
        self.of_outputs = tuple(of_outputs)

    def at(self, path: str) -> dict[str, Tolerance]:
        """The tolerances of the output at this path, by dtype."""
        found: dict[str, Tolerance] = {**self}
        for dtype in DTYPES if self.of_outputs else ():
            entry = next((each for each in self.of_outputs if each.is_for(path, dtype)), None)
            if entry is not None:
                found[dtype] = entry
        return found


class CheckBounds(_Closed):
    """The keys that problem.toml can set for a check besides id, points, title and means; none by default."""


class CheckSpec(_Closed):
    """One graded property: `id` is the name of a file in grader/checks. The other keys are the bounds of the check.

    `means` is a sentence that says how to pass. It replaces the sentences that the check makes from its bounds.
    """

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    id: Line
    points: int = Field(ge=0, le=100)
    title: Line | None = None
    means: Annotated[str, StringConstraints(min_length=1, max_length=300)] | None = None

    _bounds: CheckBounds = PrivateAttr(default_factory=CheckBounds)

    @property
    def bounds(self) -> CheckBounds:
        """The bounds that `read_bounds` read: empty before that, or if they are wrong."""
        return self._bounds

    def read_bounds(self, model: type[CheckBounds]) -> None:
        """Read the other keys with the check's own model, which only the reader of packages knows.

        Raises:
          ValidationError: the keys are not bounds of this check.
        """
        self._bounds = model.model_validate(self.model_extra)


class FullSize(_Closed):
    """Shapes of a real model, by argument name, for which the entry point is compiled but not run."""

    # The number of devices is limited where the program is compiled.
    mesh: dict[Name, Annotated[int, Field(ge=1, le=256)]]
    shapes: dict[Name, list[Annotated[int, Field(ge=1)]]]


AxisTypes = Literal["auto", "explicit"]


class ProgramSpec(_Closed):
    """What the runner exports, and for which meshes: several, or one of a single device.

    With `init`, a state goes through `steps` steps; without it, the entry point is a function of its inputs. With
    `export_init`, `init` is exported, too, with the seed as an input, so that its memory on a device can be measured.
    `inputs` says how array arguments are sharded, by name; `groups` names groups of leaves by globs of their paths.
    All axes of the meshes are of one kind, `axis_types`: with Explicit axes, shardings are a part of types.
    """

    init: Name | None = None
    export_init: bool = False
    steps: int = Field(default=1, ge=1, le=8)
    meshes: list[Mesh] = Field(min_length=1, max_length=4)
    axis_types: AxisTypes = "auto"
    inputs: dict[Name, Spec] = Field(default_factory=dict)
    groups: dict[Name, list[Line]] = Field(default_factory=dict)
    full_size: FullSize | None = None

    def explicit_axes(self, mesh: Mesh) -> list[str]:
        """The Explicit axes of one of the meshes."""
        return list(mesh) if self.axis_types == "explicit" else []

    @model_validator(mode="after")
    def _full_size_has_the_same_axes(self) -> Self:
        if self.full_size is None:
            return self
        if self.init is not None:
            raise ValueError("full_size needs an entry point without init, because it gives the shapes of arguments")
        if list(self.full_size.mesh) != list(self.meshes[0]):
            raise ValueError(f"the mesh of full_size must have the axes of the others, {', '.join(self.meshes[0])}")
        return self


class InputSpec(_Closed):
    """An argument that the author of a run can type: an array or, without `shape`, a Python number.

    An entry of `shape` is a size, or a name for the same size in all arguments. No number is below `least` or above
    `most`.
    """

    dtype: Literal["int", "float", "bool", "int32", "float16", "bfloat16", "float32"]
    shape: list[Name | Annotated[int, Field(ge=1, le=256)]] | None = Field(default=None, max_length=4)
    least: Annotated[float, Field(allow_inf_nan=False)] | None = None
    most: Annotated[float, Field(allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _numbers_have_no_shape(self) -> Self:
        if (self.shape is None) != (self.dtype in ("int", "float")):
            raise ValueError('without a shape, dtype is "int" or "float"; with one, it is the dtype of an array')
        return self


def _number_or_text(value: object) -> object:
    # Report one fault; pydantic would report one for each of the three types.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a value of a variant is a number or a text")
    return value


# Starters quote these texts, so they contain no quotes.
_VariantText = Annotated[str, StringConstraints(pattern=r"^[^\"'\\\\{}\x00-\x1f]{1,80}$")]
VariantValue = Annotated[
    int | Annotated[float, Field(allow_inf_nan=False)] | _VariantText, BeforeValidator(_number_or_text)
]


class VariantSpec(_Closed):
    """One variant of a problem: its name, and the values that its texts and its code use."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
    values: dict[Name, VariantValue] = Field(min_length=1, max_length=16)


class _Manifest(_Closed):
    """What problem.toml says in every mode.

    `devices` is the number of host devices in the runner. `outcome` continues "You can now" once the problem is solved.
    """

    schema_version: Literal[1]
    uuid: Annotated[UUID, Field(strict=False)]  # TOML has no UUID type: text is read as one
    slug: Slug
    title: Line
    summary: Line
    outcome: Line | None = None
    track: Line
    difficulty: Literal["easy", "medium", "hard"]
    tags: list[Line] = Field(default_factory=list, max_length=12)
    devices: int = Field(default=8, ge=1, le=64)
    limits: Limits = Field(default_factory=Limits)
    checks: list[CheckSpec] = Field(min_length=1)
    tolerance: dict[str, Tolerance] = Field(default_factory=dict)
    output_tolerances: list[OutputTolerance] = Field(default_factory=list, max_length=32)
    prerequisites: list[Slug] = Field(default_factory=list)
    authors: list[Line] = Field(min_length=1)
    licence: Line

    @property
    def tolerances(self) -> ToleranceTable:
        return ToleranceTable(self.tolerance, self.output_tolerances)


class _CodeManifest(_Manifest):
    """What problem.toml says in both modes in which students write code. A student gets one of the variants."""

    entry: Name
    variants: list[VariantSpec] = Field(default_factory=list, max_length=16)


class CallManifest(_CodeManifest):
    """problem.toml of a problem whose entry point is called and whose results are compared."""

    mode: Literal["call"]
    # The arguments that a run can replace by typed values, by name.
    inputs: dict[Name, InputSpec] = Field(default_factory=dict, max_length=8)
    # The arguments that are made from values of cases: a PRNG key from a seed, or a mesh from the sizes of its axes.
    arguments: dict[Name, Literal["key", "mesh"]] = Field(default_factory=dict, max_length=8)


class ProgramManifest(_CodeManifest):
    """problem.toml of a problem whose entry point is exported, compiled for each mesh, and measured."""

    mode: Literal["program"]
    program: ProgramSpec


class AnswerSpec(_Closed):
    """One answer that the student writes. `tolerance` is relative; with 0, a number must be exact.

    A number with a `unit` is stored in that unit. Only a choice has `choices`, and only a table has `rows` and
    `columns`. If the question already shows the placement whose spec it requires, `placement_shown` lets the page draw
    it beside a wrong answer.
    """

    id: Name
    label: Line
    kind: Literal["number", "choice", "spec", "table"]
    unit: Annotated[str, StringConstraints(max_length=20)] = ""
    tolerance: float = Field(default=0.0, ge=0, le=0.1)
    choices: list[Line] = Field(default_factory=list, max_length=12)
    rows: list[Line] = Field(default_factory=list, max_length=12)
    columns: list[Line] = Field(default_factory=list, max_length=8)
    placement_shown: bool = False

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> Self:
        if (self.kind == "choice") != (len(set(self.choices)) >= 2):
            raise ValueError("a choice has at least two different choices, and no other kind has any")
        if (self.kind == "table") != (bool(self.rows) and bool(self.columns)):
            raise ValueError("a table has rows and columns, and no other kind has any")
        if self.kind in ("choice", "spec") and (self.unit or self.tolerance):
            raise ValueError("only numbers and tables have a unit or a tolerance")
        if self.placement_shown and self.kind != "spec":
            raise ValueError("only a spec has a placement to draw")
        return self


class MeshSpec(_Closed):
    """Which parameters of a question have its mesh, so that the page can draw it.

    `axes` has the axes with their sizes, or the size of one axis, which has its name. `shape` has the sizes of an array
    on it, `device` the device that the question is about, and `given` a spec whose slices the question asks for, so
    they are not drawn.
    """

    axes: Name
    shape: list[Name] = Field(default_factory=list, max_length=2)
    device: Name | None = None
    given: Name | None = None


class AnswerManifest(_Manifest):
    """problem.toml of a problem that is answered in a form, about numbers that are drawn for each student."""

    mode: Literal["answer"]
    answers: list[AnswerSpec] = Field(min_length=1, max_length=12)
    # The number of questions to draw. Equal ones count once.
    variants: int = Field(default=64, ge=8, le=64)
    mesh: MeshSpec | None = None

    @property
    def entry(self) -> str:
        """Empty, because a submission is not code."""
        return ""

    @property
    def points(self) -> dict[str, int]:
        """The points of each answer: equal shares, and one point of the rest for each of the first answers."""
        share, rest = divmod(sum(check.points for check in self.checks), len(self.answers))
        return {each.id: share + (number < rest) for number, each in enumerate(self.answers)}


Manifest = Annotated[CallManifest | ProgramManifest | AnswerManifest, Field(discriminator="mode")]
MANIFEST: TypeAdapter[CallManifest | ProgramManifest | AnswerManifest] = TypeAdapter(Manifest)
MANIFESTS: dict[Mode, type[BaseModel]] = {"call": CallManifest, "program": ProgramManifest, "answer": AnswerManifest}


@dataclass(frozen=True, slots=True)
class KnownSubmission:
    """A submission that ships with the package and proves it. `reason` is None if it must be accepted.

    `misunderstanding` is its docstring: what its author believed. `variants` names the variants that it is for; if
    empty, it is for all.
    """

    name: str
    source: str
    reason: Reason | None
    misunderstanding: str
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Package:
    """One version of a problem.

    `version` is the SHA-256 of its files, in hex. `warmup` and `check` are empty if it has none, and `figures` are SVG
    texts by file name. `helpers` are the sources of modules that its code and submissions can import, by name. `files`
    are the texts that are stored and hashed, by path. `known` and `pictures` are computed from these, so they are not
    part of the version; None if they are missing. `budget` is what budget.json says, None without that file. In answer
    mode, `starter` is the JSON of empty answers, and `reference` and `cases` are empty. `pitfalls` maps each known
    mistake that the statement's section of this name explains to the number of its item (grader/package/pitfalls.py).

    A package with variants always stands for one of them, `variant`. Its values are in the texts and in a helper, and
    `accepted` and `rejected` are those for this variant. `template` is the package before that
    (grader/package/variants.py).
    """

    manifest: Manifest
    version: str
    statement: str
    hints: tuple[str, ...]
    editorial: str
    starter: str
    reference: str
    cases: str
    accepted: tuple[KnownSubmission, ...]
    rejected: tuple[KnownSubmission, ...]
    warmup: str = ""
    check: str = ""
    figures: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict, repr=False)
    known: KnownFingerprints | None = field(default=None, repr=False, compare=False)
    pictures: Pictures | None = field(default=None, repr=False, compare=False)
    budget: Budget | None = None
    pitfalls: dict[str, int] = field(default_factory=dict)
    variant: VariantSpec | None = None
    template: "Package | None" = field(default=None, repr=False, compare=False)

    @property
    def slug(self) -> str:
        return self.manifest.slug

    @property
    def variant_name(self) -> str | None:
        return self.variant.name if self.variant else None

    @property
    def identity(self) -> str:
        """The name of what is graded: the version, and its variant. Cases and reference answers depend on both."""
        return self.version if self.variant is None else f"{self.version}:{self.variant.name}"
