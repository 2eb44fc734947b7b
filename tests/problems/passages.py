"""The passages of statements and editorials that contain numbers, with an expression instead of each number."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

FILES = ("statement.md", "editorial.md")
_BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXPRESSION = re.compile(r"\[\[(.*?)\]\]")
_FOLDER = Path(__file__).parent / "numbers"


def blocks(folder: Path) -> Iterator[tuple[str, str]]:
    """The tag and the text of each block of the statement, and of the editorial's programs."""
    for name in FILES:
        for tag, code in _BLOCK.findall((folder / name).read_text(encoding="utf-8")):
            if name == "statement.md" or tag.strip() == "program":
                yield tag.strip(), code


def plain(text: str) -> str:
    """Without programs, without TeX's braces around a comma, and on one line."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return " ".join(text.replace("{,}", ",").replace("**", "").split())


def passages(slug: str) -> dict[str, list[str]]:
    """By file, in the order of numbers/<slug>.txt; none if there is no such file."""
    found: dict[str, list[str]] = {name: [] for name in FILES}
    current: list[str] = []
    file = _FOLDER / f"{slug}.txt"
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        if line.startswith("# "):
            current = found[line[2:]]
        elif line.strip():
            current.append(plain(line))
    return found


def expressions(slug: str) -> list[str]:
    """Those of numbers/<slug>.txt, each once."""
    return list(dict.fromkeys(each for text in chain(*passages(slug).values()) for each in _EXPRESSION.findall(text)))


def value_of(expression: str, names: dict[str, Any]) -> str:
    """As in an f-string: an expression, and perhaps a colon and a format. The expressions are ours."""
    return str(eval(f'f"""{{{expression}}}"""', {"__builtins__": {"sum": sum}}, names))


def computed(passage: str, values: Mapping[str, str]) -> str:
    """The passage as the text must have it."""
    return _EXPRESSION.sub(lambda match: values[match[1]], passage)
