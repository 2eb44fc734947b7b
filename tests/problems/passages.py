"""The passages of statements and editorials that contain numbers, with an expression instead of each number."""

import re
from pathlib import Path
from typing import Any

FILES = ("statement.md", "editorial.md")
_FOLDER = Path(__file__).parent / "numbers"
_UNIT = r"(?:bytes?|FLOPs?|[kKMGT]i?B|ms|µs|us)\b"
# 1,234 and 1{,}234 and 1234; 0.38 times; 12 GB; 0.4997. A small plain number in front of "times" or "%" is a word.
NUMBER = re.compile(
    rf"(?<![\w.{{^,])(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{4,}}(?:\.\d+)?|\d+\.\d{{4,}}|\d+\.\d+(?= times)"
    rf"|\d+(?:\.\d+)?(?= ?{_UNIT}))"
)


def plain(text: str) -> str:
    """Without programs, without TeX's braces around a comma, and on one line."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return " ".join(text.replace("{,}", ",").replace("**", "").split())


def file_of(slug: str) -> Path:
    return _FOLDER / f"{slug}.txt"


def passages(slug: str) -> dict[str, list[str]]:
    """By file, in the order of numbers/<slug>.txt."""
    found: dict[str, list[str]] = {name: [] for name in FILES}
    current: list[str] = []
    for line in file_of(slug).read_text(encoding="utf-8").splitlines():
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


def uncovered(text: str, covered: list[str]) -> list[str]:
    """Numbers of the text that no passage covers, each with the words around it."""
    spans = [match.span() for each in covered for match in re.finditer(re.escape(each), text)]
    return [
        text[max(0, match.start() - 40) : match.end() + 20]
        for match in NUMBER.finditer(text)
        if not any(start <= match.start() and match.end() <= end for start, end in spans)
    ]
