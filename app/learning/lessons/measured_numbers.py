"""Puts measured numbers into the text of a lesson, and finds numbers that were not measured."""

import re
from collections.abc import Iterator, Mapping, Sequence

from app.learning.lessons.lesson import Block, Claim
from grader.review.names import suggest

# {{ claim("shard_bytes") }} is the number with its unit, {{ number("shard_bytes") }} the number alone.
_PLACE = re.compile(r"\{\{\s*(?P<form>\w+)\(\"(?P<name>[^\"\n]*)\"\)\s*\}\}")
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What follows the word python at the beginning of a program that does not run here.
_ELSEWHERE = "elsewhere"
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK_TARGET = re.compile(r"\]\([^)\s]*\)")
_DIRECTIVE = re.compile(r"^:::.*$", re.MULTILINE)
# A digit that begins a number: neither that of float32 or ZeRO-1, nor one further on.
_DIGIT = re.compile(r"(?<![\w.])(?<![A-Za-z]-)\d[\d.,]*")


def fill(text: str, claims: Mapping[str, Claim]) -> tuple[str, list[str]]:
    """The text with its numbers, and what is wrong: unknown claims, unused ones, other expressions."""
    faults: list[str] = []
    used: set[str] = set()

    def number(place: re.Match[str]) -> str:
        form, name = place["form"], place["name"]
        if form not in ("claim", "number"):
            faults.append(f'lesson.md has {place[0]}: write claim("…") or number("…")')
        elif name not in claims:
            faults.append(f"lesson.md names the claim '{name}', which claims.json does not have{suggest(name, claims)}")
        else:
            used.add(name)
            return claims[name].text if form == "claim" else claims[name].number
        return place[0]

    filled = _PLACE.sub(number, text)
    if not faults and "{{" in filled:
        faults.append('lesson.md has a {{ that does not begin a claim: write {{ claim("name") }}')
    unused = [name for name in claims if name not in used]
    faults += [f"lesson.md does not use the claim '{name}' of claims.py" for name in unused]
    return filled, faults


def blocks(text: str) -> Iterator[Block]:
    """The programs of a text. One that prints is followed by a block ```text with its output."""
    return (block for _, _, block in placed_blocks(text))


def placed_blocks(text: str) -> Iterator[tuple[int, int, Block]]:
    """As `blocks`, each with where it begins and where its output ends."""
    found = list(_FENCE.finditer(text))
    for at, match in enumerate(found):
        language, *words = match[1].split() or [""]
        if language != "python" or words not in ([], [_ELSEWHERE]):
            continue
        after = found[at + 1] if at + 1 < len(found) else None
        follows = after is not None and after[1].strip() == "text" and not text[match.end() : after.start()].strip()
        if after is not None and follows:
            yield match.start(), after.end(), Block(match[2], after[2], not words)
        else:
            yield match.start(), match.end(), Block(match[2], "", not words)


def unmeasured(text: str, filled: str, programs: Sequence[Block], claims: Mapping[str, Claim]) -> list[str]:
    """Numbers of the text that are neither claims nor in a program or its output, one message each."""
    printed = "\n".join(f"{each.code}\n{each.output}" for each in programs)
    # Such as an error with its message.
    measured = {each.text for each in claims.values()}
    faults = [
        f"lesson.md has `{span}`, which is neither in a program of the lesson nor in its output"
        for span in _SPAN.findall(_FENCE.sub("", filled))
        if _DIGIT.search(span) and span not in printed and span not in measured
    ]
    prose = _FENCE.sub("", text)
    for pattern in (_PLACE, _SPAN, _LINK_TARGET, _DIRECTIVE):
        prose = pattern.sub(" ", prose)
    return faults + [
        f"lesson.md has the number {found[0].rstrip('.,')}, which is not a claim: measure it in claims.py"
        for found in _DIGIT.finditer(prose)
    ]
