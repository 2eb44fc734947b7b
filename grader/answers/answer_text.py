"""Read, show and compare answers as people write them: `12 MiB`, `1,000,000`, `P('fsdp', None)`."""

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from grader.core.template import grouped
from grader.package.package import AnswerManifest, AnswerSpec

# Values are plain JSON, because they are stored: a number, a choice or a spec as text, or the rows of a table.
Value = int | float | str | list[list[int | float]]

_MAX_CHARACTERS = 200
_LARGEST = 10**100
_NUMBER = re.compile(r"([+-]?(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d{1,2})?)\s*(.*)")
_SPACES = "' \u2019\u00a0\u202f"
_SEPARATED = re.compile(f"\\d[,{_SPACES}]\\d")
# 1 000, 1'000'000 and 1,000,000 are whole numbers in every country, and 1,000.5 has a decimal point.
_THOUSANDS = re.compile(
    rf"(?P<number>[+-]?[1-9]\d{{0,2}}(?:([{_SPACES}])\d{{3}}(?:\2\d{{3}})*(?:\.\d+)?|,\d{{3}}(?:(?:,\d{{3}})+(?:\.\d+)?|\.\d+)))"
    r"(?P<rest>\D.*)?"
)
# A single comma can also be a decimal point, but a number of bytes without a prefix has no decimals.
_ONE_COMMA = re.compile(r"(?P<number>[+-]?[1-9]\d{0,2},\d{3})(?P<rest>\s*(?:b|bytes?)?)", re.IGNORECASE)
# Word processors and phones write quotes like these.
_QUOTES = str.maketrans(dict.fromkeys("\u2018\u2019\u201c\u201d", "'"))
_PREFIXES = ["", "kilo", "mega", "giga", "tera", "peta"]
_BYTES = {"b": 1} | {
    name: base**power
    for power, prefix in enumerate(_PREFIXES)
    for short, long, base in ((f"{prefix[:1]}b", prefix, 1000), (f"{prefix[:1]}ib", f"{prefix[:2]}bi", 1024))
    for name in ((short, f"{long}byte", f"{long}bytes") if prefix else ("byte", "bytes"))
}
_SECONDS = {
    name: Fraction(1, 1000**power)
    for power, names in enumerate(
        (
            "s sec second seconds",
            "ms millisecond milliseconds",
            "us \u00b5s \u03bcs microsecond microseconds",
            "ns nanosecond nanoseconds",
        )
    )
    for name in names.split()
}
_FLOPS = {
    f"{letter}flop{end}": 1000**power
    for power, prefix in enumerate(_PREFIXES)
    for letter in {prefix, prefix[:1]}
    for end in ("", "s")
}
_UNITS: dict[str, Mapping[str, int | Fraction]] = {"bytes": _BYTES, "seconds": _SECONDS, "FLOPs": _FLOPS}
_EXAMPLES = {"bytes": "12582912, 12 MiB or 12.6 MB", "seconds": "0.0031 or 3.1 ms", "FLOPs": "2e12 or 2 TFLOP"}
_SPEC_EXAMPLE = "P('fsdp', None), P(('data', 'fsdp')) or P()"


class AnswerUnfit(Exception):
    """The text is not an answer of this kind. The message says what is wrong and what to write."""


def read_answers(manifest: AnswerManifest, raw: Mapping[str, object]) -> tuple[dict[str, Value], dict[str, str]]:
    """Read all answers. Return those that can be read, and messages about the others, both by id."""
    values: dict[str, Value] = {}
    faults: dict[str, str] = {}
    for spec in manifest.answers:
        try:
            values[spec.id] = read_answer(spec, raw.get(spec.id, ""))
        except AnswerUnfit as unfit:
            faults[spec.id] = str(unfit)
    known = [spec.id for spec in manifest.answers]
    for name in raw:
        if name not in known:
            faults[str(name)[:80]] = f"This question has no answer of this name. Its answers are {', '.join(known)}."
    return values, faults


def read_answer(spec: AnswerSpec, raw: object) -> Value:
    """Read an answer as it was typed, or as it is in JSON or TOML. Raises AnswerUnfit."""
    if spec.kind == "table":
        return _read_table(spec, raw)
    if isinstance(raw, str) and not raw.strip():
        raise AnswerUnfit(f"This answer is empty. Write {example_of(spec)}.")
    if isinstance(raw, str) and len(raw) > _MAX_CHARACTERS:
        raise AnswerUnfit(f"This answer has {len(raw)} characters, which is too long. Write {example_of(spec)}.")
    if spec.kind == "number":
        return _read_number(spec, raw)
    if spec.kind == "spec":
        return _read_spec(raw)
    return _read_choice(spec, raw)


def example_of(spec: AnswerSpec) -> str:
    """Return an example of an answer, phrased as the end of a sentence."""
    if spec.kind == "choice":
        return "one of " + ", ".join(repr(each) for each in spec.choices)
    if spec.kind == "spec":
        return f"a spec such as {_SPEC_EXAMPLE}"
    number = _EXAMPLES.get(spec.unit, f"42 or 42 {spec.unit}" if spec.unit else "42 or 1_000_000 or 1e6")
    if spec.kind == "table":
        return f"{len(spec.rows)} rows of {len(spec.columns)} numbers"
    return f"a number such as {number}"


def show_answer(spec: AnswerSpec, value: Value) -> str:
    """Format an answer as text that `read_answer` reads as the same value."""
    if isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, str):
        return value
    return f"{grouped(value)} {_singular(spec.unit) if value == 1 else spec.unit}".strip()


def tolerance_text(spec: AnswerSpec) -> str:
    return f"within {spec.tolerance * 100:g} %" if spec.tolerance else "exact"


def agrees(spec: AnswerSpec, mine: Value, other: Value) -> bool:
    """Whether two answers are the same, within the tolerance relative to `other`."""
    if isinstance(mine, list) and isinstance(other, list):
        return len(mine) == len(other) and all(
            len(row) == len(theirs) and all(_is_close(spec, *pair) for pair in zip(row, theirs, strict=True))
            for row, theirs in zip(mine, other, strict=True)
        )
    if isinstance(mine, int | float) and isinstance(other, int | float):
        return _is_close(spec, mine, other)
    return mine == other


def _is_close(spec: AnswerSpec, mine: int | float, other: int | float) -> bool:
    if not spec.tolerance and isinstance(mine, int) and isinstance(other, int):
        return mine == other
    # Non-integer answers without a tolerance may still differ in the last digits of a float.
    return abs(mine - other) <= (spec.tolerance or 1e-9) * abs(other) * (1 + 1e-12)


def _read_number(spec: AnswerSpec, raw: object) -> int | float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise AnswerUnfit(f"{_quoted(raw)} is not a number. Write {example_of(spec)}.")
    if not isinstance(raw, str):
        if isinstance(raw, float) and not math.isfinite(raw):
            raise AnswerUnfit(f"{raw} is not a finite number. Write {example_of(spec)}.")
        return _as_number(Fraction(raw))
    text = raw.strip()
    thousands = _THOUSANDS.fullmatch(text) or (_ONE_COMMA.fullmatch(text) if spec.unit == "bytes" else None)
    if thousands is not None:
        text = re.sub(f"[,{_SPACES}]", "", thousands["number"]) + (thousands["rest"] or "")
    if _SEPARATED.search(text):
        raise AnswerUnfit(
            "A comma, a space or an apostrophe in this number may separate thousands or be a decimal point. Write "
            "1000 or 1_000 for a thousand, and 1.5 for one and a half."
        )
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise AnswerUnfit(f"{_quoted(raw)} is not a number. Write {example_of(spec)}.")
    return _as_number(Fraction(found[1]) * _factor(spec, found[2].strip()))


def _factor(spec: AnswerSpec, unit: str) -> int | Fraction:
    units = _UNITS.get(spec.unit, {})
    # Accept `1 device` for an answer in devices, and `8 devices` for one about devices that has no unit.
    nouns = {_singular(word) for word in re.findall(r"\w+", (spec.unit or spec.label).lower())}
    if not unit or unit.lower() == spec.unit.lower() or (not units and _singular(unit.lower()) in nouns):
        return 1
    if spec.unit == "bytes" and re.fullmatch("[kKMGTP]i?b", unit):
        raise AnswerUnfit(f"{_quoted(unit)} means bits. For bytes, write {unit[:-1]}B.")
    if unit.lower() in units:
        return units[unit.lower()]
    expected = f"is in {spec.unit}" if spec.unit else "has no unit"
    raise AnswerUnfit(f"{_quoted(unit)} does not fit this answer, which {expected}. Write {example_of(spec)}.")


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _read_choice(spec: AnswerSpec, raw: object) -> str:
    """Read a choice, ignoring case, hyphens, underscores and spaces: `All-Gather` is `all_gather`."""
    if raw in spec.choices:
        return str(raw)
    alike = [each for each in spec.choices if _letters(each) and _letters(each) == _letters(str(raw))]
    if len(alike) != 1:
        raise AnswerUnfit(f"{_quoted(raw)} is not a choice. Write {example_of(spec)}.")
    return alike[0]


def _letters(text: str) -> str:
    return re.sub(r"[\s_-]", "", text).lower()


def _as_number(value: Fraction) -> int | float:
    if abs(value) > _LARGEST:
        raise AnswerUnfit("This number is too large to be the answer to any question.")
    if value.denominator == 1:
        return value.numerator
    return float(value)


def _read_spec(raw: object) -> str:
    fault = AnswerUnfit(
        f"{_quoted(raw)} is not a PartitionSpec. Write a spec such as {_SPEC_EXAMPLE}, with axis names in quotes."
    )
    if not isinstance(raw, str):
        raise fault
    try:
        call = ast.parse(raw.strip().translate(_QUOTES), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise fault from None
    if not isinstance(call, ast.Call) or call.keywords:
        raise fault
    if ast.unparse(call.func).rpartition(".")[2] not in ("P", "PartitionSpec"):
        raise fault
    try:
        return spec_text([ast.literal_eval(each) for each in call.args])
    except ValueError:
        raise fault from None


def spec_text(entries: Sequence[object]) -> str:
    """The canonical text of a spec: without None at its end, and with an axis instead of a tuple of one axis.

    Raises:
      ValueError: an entry is not None, an axis or several axes.
    """
    dims: list[str | tuple[str, ...] | None] = []
    for each in entries:
        names = (each,) if isinstance(each, str) else each
        if names is not None and not (isinstance(names, tuple | list) and all(isinstance(one, str) for one in names)):
            raise ValueError(f"{each!r} is not an entry of a spec")
        dims.append(None if not names else names[0] if len(names) == 1 else tuple(names))
    while dims and dims[-1] is None:
        dims.pop()
    return f"P({', '.join(repr(each) for each in dims)})"


def _read_table(spec: AnswerSpec, raw: object) -> list[list[int | float]]:
    if not isinstance(raw, list) or [len(row) if isinstance(row, list) else -1 for row in raw] != [
        len(spec.columns)
    ] * len(spec.rows):
        raise AnswerUnfit(f"This is not a table. Write {example_of(spec)}: a list for each row.")
    cell = spec.model_copy(update={"kind": "number"})
    table: list[list[int | float]] = []
    for row, name in zip(raw, spec.rows, strict=True):
        table.append([])
        for text, column in zip(row, spec.columns, strict=True):
            try:
                if isinstance(text, str) and not text.strip():
                    raise AnswerUnfit(f"This cell is empty. Write {example_of(cell)}.")
                table[-1].append(_read_number(cell, text))
            except AnswerUnfit as unfit:
                raise AnswerUnfit(f"Row {name}, column {column}: {unfit}") from None
    return table


def _quoted(raw: object) -> str:
    text = str(raw)
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"
