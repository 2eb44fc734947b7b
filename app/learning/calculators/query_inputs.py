"""Inputs from the query of a page: what was typed, what it means, and what is wrong with it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.learning.calculators.calculator import Calculator, Choice, Input, Number, Value
from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs

_SEPARATORS = re.compile(r"(?<=\d)[,_ \u00a0\u2009](?=\d)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_MOST_TEXT = 40


@dataclass(frozen=True, slots=True)
class QueryInputs:
    """`typed` is what the fields show again. `results` is None if there are faults, which are by the input's name."""

    typed: Mapping[str, str]
    values: Mapping[str, Value]
    faults: Mapping[str, str]
    results: Outputs | None


def read_inputs(calculator: Calculator, query: Mapping[str, str]) -> QueryInputs:
    """Read the query and compute. A missing input has its default."""
    typed, values, faults = {}, dict(calculator.defaults), {}
    for each in calculator.inputs:
        text = query.get(each.name, str(each.default)).strip()[:_MOST_TEXT]
        typed[each.name] = text
        try:
            values[each.name] = _value(each, text)
        except ValueError as error:
            faults[each.name] = str(error)
    if faults:
        return QueryInputs(typed, values, faults, None)
    try:
        return QueryInputs(typed, values, {}, calculator.results(values))
    except Impossible as impossible:
        return QueryInputs(typed, values, {impossible.field: str(impossible)}, None)


def _value(field: Input, text: str) -> Value:
    if isinstance(field, Choice):
        if text not in field.values:
            raise ValueError(f"Choose one of: {', '.join(field.values)}.")
        return text
    plain = _SEPARATORS.sub("", text)
    if not _NUMBER.fullmatch(plain):
        raise ValueError(f"Enter a number, such as {field.default:,}.")
    number = float(plain)
    if not math.isfinite(number) or not field.least <= number <= field.most:
        raise ValueError(f"Enter a number from {field.least:,} to {field.most:,}.")
    if not field.whole:
        return number
    # Digits as they are: a float has only 53 bits for them.
    whole = int(plain) if plain.lstrip("+-").isdigit() else int(number)
    if whole != number and not plain.lstrip("+-").isdigit():
        raise ValueError(f"Enter a whole number, such as {field.default:,}.")
    return whole


def as_query(values: Mapping[str, Value]) -> dict[str, str]:
    return {name: repr(value) if isinstance(value, float) else str(value) for name, value in values.items()}


def is_number(field: Input) -> bool:
    return isinstance(field, Number)
