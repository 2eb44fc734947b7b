"""Rank known mistakes by how likely a wrong submission makes them: rare code that both sources share counts most."""

import io
import tokenize
from collections import Counter
from collections.abc import Sequence

from grader.package.package import KnownSubmission

_LENGTH = 4
_IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


def by_likelihood(source: str, candidates: Sequence[KnownSubmission]) -> list[KnownSubmission]:
    """Sort the candidates, the likeliest first; ties keep their order.

    Code that most candidates contain says little, so a sequence of tokens counts more the fewer of them contain it.
    """
    sequences = {each.name: _sequences(each.source) for each in candidates}
    holders = Counter(sequence for found in sequences.values() for sequence in found)
    mine = _sequences(source)

    def likelihood(each: KnownSubmission) -> float:
        shared, all_ = mine & sequences[each.name], mine | sequences[each.name]
        return sum(1 / holders[sequence] for sequence in shared) - len(all_ - shared) / (1 + len(all_))

    return sorted(candidates, key=likelihood, reverse=True)


def _sequences(source: str) -> set[tuple[str, ...]]:
    """Every sequence of `_LENGTH` tokens, up to the first syntax error, without comments, docstrings and layout."""
    words: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            is_text = token.type == tokenize.STRING and token.string.startswith(('"""', "'''"))
            if token.type not in _IGNORED and not is_text:
                words.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        pass
    return {tuple(words[start : start + _LENGTH]) for start in range(len(words) - _LENGTH + 1)}
