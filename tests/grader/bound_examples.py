"""For each bound that a problem.toml can set: a submission that it rejects, and a value with which the same one passes.

Programs are made up (made_up_programs.py), so no example starts a process. test_every_check.py finds the bounds in the
models and names those without an example.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader import checks
from grader.answers.answer_text import agrees
from grader.checks.call_outcome import Answer, CallSubject, Outcome
from grader.checks.compare import compare
from grader.checks.program_subject import FullSizeProgram, Subject
from grader.core.case import Case
from grader.core.errors import InputsUnfit
from grader.inputs.typed_inputs import read_typed
from grader.package.package import AnswerSpec, InputSpec, OutputTolerance, Tolerance, ToleranceTable
from grader.program.collectives import Collective
from grader.program.facts import ProgramLeaf, WrittenCollective
from grader.program.measurement import Measured
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from grader.program.schedule import Schedule, ScheduledCollective, ScheduledComputation, Step
from grader.verdicts.verdict import Mode
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, product, program, split, subject, whole

Bounds = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """`earned` says what the submission earns within some bounds: everything, nothing or, with parts, their points.

    `passes` and `rejects` differ in one bound, and the submission earns less within `rejects`.
    """

    kind: str
    earned: Callable[[Bounds], float]
    passes: Bounds
    rejects: Bounds

    @property
    def bound(self) -> str:
        """The path of the key in which the two differ, such as `program.collectives.rules.at_most`."""
        return ".".join([self.kind, *_difference(self.passes, self.rejects)])


def _difference(one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, list) and isinstance(other, list) and all(isinstance(each, dict) for each in [*one, *other]):
        [(one, other)] = zip(one, other, strict=True)
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return
    [name] = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    yield name
    yield from _difference(one.get(name), other.get(name))


def examples(kind: str, facts: Any, *pairs: tuple[Bounds, Bounds]) -> list[Example]:
    """Examples of the check `kind`, such as `program.memory`, with the same facts."""
    mode: Mode
    mode, name = kind.split(".")  # type: ignore[assignment]
    module = checks.load(mode, name)

    def earned(bounds: Bounds) -> float:
        finding = module.check(facts, module.Bounds.model_validate(bounds))
        return float("inf") if finding.passed else finding.points

    return [Example(kind, earned, passes, rejects) for passes, rejects in pairs]


WHOLE = 32_768
SLICE = "v5e:2x4"


def on_eight(reference: dict[str, Any] | None = None, **mine: Any) -> Subject:
    """A submission for eight devices. Its facts are the reference's but for `mine`."""
    usual = {"collectives": [exchange("all-gather", WHOLE)]} | (reference or {})
    return subject((program(EIGHT, **usual | mine), program(EIGHT, **usual)))


def moved(*collectives: Collective) -> Subject:
    return on_eight(collectives=collectives)


def in_loop(size: int = WHOLE, executions: int = 3, **changes: Any) -> Collective:
    return exchange("all-gather", size, loops=("while.1",), executions=executions, **changes)


def gathers(**rule: Any) -> Bounds:
    return {"rules": [{"kinds": ["all-gather"]} | rule]}


def rules(*collectives: Collective, of: tuple[Bounds, Bounds]) -> list[Example]:
    """An example of one rule of the check `collectives`."""
    return examples("program.collectives", moved(*collectives), (gathers(**of[0]), gathers(**of[1])))


ONCE, ROWS = exchange("all-gather", WHOLE), exchange("all-gather", WHOLE, depends=(1,), carries=(1,))
COLLECTIVES = [
    *examples("program.collectives", moved(ONCE), ({"allowed": ["all-gather"]}, {"allowed": ["all-reduce"]})),
    *examples(
        "program.collectives",
        moved(exchange("all-gather", 100)),
        ({"allowed": [], "ignore_below": 101}, {"allowed": [], "ignore_below": 100}),
    ),
    *examples(
        "program.collectives",
        moved(ONCE),
        (
            {"rules": [{"kinds": ["all-gather"], "of": "params", "at_least": 1.0}]},
            {"rules": [{"kinds": ["all-reduce"], "of": "params", "at_least": 1.0}]},
        ),
    ),
    *rules(ONCE, of=({"of": "params", "at_least": 1.0}, {"of": "params", "at_least": 1.01})),
    *rules(ONCE, of=({"of": "params", "at_most": 1.0}, {"of": "params", "at_most": 0.99})),
    *rules(ONCE, ONCE, of=({"of": "params", "at_once": 1.0}, {"of": "params", "at_once": 0.99})),
    # x has 1,536 bytes, and w 32,768.
    *rules(ONCE, of=({"of": "params", "at_most": 1.0}, {"of": "x", "at_most": 1.0})),
    *rules(ONCE, of=({"axes": ["y"], "at_most": 0.0, "of": "params"}, {"axes": ["x"], "at_most": 0.0, "of": "params"})),
    *rules(
        ONCE,
        of=(
            {"within": "loops", "of": "params", "at_most": 0.0},
            {"within": "no loop", "of": "params", "at_most": 0.0},
        ),
    ),
    *rules(in_loop(), of=({"loops": "only"}, {"loops": "never"})),
    *rules(
        ROWS,
        of=(
            {"only_from": ["params"], "of": "params", "at_most": 0.0},
            {"only_from": ["x"], "of": "params", "at_most": 0.0},
        ),
    ),
    *rules(
        ROWS,
        of=(
            {"not_only_from": ["x"], "of": "params", "at_most": 0.0},
            {"not_only_from": ["params"], "of": "params", "at_most": 0.0},
        ),
    ),
    *rules(
        exchange("all-gather", WHOLE, outputs=(0,)),
        of=({"into": ["loss"], "of": "params", "at_most": 0.0}, {"into": ["params"], "of": "params", "at_most": 0.0}),
    ),
    *rules(
        exchange("all-gather", WHOLE, outputs=(0,)),
        of=(
            {"not_into": ["params"], "of": "params", "at_most": 0.0},
            {"not_into": ["loss"], "of": "params", "at_most": 0.0},
        ),
    ),
    # All of it is sent for the loss, so w gets none.
    *rules(
        exchange("all-gather", WHOLE, depends=(1,)),
        of=(
            {"each": False, "of": "params", "at_least": 1.0},
            {"each": True, "of": "params", "at_least": 1.0},
        ),
    ),
    *rules(in_loop(), of=({"executions": {"at_least": 3}}, {"executions": {"at_least": 4}})),
    *rules(in_loop(), of=({"executions": {"at_most": "x-5"}}, {"executions": {"at_most": "x-6"}})),
]


def schedule(*flops: int) -> Schedule:
    """A loop of three rounds with these steps, in the second of which a gather of 8 KiB over `x` arrives."""
    steps = tuple(Step(f"step.{number}", None, each, 5) for number, each in enumerate(flops))
    gather = ScheduledCollective("all-gather", ("bf16",), ("x",), 8, 8192, 7168, "ICI", 12, 0, 2)
    body = ScheduledComputation("body", "while.1", 3, steps, (gather,))
    return Schedule((ScheduledComputation("main", "", 1, (Step("while.1", 1, 1, 5),), ()), body), 0)


def compiled(topology: str = SLICE, peak_bytes: int = 0, temporary_bytes: int = 0) -> OnChip:
    facts = ChipFacts(Memory(0, 0, temporary_bytes, 0), peak_bytes, None, schedule(0, 50, 0, 50))
    return OnChip(topology, facts, compiler="a compiler")


def on_chips(temporary_bytes: int = 0) -> Subject:
    """Programs for two slices. Only the compiler for a v5e made it; the one for H100s ended."""
    ended = OnChip("h100:8", None, "The compiler ended without an answer.")
    return replace(on_eight(), on_chip={SLICE: compiled(temporary_bytes=temporary_bytes), "h100:8": ended})


def chip_rule(**changes: Any) -> Bounds:
    """No gather at all, in bytes of w. The loop gathers three times 8 KiB."""
    rule = {"kinds": ["all-gather"], "of": "params", "at_most": 0.0} | changes
    return {"on_chip": {"topology": SLICE, "rules": [rule]}}


def chip_limit(**changes: Any) -> Bounds:
    return {"on_chip": {"topology": SLICE, "of": "params", "temporaries_at_most": 1.0} | changes}


CHIPS = [
    *examples(
        "program.collectives",
        on_chips(),
        (chip_rule(at_most=0.75), {"on_chip": chip_rule(at_most=0.75)["on_chip"] | {"topology": "h100:8"}}),
        ({"on_chip": chip_rule()["on_chip"] | {"ignore_below": 8192 * 3 + 1}}, chip_rule()),
        (chip_rule(kinds=["all-reduce"]), chip_rule()),
        (chip_rule(axes=["y"]), chip_rule(axes=["x"])),
        (chip_rule(within="no loop"), chip_rule(within="loops")),
        (chip_rule(at_most=1.0), chip_rule(at_most=1.0, of="x")),
        (chip_rule(at_most=0.75), chip_rule(at_most=0.74)),
        (chip_rule(at_most=0.75, at_least=0.75), chip_rule(at_most=0.75, at_least=0.76)),
    ),
    *examples(
        "program.memory",
        on_chips(temporary_bytes=WHOLE + 4096),
        (chip_limit(), chip_limit(topology="h100:8")),
        (chip_limit(), chip_limit(of="x")),
        (chip_limit(), chip_limit(temporaries_at_most=0.99)),
    ),
    *examples(
        "program.overlap",
        on_chips(),
        ({"topology": SLICE}, {"topology": "h100:8"}),
        ({"topology": SLICE}, {"topology": SLICE, "kinds": ["all-reduce"]}),
        ({"topology": SLICE, "at_least": 0.5}, {"topology": SLICE, "at_least": 0.51}),
        ({"topology": SLICE, "ignore_below": 8192}, {"topology": SLICE, "ignore_below": 8193}),
    ),
]


def at_full_size(**changes: Any) -> Measured:
    usual: dict[str, Any] = {
        "argument_bytes": 1 << 30,
        "temporary_bytes": 17 << 30,
        "w": split((512, 16), 256),
        "collectives": [ONCE],
    }
    return program({"x": 256}, **usual | changes)


def full(**mine: Any) -> Subject:
    """A program that needs 18 GiB at full size: more than a v5e has, and less than a v5p."""
    return replace(on_eight(), full_size=FullSizeProgram(at_full_size(), at_full_size(**mine), on_chip={}))


def on_slice(topology: str = "v5p:4x8x8", **bounds: float) -> Bounds:
    return {"topology": topology} | bounds


FITS = [
    *examples("program.fits", full(), (on_slice(), on_slice("v5e:16x16"))),
    *examples("program.fits", full(flops=4_000), (on_slice(flops_at_least=0.5), on_slice(flops_at_least=0.51))),
    *examples("program.fits", full(flops=16_000), (on_slice(flops_at_most=2.0), on_slice(flops_at_most=1.99))),
    *examples("program.fits", full(collectives=[]), (on_slice(sent_at_least=0.0), on_slice(sent_at_least=0.01))),
]

NARROW = WrittenCollective("all-gather", ("bf16",), 1, WHOLE // 16)
SUM, LOOP = "stablehlo.add", "stablehlo.while"
INSERTED = exchange("all-gather", 100, channel=2)
BY_COLUMNS = replace(
    whole((512, 16), 8),
    slices=tuple(((0, 512), (2 * device, 2 * device + 2)) for device in range(8)),
    spec="P(None, 'x')",
)


def narrow(**changes: Any) -> Bounds:
    return {"rules": [{"kinds": ["all-gather"], "dtypes": ["bfloat16"]} | changes]}


def with_init(output_bytes: int) -> Subject:
    def measured(size: int) -> Measured:
        made = program(EIGHT)
        memory = replace(made.facts.memory, output_bytes=size, temporary_bytes=0)
        return replace(made, init=replace(made.facts, memory=memory))

    return subject((measured(output_bytes), measured(8_192)))


def two_inputs(w: ProgramLeaf | None = None) -> Subject:
    """A function of w and of x, whose 24 rows are split and then gathered."""
    gathered = exchange("all-gather", 1_536, shapes=((24,),), depends=(), carries=())
    measured = replace(program(EIGHT, w=w, collectives=[gathered]), state=(), inputs=("w", "x"))
    return subject((measured, measured))


def two_leaves(**facts: Any) -> Subject:
    """A step from w and x to w and x."""
    measured = replace(program(EIGHT, **facts), state=("w", "x"), inputs=(), outputs=("w", "x"))
    return subject((measured, measured))


PROGRAMS = [
    *examples(
        "program.ahead",
        on_eight(collectives=[in_loop(), exchange("all-reduce", WHOLE, loops=("while.1",), takes_turns=True)]),
        ({"kinds": ["all-gather"]}, {"kinds": ["all-reduce"]}),
    ),
    *examples(
        "program.ahead",
        on_eight(collectives=[in_loop(100, executions=1)]),
        ({"ignore_below": 100}, {"ignore_below": 101}),
    ),
    *examples("program.batch", two_inputs(), ({"inputs": ["w"]}, {"inputs": ["x"]})),
    *examples("program.batch", two_inputs(BY_COLUMNS), ({"dimension": 1}, {"dimension": 0})),
    *examples(
        "program.batch",
        on_eight(collectives=[exchange("all-gather", 100, depends=(1,), carries=(1,))]),
        ({"ignore_below": 101}, {"ignore_below": 100}),
    ),
    *examples("program.by_hand", on_eight(collectives=[INSERTED]), ({"ignore_below": 101}, {"ignore_below": 100})),
    *examples("program.flops", on_eight(flops=4_000), ({"at_least": 0.5}, {"at_least": 0.51})),
    *examples("program.flops", on_eight(flops=16_000), ({"at_most": 2.0}, {"at_most": 1.99})),
    *examples("program.init_memory", with_init(16_384), ({"at_most": 2.0}, {"at_most": 1.99})),
    *examples(
        "program.memory",
        on_eight({"argument_bytes": 100_000}, argument_bytes=204_096),
        ({"arguments_at_most": 2.0}, {"arguments_at_most": 1.99}),
    ),
    *examples(
        "program.memory",
        on_eight(temporary_bytes=204_096),
        ({"temporaries_at_most": 2.0}, {"temporaries_at_most": 1.99}),
    ),
    *examples("program.precision", two_leaves(rounded=[(0, 0)]), ({"groups": ["x"]}, {"groups": ["w"]})),
    *examples(
        "program.operations",
        on_eight(operations={SUM: 1}, unstated_products=1),
        ({"required": [SUM]}, {"required": [SUM, LOOP]}),
        ({"any_of": [SUM, LOOP]}, {"any_of": [LOOP]}),
        ({"forbidden": [LOOP]}, {"forbidden": [SUM]}),
        ({"stated_products": False}, {"stated_products": True}),
    ),
    *examples(
        "program.program_size",
        on_eight({"dots": [product()]}, dots=[product(), product()]),
        ({"at_most": 2.0}, {"at_most": 1.99}),
    ),
    *examples(
        "program.sharding",
        on_eight(new_w=whole((512, 16), 8)),
        ({"leaves": ["loss"]}, {"leaves": ["w"]}),
    ),
    *examples("program.sharding", on_eight(new_w=BY_COLUMNS), ({"dims": "any"}, {"dims": "exact"})),
    *examples("program.state_bytes", on_eight(w=whole((512, 16), 8)), ({"at_most": 8.0}, {"at_most": 7.9})),
    *examples(
        "program.wire_dtype",
        on_eight(written=[NARROW]),
        (narrow(), narrow(kinds=["all-reduce"])),
        (narrow(), narrow(dtypes=["float32"])),
    ),
    *examples(
        "program.wire_dtype",
        on_eight(written=[NARROW], collectives=[ONCE, INSERTED]),
        (narrow() | {"ignore_below": 101}, narrow() | {"ignore_below": 100}),
    ),
]


def returned(**got: object) -> CallSubject:
    """One public case of a function that should return a loss and a weight of 1, and a hidden one."""
    expected = {"loss": np.float32([1]), "weight": np.float32([1])}
    outcomes = [
        Outcome(Case(name, name == "public-1", {}), Answer(expected, []), Answer(values, []), None, mismatch)
        for name, values in (("public-1", expected), ("hidden-1", expected | got))
        for mismatch in [compare(expected, values, {})]
    ]
    return CallSubject(outcomes, {}, "import numpy\n")


def worth(**changes: Any) -> Bounds:
    return {"parts": [{"title": "A part", "points": 30} | changes]}


def forbids(*names: str) -> Bounds:
    return {"forbidden": [{"names": list(names), "why": "Use JAX."}]}


CALLS = [
    *examples("call.source", returned(), (forbids("scipy"), forbids("numpy"))),
    *examples(
        "call.values",
        returned(weight=np.float32([2])),
        (worth(outputs=["loss"]), worth(outputs=["loss"], points=29)),
        (worth(outputs=["loss"]), worth(outputs=["weight"])),
        (worth(cases=["public-*"]), worth(cases=["hidden-*"])),
    ),
]


def is_close(tolerances: Bounds) -> bool:
    """Whether a loss of 101 passes for 100, within the `tolerance` of float32 or with `output_tolerances`."""
    by_dtype = {"float32": Tolerance.model_validate(tolerances["tolerance"])} if "tolerance" in tolerances else {}
    of_outputs = [OutputTolerance.model_validate(each) for each in tolerances.get("output_tolerances", [])]
    expected, got = {"loss": np.float32([100])}, {"loss": np.float32([101])}
    return compare(expected, got, ToleranceTable(by_dtype, of_outputs)) is None


def fits_input(spec: Bounds) -> bool:
    """Whether a run can get five ones as `x`."""
    try:
        read_typed({"x": InputSpec.model_validate(spec["inputs"])}, {"x": [1.0] * 5})
    except InputsUnfit:
        return False
    return True


def is_right(spec: Bounds) -> bool:
    """Whether 101 is a right answer to a question whose answer is 100."""
    return agrees(AnswerSpec.model_validate({"id": "n", "label": "N", "kind": "number"} | spec["answers"]), 101, 100)


def close(rtol: float, atol: float) -> Bounds:
    return {"tolerance": {"rtol": rtol, "atol": atol}}


def close_output(**changes: Any) -> Bounds:
    return {"output_tolerances": [{"outputs": ["loss"], "rtol": 0.0, "atol": 1.0} | changes]}


def typed(**changes: Any) -> Bounds:
    return {"inputs": {"dtype": "float32", "shape": ["N"]} | changes}


MANIFESTS = [
    Example("problem.toml", is_close, close(0.01, 0.0), close(0.009, 0.0)),
    Example("problem.toml", is_close, close(0.0, 1.0), close(0.0, 0.9)),
    Example("problem.toml", is_close, close_output(), close_output(outputs=["weight"])),
    Example("problem.toml", is_close, close_output(dtype="float32"), close_output(dtype="bfloat16")),
    Example("problem.toml", is_close, close_output(), close_output(atol=0.9)),
    Example("problem.toml", is_close, close_output(atol=0.0, rtol=0.01), close_output(atol=0.0, rtol=0.009)),
    Example("problem.toml", fits_input, typed(), typed(shape=[4])),
    Example("problem.toml", fits_input, typed(least=1.0), typed(least=2.0)),
    Example("problem.toml", fits_input, typed(most=1.0), typed(most=0.5)),
    Example("problem.toml", is_right, {"answers": {"tolerance": 0.01}}, {"answers": {"tolerance": 0.009}}),
]
EXAMPLES = [*COLLECTIVES, *CHIPS, *FITS, *PROGRAMS, *CALLS, *MANIFESTS]
