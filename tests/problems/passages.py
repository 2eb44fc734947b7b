"""The passages of statements and editorials that contain numbers, with an expression instead of each number."""

import re
from pathlib import Path
from typing import Any

FILES = ("statement.md", "editorial.md")
_FOLDER = Path(__file__).parent / "numbers"


def plain(text: str) -> str:
    """Without programs, without TeX's braces around a comma, and on one line."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return " ".join(text.replace("{,}", ",").replace("**", "").split())


def passages(slug: str) -> dict[str, list[str]]:
    """By file, in the order of numbers/<slug>.txt."""
    found: dict[str, list[str]] = {name: [] for name in FILES}
    current: list[str] = []
    for line in (_FOLDER / f"{slug}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            current = found[line[2:]]
        elif line.strip():
            current.append(plain(line))
    return found


def computed(passage: str, names: dict[str, Any]) -> str:
    """The passage as the text must have it."""

    def value(match: re.Match[str]) -> str:
        # As in an f-string: an expression, and perhaps a colon and a format. The expressions are ours.
        return str(eval(f'f"""{{{match[1]}}}"""', {"__builtins__": {"sum": sum}}, names))

    return re.sub(r"\[\[(.*?)\]\]", value, passage)
