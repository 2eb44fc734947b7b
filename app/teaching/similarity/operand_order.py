"""One order for the terms of a sum and the factors of a product, so that swapping them changes nothing.

Without recursion, because the source may be nested as deeply as its author likes.
"""

import keyword
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Brackets that are nested deeper stay as they are.
_DEEPEST = 40
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_PRODUCT = frozenset(("*", "/", "//", "%", "@"))
# These belong to an operand. All other operators and keywords end a sum.
_IN_OPERAND = frozenset((".", "**", "~")) | _OPENING | _CLOSING
_WORDS = frozenset(keyword.kwlist) - {"None", "True", "False"}


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    line: int


def sort_operands(tokens: Iterable[Token]) -> list[Token]:
    """The same tokens, with `b * a + c` and `c + a * b` in one order."""
    # An atom is a token, or a bracket with everything in it.
    frames: list[list[list[Token]]] = [[]]
    skipped = 0
    for token in tokens:
        text = token.text
        if text in _OPENING:
            if len(frames) > _DEEPEST:
                skipped += 1
                frames[-1].append([token])
            else:
                frames.append([[token]])
        elif text in _CLOSING and skipped:
            skipped -= 1
            frames[-1].append([token])
        elif text in _CLOSING and len(frames) > 1:
            opening, *atoms = frames.pop()
            frames[-1].append([*opening, *_sorted_sums(atoms), token])
        else:
            frames[-1].append([token])
    while len(frames) > 1:  # a bracket that never closes
        opening, *atoms = frames.pop()
        frames[-1].append([*opening, *_sorted_sums(atoms)])
    return _sorted_sums(frames[0])


def _sorted_sums(atoms: Sequence[list[Token]]) -> list[Token]:
    found: list[Token] = []
    expression: list[list[Token]] = []
    for atom in atoms:
        text = atom[0].text
        is_end = len(atom) == 1 and (text in _WORDS or not _is_operand(text)) and text not in _PRODUCT | {"+", "-"}
        if is_end:
            found += _sorted_sum(expression)
            found += atom
            expression = []
        else:
            expression.append(atom)
    return found + _sorted_sum(expression)


def _is_operand(text: str) -> bool:
    return text in _IN_OPERAND or text[0].isalnum() or text[0] in "_."


def _sorted_sum(atoms: Sequence[list[Token]]) -> list[Token]:
    """Added terms first, then those that are subtracted."""
    terms: list[tuple[list[Token], list[list[Token]]]] = [([], [])]
    for atom in atoms:
        sign, term = terms[-1]
        if atom[0].text not in ("+", "-"):
            term.append(atom)
        elif term and term[-1][-1].text not in _PRODUCT | {"**"}:
            terms.append((atom, []))
        elif not term and not sign:
            terms[-1] = (atom, [])
        else:
            term.append(atom)  # the sign of a factor
    if len(terms) == 1:
        return [*terms[0][0], *_sorted_product(terms[0][1])]
    products = [(sign, _sorted_product(term)) for sign, term in terms]
    products.sort(key=lambda each: (each[0][0].text if each[0] else "+", [token.text for token in each[1]]))
    plus = next((sign for sign, _ in products if sign and sign[0].text == "+"), [])
    # The first added term has no sign; whichever had none before gets the sign that is left over.
    found: list[Token] = []
    for number, (sign, product) in enumerate(products):
        is_added = not sign or sign[0].text == "+"
        found += [] if number == 0 and is_added else (sign or plus)
        found += product
    return found


def _sorted_product(atoms: Sequence[list[Token]]) -> list[Token]:
    """A quotient or a matrix product keeps its order, because swapping it would be another computation."""
    factors: list[list[Token]] = [[]]
    times: list[list[Token]] = []
    for number, atom in enumerate(atoms):
        text = atom[0].text
        if number and len(atom) == 1 and text in _PRODUCT:
            if text != "*":
                return [token for each in atoms for token in each]
            times.append(atom)
            factors.append([])
        else:
            factors[-1] += atom
    if not times:
        return factors[0]
    factors.sort(key=lambda each: [token.text for token in each])
    found = list(factors[0])
    for sign, factor in zip(times, factors[1:], strict=True):
        found += sign
        found += factor
    return found
