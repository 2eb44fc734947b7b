"""Draws the ticks of a forward pass that ran on host devices, and two simulated schedules of both passes."""

from functools import cache

from tests.lessons.drawing import BAR_HEIGHT, bar, cell, rect, svg, text
from tests.lessons.pipelines import Schedule, gpipe, one_forward_one_backward, passing, simulate
from tests.lessons.references import reference

_STAGES, _MICROBATCHES = 3, 4
# Sizes in the drawing of a forward pass, whose columns are what waits, each stage and what is done.
_BOX, _HIGH, _TOP, _LEFT, _STEP = 30, 24, 26, 4, 84
_TABLE, _CELL, _LINE = 120, 44, 22
_BOTTOM = _TABLE + _STAGES * _LINE
# Sizes in the drawings of schedules.
_DEEP, _MANY, _NARROW, _ROW = 4, 8, 13, 18


def _box(x: float, y: float, microbatch: int, wide: int = _BOX) -> list[str]:
    return cell(x, y, wide, _HIGH, f"held of-{microbatch}", microbatch, "on-held")


def _header(x: float, name: str) -> str:
    return text(x, 16, name, "soft-text", "middle")


def _table(rows: list[list[int]], tick: int) -> list[str]:
    """Draw what each stage has had so far, with a row for each stage and a column for each tick."""
    body = []
    for stage, row in enumerate(rows):
        y = _TABLE + stage * _LINE
        body.append(text(4, y + 16, f"stage {stage}", "soft-text"))
        for at, microbatch in enumerate(row):
            box = (62 + at * (_CELL + 4), y, _CELL, _LINE - 2)
            if at > tick:
                body.append(rect(*box, "cell"))
            elif microbatch:
                body += cell(*box, f"held of-{microbatch}", microbatch, "on-held")
            else:
                body += cell(*box, "cell", "idle", "soft-text")
    body.append(text(4, _BOTTOM + 16, "tick", "soft-text"))
    for at in range(len(rows[0])):
        body.append(text(62 + at * (_CELL + 4) + _CELL / 2, _BOTTOM + 16, at + 1, "soft-text", "middle"))
    return body


def _tick(rows: list[list[int]], tick: int) -> str:
    """Draw where each microbatch is in a tick: waiting, in a stage or done. Below are the ticks up to this one."""
    entered = max(rows[0][: tick + 1])
    done = max([0, *rows[-1][:tick]])
    body, what = [text(4, 16, "waiting", "soft-text"), _header(341, "done")], []
    for at, microbatch in enumerate(range(entered + 1, _MICROBATCHES + 1)):
        body += _box(_LEFT, _TOP + at * (_HIGH + 4), microbatch)
    for at, microbatch in enumerate(range(1, done + 1)):
        body += _box(326, _TOP + at * (_HIGH + 4), microbatch)
    for stage, row in enumerate(rows):
        x, now = 62 + stage * _STEP, row[tick]
        body += [_header(x + 32, f"stage {stage}"), rect(x, _TOP, 64, _HIGH + 20, "cell")]
        if now:
            body += _box(x + 10, _TOP + 10, now, 44)
            what.append(f"Stage {stage} has microbatch {now}.")
        else:
            body.append(text(x + 32, _TOP + 27, "idle", "soft-text", "middle"))
            what.append(f"Stage {stage} is idle.")
        # Draw an arrow if the next stage holds this microbatch one tick later.
        if now and stage + 1 < len(rows) and rows[stage + 1][tick + 1] == now:
            body.append(text(x + 74, _TOP + 27, "→", "", "middle"))
            what.append(f"It sends it to stage {stage + 1}.")
    body += _table(rows, tick)
    what.append(f"Waiting microbatches: {_MICROBATCHES - entered}; done: {done}.")
    y = _BOTTOM + 28
    for colour, (label, many, most) in enumerate(_amounts(rows, tick), 1):
        said = f"{many} microbatch{'' if many == 1 else 'es'}, {many * _microbatch():,} bytes"
        body += bar(y, label, said, [(many, colour)], most)
        what.append(f"{label.capitalize()}: {said}.")
        y += BAR_HEIGHT
    title = f"A forward pass of {_MICROBATCHES} microbatches through {_STAGES} stages: tick {tick + 1}"
    return svg(f"tick-{tick + 1}", title, " ".join(what), y, body)


def _amounts(rows: list[list[int]], tick: int) -> list[tuple[str, int, int]]:
    """Return how many microbatches all stages keep and have sent, each after this tick and after the last one."""
    kept = [sum(1 for row in rows for now in row[: end + 1] if now) for end in (tick, len(rows[0]))]
    sent = [sum(1 for row in rows[:-1] for now in row[: end + 1] if now) for end in (tick, len(rows[0]))]
    return [("kept in all", *kept), ("sent in all", *sent)]


@cache
def _microbatch() -> int:
    """The bytes of one microbatch of gpipe_forward's reference: what a stage sends to the next in a tick."""
    program = reference("gpipe_forward")
    return program.permute.each // program.measured.facts.devices


def _schedule(top: int, name: str, schedule: Schedule) -> list[str]:
    body = [text(4, top + 14, f"{name}: {schedule.length} ticks")]
    for stage, row in enumerate(schedule.ticks):
        y = top + 22 + stage * (_ROW + 2)
        body.append(text(4, y + 14, f"stage {stage}", "soft-text"))
        for at, found in enumerate(row):
            box = (58 + at * _NARROW, y, _NARROW, _ROW)
            if found is None:
                body.append(rect(*box, "faint"))
                continue
            kind, microbatch = found
            drawn, label = ("held", "on-held") if kind == "F" else ("term", "")
            body += cell(*box, f"{drawn} of-{microbatch + 1}", microbatch + 1, label)
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
    return svg("schedules", title, " ".join(what), 2 * each - 6, body)


def figures() -> dict[str, str]:
    rows = passing(_STAGES, _MICROBATCHES)
    ticks = {f"tick_{tick + 1}.svg": _tick(rows, tick) for tick in range(len(rows[0]))}
    return {**ticks, "schedules.svg": _schedules()}
