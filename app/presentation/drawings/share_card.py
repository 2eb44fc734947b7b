"""The picture of a shared page in other services: the mark, what each device holds, a title and a sentence."""

import math

import numpy as np
import numpy.typing as npt

from app.presentation.drawings.card_text import LEVELS, draw_mark, draw_text
from app.presentation.drawings.mesh import drawn_dims, letters_of
from app.presentation.drawings.placement import Leaf, Mesh
from app.presentation.drawings.png import encode_png

# What services show without cutting: 1.91 to 1.
WIDTH, HEIGHT = 1200, 630
_BAND, _MARGIN, _GAP = 24, 90, 0.18
_MARK_TOP, _DEVICES_TOP, _DEVICES_BOTTOM, _TITLE_TOP, _SENTENCE_TOP = 36, 132, 420, 424, 508
_PAGE, _BOX, _EDGE, _GOOD, _BAD, _WHOLE, _FIRST_SHARD = range(7)
# In light mode; tokens.css has the colours of the pages.
_COLOURS = np.array(
    [
        *[(250, 248, 244), (255, 255, 255), (139, 133, 120), (27, 106, 58), (161, 38, 31), (91, 97, 106)],
        *[(80, 154, 0), (17, 151, 140), (22, 117, 175), (6, 29, 191)],
        *[(174, 95, 251), (136, 41, 97), (112, 27, 7), (101, 99, 4)],
    ],
    np.uint8,
)
_SHARDS = len(_COLOURS) - _FIRST_SHARD
_INKS = np.array([(33, 35, 39), (91, 97, 106), (42, 139, 163)], float)
_TITLE, _SENTENCE, _MARK = (len(_COLOURS) + number * LEVELS for number in range(len(_INKS)))


def _with_inks() -> npt.NDArray[np.uint8]:
    """The colours of the drawing, and for each ink the steps from the page to it."""
    steps = np.arange(1, LEVELS + 1)[:, None] / LEVELS
    ramps = [_COLOURS[_PAGE] + (ink - _COLOURS[_PAGE]) * steps for ink in _INKS]
    return np.concatenate([_COLOURS, *(np.round(each).astype(np.uint8) for each in ramps)])


def draw_card(mesh: Mesh, leaf: Leaf | None, *, title: str, sentence: str, accepted: bool) -> bytes:
    """A PNG of the devices of `mesh`, in rows as on the verdict's page, each with its part of `leaf`, above two lines.

    Without a leaf, each device is filled with a colour of its own.
    """
    canvas = np.full((HEIGHT, WIDTH), _PAGE, np.uint8)
    canvas[:, :_BAND] = _GOOD if accepted else _BAD
    columns = mesh.axes[-1][1] if len(mesh.axes) > 1 else min(mesh.devices, 4)
    rows = math.ceil(mesh.devices / columns)
    room = _DEVICES_BOTTOM - _DEVICES_TOP
    side = min((WIDTH - 2 * _MARGIN) / columns, room / rows)
    # The devices are centred without the gap after the last one.
    left = (WIDTH - side * (columns - _GAP)) / 2
    top = _DEVICES_TOP + (room - side * (rows - _GAP)) / 2
    for device in range(mesh.devices):
        row, column = divmod(device, columns)
        box = (left + column * side, top + row * side, side * (1 - _GAP), side * (1 - _GAP))
        _fill(canvas, box, _EDGE)
        _fill(canvas, _inner(box), _BOX)
        part, colour = _part(leaf, device)
        x, y, width, height = _inner(box)
        (above, below), (before, after) = part
        _fill(
            canvas, (x + width * before, y + height * above, width * (after - before), height * (below - above)), colour
        )
    lines = {"middle": WIDTH // 2, "most": WIDTH - 2 * _MARGIN}
    draw_mark(canvas, middle=WIDTH // 2, top=_MARK_TOP, ink=_MARK)
    draw_text(canvas, title, size=52, top=_TITLE_TOP, ink=_TITLE, **lines)
    draw_text(canvas, sentence, size=34, top=_SENTENCE_TOP, ink=_SENTENCE, **lines)
    return encode_png(canvas, _with_inks())


def _part(leaf: Leaf | None, device: int) -> tuple[tuple[tuple[float, float], tuple[float, float]], int]:
    """The part of a device's box that is filled, by rows and columns, and its colour."""
    whole = ((0.0, 1.0), (0.0, 1.0))
    if leaf is None or leaf.got is None:
        return whole, _FIRST_SHARD + device % _SHARDS
    slices = leaf.got[device]
    if all(part == (0, size) for part, size in zip(slices, leaf.shape, strict=True)):
        return whole, _WHOLE
    spans = [(slices[dim][0] / leaf.shape[dim], slices[dim][1] / leaf.shape[dim]) for dim in drawn_dims(leaf)]
    rows, columns = [(0.0, 1.0)] * (2 - len(spans)) + spans
    return (rows, columns), _FIRST_SHARD + list(letters_of(leaf)).index(slices) % _SHARDS


def _inner(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    x, y, width, height = box
    return x + 3, y + 3, width - 6, height - 6


def _fill(canvas: npt.NDArray[np.uint8], box: tuple[float, float, float, float], colour: int) -> None:
    x, y, width, height = box
    canvas[round(y) : max(round(y + height), round(y) + 1), round(x) : max(round(x + width), round(x) + 1)] = colour
