"""The drawn questions of a problem in answer mode, and what an attempt at one of them stores."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from grader.answers.answer_text import Value


@dataclass(frozen=True, slots=True)
class WrongFormula:
    """A function of mistakes.py. `answers` has the wrong answers it gives, by id; it may give none for some numbers."""

    name: str
    misunderstanding: str
    answers: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Variant:
    """One question: its drawn parameters, the right answers, and intermediate values. Numbers begin at 1."""

    number: int
    parameters: dict[str, object]
    truth: dict[str, Value]
    steps: dict[str, object] = field(default_factory=dict)
    mistakes: tuple[WrongFormula, ...] = ()

    def names(self) -> dict[str, object]:
        """The values that `explanation.md` may use."""
        return {**self.parameters, **self.steps, "answer": self.truth}


@dataclass(frozen=True, slots=True)
class Variants:
    """All questions of a package version. `key` is derived from the deployment's secret and the version, in hex."""

    key: str
    variants: tuple[Variant, ...]

    def of(self, user: str, number_of_try: int) -> Variant:
        """The question for a user's try, from 1. No question repeats before the user has had all of them."""

        def place(variant: Variant) -> bytes:
            text = f"{user}\n{variant.number}"
            return hmac.new(bytes.fromhex(self.key), text.encode(), hashlib.sha256).digest()

        return sorted(self.variants, key=place)[(number_of_try - 1) % len(self.variants)]

    def always_right(self) -> list[str]:
        """The known wrong formulas that give the right answers in every question drawn."""
        names = dict.fromkeys(each.name for variant in self.variants for each in variant.mistakes)
        wrong = {each.name for variant in self.variants for each in variant.mistakes if each.answers}
        return [name for name in names if name not in wrong]

    def stored(self) -> dict[str, object]:
        return {"key": self.key, "variants": [asdict(each) for each in self.variants]}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "Variants":
        """Read what `stored` returned. Raises KeyError or TypeError for anything else."""
        variants = []
        for each in stored["variants"]:
            mistakes = tuple(WrongFormula(**one) for one in each["mistakes"])
            variants.append(Variant(**{**each, "mistakes": mistakes}))
        return cls(stored["key"], tuple(variants))


@dataclass(frozen=True, slots=True)
class AnswerSheet:
    """An attempt: the answers, and the question they are for. It stores the question's numbers, so that a version with
    other questions can judge it again.
    """

    answers: dict[str, object]
    variant: int
    number_of_try: int
    parameters: dict[str, object]

    def source(self) -> str:
        """Canonical JSON: equal sheets have equal sources."""
        fields = {
            "answers": self.answers,
            "parameters": self.parameters,
            "try": self.number_of_try,
            "variant": self.variant,
        }
        return json.dumps(fields, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, source: str) -> "AnswerSheet":
        """Read what `source` returned. If no question is named, the answers are for the first one.

        Raises:
          ValueError: the text is not a sheet; the message says what is wrong.
        """
        fields = read_object(source)
        if "answers" not in fields:
            fields = {"answers": fields}
        sheet = cls(fields["answers"], fields.get("variant", 1), fields.get("try", 1), fields.get("parameters", {}))
        if not isinstance(sheet.answers, dict) or not isinstance(sheet.parameters, dict):
            raise ValueError("The answers must be a JSON object: the id of each answer, and its value.")
        if type(sheet.variant) is not int or type(sheet.number_of_try) is not int:
            raise ValueError("'variant' and 'try' must be whole numbers.")
        return sheet


def read_object(source: str) -> dict[str, Any]:
    """Read a JSON object. Raises ValueError with a message for the student."""
    try:
        fields = json.loads(source.removeprefix("\N{BYTE ORDER MARK}"), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"The answers are not JSON: {error.msg} (line {error.lineno}).") from None
    except RecursionError:
        raise ValueError("The answers are nested too deeply.") from None
    if not isinstance(fields, dict):
        raise ValueError("The answers must be a JSON object: the id of each answer, and its value.")
    return fields


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a value in JSON. Write a finite number.")
