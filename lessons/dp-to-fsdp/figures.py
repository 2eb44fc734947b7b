"""Draws which part of the state each device holds between steps, from the compiled references."""

from tests.lessons.references import reference
from tests.problems.measured import Program

_GROUPS = ("params", "mu", "nu")
_LEFT, _TOP, _COLUMN, _WIDE, _HIGH, _GAP, _LINE = 64, 26, 37, 32, 40, 10, 18
_PARTS = 8
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


def _array(x: int, y: int, parts: range) -> list[str]:
    strip = _HIGH // _PARTS
    return [f'<rect x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" class="cell"/>'] + [
        f'<rect x="{x}" y="{y + part * strip}" width="{_WIDE}" height="{strip}" class="strip of-{part + 1}"/>'
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
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {y + 8}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">{title}</title>',
        f'<desc id="{name}-desc">{what}</desc>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def figures() -> dict[str, str]:
    return {
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
            reference("fsdp_shard_map_step"),
            "Each device holds one part of the parameters and of each moment.",
        ),
    }
