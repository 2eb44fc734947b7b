"""Writes pictures with a palette as PNG files."""

import struct
import zlib

import numpy as np
import numpy.typing as npt

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def encode_png(places: npt.NDArray[np.uint8], colours: npt.NDArray[np.uint8]) -> bytes:
    """A PNG file. `places`, `[height, width]`, numbers each pixel's colour in `colours`, `[256, 3]` at most."""
    height, width = places.shape
    # Each row begins with its filter: none, which suits a palette.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), places], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", colours.tobytes()), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
