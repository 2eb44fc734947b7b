"""Write a screenshot as a PNG of at most 256 colours, which is a third of the size and looks the same."""

import base64
from typing import Any

import numpy as np
from playwright.sync_api import Browser

from app.presentation.drawings.png import encode_png

_COLOURS = 256
_READ_PIXELS = """async (png) => {
    const bytes = Uint8Array.from(atob(png), (each) => each.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let text = "";
    for (let from = 0; from < data.length; from += 32768) {
        text += String.fromCharCode(...data.subarray(from, from + 32768));
    }
    return [image.width, image.height, btoa(text)];
}"""


def shrink(browser: Browser, png: bytes) -> bytes:
    """Reduce a picture to a palette of its most frequent colours. The browser decodes it."""
    page = browser.new_page()
    width, height, pixels = page.evaluate(_READ_PIXELS, base64.b64encode(png).decode())
    page.close()
    rgb = np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(height, width, 4)[..., :3].astype(np.int64)
    return encode_png(*_palette(rgb))


def _palette(rgb: Any) -> tuple[Any, Any]:
    """The place of each pixel's colour, `[height, width]`, and the colours, `[256, 3]` at most."""
    height, width, _ = rgb.shape
    codes, place, counts = np.unique(rgb @ [65536, 256, 1], return_inverse=True, return_counts=True)
    colours = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], -1)
    kept = colours[np.argsort(-counts, kind="stable")[:_COLOURS]]
    nearest = np.concatenate(
        [((part[:, None] - kept) ** 2).sum(-1).argmin(-1) for part in np.array_split(colours, len(colours) // 4096 + 1)]
    )
    return nearest[place].reshape(height, width).astype(np.uint8), kept.astype(np.uint8)
