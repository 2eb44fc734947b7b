"""What compiled programs store, send and compute, compared with the formulas.

measured_programs.json has the references of some problems, and the programs of
app/learning/calculators/comparison_programs.py, on their meshes.
`python -m tests.prove` compiles them, and a test compares this file with the receipts. All but tp_column_row and
gpipe_forward train the same network on the same batch with float32 parameters.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

from app.core.web.units import TIMES
from app.learning.calculators.calculator import Value, Values
from app.learning.calculators.formulas.pipeline import pipeline
from app.learning.calculators.formulas.traffic import reduce_sent
from app.learning.calculators.tables import BY_NAME

# 40 -> 128 -> 64 -> 24 with biases; tests/problems/test_one_network.py holds the problems to it.
WIDTHS = (40, 128, 64, 24)
ROWS = 384
WEIGHTS = sum(a * b for a, b in pairwise(WIDTHS))
PARAMETERS = WEIGHTS + sum(WIDTHS[1:])
_FLOAT = 4
# Of tp_column_row, and of gpipe_forward.
_TP_ROWS, _TP_WIDTH, _TP_HIDDEN = 96, 64, 512
_PIPE_LAYERS, _PIPE_WIDTH, _PIPE_ROWS, _PIPE_MICROBATCHES = 16, 96, 24, 12

_FLOAT32: dict[str, Value] = {
    "parameters": PARAMETERS,
    "parameter_dtype": "float32",
    "gradient_dtype": "float32",
}
# Problem -> what its program is, and the inputs that describe it.
_PLAIN_ADAM: dict[str, Value] = {"optimizer": "adam", "moment_dtype": "float32", "master": "no"}
_STATE: dict[str, dict[str, Value]] = {
    "dp_shard_map": {"strategy": "dp", **_PLAIN_ADAM, "optimizer": "sgd"},
    "dp_step": {"strategy": "dp", **_PLAIN_ADAM},
    "zero1_opt_state": {"strategy": "zero1", **_PLAIN_ADAM},
    "fsdp_auto_step": {"strategy": "fsdp", **_PLAIN_ADAM},
    "fsdp_shard_map_step": {"strategy": "fsdp", **_PLAIN_ADAM},
    "hsdp_step": {"strategy": "hsdp", **_PLAIN_ADAM},
}
_TRAFFIC: dict[str, dict[str, Value]] = {
    "dp_shard_map": {"strategy": "dp"},
    "dp_step": {"strategy": "dp"},
    "zero1_opt_state": {"strategy": "zero1", "exchange": "all_reduce"},
    "fsdp_auto_step": {"strategy": "fsdp", "exchange": "all_reduce", "regather": "no"},
    "fsdp_shard_map_step": {"strategy": "fsdp", "exchange": "reduce_scatter", "regather": "no"},
    "hsdp_step": {"strategy": "hsdp", "exchange": "reduce_scatter", "regather": "no"},
}
_FLOPS: dict[str, Value] = {
    "weights": WEIGHTS,
    "first_weights": WIDTHS[0] * WIDTHS[1],
    "tokens": ROWS,
    "layers": 0,
    "recompute": "nothing",
}
PROBLEMS = (*_STATE, "tp_column_row", "gpipe_forward")


@dataclass(frozen=True, slots=True)
class Exchange:
    """The collectives of one kind over the same axes, added up: executions, whole bytes, bytes sent by a device."""

    kind: str
    axes: str
    times: int
    bytes: int
    sent: int


@dataclass(frozen=True, slots=True)
class Holding:
    """What each device holds of a part of the state, which is `whole` bytes.

    Attributes:
      bytes_by_device: how much each device holds.
      pieces: by device. Devices with the same number hold the same slices of every leaf.
    """

    part: str
    whole: int
    bytes_by_device: tuple[int, ...]
    pieces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A problem's reference, or one of our own programs, on one mesh; numbers of the fullest device.

    `name` is the slug of the problem, or the name of the program. `holdings` is empty for a program without a state.
    """

    name: str
    mesh: Mapping[str, int]
    state: int
    arguments: int
    outputs: int
    temporaries: int
    sent: int
    flops: int
    collectives: tuple[Exchange, ...]
    holdings: tuple[Holding, ...]

    @property
    def devices(self) -> int:
        return prod(self.mesh.values())

    @property
    def mesh_name(self) -> str:
        return ", ".join(f"{axis}={size}" for axis, size in self.mesh.items())


@dataclass(frozen=True, slots=True)
class OnGPUs:
    """What the compiler for GPUs makes of the same program on as many H100s.

    Attributes:
      collectives: each in words.
      sent: bytes that a GPU sends, by ring algorithms.
      memory: bytes of arguments and temporaries on a GPU, without the workspaces of cuBLAS.
    """

    collectives: tuple[str, ...]
    sent: int
    memory: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """One quantity of a program. A bound holds if the measured number is not above the computed one.

    `inputs` describe the program to the calculator, if it has such inputs; otherwise `formula` says what was computed.
    `on_h100` is the same quantity in the program for H100s, if that was measured.
    """

    reference: Reference
    quantity: str
    formula: str
    computed: int
    measured: int
    is_bound: bool = False
    inputs: Values | None = None
    on_h100: int | None = None

    @property
    def holds(self) -> bool:
        return self.measured <= self.computed if self.is_bound else self.measured == self.computed

    @property
    def deviation(self) -> str:
        if self.measured == self.computed:
            return "none"
        share = abs(self.measured - self.computed) / self.computed
        side = "below" if self.measured < self.computed else "above"
        return f"{share:.0%} {side} the bound" if self.is_bound else f"{share:.2%} {side}"


def _read() -> tuple[str, tuple[Reference, ...]]:
    raw = json.loads((Path(__file__).parent / "measured_programs.json").read_text(encoding="utf-8"))
    return raw["jax"], tuple(map(_reference, raw["programs"]))


def _reference(raw: dict[str, Any]) -> Reference:
    exchanges = tuple(Exchange(**each) for each in raw["collectives"])
    holdings = tuple(
        Holding(each["part"], each["whole"], tuple(each["bytes_by_device"]), tuple(each["pieces"]))
        for each in raw["holdings"]
    )
    return Reference(**{**raw, "collectives": exchanges, "holdings": holdings})


JAX_VERSION, REFERENCES = _read()


def _read_on_gpus() -> tuple[str, dict[tuple[str, int], OnGPUs]]:
    """The compiler, and what it makes of each program by name and number of devices. tests/gpu measures it again."""
    raw = json.loads((Path(__file__).parent / "measured_on_gpus.json").read_text(encoding="utf-8"))
    found = {}
    for each in raw["programs"]:
        words = tuple(f"{one['times']} {TIMES} {one['kind']} over {one['axes']}" for one in each["collectives"])
        found[each["name"], each["devices"]] = OnGPUs(words, each["sent"], each["memory"])
    return raw["compiler"], found


GPU_COMPILER, ON_GPUS = _read_on_gpus()


def references_of(*problems: str) -> list[Reference]:
    """In the order of `problems`, larger meshes first."""
    return [each for problem in problems for each in REFERENCES if each.name == problem]


def comparisons_of(name: str) -> list[Comparison]:
    """Everything that was measured for a calculator."""
    find = _BY_CALCULATOR.get(name)
    return find() if find else []


def _calculated(
    name: str,
    output: str,
    quantity: str,
    reference: Reference,
    inputs: Values,
    measured: int,
    on_h100: int | None = None,
) -> Comparison:
    calculator = BY_NAME[name]
    values = {**calculator.defaults, **inputs}
    computed = int(calculator.results(values)[output])
    formula = next(each.formula for each in calculator.outputs if each.name == output)
    return Comparison(reference, quantity, formula, computed, measured, inputs=values, on_h100=on_h100)


def _on_gpus(reference: Reference) -> OnGPUs | None:
    return ON_GPUS.get((reference.name, reference.devices))


def _placed(reference: Reference) -> dict[str, Value]:
    return {"devices": reference.devices, "group": reference.mesh.get("fsdp", 1)}


def _state() -> list[Comparison]:
    return [
        _calculated("state", "state", "State between steps, bytes", each, _FLOAT32 | inputs | _placed(each), each.state)
        for problem, inputs in _STATE.items()
        for each in references_of(problem)
    ]


def _traffic() -> list[Comparison]:
    found = [
        _calculated(
            "traffic",
            "sent",
            "Sent per device, bytes",
            each,
            _FLOAT32 | inputs | _placed(each),
            each.sent,
            on_gpus.sent if (on_gpus := _on_gpus(each)) else None,
        )
        for problem, inputs in _TRAFFIC.items()
        for each in references_of(problem)
    ]
    whole = _TP_ROWS * _TP_WIDTH * _FLOAT
    for each in references_of("tp_column_row"):
        formula = "2 (t - 1) / t x rows x width x 4, one all_reduce of a forward pass"
        found.append(Comparison(each, "Sent per device, bytes", formula, reduce_sent(whole, each.devices), each.sent))
    return found


def _flops() -> list[Comparison]:
    found = [
        _calculated("flops", "flops", "Per device, FLOP", each, _FLOPS | {"devices": each.devices}, each.flops)
        for problem in _STATE
        for each in references_of(problem)
    ]
    for each in references_of("tp_column_row"):
        computed = 2 * 2 * _TP_ROWS * _TP_WIDTH * _TP_HIDDEN // each.devices
        found.append(Comparison(each, "Forward pass, FLOP", "2 N D / devices", computed, each.flops))
    return found


def _peak() -> list[Comparison]:
    """Bounds: the compiler reuses memory as soon as its value is no longer needed."""
    found = []
    for problem in _STATE:
        for each in references_of(problem):
            rows = ROWS // each.devices
            batch = rows * (WIDTHS[0] + WIDTHS[-1]) * _FLOAT
            # Each layer's result before and after its activation, and the gradient of each of them.
            activations = 2 * 2 * rows * sum(WIDTHS[1:]) * _FLOAT
            gathered = PARAMETERS * _FLOAT if "fsdp" in problem or problem == "hsdp_step" else 0
            computed = each.state + batch + gathered + PARAMETERS * _FLOAT + activations
            formula = "state + batch + gathered parameters + gradients + activations and their gradients"
            measured = each.arguments + each.temporaries
            on_h100 = on_gpus.memory if (on_gpus := _on_gpus(each)) else None
            quantity = "Arguments and temporaries, bytes"
            found.append(Comparison(each, quantity, formula, computed, measured, is_bound=True, on_h100=on_h100))
    return found


def _bubble() -> list[Comparison]:
    found = []
    for each in references_of("gpipe_forward"):
        stages = each.devices
        plan = pipeline(schedule="gpipe", stages=stages, layers=_PIPE_LAYERS, microbatches=_PIPE_MICROBATCHES, chunks=1)
        units, message = int(plan["units"]), _PIPE_ROWS * _PIPE_WIDTH * _FLOAT
        work = 2 * _PIPE_ROWS * _PIPE_WIDTH**2 * _PIPE_LAYERS // stages
        inputs: Values = {
            "schedule": "gpipe",
            "stages": stages,
            "layers": _PIPE_LAYERS,
            "microbatches": _PIPE_MICROBATCHES,
            "chunks": 1,
        }
        permuted = sum(one.sent for one in each.collectives if one.kind == "collective-permute")
        times = sum(one.times for one in each.collectives if one.kind == "collective-permute")
        found += [
            Comparison(each, "Steps of one microbatch", "M + S - 1", units, times, inputs=inputs),
            Comparison(
                each,
                "Work of a stage, idle steps included, FLOP",
                "(M + S - 1) x layers / S x 2 rows width^2",
                units * work,
                each.flops,
                inputs=inputs,
            ),
            Comparison(
                each,
                "Sent to the next stage, bytes",
                "(M + S - 1) x microbatch",
                units * message,
                permuted,
                inputs=inputs,
            ),
        ]
    return found


_BY_CALCULATOR: dict[str, Callable[[], list[Comparison]]] = {
    "state": _state,
    "traffic": _traffic,
    "flops": _flops,
    "peak-memory": _peak,
    "pipeline-bubble": _bubble,
}
