"""Say which leaves a program returns with another placement than it takes them with, which a step must not do."""

from collections.abc import Sequence

from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured

_MOST = 5
_Named = tuple[str, ProgramLeaf]


def placed_differently(measured: Measured) -> list[str]:
    """Write one sentence for each leaf that comes back on other devices than it goes in, for the first few.

    A function of one output is rarely a step, so its output is compared only with a leaf of the same name.
    """
    is_step = len(measured.outputs) > 1 or bool(measured.state)
    found = [
        f"{before} goes in as {old.spec} and comes back{_under(before, after)} as {new.spec}. If the next call takes "
        "it as it is, `jax.jit` compiles the function again."
        for (before, old), (after, new) in _pairs(measured, by_form=is_step)
        if old.slices != new.slices
    ]
    more = len(found) - _MOST
    return [*found[:_MOST], *[f"{more} more leaves come back placed differently."] * (more > 0)]


def _under(before: str, after: str) -> str:
    return "" if before == after else f", as {after},"


def _pairs(measured: Measured, *, by_form: bool) -> list[tuple[_Named, _Named]]:
    """Pair each output with the input that it replaces: one of the same name, or the first of its shape and dtype."""
    inputs: list[_Named] = [*measured.state_in, *measured.given]
    found: list[tuple[_Named, _Named]] = []
    rest: list[_Named] = []
    for output in measured.out:
        match = next((each for each in inputs if _same_form(each, output) and _same_name(each[0], output[0])), None)
        if match is None:
            rest.append(output)
        else:
            inputs.remove(match)
            found.append((match, output))
    return [*found, *(_pairs_by_form(inputs, rest) if by_form else [])]


def _pairs_by_form(inputs: Sequence[_Named], outputs: Sequence[_Named]) -> list[tuple[_Named, _Named]]:
    left, found = list(inputs), []
    for output in outputs:
        match = next((each for each in left if _same_form(each, output)), None)
        if match is not None:
            left.remove(match)
            found.append((match, output))
    return found


def _same_form(before: _Named, after: _Named) -> bool:
    return (before[1].shape, before[1].dtype) == (after[1].shape, after[1].dtype)


def _same_name(before: str, after: str) -> bool:
    """Whether `params/w` comes back as `after`: as itself if it is changed in place, or as `result/0/w`."""
    inside = before.partition("/")[2]
    return before == after or after.endswith(f"/{before}") or (bool(inside) and after.endswith(f"/{inside}"))
