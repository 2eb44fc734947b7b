"""Draw the letters of the cards that other services show: app/presentation/drawings/card_glyphs.npz.

Usage, after app/core/static/fonts or the mark changed:

    .venv/bin/python -m frontend.card_glyphs

A browser draws each character of the fonts once, so that the service can set a line of text without a library for fonts.
"""

import base64
import re
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from app.core.settings import CHECKOUT
from app.presentation.drawings.card_text import GLYPHS, LEVELS, SIZES, sources_digest
from tests.browser.browser import CHROMIUM, CHROMIUM_ARGUMENTS

_STATIC = CHECKOUT / "app" / "core" / "static"
_MARK = 72
_DRAW = """async ([fonts, characters, size, weight]) => {
    for (const font of fonts) {
        const bytes = Uint8Array.from(atob(font), (each) => each.charCodeAt(0));
        document.fonts.add(await new FontFace("Card", bytes, { weight: "400 700" }).load());
    }
    const canvas = new OffscreenCanvas(4 * size, 2 * size);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.font = `${weight} ${size}px Card`;
    return [...characters].map((each) => {
        context.clearRect(0, 0, canvas.width, canvas.height);
        context.fillText(each, size, 1.4 * size);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        return [context.measureText(each).width, [...data].filter((_, place) => place % 4 === 3)];
    });
}"""
_DRAW_MARK = """async ([svg, size]) => {
    const image = new Image();
    image.src = `data:image/svg+xml;base64,${svg}`;
    await image.decode();
    const canvas = new OffscreenCanvas(size, size);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, size, size);
    return [...context.getImageData(0, 0, size, size).data].filter((_, place) => place % 4 === 3);
}"""


def _characters() -> dict[str, str]:
    """The characters of each font file of the text, as tokens.css lists them."""
    css = (_STATIC / "tokens.css").read_text(encoding="utf-8")
    found = {}
    for name, ranges in re.findall(r"fonts/(text[a-z-]*)\.woff2.*?unicode-range: ([^;]+);", css, re.DOTALL):
        points: list[int] = []
        for each in ranges.replace("U+", "").split(","):
            start, _, end = each.strip().partition("-")
            points += range(int(start, 16), int(end or start, 16) + 1)
        found[name] = "".join(map(chr, points))
    return found


def _levels(alpha: Any) -> Any:
    return np.round(np.asarray(alpha, float) / 255 * LEVELS).astype(np.uint8)


def main() -> None:
    by_file = _characters()
    fonts = [base64.b64encode((_STATIC / "fonts" / f"{name}.woff2").read_bytes()).decode() for name in by_file]
    characters = "".join(sorted("".join(by_file.values())))
    arrays: dict[str, Any] = {"characters": np.array([ord(each) for each in characters], np.uint32)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        page = browser.new_page()
        for size, weight in SIZES.items():
            drawn = page.evaluate(_DRAW, [fonts, characters, size, weight])
            pictures = [_levels(alpha).reshape(2 * size, 4 * size) for _, alpha in drawn]
            # A letter may reach a little over its width, so each keeps a margin, and letters overlap.
            margin = size // 8
            widths = [round(width) for width, _ in drawn]
            parts = [
                each[:, size - margin : size + width + margin] for each, width in zip(pictures, widths, strict=True)
            ]
            arrays[f"pixels_{size}"] = np.concatenate(parts, axis=1)
            arrays[f"widths_{size}"] = np.array(widths, np.uint16)
        mark = base64.b64encode((_STATIC / "mark.svg").read_bytes()).decode()
        arrays["mark"] = _levels(page.evaluate(_DRAW_MARK, [mark, _MARK])).reshape(_MARK, _MARK)
        browser.close()
    arrays["sources"] = np.frombuffer(bytes.fromhex(sources_digest(_STATIC)), np.uint8)
    np.savez_compressed(GLYPHS, **arrays)
    print(f"{GLYPHS.name} has {GLYPHS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
