"""Find out which operations of a StableHLO module are inside a shard_map, where code is written for one device.

Dialect: https://openxla.org/shardy/sdy_dialect#sdymanual_computation_sdymanualcomputationop
"""

from bisect import bisect_right
from dataclasses import dataclass

from grader.program.tokens import ProgramUnreadable, Tokens

_MANUAL = {"sdy.manual_computation", '"sdy.manual_computation"'}
# Counts above this are not exact.
_MOST_TIMES = 1000
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Place:
    """How many calls lead to one operation from inside a shard_map, and how many from outside."""

    inside: int
    outside: int


class Places:
    """Finds the place of each token of a module. Operations in an unreadable shard_map count as outside.

    Raises:
      ProgramUnreadable: functions call one another too deeply.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._regions = _regions(tokens)
        self._starts: list[int] = []
        self._names: list[str] = []
        for at in tokens.positions("func.func"):
            self._starts.append(at)
            self._names.append(next((name for name in tokens.items[at + 1 : at + 4] if name[:1] == "@"), ""))
        self._times = self._count(tokens)

    def place(self, at: int) -> Place:
        """The place of the operation at this token."""
        inside, outside = self._times.get(self._function(at), (0, 0))
        return Place(inside + outside, 0) if self._is_manual(at) else Place(inside, outside)

    def _function(self, at: int) -> str:
        number = bisect_right(self._starts, at) - 1
        return self._names[number] if number >= 0 else ""

    def _is_manual(self, at: int) -> bool:
        number = bisect_right(self._regions, (at, 0)) - 1
        return number >= 0 and at < self._regions[number][1]

    def _count(self, tokens: Tokens) -> dict[str, tuple[int, int]]:
        """For each function, how many calls lead to it from inside a shard_map and from outside."""
        known = set(self._names)
        calls: dict[str, list[tuple[str, bool]]] = {name: [] for name in known}
        for at, token in enumerate(tokens.items[: tokens.end]):
            if token in known and tokens[at - 1] not in {"func.func", "public", "private"}:
                calls[token].append((self._function(at), self._is_manual(at)))
        times = {"@main": (0, 1)}
        # Each round reaches one call deeper.
        for _ in range(_DEEPEST):
            before = dict(times)
            for name, callers in calls.items():
                inside = outside = 0
                for caller, manual in callers:
                    by_hand, left = before.get(caller, (0, 0))
                    inside += by_hand + (left if manual else 0)
                    outside += 0 if manual else left
                if callers and name != "@main":
                    times[name] = min(inside, _MOST_TIMES), min(outside, _MOST_TIMES)
            if times == before:
                return times
        raise ProgramUnreadable(f"its functions call one another more than {_DEEPEST} deep")


def _regions(tokens: Tokens) -> list[tuple[int, int]]:
    """The outermost bodies of shard_maps, in order.

    The form is `sdy.manual_computation(…) in_shardings=[…] … manual_axes={…} (arguments) {body} : type`.
    """
    regions: list[tuple[int, int]] = []
    for start, token in enumerate(tokens.items):
        if token not in _MANUAL:
            continue
        at, body = start + 1, None
        while at < tokens.end and tokens[at] != ":":
            # The attributes' braces come first; in the generic form the body is `({ … })`.
            if tokens[at] == "{" or (tokens[at] == "(" and tokens[at + 1] == "{"):
                body = at, tokens.partners[at]
            at = behind(tokens, at)
        if body is not None and not (regions and body[0] < regions[-1][1]):
            regions.append(body)
    return regions


def behind(tokens: Tokens, at: int) -> int:
    """The index after a token, or after the bracket that it opens."""
    return (tokens.partners[at] if tokens[at] in {"(", "[", "{", "<"} else at) + 1
