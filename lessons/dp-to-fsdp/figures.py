"""Draws which part of the state each device holds between steps, and in an FSDP step, from the compiled references."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.lessons.drawing import BAR_HEIGHT, bar, rect, svg, text
from tests.lessons.references import reference
from tests.problems.measured_programs import Program

_GROUPS = ("params", "mu", "nu")
_LEFT, _TOP, _COLUMN, _WIDE, _HIGH, _GAP, _LINE = 64, 26, 37, 32, 40, 10, 18
_PARTS = 8
# The weight that the drawings of an FSDP step follow.
_WEIGHT = "dense1/kernel"
_KINDS = {"all-reduce": "all_reduce", "all-gather": "all_gather", "reduce-scatter": "reduce_scatter"}


def _parts(program: Program, leaf: str, device: int) -> range:
    """Return which eighths of the leaf the device holds. At most one dimension is split."""
    held = dict(program.measured.state_in)[leaf]
    split = [
        range(start * _PARTS // size, stop * _PARTS // size)
        for (start, stop), size in zip(held.slices[device], held.shape, strict=True)
        if stop - start < size
    ]
    if not split:
        return range(_PARTS)
    (parts,) = split
    return parts


def _array(x: int, y: int, parts: range, kind: str = "strip") -> list[str]:
    strip = _HIGH // _PARTS
    strips = [rect(x, y + part * strip, _WIDE, strip, f"{kind} of-{part + 1}") for part in parts]
    return [rect(x, y, _WIDE, _HIGH, "cell"), *strips]


def _sent(program: Program) -> list[str]:
    """Return a line for each kind of collective that sends more than the loss."""
    lines = []
    for kind, name in _KINDS.items():
        found = program.traffic(kind, at_least=64)
        if found.executions:
            lines.append(f"{found.sent:,} bytes by {name}")
    return lines


def _heads(columns: Sequence[int]) -> list[str]:
    names = [text(x + _WIDE / 2, 16, device, "soft-text", "middle") for device, x in enumerate(columns)]
    return [text(4, 16, "device", "soft-text"), *names]


def _drawing(name: str, title: str, program: Program, what: str) -> str:
    columns = [_LEFT + device * _COLUMN for device in range(program.measured.facts.devices)]
    body, y = _heads(columns), _TOP
    for group in _GROUPS:
        body.append(text(4, y + _HIGH / 2 + 4, group, "mono"))
        for device, x in enumerate(columns):
            body += _array(x, y, _parts(program, f"{group}/dense1/kernel", device))
        y += _HIGH + _GAP
    sent, held = _sent(program), f"{program.state:,} bytes"
    for label, line in [("holds", held), ("sends", sent[0]), *(("and", line) for line in sent[1:])]:
        y += _LINE
        body += [text(4, y, label, "soft-text"), text(_LEFT, y, line)]
    what = f"{what} That is {held} of state. In a step, it sends {' and '.join(sent)}."
    return svg(name, title, what, y + 8, body)


@dataclass(frozen=True)
class _Moment:
    """What a device has of one weight at a moment of a step.

    `weight` is `shard` or `whole`. `gradient` is empty, `terms` for the whole gradient of the device's own rows, or
    `shard` for the summed one. `sends` is the collective that leads to this moment.
    """

    what: str
    weight: str = "shard"
    gradient: str = ""
    sends: str = ""


_CYCLE = {
    "rest": _Moment("Each device has its shard of the weight and of both moments."),
    "gather": _Moment("Each device has the whole weight.", "whole", sends="all-gather"),
    "compute": _Moment("Each device has the whole weight, and a gradient for its own rows.", "whole", "terms"),
    "free": _Moment("Each device has its shard of the weight, and a gradient for its own rows.", gradient="terms"),
    "scatter": _Moment("Each device has the shard of the summed gradient.", gradient="shard", sends="reduce-scatter"),
    "update": _Moment("Each device has its new shard of the weight and of both moments."),
}


def _rows(moment: _Moment, program: Program, device: int) -> list[tuple[str, str, range]]:
    """The name of each row, the class of its parts, and the parts that the device has."""
    own = _parts(program, f"params/{_WEIGHT}", device)
    every = range(_PARTS)
    gradient = {"": range(0), "terms": every, "shard": own}[moment.gradient]
    return [
        ("weight", "strip", every if moment.weight == "whole" else own),
        ("grad", "term" if moment.gradient == "terms" else "strip", gradient),
        *((name, "strip", _parts(program, f"{name}/{_WEIGHT}", device)) for name in ("mu", "nu")),
    ]


def _held(moment: _Moment, program: Program) -> int:
    """The bytes of this weight's buffers on one device."""
    shard, whole = program.held(f"params/{_WEIGHT}"), program.whole(f"params/{_WEIGHT}")
    gathered = whole if moment.weight == "whole" else 0
    state = sum(program.held(f"{group}/{_WEIGHT}") for group in _GROUPS)
    return state + gathered + {"": 0, "terms": whole, "shard": shard}[moment.gradient]


def _sends(moment: _Moment, program: Program) -> int:
    """The bytes of this weight that a device sends to get to the moment."""
    if not moment.sends:
        return 0
    whole = program.whole(f"params/{_WEIGHT}")
    (sent,) = {each.ring_bytes for each in program.traffic(moment.sends) if each.logical_bytes == whole}
    return sent


def _steps(program: Program) -> dict[str, str]:
    """Draw the moments in order, each with what a device then holds of the weight and has sent of it so far."""
    most_held = max(_held(each, program) for each in _CYCLE.values())
    most_sent = sum(_sends(each, program) for each in _CYCLE.values())
    drawn, sent = {}, 0
    for name, moment in _CYCLE.items():
        sent += _sends(moment, program)
        held = _held(moment, program)
        amounts = [("holds", f"{held:,} bytes", held, most_held), ("has sent", f"{sent:,} bytes", sent, most_sent)]
        drawn[f"cycle_{name}.svg"] = _step(name, moment, program, amounts)
    return drawn


def _step(name: str, moment: _Moment, program: Program, amounts: Sequence[tuple[str, str, int, int]]) -> str:
    devices = range(program.measured.facts.devices)
    columns = [_LEFT + device * _COLUMN for device in devices]
    body, rows = _heads(columns), [_rows(moment, program, device) for device in devices]
    for at, (row, _, _) in enumerate(rows[0]):
        body.append(text(4, _TOP + at * (_HIGH + _GAP) + _HIGH / 2 + 4, row, "mono"))
    for x, own in zip(columns, rows, strict=True):
        for at, (_, kind, parts) in enumerate(own):
            body += _array(x, _TOP + at * (_HIGH + _GAP), parts, kind)
    y, what = _TOP + len(rows[0]) * (_HIGH + _GAP), moment.what
    for colour, (label, said, amount, most) in enumerate(amounts, 1):
        body += bar(y, label, said, [(amount, colour)], most)
        y += BAR_HEIGHT
        what += f" A device {label} {said} of this weight."
    return svg(f"cycle-{name}", f"One weight in a step of FSDP: {name}", what, y, body)


def figures() -> dict[str, str]:
    fsdp = reference("fsdp_shard_map_step")
    return {
        **_steps(fsdp),
        "dp.svg": _drawing(
            "dp",
            "Data parallel on eight devices",
            reference("dp_step"),
            "Each device holds all eight parts of the parameters and of both moments.",
        ),
        "zero1.svg": _drawing(
            "zero1",
            "ZeRO-1 on eight devices",
            reference("zero1_opt_state"),
            "Each device holds all eight parts of the parameters, and one part of each moment.",
        ),
        "fsdp.svg": _drawing(
            "fsdp",
            "FSDP on eight devices",
            fsdp,
            "Each device holds one part of the parameters and of each moment.",
        ),
    }
