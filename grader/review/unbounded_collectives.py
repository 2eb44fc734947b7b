"""Find the ways to communicate that the rules of a package leave without an upper bound.

A kind of collective that is allowed, over a set of axes that no rule names, or into an output that one rule excepts and
no other bounds, can take all that budget.json allows. Without the check, nothing is bounded at all.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import get_args

from grader.checks.collective_rules import Rule
from grader.checks.program import collectives
from grader.package.fault import PackageFault
from grader.package.package import Manifest
from grader.program.collective_uses import Kind


def unbounded(manifest: Manifest) -> Iterator[PackageFault]:
    """Yield one fault for each allowed kind of collective that is not bounded over every set of axes.

    A check with neither `allowed` nor rules bounds everything together by budget.json, so it leaves no gap.
    """
    if manifest.mode != "program":
        return
    # Nothing is sent along an axis of one device.
    sizes = {axis: max(mesh[axis] for mesh in manifest.program.meshes) for axis in manifest.program.meshes[0]}
    axes = [axis for axis, size in sizes.items() if size > 1]
    subsets = [list(each) for number in range(1, len(axes) + 1) for each in combinations(axes, number)]
    checks = [each.bounds for each in manifest.checks if isinstance(each.bounds, collectives.Bounds)]
    if axes and not checks:
        message = "no check bounds what the devices send"
        yield PackageFault("unbounded-collective", "problem.toml", None, message)
    for bounds in checks:
        kinds = bounds.allowed if bounds.allowed is not None else get_args(Kind) if bounds.rules else ()
        for kind in kinds:
            gaps = {" and ".join(each): _gap(bounds.rules, kind, each) for each in subsets}
            for why in dict.fromkeys(each for each in gaps.values() if each is not None):
                where = ", ".join(name for name, each in gaps.items() if each == why)
                message = f"{kind} over {where} has no upper bound{why}"
                yield PackageFault("unbounded-collective", "problem.toml", None, message)


def _gap(rules: Sequence[Rule], kind: Kind, axes: list[str]) -> str | None:
    """Say why a kind is not bounded over these axes, as the end of a sentence; None if it is."""
    bounding = [
        rule
        for rule in rules
        if kind in rule.kinds and (rule.axes is None or rule.axes == axes) and rule.within is None and _is_bounded(rule)
    ]
    named = [(each.into, each.not_into, "into") for each in bounding]
    named += [(each.only_from, each.not_only_from, "only_from") for each in bounding]
    if any(rule.into is rule.not_into is rule.only_from is rule.not_only_from is None for rule in bounding):
        return None
    whys = []
    for key in ("into", "only_from"):
        bounded = {group for groups, _, name in named if name == key for group in groups or ()}
        for _, excepted, name in named:
            if name == key and excepted is not None:
                missing = [group for group in excepted if group not in bounded]
                if not missing:
                    return None
                whys.append(f": no rule bounds {key} = {missing}")
    return whys[0] if whys else ""


def _is_bounded(rule: Rule) -> bool:
    return rule.at_most is not None or (rule.executions is not None and rule.executions.at_most is not None)
