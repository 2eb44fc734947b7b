"""Draws what a step costs a device with fewer and fewer faults, as it was compiled for host devices."""

from tests.lessons.drawing import BAR_HEIGHT, bar, svg
from tests.lessons.slow_steps import STAGES

_TITLES = {
    "found": "The step as it is found",
    "split": "With rows split",
    "free": "With hidden layers split, too",
    "donated": "With the state donated",
}


def figures() -> dict[str, str]:
    most = [max(getattr(each, name) for each in STAGES.values()) for name in ("flops", "sent", "held")]
    drawn = {}
    for number, (name, cost) in enumerate(STAGES.items(), 1):
        rows = [
            ("computes", f"{cost.flops:,} FLOPs", cost.flops),
            ("sends", f"{cost.sent:,} bytes", cost.sent),
            ("holds", f"{cost.held:,} bytes", cost.held),
        ]
        body = []
        for at, (label, said, amount) in enumerate(rows):
            body += bar(at * BAR_HEIGHT, label, said, [(amount, at + 1)], most[at])
        what = f"Each device computes {rows[0][1]}, sends {rows[1][1]} and holds {rows[2][1]}."
        drawn[f"{name}.svg"] = svg(f"slow-step-{number}", _TITLES[name], what, 3 * BAR_HEIGHT, body)
    return drawn
