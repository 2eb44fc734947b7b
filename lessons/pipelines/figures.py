"""Draws the ticks of a forward pass that ran on host devices, and two simulated schedules of both passes."""

from tests.lessons.pipelines import Schedule, gpipe, one_forward_one_backward, passing, simulate

_STAGES, _MICROBATCHES = 3, 4
# Of a forward pass: the columns of what waits, of each stage and of what is done.
_BOX, _HIGH, _TOP, _LEFT, _STEP = 30, 24, 26, 4, 84
_TABLE, _CELL, _LINE = 120, 44, 22
_BOTTOM = _TABLE + _STAGES * _LINE
# Of the schedules.
_DEEP, _MANY, _NARROW, _ROW = 4, 8, 13, 18


def _box(x: int, y: int, microbatch: int, wide: int = _BOX) -> list[str]:
    return [
        f'<rect x="{x}" y="{y}" width="{wide}" height="{_HIGH}" class="held of-{microbatch}"/>',
        f'<text x="{x + wide // 2}" y="{y + 17}" text-anchor="middle" class="on-held">{microbatch}</text>',
    ]


def _header(x: int, text: str) -> str:
    return f'<text x="{x}" y="16" text-anchor="middle" class="soft-text">{text}</text>'


def _svg(name: str, title: str, what: str, height: int, body: list[str]) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">{title}</title>',
        f'<desc id="{name}-desc">{what}</desc>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _table(rows: list[list[int]], tick: int) -> list[str]:
    """What each stage has had so far: a row for each stage, a column for each tick."""
    body = []
    for stage, row in enumerate(rows):
        y = _TABLE + stage * _LINE
        body.append(f'<text x="4" y="{y + 16}" class="soft-text">stage {stage}</text>')
        for at, microbatch in enumerate(row):
            x = 62 + at * (_CELL + 4)
            body.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_LINE - 2}" class="cell"/>')
            if at > tick:
                continue
            if not microbatch:
                body.append(
                    f'<text x="{x + _CELL // 2}" y="{y + 14}" text-anchor="middle" class="soft-text">idle</text>'
                )
            else:
                body += [
                    f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_LINE - 2}" class="held of-{microbatch}"/>',
                    f'<text x="{x + _CELL // 2}" y="{y + 15}" text-anchor="middle" class="on-held">{microbatch}</text>',
                ]
    body.append(f'<text x="4" y="{_BOTTOM + 16}" class="soft-text">tick</text>')
    for at in range(len(rows[0])):
        x = 62 + at * (_CELL + 4) + _CELL // 2
        body.append(f'<text x="{x}" y="{_BOTTOM + 16}" text-anchor="middle" class="soft-text">{at + 1}</text>')
    return body


def _tick(rows: list[list[int]], tick: int) -> str:
    """Where each microbatch is in a tick: it waits, is in a stage or is done. Below, the ticks up to this one."""
    entered = max(rows[0][: tick + 1])
    done = max([0, *rows[-1][:tick]])
    body, what = ['<text x="4" y="16" class="soft-text">waiting</text>', _header(341, "done")], []
    for at, microbatch in enumerate(range(entered + 1, _MICROBATCHES + 1)):
        body += _box(_LEFT, _TOP + at * (_HIGH + 4), microbatch)
    for at, microbatch in enumerate(range(1, done + 1)):
        body += _box(326, _TOP + at * (_HIGH + 4), microbatch)
    for stage, row in enumerate(rows):
        x, now = 62 + stage * _STEP, row[tick]
        body += [
            _header(x + 32, f"stage {stage}"),
            f'<rect x="{x}" y="{_TOP}" width="64" height="{_HIGH + 20}" class="cell"/>',
        ]
        if now:
            body += _box(x + 10, _TOP + 10, now, 44)
            what.append(f"Stage {stage} has microbatch {now}.")
        else:
            body.append(f'<text x="{x + 32}" y="{_TOP + 27}" text-anchor="middle" class="soft-text">idle</text>')
            what.append(f"Stage {stage} is idle.")
        # What it has now, it sends on: the next stage had it one tick later.
        if now and stage + 1 < len(rows) and rows[stage + 1][tick + 1] == now:
            body.append(f'<text x="{x + 74}" y="{_TOP + 27}" text-anchor="middle">→</text>')
            what.append(f"It sends it to stage {stage + 1}.")
    body += _table(rows, tick)
    what.append(f"Waiting microbatches: {_MICROBATCHES - entered}; done: {done}.")
    title = f"A forward pass of {_MICROBATCHES} microbatches through {_STAGES} stages: tick {tick + 1}"
    return _svg(f"tick-{tick + 1}", title, " ".join(what), _BOTTOM + 24, body)


def _schedule(top: int, name: str, schedule: Schedule) -> list[str]:
    body = [f'<text x="4" y="{top + 14}">{name}: {schedule.length} ticks</text>']
    for stage, row in enumerate(schedule.ticks):
        y = top + 22 + stage * (_ROW + 2)
        body.append(f'<text x="4" y="{y + 14}" class="soft-text">stage {stage}</text>')
        for at, found in enumerate(row):
            x = 58 + at * _NARROW
            if found is None:
                body.append(f'<rect x="{x}" y="{y}" width="{_NARROW}" height="{_ROW}" class="faint"/>')
                continue
            kind, microbatch = found
            drawn, text = ("held", ' class="on-held"') if kind == "F" else ("term", "")
            body += [
                f'<rect x="{x}" y="{y}" width="{_NARROW}" height="{_ROW}" class="{drawn} of-{microbatch + 1}"/>',
                f'<text x="{x + _NARROW / 2}" y="{y + 14}" text-anchor="middle"{text}>{microbatch + 1}</text>',
            ]
    return body


def _schedules() -> str:
    each = 22 + _DEEP * (_ROW + 2) + 12
    body, what = [], []
    for at, (name, orders) in enumerate({"GPipe": gpipe, "1F1B": one_forward_one_backward}.items()):
        schedule = simulate(orders(_DEEP, _MANY))
        body += _schedule(at * each, name, schedule)
        kept = ", ".join(map(str, schedule.most))
        what.append(f"{name} takes {schedule.length} ticks. Its stages keep at most {kept} microbatches.")
    title = f"{_MANY} microbatches through {_DEEP} stages, forward and backward"
    return _svg("schedules", title, " ".join(what), 2 * each - 6, body)


def figures() -> dict[str, str]:
    rows = passing(_STAGES, _MICROBATCHES)
    ticks = {f"tick_{tick + 1}.svg": _tick(rows, tick) for tick in range(len(rows[0]))}
    return {**ticks, "schedules.svg": _schedules()}
