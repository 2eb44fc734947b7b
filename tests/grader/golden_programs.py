"""Golden verdicts of programs: the facts that a verifier measured, and the values that it computed."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from grader.checks.program_subject import FullSizeProgram
from grader.core.case import Case
from grader.modes.program.examine import Examination
from grader.modes.program.reference_programs import ProgramPrepared
from grader.modes.program.verify import Examined
from grader.program.dots import Dot
from grader.program.facts import ProgramFacts, ProgramLeaf, WrittenCollective
from grader.program.measurement import Measured, Run
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from grader.sandbox.protocol import Output
from grader.verdicts.verdict import Verdict
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, exchange, product, program, split, whole
from tests.grader.golden_judge import Groups, Quiet, array, package_of, verdict_of
from tests.grader.program.test_schedule import schedule_of

WHOLE = 32_768
PRODUCT = "stablehlo.dot_general"
ONE = Dot("dot.1", 8_000, 1, ((3, 16), (16, 16)), (3, 16), (), False, 9)
CASES = (Case("public-1", True, {"x": array(1)}), Case("hidden-1", False, {"x": array(2)}))
MISSING = OnChip("v5e:16x16", None, "Not checked: the TPU compiler is not installed here.", tried=False)
RESULTS = {"w": array(1, 2, 3), "loss": array(1)}
Meshes = dict[str, Any]


def run_of(*, steps: int = 2, replicas: dict[str, Any] | None = None, **changes: Any) -> Run:
    """A run of two steps with the same leaves. `changes` apply to the last step."""
    leaves = [RESULTS] * (steps - 1) + [RESULTS | changes]
    return Run({"w": array(1, 2, 3)}, tuple(leaves), tuple([{}] * (steps - 1) + [replicas or {}]))


def examined(measured: Measured, runs: dict[str, Run] | None = None, cases: tuple[Case, ...] = CASES) -> Examined:
    return Examined(cases, measured, {case.id: (runs or {}).get(case.id, run_of()) for case in cases}, {})


def grade(mine: Sequence[Examined], theirs: Sequence[Examined], check: dict[str, Any], **options: Any) -> Verdict:
    package = package_of("program", [{"id": "values"}] + [check] * (check["id"] != "values"))
    sandbox = Quiet(lambda message, values: ({"ok": True}, {}), Output("", "", truncated=False))
    cases = tuple({case.id: case for each in theirs for case in each.cases}.values())
    prepared = ProgramPrepared(cases, tuple(theirs))
    with patch("grader.modes.program.grading.examine", lambda *_: Examination(tuple(mine), 0.0)):
        return verdict_of(sandbox, package, prepared, options.get("known"), hidden=options.get("hidden", True))


def check(name: str, on_eight: Meshes | None = None, on_four: Meshes | None = None, **bounds: Any) -> Verdict:
    """A submission that differs from the reference in the facts listed for a mesh."""
    usual = {"collectives": [exchange("all-gather", WHOLE)]}
    four = {"collectives": [exchange("all-gather", WHOLE, 4)], "flops": 16_000}
    mine = [examined(program(EIGHT, **usual | (on_eight or {}))), examined(program(FOUR, **four | (on_four or {})))]
    theirs = [examined(program(EIGHT, **usual)), examined(program(FOUR, **four))]
    return grade(mine, theirs, {"id": name, **bounds})


def values(on_eight: dict[str, Run] | None = None, on_four: dict[str, Run] | None = None, **options: Any) -> Verdict:
    mine = [examined(program(EIGHT), on_eight), examined(program(FOUR), on_four)]
    return grade(mine, [examined(program(EIGHT)), examined(program(FOUR))], {"id": "values"}, **options)


def of_two_shapes() -> Verdict:
    """Cases of different shapes, which need different programs, so that a mesh has several."""
    first, second = (Case("public-1", True, {"x": array(1)}),), (Case("hidden-1", False, {"x": array(1, 2)}),)
    theirs = [examined(program(mesh), None, cases) for mesh in (EIGHT, FOUR) for cases in (first, second)]
    mine = [*theirs[:1], examined(program(EIGHT, alias_bytes=0), None, second), *theirs[2:]]
    return grade(mine, theirs, {"id": "donation"})


def init_memory(output_bytes: int) -> Verdict:
    def with_init(measured: Measured, size: int) -> Measured:
        facts: ProgramFacts = replace(
            measured.facts, memory=replace(measured.facts.memory, output_bytes=size, temporary_bytes=0)
        )
        return replace(measured, init=facts)

    mine = [examined(with_init(program(mesh), output_bytes)) for mesh in (EIGHT, FOUR)]
    theirs = [examined(with_init(program(mesh), 8_192)) for mesh in (EIGHT, FOUR)]
    return grade(mine, theirs, {"id": "init_memory"})


def in_loop(**changes: Any) -> Meshes:
    return {"collectives": [exchange("all-gather", WHOLE, loops=("while.1",), executions=3, **changes)]}


def overlap(on_chip: OnChip) -> Verdict:
    with patch("grader.modes.program.grading.compile_for", lambda *_: on_chip):
        return check("overlap", topology="v5e:2x4")


def fits(temporary_bytes: int) -> Verdict:
    """A program that needs these bytes and its arguments' at full size, without the TPU compiler."""
    full = FullSizeProgram(at_full_size(0), at_full_size(temporary_bytes), on_chip={MISSING.topology: MISSING})
    with patch("grader.modes.program.grading.ProgramGrading._full_size", lambda *_: full):
        return check("fits", topology="v5e:16x16")


def at_full_size(temporary_bytes: int) -> Measured:
    gather = [exchange("all-gather", WHOLE)]
    return program(
        {"x": 256}, temporary_bytes=temporary_bytes, argument_bytes=1 << 30, w=split((512, 16), 256), collectives=gather
    )


def on_chip(schedule: str) -> OnChip:
    return OnChip("v5e:2x4", ChipFacts(Memory(0, 0, 0, 0), 0, None, schedule_of(schedule)), compiler="libtpu 1")


def input_taken_whole() -> Verdict:
    measured = program(EIGHT)
    facts = replace(measured.facts, inputs=(measured.facts.inputs[0], whole((24, 16), 8)))
    mine = [examined(replace(measured, facts=facts)), examined(program(FOUR))]
    return grade(mine, [examined(measured), examined(program(FOUR))], {"id": "sharding"})


def computed_whole() -> dict[str, Any]:
    return {"dots": (replace(ONE, operand_shapes=((24, 16), (16, 16)), result_shape=(24, 16)),)}


def with_dots(on_eight: dict[str, Any], name: str, **bounds: Any) -> Verdict:
    def measured(mesh: dict[str, int], changes: dict[str, Any]) -> Measured:
        made = program(mesh)
        return replace(made, facts=replace(made.facts, census=replace(made.facts.census, **changes)))

    theirs = [examined(measured(mesh, {"dots": (ONE,)})) for mesh in (EIGHT, FOUR)]
    return grade([examined(measured(EIGHT, on_eight)), theirs[1]], theirs, {"id": name, **bounds})


ELSEWHERE = ProgramLeaf((512, 16), "float32", "no sharding over the mesh", False, whole((512, 16), 8).slices)
OTHER_SHAPE = ProgramLeaf((512,), "float32", "P('x')", True, split((512,), 8).slices)
NARROW = {"kinds": ["all-gather"], "dtypes": ["bfloat16"], "means": "Narrow each shard first."}
GATHER = {"kinds": ["all-gather"], "of": "params", "at_least": 1.0, "at_most": 1.0, "means": "Gather it once."}
TWICE = run_of(w=array(2, 4, 6))
ROWS = exchange("all-gather", 1_536, depends=(1,), carries=(1,))
PROGRAMS: Groups = {
    "program-values": {
        "accepted": values,
        "a run": partial(values, hidden=False),
        "wrong on both meshes": partial(values, {"public-1": TWICE}, {"public-1": run_of(w=array(1, 2, 9))}),
        "wrong on one mesh": partial(values, None, {"public-1": run_of(w=array(1, 2, 9))}),
        "wrong in a hidden case": partial(values, {"hidden-1": run_of(w=array(8, 16, 24))}),
        "wrong shape": partial(values, {"public-1": run_of(loss=np.asarray(1, np.float32))}),
        "wrong dtype": partial(values, {"public-1": run_of(loss=np.asarray([1.0]))}),
        "other leaves": partial(values, {"public-1": run_of(more=array(1))}),
        "other state": partial(values, {"public-1": replace(run_of(), init={"w": array(1, 2, 4)})}),
        "replicas differ": partial(values, {"public-1": run_of(replicas={"loss": array(5)})}),
        "known": partial(
            values,
            {"public-1": TWICE},
            known="twice",
        ),
    },
    "program-sharding": {
        "passed": partial(check, "sharding"),
        "whole on one mesh": partial(check, "sharding", None, {"w": whole((512, 16), 4)}),
        "whole on both": partial(check, "sharding", {"new_w": whole((512, 16), 8)}, {"new_w": whole((512, 16), 4)}),
        "with a rule": partial(
            check, "sharding", {"new_w": whole((512, 16), 8)}, rule="Weights are split by rows over x."
        ),
        "not placed": partial(check, "sharding", {"w": ELSEWHERE}),
        "another shape": partial(check, "sharding", {"new_w": OTHER_SHAPE}),
        "any dimension": partial(check, "sharding", dims="any"),
        "other leaves": partial(check, "sharding", leaves=["loss"]),
        "an input taken whole": input_taken_whole,
    },
    "program-state_bytes": {
        "passed": partial(check, "state_bytes"),
        "too much": partial(check, "state_bytes", {"w": whole((512, 16), 8)}),
    },
    "program-memory": {
        "passed": partial(check, "memory"),
        "arguments": partial(check, "memory", {"argument_bytes": 100_000}),
        "constants": partial(check, "memory", {"constant_bytes": 1 << 24}),
        "temporaries": partial(check, "memory", {"temporary_bytes": 1 << 20}, {"temporary_bytes": 1 << 21}),
    },
    "program-init_memory": {
        "passed": partial(init_memory, 12_288),
        "too much": partial(init_memory, 12_289),
    },
    "program-ahead": {
        "passed": partial(check, "ahead", in_loop(), in_loop()),
        "takes turns": partial(check, "ahead", in_loop(), in_loop(takes_turns=True)),
        "no loop": partial(check, "ahead"),
        "no product": partial(check, "ahead", in_loop(), in_loop(beside_products=False)),
    },
    "program-fits": {
        "passed": partial(fits, 5 << 30),
        "too much": partial(fits, 20 << 30),
    },
    "program-overlap": {
        "passed": partial(overlap, on_chip("next_gathered_first")),
        "waits": partial(overlap, on_chip("layers_in_a_loop")),
        "not checked": partial(
            overlap, OnChip("v5e:2x4", None, "Not checked: the TPU compiler is not installed here.", tried=False)
        ),
        "refused": partial(overlap, OnChip("v5e:2x4", None, "The compiler ended without an answer.")),
    },
    "program-flops": {
        "passed": partial(check, "flops"),
        "too much": partial(check, "flops", {"flops": 64_000}, {"flops": 18_401}),
        "too little": partial(check, "flops", {"flops": 3_999}),
        "unknown": partial(check, "flops", {"flops": None}),
    },
    "program-program_size": {
        "passed": partial(with_dots, {"dots": (ONE, ONE)}, "program_size", at_most=2.0),
        "unrolled": partial(check, "program_size", {"dots": [product(), product()]}),
    },
    "program-donation": {
        "passed": partial(check, "donation"),
        "kept": partial(check, "donation", {"alias_bytes": 0}, {"alias_bytes": 1}),
        "several programs on a mesh": of_two_shapes,
    },
    "program-collectives": {
        "passed": partial(check, "collectives", rules=[GATHER]),
        "not allowed": partial(check, "collectives", allowed=["all-reduce"]),
        "too often": partial(
            check, "collectives", {"collectives": [exchange("all-gather", WHOLE)] * 2}, rules=[GATHER]
        ),
        "none": partial(check, "collectives", {"collectives": []}, rules=[GATHER]),
        "in a loop": partial(
            check,
            "collectives",
            {"collectives": [exchange("all-gather", WHOLE, loops=("while.1",), executions=24)]},
            rules=[{"kinds": ["all-gather"], "loops": "never"}],
        ),
        "unknown trip count": partial(
            check, "collectives", {"collectives": [exchange("all-gather", WHOLE, loops=("while.1",), executions=None)]}
        ),
        "along no axis": partial(
            check,
            "collectives",
            {"collectives": [exchange("all-gather", WHOLE, groups=((0, 1, 2), (3, 4, 5, 6, 7)), group_size=5)]},
            rules=[{**GATHER, "axes": ["x"]}],
        ),
        "executions": partial(
            check, "collectives", rules=[{"kinds": ["all-gather"], "executions": {"at_least": "x-1"}}]
        ),
    },
    "program-batch": {
        "passed": partial(check, "batch"),
        "gathered": partial(check, "batch", {"collectives": [exchange("all-gather", 1_536, shapes=((24, 16),))]}),
        "moved": partial(check, "batch", {"collectives": [ROWS]}),
        "computed": partial(with_dots, computed_whole(), "batch"),
    },
    "program-by_hand": {
        "passed": partial(
            check,
            "by_hand",
            {"written": [WrittenCollective("all-gather", ("f32",), 1, WHOLE // 8)]},
            {"written": [WrittenCollective("all-gather", ("f32",), 1, WHOLE // 4)]},
        ),
        "the partitioner's": partial(check, "by_hand"),
        "products outside": partial(check, "by_hand", {"products_outside": 1}, {"products_outside": 2}),
    },
    "program-wire_dtype": {
        "passed": partial(
            check,
            "wire_dtype",
            {"written": [WrittenCollective("all-gather", ("bf16",), 1, WHOLE // 16)]},
            {"written": [WrittenCollective("all-gather", ("bf16",), 1, WHOLE // 8)]},
            rules=[NARROW],
        ),
        "another dtype": partial(
            check,
            "wire_dtype",
            {"written": [WrittenCollective("all-gather", ("f32",), 1, WHOLE // 8)]},
            {"written": [WrittenCollective("all-gather", ("f32",), 1, WHOLE // 4)]},
            rules=[NARROW],
        ),
        "the partitioner's": partial(check, "wire_dtype", rules=[NARROW]),
    },
    "program-precision": {
        "passed": partial(check, "precision", groups=["params"]),
        "rounded": partial(check, "precision", {"rounded": [(0, 0)]}, {"rounded": [(0, 0)]}, groups=["params"]),
    },
    "program-operations": {
        "passed": partial(check, "operations", {"operations": {PRODUCT: 2}}, {"operations": {PRODUCT: 3}}),
        "missing": partial(check, "operations", {"operations": {PRODUCT: 2}}, required=["sdy.manual_computation"]),
        "forbidden": partial(
            check,
            "operations",
            {"operations": {"stablehlo.select": 1}},
            any_of=["stablehlo.scatter", "stablehlo.dynamic_update_slice"],
            forbidden=["stablehlo.select"],
        ),
        "unstated": partial(check, "operations", {"unstated_products": 2}, stated_products=True),
    },
    "program-retrace": {
        "passed": partial(check, "retrace"),
        "retraced": partial(check, "retrace", None, {"retraced": True}),
        "not exported": partial(check, "retrace", {"retraced": None}),
    },
    "program-scaling": {
        "passed": partial(check, "scaling"),
        "made for eight": partial(check, "scaling", None, {"flops": 8_000}),
        "unknown": partial(check, "scaling", None, {"flops": None}),
    },
}
