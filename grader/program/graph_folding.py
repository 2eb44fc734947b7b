"""Fold the steps of a program into few groups: steps of one function, and collectives that are alike.

A graph without cycles stays without cycles as long as that leaves few groups. Otherwise, layers that a program repeats
become one group, whose edges then also lead back.
"""

from collections.abc import Hashable, Mapping, Sequence

# With more groups, the graph is folded further anyway, and keeping it without cycles would take long.
_MOST_GROUPS = 150
# Try to add a step to at most this many groups with an equal key, the newest first.
_TRIED = 6

Group = list[int]


def fold(keys: Mapping[int, Hashable], before: Mapping[int, Sequence[int]]) -> list[Group]:
    """Put steps with equal keys into one group, unless a path would then lead from the group back to it.

    Args:
      keys: the key of each step, in the order in which they run.
      before: for each step, those that it takes arrays from.
    Returns:
      The groups. If there are very many, each remaining step becomes its own group.
    """
    groups: list[Group] = []
    # For each group, the groups from which a path leads to it, as bits.
    ancestors: list[int] = []
    group_of: dict[int, int] = {}
    by_key: dict[Hashable, list[int]] = {}
    for step, key in keys.items():
        sources = {group_of[each] for each in before.get(step, ()) if each in group_of}
        alike = by_key.setdefault(key, [])
        chosen = next(
            (
                group
                for group in reversed(alike[-_TRIED:])
                if not any(source != group and ancestors[source] >> group & 1 for source in sources)
            ),
            None,
        )
        if chosen is None:
            if len(groups) == _MOST_GROUPS:
                return [*groups, *([each] for each in keys if each not in group_of)]
            chosen = len(groups)
            groups.append([])
            ancestors.append(0)
            alike.append(chosen)
        groups[chosen].append(step)
        group_of[step] = chosen
        added = 0
        for source in sources - {chosen}:
            added |= ancestors[source] | 1 << source
        if added & ~ancestors[chosen]:
            ancestors[chosen] |= added
            for other in range(len(groups)):
                if ancestors[other] >> chosen & 1:
                    ancestors[other] |= added
    return groups


def fold_repeats(keys: Mapping[int, Hashable]) -> list[Group]:
    """Put all steps with equal keys into one group."""
    groups: dict[Hashable, Group] = {}
    for step, key in keys.items():
        groups.setdefault(key, []).append(step)
    return list(groups.values())


def ordered(groups: Sequence[Group], before: Mapping[int, Sequence[int]]) -> list[Group]:
    """Groups in an order in which each comes after those that it takes arrays from.

    If repeated layers make that impossible, the group with the earliest steps comes first.
    """
    of_step = {step: number for number, group in enumerate(groups) for step in group}
    waits: list[set[int]] = [
        {of_step[source] for step in group for source in before.get(step, ()) if source in of_step} - {number}
        for number, group in enumerate(groups)
    ]
    middles = [sorted(group)[len(group) // 2] for group in groups]
    found: list[Group] = []
    left = set(range(len(groups)))
    while left:
        ready = [number for number in left if not waits[number] & left]
        chosen = min(ready or left, key=lambda number: middles[number])
        found.append(groups[chosen])
        left.remove(chosen)
    return found
