"""Write the fonts of the pages: Source Sans 3 and Source Code Pro, variable, cut down to the characters that pages use.

Usage, in a folder of its own, after `unicode-range` in tokens.css changed:

    npm install source-sans@3.52.0 source-code-pro@2.42.0
    python -m venv tools && tools/bin/pip install fonttools==4.63.0 brotli
    tools/bin/python PATH/TO/frontend/fonts.py node_modules

Their licence reserves the name "Source" for unchanged fonts, so these files have other names.
"""

import io
import re
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

_STATIC = Path(__file__).resolve().parents[1] / "app/core/static"
_FACE = re.compile(r"fonts/([a-z-]+)\.woff2.*?unicode-range: ([^;]+);", re.DOTALL)
_UPSTREAM = {
    "text": ("source-sans", "VF/SourceSans3VF-Upright.ttf", "Meshgrade Text"),
    "code": ("source-code-pro", "VF/SourceCodeVF-Upright.ttf", "Meshgrade Code"),
}
_WEIGHTS = (400, 700)
# Digits of equal width, for tables. No ligatures, because code must show what was typed, and no kerning, which is an eighth
# of the file.
_FEATURES = ["tnum"]


def _characters(ranges: str) -> list[int]:
    found: list[int] = []
    for each in ranges.replace("U+", "").split(","):
        start, _, end = each.strip().partition("-")
        found += range(int(start, 16), int(end or start, 16) + 1)
    return found


def _write(file: Path, source: Path, name: str, wanted: list[int]) -> None:
    font = instancer.instantiateVariableFont(TTFont(source), {"wght": _WEIGHTS})
    # Store the font and read it again, because the subsetter only reads a stored font.
    stored = io.BytesIO()
    font.save(stored)
    font = TTFont(stored)
    if missing := [f"U+{each:04X}" for each in wanted if each not in font.getBestCmap()]:
        print(f"{file.name} lacks {', '.join(missing)}: another font shows them")
    options = subset.Options(layout_features=_FEATURES, hinting=False, name_IDs=[1, 2, 13, 14], notdef_outline=True)
    options.drop_tables += ["DSIG", "STAT", "meta"]
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted)
    cutter.subset(font)
    font["name"].setName(name, 1, 3, 1, 0x409)
    font.flavor = "woff2"
    font.save(file)
    print(f"{file.name} has {file.stat().st_size} bytes")


def main() -> None:
    """Write every file that tokens.css names, with the characters of its `unicode-range`, and both licences."""
    modules = Path(sys.argv[1])
    for file, ranges in _FACE.findall((_STATIC / "tokens.css").read_text(encoding="utf-8")):
        package, source, name = _UPSTREAM[file.partition("-")[0]]
        _write(_STATIC / f"fonts/{file}.woff2", modules / package / source, name, _characters(ranges))
        licence = (modules / package / "LICENSE.md").read_text(encoding="utf-8").replace("\r\n", "\n")
        (_STATIC / f"fonts/{package}-licence.txt").write_text(licence, encoding="utf-8")


if __name__ == "__main__":
    main()
