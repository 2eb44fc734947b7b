"""Draws where tokens are in a layer of experts, from an exchange that ran on host devices."""

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tests.lessons.drawing import cell, rect, svg, text

_N, _TOKENS, _SLOTS = 4, 6, 2
_MESH = Mesh(np.array(jax.devices()[:_N]), ("expert",))
_LEFT, _TOP, _CELL = 74, 28, 33
# The expert of each token: on the first two devices, one token finds no slot.
_CHOSEN = np.array([[0, 2, 0, 0, 3, 1], [1, 3, 1, 2, 1, 0], [2, 0, 3, 1, 3, 2], [3, 0, 2, 1, 0, 3]])


def _filled() -> tuple[np.ndarray, np.ndarray]:
    """Return the slots of each device, where a filled one contains 1 + the device, and whether each token found one."""
    slots, taken = np.zeros((_N, _N, _SLOTS), int), np.zeros(_CHOSEN.shape, bool)
    for (device, token), expert in np.ndenumerate(_CHOSEN):
        earlier = int((_CHOSEN[device, :token] == expert).sum())
        if earlier < _SLOTS:
            slots[device, expert, earlier], taken[device, token] = device + 1, True
    return slots, taken


def _exchanged(slots: np.ndarray) -> np.ndarray:
    """What each device has after the all_to_all: experts x devices x slots."""
    run = jax.shard_map(
        lambda here: lax.all_to_all(here, "expert", 1, 0, tiled=True),
        mesh=_MESH,
        in_specs=P("expert"),
        out_specs=P(None, "expert"),
    )
    return np.asarray(run(slots)).swapaxes(0, 1)


def _step(number: int, title: str, rows: list[list[tuple[int, object] | None]], what: str) -> str:
    """Draw a row of cells for each device. A cell has an expert and a label, or is empty."""
    body = [text(_LEFT, 16, title, "soft-text")]
    for device, row in enumerate(rows):
        y = _TOP + device * _CELL
        body.append(text(4, y + 21, f"device {device}", "soft-text"))
        for at, found in enumerate(row):
            box = (_LEFT + at * _CELL, y, _CELL, _CELL)
            body += (
                [rect(*box, "faint")] if found is None else cell(*box, f"held of-{found[0] + 1}", found[1], "on-held")
            )
    return svg(f"step-{number}", title, what, _TOP + _N * _CELL + 4, body)


def figures() -> dict[str, str]:
    slots, taken = _filled()
    exchanged = _exchanged(slots)

    def labels(found: np.ndarray, experts: np.ndarray) -> list[list[tuple[int, object] | None]]:
        """Return each slot's expert and label, or None for an empty slot."""
        rows = zip(found.reshape(_N, -1), experts.reshape(_N, -1), strict=True)
        return [
            [(int(expert), source - 1) if source else None for source, expert in zip(*row, strict=True)] for row in rows
        ]

    own = np.broadcast_to(np.arange(_N)[None, :, None], slots.shape)
    tokens = np.repeat(np.arange(_N)[:, None] + 1, _TOKENS, axis=1)
    dropped = ", ".join(str(count) for count in (~taken).sum(axis=1))
    return {
        "step_1.svg": _step(
            1,
            "tokens, by the expert that they chose",
            labels(tokens, _CHOSEN),
            " ".join(f"The tokens of device {d} chose {', '.join(map(str, row))}." for d, row in enumerate(_CHOSEN)),
        ),
        "step_2.svg": _step(
            2,
            "slots, two for each expert",
            labels(slots, own),
            f"Each device has two slots for each expert. Devices 0 to 3 leave out {dropped} tokens.",
        ),
        "step_3.svg": _step(
            3,
            "slots of the device's own expert",
            labels(exchanged, own.swapaxes(0, 1)),
            "Each device has two slots from each device, all for its own expert. Some are empty.",
        ),
        "step_4.svg": _step(
            4,
            "results; tokens that were dropped are unchanged",
            labels(np.where(taken, tokens, 0), _CHOSEN),
            f"Each device has results for its own tokens, except for the {dropped} that were dropped.",
        ),
    }
