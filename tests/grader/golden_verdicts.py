"""Verdicts that must stay as they are: of every check and every reason, on submissions that nobody runs.

What runners and verifiers answer is made up, and from there on all is the judge's own: modes, checks, report. The
verdicts lie in golden/, one file a group. After a change that is meant, such as of a message, write them anew and read
the difference: `.venv/bin/python -m tests.grader.golden_verdicts`
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from grader.case import Case
from grader.checks.call.outcome import Answer
from grader.context import NEVER, QUIET, Stop
from grader.errors import SubmissionFault
from grader.known import KnownMistake
from grader.modes import Modes
from grader.modes.call.prepared import CallPrepared
from grader.modes.mode import GradingRequest, Prepared
from grader.modes.program.examine import Examination
from grader.modes.program.prepared import ProgramPrepared
from grader.modes.program.sketch import sketch_of
from grader.modes.program.verify import Examined
from grader.package.package import MANIFEST, Package
from grader.program.dots import Dot
from grader.program.facts import Asked, Facts, Leaf
from grader.program.measured import Measured, Run
from grader.reasons import Reason
from grader.report import Report
from grader.sandbox.null import NullSandbox, NullSession, Reply
from grader.sandbox.protocol import Output, RunnerSpec
from grader.verdict import Verdict
from tests.grader.checks.program.made import EIGHT, FOUR, exchange, program, split, whole

FOLDER = Path(__file__).parent / "golden"
WHOLE = 32_768
Scenario = Callable[[], Verdict]
Groups = dict[str, dict[str, Scenario]]


def dump(verdict: Verdict) -> dict[str, Any]:
    """As it is stored, without what is another each time."""
    stored: dict[str, Any] = json.loads(verdict.model_dump_json())
    del stored["timings_ms"]
    return stored


def package_of(mode: str, checks: Sequence[dict[str, Any]]) -> Package:
    others = [check for check in checks if check["id"] != "values"]
    points = [100 - 10 * len(others)] + [10] * len(others)
    manifest = {
        "schema_version": 1,
        "uuid": "00000000-0000-4000-8000-000000000000",
        "slug": "golden",
        "title": "Golden",
        "summary": "made up",
        "track": "none",
        "difficulty": "easy",
        "mode": mode,
        "entry": "step",
        "checks": [{"points": worth} | check for worth, check in zip(points, [{"id": "values"}, *others], strict=True)],
        "authors": ["nobody"],
        "licence": "Apache-2.0",
    }
    if mode == "program":
        groups = {"params": ["w"]}
        manifest["program"] = {
            "init": "init",
            "steps": 2,
            "meshes": [EIGHT, FOUR],
            "inputs": {"x": ["x"]},
            "groups": groups,
        }
    return Package(MANIFEST.validate_python(manifest), "v", "", (), "", "", "", "", (), ())


class Quiet(NullSandbox):
    """Its sessions report no environment."""

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> NullSession:
        session = super().open(spec, stop)
        session.environment = {}
        return session


def verdict_of(
    sandbox: NullSandbox, package: Package, prepared: Prepared, known: Sequence[KnownMistake], *, hidden: bool
) -> Verdict:
    report = Report(package, hidden=hidden, walls=("seccomp",))
    request = GradingRequest("source", hidden, None, lambda *, wrong_result: known, report, QUIET)
    return Modes(sandbox, b"secret").of(package).begin(prepared, request).grade()


def array(*numbers: float) -> np.ndarray[Any, Any]:
    return np.asarray(numbers, np.float32)


# Functions: what each case returns, or how it fails.

EXPECTED = {"loss": array(1, 2, 3, 4), "n": 3}
OBSERVED = {"tx": "sgd", "momentum": False, "wrt": "Param", "lr": 0.1, "model": "moved"}
GRADIENTS, UPDATES = {"w": array(1, 2)}, {"0/w": array(-0.1, -0.2)}
OPTIMIZER = OBSERVED | {"event": "optimizer", "gradients": {}, "updates": UPDATES}
UPDATE = OBSERVED | {"event": "update", "gradients": GRADIENTS, "updates": UPDATES}
RIGHT: dict[str, Any] = {"result": EXPECTED, "observed": [OPTIMIZER, UPDATE]}
Reaction = Callable[[], dict[str, Any]]


def says(result: object = EXPECTED, observed: Sequence[dict[str, Any]] = (OPTIMIZER, UPDATE)) -> Reaction:
    return lambda: {"result": result, "observed": list(observed)}


def fails(reason: Reason, message: str = "what went wrong", **detail: object) -> Reaction:
    def answer() -> dict[str, Any]:
        raise SubmissionFault(reason, message, **detail)

    return answer


def call(
    *answers: Reaction, load: Reaction | None = None, hidden: bool = True, known: Iterable[KnownMistake] = ()
) -> Verdict:
    """Two public cases and a hidden one; one that is not given is right."""
    package = package_of("call", [{"id": "values"}, {"id": "optimizer"}, {"id": "update"}])
    cases = tuple(
        Case(name, name.startswith("public"), {"seed": number, "x": array(number, 0.5)})
        for number, name in enumerate(("public-1", "public-2", "hidden-1"))
    )
    left = [*answers, *[says()] * (len(cases) - len(answers))]

    def answer(message: dict[str, Any], values: dict[str, object]) -> Reply:
        if message["op"] == "load":
            return {"ok": True}, load() if load else {}
        return {"ok": True}, left.pop(0)()

    sandbox = Quiet(answer, Output("printed", "", truncated=False))
    prepared = CallPrepared(cases, {case.id: Answer(EXPECTED, RIGHT["observed"]) for case in cases})
    return verdict_of(sandbox, package, prepared, list(known), hidden=hidden)


FRAMES = [{"line": 7, "function": "step", "text": "raise ValueError"}]
OTHER_OPTIMIZER = OPTIMIZER | {"wrt": "All"}
CALLS: Groups = {
    "call-values": {
        "accepted": call,
        "a run": partial(call, hidden=False),
        "wrong value": partial(call, says({"loss": array(8, 16, 24, 32), "n": 3})),
        "wrong number": partial(call, says({"loss": EXPECTED["loss"], "n": 4})),
        "not a number": partial(call, says({"loss": array(1, 2, 3, np.nan), "n": 3})),
        "of a zero": partial(call, says({"loss": array(1, 2, 3, np.inf), "n": 3})),
        "wrong in hidden cases": partial(call, says(), says(), says({"loss": array(-1, -2, -3, -4), "n": 3})),
        "wrong shape": partial(call, says({"loss": array(1, 2, 3, 4).reshape(2, 2), "n": 3})),
        "wrong dtype": partial(call, says({"loss": np.arange(4.0), "n": 3})),
        "wrong structure": partial(call, says([1, 2])),
        "known": partial(
            call,
            *[says({"loss": array(2, 4, 6, 8), "n": 3})] * 3,
            known=[
                KnownMistake(
                    "twice",
                    {name: {"loss": array(2, 4, 6, 8), "n": 3} for name in ("public-1", "public-2", "hidden-1")},
                )
            ],
        ),
        "an exception": partial(
            call, fails("error", "no", type="ValueError", traceback=FRAMES), fails("error", "no", type="E")
        ),
        "an exception in a hidden case": partial(call, says(), says(), fails("error", "secret", type="KeyError")),
        "out of time": partial(call, says(), fails("time_limit")),
        **{
            f"{reason} in a hidden case": partial(call, says(), says(), fails(reason, ended_by="SIGSEGV"))
            for reason in ("time_limit", "memory_limit", "output_limit", "divergent_collective", "killed")
        },
    },
    "call-optimizer": {
        "none": partial(call, says(observed=[UPDATE | {"updates": {}}])),
        "another filter": partial(call, says(observed=[OTHER_OPTIMIZER, UPDATE | {"wrt": "All"}])),
        "another rate": partial(
            call,
            says(observed=[each | {"lr": 0.2, "updates": {"0/w": array(-0.2, -0.4)}} for each in (OPTIMIZER, UPDATE)]),
        ),
        "momentum": partial(
            call,
            says(observed=[each | {"momentum": True, "updates": {"0/w": array(1, 1)}} for each in (OPTIMIZER, UPDATE)]),
        ),
    },
    "call-update": {
        "never": partial(call, says(observed=[OPTIMIZER])),
        "twice": partial(call, says(observed=[OPTIMIZER, UPDATE, UPDATE])),
        "another gradient": partial(call, says(observed=[OPTIMIZER, UPDATE | {"gradients": {"w": array(2, 4)}}])),
        "no gradient": partial(call, says(observed=[OPTIMIZER, UPDATE | {"gradients": {}}])),
        "another model": partial(call, says(observed=[OPTIMIZER, UPDATE | {"model": "still"}])),
    },
    "never-ran": {
        **{
            reason: partial(call, load=fails(reason))
            for reason in ("time_limit", "memory_limit", "output_limit", "divergent_collective", "not_exportable")
        },
        "syntax_error": partial(call, load=fails("syntax_error", "invalid syntax", line=3, column=7)),
        "missing_entry": partial(call, load=fails("missing_entry", "no `step`", type="AttributeError")),
        "error": partial(call, load=fails("error", "no", type="PermissionError", traceback=FRAMES)),
        "killed": partial(call, load=fails("killed", "ended", ended_by="SIGSEGV")),
    },
}

# Programs: what a verifier measured of each, and what it computed.

ONE = Dot("dot.1", 8_000, 1, ((3, 16), (16, 16)), (3, 16), (), False, 9)
CASES = (Case("public-1", True, {"x": array(1)}), Case("hidden-1", False, {"x": array(2)}))
RESULTS = {"w": array(1, 2, 3), "loss": array(1)}
Meshes = dict[str, Any]


def run_of(*, steps: int = 2, replicas: dict[str, Any] | None = None, **changes: Any) -> Run:
    """Both steps with the same leaves; `changes` are the last one's."""
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
        return verdict_of(sandbox, package, prepared, options.get("known", ()), hidden=options.get("hidden", True))


def check(name: str, on_eight: Meshes | None = None, on_four: Meshes | None = None, **bounds: Any) -> Verdict:
    """A submission that differs from the reference in what is given for a mesh."""
    usual = {"said": [exchange("all-gather", WHOLE)]}
    four = {"said": [exchange("all-gather", WHOLE, 4)], "flops": 16_000}
    mine = [examined(program(EIGHT, **usual | (on_eight or {}))), examined(program(FOUR, **four | (on_four or {})))]
    theirs = [examined(program(EIGHT, **usual)), examined(program(FOUR, **four))]
    return grade(mine, theirs, {"id": name, **bounds})


def values(on_eight: dict[str, Run] | None = None, on_four: dict[str, Run] | None = None, **options: Any) -> Verdict:
    mine = [examined(program(EIGHT), on_eight), examined(program(FOUR), on_four)]
    return grade(mine, [examined(program(EIGHT)), examined(program(FOUR))], {"id": "values"}, **options)


def of_two_shapes() -> Verdict:
    """Cases of other shapes need programs of their own, so a mesh has several."""
    first, second = (Case("public-1", True, {"x": array(1)}),), (Case("hidden-1", False, {"x": array(1, 2)}),)
    theirs = [examined(program(mesh), None, cases) for mesh in (EIGHT, FOUR) for cases in (first, second)]
    mine = [*theirs[:1], examined(program(EIGHT, alias_bytes=0), None, second), *theirs[2:]]
    return grade(mine, theirs, {"id": "donation"})


def init_memory(output_bytes: int) -> Verdict:
    def with_init(measured: Measured, size: int) -> Measured:
        facts: Facts = replace(
            measured.facts, memory=replace(measured.facts.memory, output_bytes=size, temporary_bytes=0)
        )
        return replace(measured, init=facts)

    mine = [examined(with_init(program(mesh), output_bytes)) for mesh in (EIGHT, FOUR)]
    theirs = [examined(with_init(program(mesh), 8_192)) for mesh in (EIGHT, FOUR)]
    return grade(mine, theirs, {"id": "init_memory"})


def input_taken_whole() -> Verdict:
    measured = program(EIGHT)
    facts = replace(measured.facts, inputs=(measured.facts.inputs[0], whole((24, 16), 8)))
    mine = [examined(replace(measured, facts=facts)), examined(program(FOUR))]
    return grade(mine, [examined(measured), examined(program(FOUR))], {"id": "sharding"})


def computed_whole() -> dict[str, Any]:
    return {"dots": (replace(ONE, operand_shapes=((24, 16), (16, 16)), result_shape=(24, 16)),)}


def with_dots(on_eight: dict[str, Any], name: str) -> Verdict:
    def measured(mesh: dict[str, int], changes: dict[str, Any]) -> Measured:
        made = program(mesh)
        return replace(made, facts=replace(made.facts, census=replace(made.facts.census, **changes)))

    theirs = [examined(measured(mesh, {"dots": (ONE,)})) for mesh in (EIGHT, FOUR)]
    return grade([examined(measured(EIGHT, on_eight)), theirs[1]], theirs, {"id": name})


ELSEWHERE = Leaf((512, 16), "float32", "not on the mesh", False, whole((512, 16), 8).slices)
OTHER_SHAPE = Leaf((512,), "float32", "P('x')", True, split((512,), 8).slices)
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
            known=[
                KnownMistake("other", {}),
                KnownMistake("twice", sketch_of([examined(program(EIGHT), {"public-1": TWICE})])),
            ],
        ),
    },
    "program-sharding": {
        "passed": partial(check, "sharding"),
        "whole on one mesh": partial(check, "sharding", None, {"w": whole((512, 16), 4)}),
        "whole on both": partial(check, "sharding", {"new_w": whole((512, 16), 8)}, {"new_w": whole((512, 16), 4)}),
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
    "program-flops": {
        "passed": partial(check, "flops"),
        "too much": partial(check, "flops", {"flops": 64_000}, {"flops": 18_401}),
        "too little": partial(check, "flops", {"flops": 3_999}),
        "unknown": partial(check, "flops", {"flops": None}),
    },
    "program-donation": {
        "passed": partial(check, "donation"),
        "kept": partial(check, "donation", {"alias_bytes": 0}, {"alias_bytes": 1}),
        "several programs on a mesh": of_two_shapes,
    },
    "program-collectives": {
        "passed": partial(check, "collectives", rules=[GATHER]),
        "not allowed": partial(check, "collectives", allowed=["all-reduce"]),
        "too often": partial(check, "collectives", {"said": [exchange("all-gather", WHOLE)] * 2}, rules=[GATHER]),
        "none": partial(check, "collectives", {"said": []}, rules=[GATHER]),
        "in a loop": partial(
            check,
            "collectives",
            {"said": [exchange("all-gather", WHOLE, loops=("while.1",), executions=24)]},
            rules=[{"kinds": ["all-gather"], "loops": "never"}],
        ),
        "unknown rounds": partial(
            check, "collectives", {"said": [exchange("all-gather", WHOLE, loops=("while.1",), executions=None)]}
        ),
        "along no axis": partial(
            check,
            "collectives",
            {"said": [exchange("all-gather", WHOLE, groups=((0, 1, 2), (3, 4, 5, 6, 7)), group_size=5)]},
            rules=[{**GATHER, "axes": ["x"]}],
        ),
        "executions": partial(
            check, "collectives", rules=[{"kinds": ["all-gather"], "executions": {"at_least": "x-1"}}]
        ),
    },
    "program-batch": {
        "passed": partial(check, "batch"),
        "gathered": partial(check, "batch", {"said": [exchange("all-gather", 1_536, shapes=((24, 16),))]}),
        "moved": partial(check, "batch", {"said": [ROWS]}),
        "computed": partial(with_dots, computed_whole(), "batch"),
    },
    "program-by_hand": {
        "passed": partial(
            check,
            "by_hand",
            {"asked": [Asked("all-gather", ("f32",), 1, WHOLE // 8)]},
            {"asked": [Asked("all-gather", ("f32",), 1, WHOLE // 4)]},
        ),
        "the partitioner's": partial(check, "by_hand"),
        "products outside": partial(check, "by_hand", {"products_outside": 1}, {"products_outside": 2}),
    },
    "program-primitives": {
        "passed": partial(check, "primitives", {"primitives": {"dot_general": 2}}, {"primitives": {"dot_general": 3}}),
        "missing": partial(check, "primitives", {"primitives": {"dot_general": 2}}, required=["shard_map"]),
        "forbidden": partial(check, "primitives", {"primitives": {"psum": 1}}, any_of=["x"], forbidden=["psum"]),
    },
    "program-retrace": {
        "passed": partial(check, "retrace"),
        "retraced": partial(check, "retrace", None, {"retraced": True}),
    },
    "program-scaling": {
        "passed": partial(check, "scaling"),
        "made for eight": partial(check, "scaling", None, {"flops": 8_000}),
        "unknown": partial(check, "scaling", None, {"flops": None}),
    },
}


def failed() -> Verdict:
    return Report(package_of("call", [{"id": "values"}]), hidden=True, walls=()).failed()


GROUPS: Groups = CALLS | PROGRAMS | {"failed": {"failed": failed}}


def write() -> None:
    for group, scenarios in GROUPS.items():
        found = {name: dump(scenario()) for name, scenario in scenarios.items()}
        text = json.dumps(found, indent=1, ensure_ascii=False)
        (FOLDER / f"{group}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write()
