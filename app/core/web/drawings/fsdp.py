"""One weight during a step of fully sharded training: what each of eight devices holds of it, and when."""

from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.drawings.svg import element
from app.core.web.drawings.units import bytes_text

DEVICES = 8
# A float32 kernel of this shape, its rows split over the devices.
ROWS, COLUMNS = 64, 32
_PER_DEVICE = ROWS // DEVICES
_COLUMNS = 4
_BOX, _GAP, _HEAD = 58.0, 12.0, 16.0


@dataclass(frozen=True, slots=True)
class Phase:
    """A moment of the step. `sentences` says for each device what it holds then."""

    name: str
    caption: str
    drawing: Markup
    sentences: tuple[str, ...]


def draw_step() -> tuple[Phase, ...]:
    """The phases, in order. Each drawing shows every device as a box in which the rows that it holds are filled."""
    share, whole = (bytes_text(4 * COLUMNS * rows) for rows in (_PER_DEVICE, ROWS))
    return (
        _phase(
            "At rest",
            f"Each device keeps {_PER_DEVICE} of the {ROWS} rows: {share} of {whole}.",
            "keeps rows {rows}",
            own_rows=True,
        ),
        _phase(
            "all_gather, just before use",
            f"The layer runs with the whole weight, {whole} on every device. Then it is freed.",
            f"has all {ROWS} rows while the layer runs",
            own_rows=False,
        ),
        _phase(
            "reduce_scatter of the gradient",
            f"The gradients of all devices are summed, and each device keeps the sum for its own rows: {share}.",
            "gets the summed gradient of rows {rows}",
            own_rows=True,
            summed=True,
        ),
    )


def _phase(name: str, caption: str, sentence: str, *, own_rows: bool, summed: bool = False) -> Phase:
    sentences = tuple(sentence.format(rows=_rows_of(device)) for device in range(DEVICES))
    width = _COLUMNS * _BOX + (_COLUMNS - 1) * _GAP + 4
    lines = DEVICES // _COLUMNS
    height = lines * (_BOX + _HEAD) + (lines - 1) * _GAP + 4
    picture = element(
        "svg",
        element("title", f"{name}. {caption}"),
        *[_device(device, own_rows=own_rows, summed=summed) for device in range(DEVICES)],
        class_="drawing step",
        role="img",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )
    return Phase(name, caption, picture, sentences)


def _device(device: int, *, own_rows: bool, summed: bool) -> Markup:
    row, column = divmod(device, _COLUMNS)
    x, y = 2 + column * (_BOX + _GAP), 2 + row * (_BOX + _HEAD + _GAP)
    strip = _BOX / DEVICES
    strips = [device] if own_rows else list(range(DEVICES))
    return element(
        "g",
        element("text", str(device), x=x + _BOX / 2, y=y + 10, class_="device"),
        element("rect", x=x, y=y + _HEAD, width=_BOX, height=_BOX, class_="leaf"),
        *[
            element(
                "rect",
                x=x + 1.5,
                y=y + _HEAD + each * strip + 0.75,
                width=_BOX - 3,
                height=strip - 1.5,
                class_=f"shard-{each + 1}" + (" is-summed" if summed else ""),
            )
            for each in strips
        ],
        class_="one-device",
        data_device=str(device),
    )


def _rows_of(device: int) -> str:
    return f"{device * _PER_DEVICE} to {(device + 1) * _PER_DEVICE - 1}"
