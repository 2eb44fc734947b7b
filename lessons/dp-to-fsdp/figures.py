"""Draws which part of the state each device holds between steps, and in an FSDP step, from the compiled references."""

from dataclasses import dataclass

from tests.lessons.references import reference
from tests.problems.measured_programs import Program

_GROUPS = ("params", "mu", "nu")
_LEFT, _TOP, _COLUMN, _WIDE, _HIGH, _GAP, _LINE = 64, 26, 37, 32, 40, 10, 18
_PARTS = 8
# The weight that the steps of FSDP follow.
_WEIGHT = "dense1/kernel"
_KINDS = {"all-reduce": "all_reduce", "all-gather": "all_gather", "reduce-scatter": "reduce_scatter"}


def _parts(program: Program, leaf: str, device: int) -> range:
    """Which eighths of the leaf the device holds. At most one dimension is split."""
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
    return [f'<rect x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" class="cell"/>'] + [
        f'<rect x="{x}" y="{y + part * strip}" width="{_WIDE}" height="{strip}" class="{kind} of-{part + 1}"/>'
        for part in parts
    ]


def _sent(program: Program) -> list[str]:
    """A line for each kind of collective over more than the loss."""
    lines = []
    for kind, name in _KINDS.items():
        found = program.traffic(kind, at_least=64)
        if found.executions:
            lines.append(f"{found.sent:,} bytes by {name}")
    return lines


def _drawing(name: str, title: str, program: Program, what: str) -> str:
    columns = [_LEFT + device * _COLUMN for device in range(program.measured.facts.devices)]
    body = ['<text x="4" y="16" class="soft-text">device</text>']
    body += [
        f'<text x="{x + _WIDE // 2}" y="16" text-anchor="middle" class="soft-text">{device}</text>'
        for device, x in enumerate(columns)
    ]
    y = _TOP
    for group in _GROUPS:
        body.append(f'<text x="4" y="{y + _HIGH // 2 + 4}" class="mono">{group}</text>')
        for device, x in enumerate(columns):
            body += _array(x, y, _parts(program, f"{group}/dense1/kernel", device))
        y += _HIGH + _GAP
    sent, held = _sent(program), f"{program.state:,} bytes"
    for label, line in [("holds", held), ("sends", sent[0]), *(("and", line) for line in sent[1:])]:
        y += _LINE
        body.append(f'<text x="4" y="{y}" class="soft-text">{label}</text>')
        body.append(f'<text x="{_LEFT}" y="{y}">{line}</text>')
    what = f"{what} That is {held} of state. In a step, it sends {' and '.join(sent)}."
    return _svg(name, title, what, y, body)


def _svg(name: str, title: str, what: str, y: int, body: list[str]) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {y + 8}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">{title}</title>',
        f'<desc id="{name}-desc">{what}</desc>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


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


def _step(name: str, moment: _Moment, program: Program) -> str:
    body = ['<text x="4" y="16" class="soft-text">device</text>']
    columns = [_rows(moment, program, device) for device in range(program.measured.facts.devices)]
    for at, (row, _, _) in enumerate(columns[0]):
        y = _TOP + at * (_HIGH + _GAP)
        body.append(f'<text x="4" y="{y + _HIGH // 2 + 4}" class="mono">{row}</text>')
    for device, rows in enumerate(columns):
        x = _LEFT + device * _COLUMN
        body.append(f'<text x="{x + _WIDE // 2}" y="16" text-anchor="middle" class="soft-text">{device}</text>')
        for at, (_, kind, parts) in enumerate(rows):
            body += _array(x, _TOP + at * (_HIGH + _GAP), parts, kind)
    held = f"{_held(moment, program):,} bytes"
    lines = [("holds", held)]
    what = f"{moment.what} A device holds {held} for this weight."
    if moment.sends:
        whole = program.whole(f"params/{_WEIGHT}")
        (sent,) = {each.ring_bytes for each in program.traffic(moment.sends) if each.logical_bytes == whole}
        lines.append(("sends", f"{sent:,} bytes by {_KINDS[moment.sends]}"))
        what += f" To get there, it sends {lines[-1][1]}."
    y = _TOP + len(columns[0]) * (_HIGH + _GAP)
    for at, (label, line) in enumerate(lines, 1):
        body.append(f'<text x="4" y="{y + at * _LINE}" class="soft-text">{label}</text>')
        body.append(f'<text x="{_LEFT}" y="{y + at * _LINE}">{line}</text>')
    # Room for two lines in each, so that all are equally high.
    return _svg(f"cycle-{name}", f"One weight in a step of FSDP: {name}", what, y + 2 * _LINE, body)


def figures() -> dict[str, str]:
    fsdp = reference("fsdp_shard_map_step")
    return {
        **{f"cycle_{name}.svg": _step(name, moment, fsdp) for name, moment in _CYCLE.items()},
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
