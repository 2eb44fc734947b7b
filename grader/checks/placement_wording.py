"""Say in one plain sentence how leaves are placed, and how they should be."""

from collections.abc import Mapping, Sequence
from math import prod

from grader.checks.wording import listed, named
from grader.verdicts.evidence import Held, Leaf

_MAX_NAMED = 2
_RESULT = "result"
_WHERE = {
    frozenset({"in"}): "In the initial state, ",
    frozenset({"out"}): "After the step, ",
}


def placement_headlines(
    wrong: Sequence[tuple[Mapping[str, int], Leaf, tuple[int, ...] | None]], *, has_steps: bool
) -> tuple[str, ...]:
    """A sentence for each kind of fault.

    Args:
      wrong: for each leaf its mesh, its placement, and its shape if that is not the expected one.
      has_steps: the leaves are those of a state, before and after a step.
    """
    kinds: dict[tuple[str, str], dict[str, set[str]]] = {}
    shapes = {leaf.path: leaf.shape for _, leaf, shape in wrong if leaf.got is not None and shape is None}
    for mesh, leaf, shape in wrong:
        kinds.setdefault(_is_and_should(mesh, leaf, shape), {}).setdefault(leaf.path, set()).add(leaf.when)
    sentences = []
    for (is_now, should_be), paths in kinds.items():
        where = _WHERE.get(frozenset().union(*paths.values()), "") if has_steps else ""
        subject, verb = _subject(list(paths), begins=not where)
        if len(paths) == 1 and (path := next(iter(paths))) in shapes:
            subject += f" of shape {shapes[path]}"
        has, pronoun = ("has", "It") if verb == "is" else ("have", "They")
        sentences.append(f"{where}{subject} {is_now.format(be=verb, has=has)}. {pronoun} should {should_be}.")
    return tuple(sentences)


def _subject(paths: list[str], *, begins: bool) -> tuple[str, str]:
    if paths == [_RESULT]:
        return ("Your" if begins else "your") + " result", "is"
    more = len(paths) - _MAX_NAMED
    if more > 0:
        others = f"{more} more {'leaf' if more == 1 else 'leaves'}"
        return listed([*(f"`{path}`" for path in paths[:_MAX_NAMED]), others]), "are"
    return named(paths), "is" if len(paths) == 1 else "are"


def _is_and_should(mesh: Mapping[str, int], leaf: Leaf, shape: tuple[int, ...] | None) -> tuple[str, str]:
    """Return how the leaf is, with `{be}` and `{has}` for the verb, and how it should be."""
    if leaf.got is None:
        return "{be} missing", "be returned"
    if shape is not None:
        return f"{{has}} the shape {shape}", f"have the shape {leaf.shape}"
    got, expected = _axes(leaf.got, mesh), _axes(leaf.expected, mesh)
    if not got and not expected:
        return "{be} not whole on every device", "be"
    dims, right = _dims(leaf.got, leaf.shape), _dims(leaf.expected, leaf.shape)
    if got == expected:
        over = _over(got)
        if dims == right:
            return f"{{be}} split {over}, but the devices hold each other's parts", "be split in the order of the mesh"
        return f"{{be}} split {over} along {_dimensions(dims)}", f"be split along {_dimensions(right)}"
    if not got:
        return "{be} whole on every device", f"be split {_over(expected)} along {_dimensions(right)}"
    if not expected:
        return f"{{be}} still split {_over(got)}", "be whole on every device"
    only = " only" if set(got) < set(expected) else ""
    return f"{{be}} split {_over(got)}{only}", f"be split {_over(expected)} along {_dimensions(right)}"


def _axes(held: Held, mesh: Mapping[str, int]) -> tuple[str, ...]:
    """Return the mesh axes along which devices hold different parts. Devices are numbered row by row."""
    names, found = list(mesh), []
    for position, name in enumerate(names):
        stride = prod(mesh[each] for each in names[position + 1 :])
        if any(held[device] != held[device - stride * (device // stride % mesh[name])] for device in range(len(held))):
            found.append(name)
    return tuple(found)


def _dims(held: Held, shape: Sequence[int]) -> tuple[int, ...]:
    """The dimensions of which some device holds only a part."""
    return tuple(
        dim for dim, size in enumerate(shape) if any(len(part) > dim and part[dim] != (0, size) for part in held)
    )


def _over(axes: Sequence[str]) -> str:
    return f"over {named(axes)}"


def _dimensions(dims: Sequence[int]) -> str:
    return f"dimension{'' if len(dims) == 1 else 's'} {listed(map(str, dims))}" if dims else "no dimension"
