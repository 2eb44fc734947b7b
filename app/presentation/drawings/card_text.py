"""Lines of text and the mark on a card, from letters that were drawn in advance: frontend/card_glyphs.py."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

GLYPHS = Path(__file__).with_name("card_glyphs.npz")
# Height of the letters in pixels, and their weight.
SIZES = {52: 700, 34: 400}
# How many steps lead from the ground to the ink. A card has a colour for each of them.
LEVELS = 8
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
# For a character that the fonts of the pages do not have.
_UNKNOWN = "?"

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Letters:
    """The letters of one size, each with a margin of `margin` pixels on both sides."""

    pictures: dict[str, Pixels]
    widths: dict[str, int]
    margin: int

    def width(self, text: str) -> int:
        return sum(self.widths[each] for each in text)


def sources_digest(static: Path) -> str:
    """A hash of what the letters and the mark were drawn from."""
    digest = hashlib.sha256()
    for file in (*sorted((static / "fonts").glob("text*.woff2")), static / "mark.svg"):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def drawn_from() -> str:
    """The hash of what the file was drawn from, to compare with `sources_digest`."""
    with np.load(GLYPHS, allow_pickle=False) as stored:
        found: str = stored["sources"].tobytes().hex()
    return found


def draw_text(canvas: Pixels, text: str, *, size: int, middle: int, top: int, most: int, ink: int) -> None:
    """Draw a line of text around the column `middle`, cut to `most` pixels. `ink` is the colour of the first level."""
    letters = _letters(size)
    line = _fitted("".join(each if each in letters.pictures else _UNKNOWN for each in text), letters, most)
    x = middle - letters.width(line) // 2
    for each in line:
        _stamp(canvas, letters.pictures[each], x - letters.margin, top, ink)
        x += letters.widths[each]


def draw_mark(canvas: Pixels, *, middle: int, top: int, ink: int) -> None:
    mark = _mark()
    _stamp(canvas, mark, middle - mark.shape[1] // 2, top, ink)


def _fitted(text: str, letters: _Letters, most: int) -> str:
    if letters.width(text) <= most:
        return text
    start = text
    while start and letters.width(start + _ELLIPSIS) > most:
        start = start[:-1]
    return start.rstrip() + _ELLIPSIS


def _stamp(canvas: Pixels, picture: Pixels, x: int, top: int, ink: int) -> None:
    """Colour the pixels of the picture that are not empty. Whatever is outside of the canvas is cut off."""
    height = min(picture.shape[0], canvas.shape[0] - top)
    first, last = max(0, -x), min(picture.shape[1], canvas.shape[1] - x)
    if height <= 0 or last <= first:
        return
    part = picture[:height, first:last]
    place = canvas[top : top + height, x + first : x + last]
    # Where two letters meet, the darker one is seen: the ground has the lowest number.
    place[part > 0] = np.maximum(place, part + (ink - 1))[part > 0]


@cache
def _letters(size: int) -> _Letters:
    with np.load(GLYPHS, allow_pickle=False) as stored:
        characters = [chr(each) for each in stored["characters"]]
        widths = dict(zip(characters, map(int, stored[f"widths_{size}"]), strict=True))
        pixels = stored[f"pixels_{size}"]
    margin = size // 8
    pictures, start = {}, 0
    for each, width in widths.items():
        pictures[each] = pixels[:, start : start + width + 2 * margin]
        start += width + 2 * margin
    return _Letters(pictures, widths, margin)


@cache
def _mark() -> Pixels:
    with np.load(GLYPHS, allow_pickle=False) as stored:
        found: Pixels = stored["mark"]
    return found
