"""Check that each device holds the same shard of every leaf as in the reference, before and after the step."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import Field

from grader.checks.finding import Finding
from grader.checks.placement_wording import placement_headlines
from grader.checks.program_subject import Pair, Subject
from grader.checks.wording import Wording, named
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured, mesh_name
from grader.verdicts.evidence import Held, Leaves
from grader.verdicts.evidence import Leaf as Placed
from grader.verdicts.verdict import Trust

TITLE = "Where each leaf lives"
TRUST: Trust = "verified"
When = Literal["in", "out"]
_MAX_LINES, _MAX_NAMED = 4, 4
_WHERE = {"in": "the input state", "out": "the step's output"}
_ADVICE = {
    "in": "In `init`, give {each} the expected spec: `jax.device_put(leaf, NamedSharding(mesh, spec))`.",
    "compiled in": "`init` is compiled here, and `jax.device_put` places nothing in a compiled function. Give {each} "
    "the expected spec in `jax.lax.with_sharding_constraint`, or in `out_shardings` of the jitted function that "
    "makes it.",
    "out": "Give the output the expected spec, in `out_specs` of `shard_map` or in `jax.lax.with_sharding_constraint`.",
    "constrained out": "Your program calls `with_sharding_constraint`, but not with the expected spec on what it "
    "returns. Give it that spec after the last operation on it.",
    "explicit out": "Give the output the expected spec, in `out_sharding` of the operation that makes it or in "
    "`jax.sharding.reshard`.",
}


class Bounds(CheckBounds):
    """With `dims = "any"`, a leaf can be split along any dimension over the same devices. `leaves` are globs.

    `rule` is a sentence that says which spec a leaf has. A verdict adds it to the specs that it compares.
    """

    dims: Literal["exact", "any"] = "exact"
    leaves: list[str] = Field(default=["*"], min_length=1)
    rule: Annotated[str, Field(max_length=300)] = ""


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A leaf that is not accepted."""

    pair: Pair
    row: Placed


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    part = "the same part" if bounds.dims == "exact" else "as large a part"
    what = "the result" if manifest.program.init is None else "the state"
    when = "" if manifest.program.init is None else ", before and after each step"
    chosen = "" if bounds.leaves == ["*"] else f" (only {named(bounds.leaves)})"
    dims = {"exact": "the same slices", "any": "slices that the same devices share, along any dimension"}[bounds.dims]
    leaves = "every leaf" if bounds.leaves == ["*"] else f"each leaf that matches {named(bounds.leaves, 'or')}"
    return Wording(
        (f"each device holds {part} of {what} as in the reference{when}{chosen}",),
        (f"on every mesh, each device has {dims} of {leaves}", *([bounds.rule] if bounds.rule else [])),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if all leaves are placed as in the reference. Evidence: the expected and actual shards of each leaf."""
    evidence: list[Leaves] = []
    wrong: list[_Wrong] = []
    for pair in subject.pairs:
        expected, got = _leaves(pair.reference, bounds), _leaves(pair.mine, bounds)
        rows = [_row(key, expected[key], got.get(key), bounds) for key in expected]
        wrong += [_Wrong(pair, row) for row in rows if not row.ok]
        evidence.append(Leaves(**subject.entry(pair), leaves=rows))
    if not wrong:
        return Finding(True, "Each device holds the right shard of every leaf.", None, evidence)
    alike: dict[tuple[object, ...], list[_Wrong]] = {}
    for each in wrong:
        shapes = None if each.row.got_shape is None else (each.row.shape, each.row.got_shape)
        kind = (each.row.expected_spec, each.row.got_spec, _is_held_whole(each.row), shapes)
        alike.setdefault(kind, []).append(each)
    lines = [_message(rows, subject) for rows in list(alike.values())[:_MAX_LINES]]
    left = len(alike) - _MAX_LINES
    if left > 0:
        lines.append(f"… and {left} more {'kind' if left == 1 else 'kinds'} of fault.")
    if bounds.rule and any(each.row.got is not None for each in wrong):
        lines.append(bounds.rule)
    headlines = placement_headlines(
        [(each.pair.mine.mesh, each.row, each.row.got_shape) for each in wrong], has_steps=subject.spec.init is not None
    )
    return Finding(False, "\n".join(lines), "wrong_sharding", evidence, headlines=headlines)


def _leaves(measured: Measured, bounds: Bounds) -> dict[tuple[When, str], ProgramLeaf]:
    found: dict[tuple[When, str], ProgramLeaf] = {("in", path): leaf for path, leaf in measured.state_in}
    found |= {("out", path): leaf for path, leaf in measured.out}
    return {
        (when, path): leaf
        for (when, path), leaf in found.items()
        if any(fnmatchcase(path, pattern) for pattern in bounds.leaves)
    }


def _row(key: tuple[When, str], expected: ProgramLeaf, got: ProgramLeaf | None, bounds: Bounds) -> Placed:
    return Placed(
        path=key[1],
        when=key[0],
        shape=expected.shape,
        dtype=expected.dtype,
        ok=got is not None and got.shape == expected.shape and _agree(expected, got, bounds),
        expected_spec=expected.spec,
        got_spec=got.spec if got else "no such leaf",
        expected=expected.slices,
        got=got.slices if got else None,
        got_shape=got.shape if got and got.shape != expected.shape else None,
    )


def _agree(expected: ProgramLeaf, got: ProgramLeaf, bounds: Bounds) -> bool:
    # An array that the program does not place has no sharding over the mesh, whatever sharding it gets to run.
    if not got.placed and len({str(each) for each in expected.slices}) > 1:
        return False
    if bounds.dims == "any":
        return _sharing(got) == _sharing(expected)
    return got.slices == expected.slices


def _sharing(leaf: ProgramLeaf) -> list[int]:
    """For each device, the first device that holds the same slice."""
    texts = [str(each) for each in leaf.slices]
    return [texts.index(text) for text in texts]


def _is_held_whole(row: Placed) -> bool:
    """Whether every device holds the whole of a leaf that should be split."""
    whole = tuple((0, size) for size in row.shape)
    got, expected = row.got, row.expected
    return got is not None and all(part == whole for part in got) and not all(part == whole for part in expected)


def _shards(row: Placed, held: Held | None) -> tuple[int, ...] | None:
    """The shape of the shards of a leaf that is split; None if it is whole, or if they differ."""
    shapes = {tuple(stop - start for start, stop in part) for part in held or ()}
    return shapes.pop() if len(shapes) == 1 and shapes != {row.shape} else None


def _message(alike: list[_Wrong], subject: Subject) -> str:
    """Describe leaves that are all wrong in the same way, and how to fix them."""
    paths = list(dict.fromkeys(each.row.path for each in alike))
    places = {each.row.when for each in alike}
    found_on = [pair for pair in subject.pairs if any(pair is each.pair for each in alike)]
    names = ", ".join(paths[:_MAX_NAMED]) + (f" and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else "")
    has_steps = subject.spec.init is not None
    where = f" in {' and '.join(text for when, text in _WHERE.items() if when in places)}" if has_steps else ""
    on = "every mesh" if len(found_on) == len(subject.pairs) else subject.places(found_on)
    begin = f"On {on}, {names}"
    row, shape = alike[0].row, alike[0].row.got_shape
    if shape is not None:
        return (
            f"{begin}{where}: expected shape {row.shape}, got {shape}. Correct the shape first: shards of different "
            "shapes cannot be compared."
        )
    shapes = [str(each) for each in dict.fromkeys(each.row.shape for each in alike)]
    of_shape = f" of shape {' or '.join(shapes)}" if len(shapes) <= _MAX_NAMED else ""
    on_mesh = f" on {mesh_name(alike[0].pair.mine.mesh)}" if len(found_on) > 1 else ""
    expected, got = (
        f" (shards of shape {shards}{on_mesh})" if len(shapes) == 1 and (shards := _shards(row, held)) else ""
        for held in (row.expected, row.got)
    )
    text = f"{begin}{of_shape}{where}: expected {row.expected_spec}{expected}, got {row.got_spec}{got}."
    if row.got is None:
        return text
    if not _is_held_whole(row):
        has_next = has_steps and subject.spec.steps > 1 and places == {"out"}
        moves = ", so the next step has to move data first" if has_next else ""
        return f"{text} Devices hold the wrong shards{moves}."
    each, holds = ("it", "the whole leaf") if len(paths) == 1 else ("each leaf", "all of these leaves")
    wanted = {_how(when, alike[0].pair, subject) for when in places}
    advice = [text.format(each=each) for when, text in _ADVICE.items() if when in wanted]
    return " ".join([f"{text} Every device holds {holds}, so sharding saves no memory.", *advice])


def _how(when: When, pair: Pair, subject: Subject) -> str:
    """The kind of advice that fits, which must not suggest what the program already has."""
    if when == "in":
        return "compiled in" if subject.spec.export_init else "in"
    if subject.spec.axis_types == "explicit":
        return "explicit out"
    return "constrained out" if dict(pair.mine.facts.operations).get("sdy.sharding_constraint") else "out"
