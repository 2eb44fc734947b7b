"""Describe the rules of the check `collectives` in words."""

from collections.abc import Sequence

from grader.checks.collective_rules import Rule
from grader.checks.wording import listed, named, within
from grader.program.collective_uses import Kind

_DONE = {"all-gather": "all-gathered", "all-reduce": "all-reduced", "reduce-scatter": "reduce-scattered"}
_SUMS = {"all-reduce", "reduce-scatter"}
_OFTEN: dict[tuple[float | None, float | None], str] = {
    (1, 1): "exactly once",
    (2, 2): "exactly twice",
    (1, 2): "once or twice",
    (None, 1): "at most once",
    (1, None): "at least once",
}


def sentences_of(
    rules: Sequence[Rule], allowed: Sequence[Kind] | None, ignore_below: int, *, is_single: bool
) -> tuple[str, ...]:
    """Describe what the rules require, each with its main bounds.

    Args:
      is_single: whether the mesh has one axis, so that no sentence needs to name it.
    """
    if allowed is not None and not allowed:
        return ("devices do not communicate",)
    if allowed is None and not rules:
        return ("a device sends no more than in the accepted solution that sends most",)
    is_closed = allowed is not None and all(_is_closed(kind, rules, is_single=is_single) for kind in allowed)
    sentences = [_bounding(rule, "" if is_single else _over(rule)) for rule in rules if rule.at_most != 0]
    if not is_closed:
        sentences += _forbidding([rule for rule in rules if rule.at_most == 0])
    besides = f" (less than {ignore_below} bytes in all do not count)" if ignore_below else ""
    if is_closed:
        sentences.append(f"nothing else is sent{besides}")
    elif allowed is not None:
        sentences.append(f"no collective runs other than {listed(allowed, 'or')}{besides}")
    return tuple(sentences)


def wording_of(rule: Rule) -> str:
    """Describe everything that a rule bounds, exactly."""
    limits = []
    if rule.at_most == 0:
        limits.append("none")
    elif rule.of is not None and (rule.at_least is not None or rule.at_most is not None):
        limits.append(f"{within(rule.at_least, rule.at_most)} {_unit(rule)}")
    if rule.at_once is not None:
        limits.append(f"{within(None, rule.at_once)} {_unit(rule)} in one execution")
    if rule.executions is not None:
        limits.append(_executions(rule))
    return f"{listed(rule.kinds)}{_over(rule)}{_place(rule)}{_counting(rule)}: {', '.join(limits) or 'any number'}"


def _is_closed(kind: Kind, rules: Sequence[Rule], *, is_single: bool) -> bool:
    """Whether the rules bound everything of this kind, or forbid what they do not bound."""
    everywhere = [
        rule
        for rule in rules
        if kind in rule.kinds and rule.within is None and rule.at_most is not None and (is_single or rule.axes is None)
    ]
    bounded = [(rule.only_from, rule.into) for rule in everywhere if not rule.counts_others]
    return (None, None) in bounded or any(
        (rule.not_only_from, rule.not_into) in bounded for rule in everywhere if rule.counts_others
    )


def _bounding(rule: Rule, over: str) -> str:
    if rule.each:
        names = [rule.of] if rule.of and rule.of != "reference" else rule.into or rule.only_from or []
        what = f"each leaf of {named(names)}"
        if rule.into is not None:
            what = f"the gradient of {what}" if _SUMS.issuperset(rule.kinds) else f"the new value of {what}"
        text = f"{what} is {_done(rule.kinds)}{over}{_amount_of_leaf(rule)}{_place(rule)}"
    else:
        moves = f"{listed(rule.kinds)} together move" if len(rule.kinds) > 1 else f"{rule.kinds[0]} moves"
        text = f"{moves} {_amount(rule)}{over}{_place(rule)}{_counting(rule)}"
    if rule.at_once is not None:
        text += f", at most {rule.at_once:g} of it at a time"
    return text if rule.executions is None else f"{text}, in {_executions(rule)}"


def _forbidding(rules: Sequence[Rule]) -> list[str]:
    """One sentence for all rules that forbid the same thing along different axes."""
    places: dict[str, list[str]] = {}
    for rule in rules:
        done = _done(rule.kinds)
        if rule.not_only_from is not None:
            what = f"only {named(rule.not_only_from)} may be {done}"
        elif rule.not_into is not None:
            what = f"only what ends up in {named(rule.not_into)} may be {done}"
        elif rule.only_from is not None:
            what = f"nothing that depends on {named(rule.only_from)} alone is {done}"
        elif rule.into is not None:
            what = f"nothing that ends up in {named(rule.into)} is {done}"
        else:
            what = f"nothing is {done}"
        places.setdefault(what, []).append(f"{_over(rule)}{_place(rule)}".strip())
    return [f"{what} {listed(where, 'or')}".strip() for what, where in places.items()]


def _amount_of_leaf(rule: Rule) -> str:
    low, high = rule.at_least, rule.at_most
    if rule.of == "reference":
        return " with as many bytes as in the reference" if low == high == 1 else f": {within(low, high)} {_unit(rule)}"
    return f" {_OFTEN[low, high]}" if (low, high) in _OFTEN else f": {within(low, high)} its bytes"


def _amount(rule: Rule) -> str:
    low, high = rule.at_least, rule.at_most
    if rule.of is None or (low is None and high is None):
        return "data"
    if low == high == 1:
        return "as many bytes as in the reference" if rule.of == "reference" else f"exactly {_unit(rule)}"
    return f"{within(low, high)} {_unit(rule)}"


def _unit(rule: Rule) -> str:
    if rule.of == "reference":
        return "the reference's bytes of each leaf" if rule.each else "the reference's bytes"
    return f"the bytes of {'each leaf of ' if rule.each else ''}`{rule.of}`"


def _counting(rule: Rule) -> str:
    counted = [f", counting {named(rule.only_from)} alone"] if rule.only_from else []
    counted += [f", not counting {named(rule.not_only_from)}"] if rule.not_only_from else []
    counted += [f", counting what ends up in {named(rule.into)}"] if rule.into else []
    counted += [f", not counting what ends up in {named(rule.not_into)}"] if rule.not_into else []
    return "".join(counted)


def _executions(rule: Rule) -> str:
    assert rule.executions is not None
    low, high = rule.executions.at_least, rule.executions.at_most
    if low == high:
        return f"exactly {low} execution{'' if low == 1 else 's'}"
    if low is None or high is None:
        return f"at least {low} executions" if high is None else f"at most {high} executions"
    return f"{low} to {high} executions"


def _done(kinds: Sequence[Kind]) -> str:
    return listed([_DONE.get(kind, f"sent by {kind}") for kind in kinds], "or")


def _place(rule: Rule) -> str:
    return {"loops": " inside loops", "no loop": " outside loops", None: ""}[rule.within] + {
        "only": ", only inside loops", "never": ", only outside loops", "any": "",
    }[rule.loops]  # fmt: skip


def _over(rule: Rule) -> str:
    if rule.axes is None:
        return ""
    return f" over {named(rule.axes)}{' together' if len(rule.axes) > 1 else ''}"
