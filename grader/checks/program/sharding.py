"""Does every device hold the slice of every leaf that it holds in the reference, before the step and after it?"""

from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import Field

from grader.checks import finding
from grader.checks.finding import Finding
from grader.checks.program.subject import Pair, Subject
from grader.evidence import Leaf as Placed
from grader.evidence import Leaves
from grader.program.facts import Leaf
from grader.program.measured import Measured
from grader.verdict import Trust

TITLE = "Where every leaf lives"
TRUST: Trust = "verified"
When = Literal["in", "out"]
_MAX_TOLD, _MAX_NAMED = 4, 4
_WHERE = {"in": "the state that comes in", "out": "what the step returns"}
_ADVICE = {
    "in": "Place it in `init` with `jax.device_put(leaf, NamedSharding(mesh, spec))`.",
    "out": "Pin what the step returns with `jax.lax.with_sharding_constraint`, or by `out_specs` of `shard_map`.",
}


class Bounds(finding.Bounds):
    """With `dims = "any"` a leaf may be split along another dimension, over the same devices. `leaves` are globs."""

    dims: Literal["exact", "any"] = "exact"
    leaves: list[str] = Field(default=["*"], min_length=1)


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass when all leaves lie as in the reference. Evidence: per leaf, what each device should hold and holds."""
    evidence: list[Leaves] = []
    wrong: list[tuple[Pair, Placed]] = []
    for pair in subject.pairs:
        expected, got = _leaves(pair.reference, bounds), _leaves(pair.mine, bounds)
        rows = [_row(key, expected[key], got.get(key), bounds) for key in expected]
        wrong += [(pair, row) for row in rows if not row.ok]
        evidence.append(Leaves(**subject.entry(pair), leaves=rows))
    if not wrong:
        return Finding(True, "Every device holds exactly the slices that it should.", None, evidence)
    alike: dict[tuple[Any, ...], list[tuple[Pair, Placed]]] = {}
    for pair, row in wrong:
        key = (row.expected_spec, row.got_spec, _is_held_whole(row))
        alike.setdefault(key, []).append((pair, row))
    lines = [_told(rows, subject) for rows in list(alike.values())[:_MAX_TOLD]]
    more = f"\n… and {len(alike) - _MAX_TOLD} more kinds of fault." if len(alike) > _MAX_TOLD else ""
    return Finding(False, "\n".join(lines) + more, "wrong_sharding", evidence)


def _leaves(measured: Measured, bounds: Bounds) -> dict[tuple[When, str], Leaf]:
    found: dict[tuple[When, str], Leaf] = {("in", path): leaf for path, leaf in measured.state_in}
    found |= {("out", path): leaf for path, leaf in measured.out}
    return {
        (when, path): leaf
        for (when, path), leaf in found.items()
        if any(fnmatchcase(path, pattern) for pattern in bounds.leaves)
    }


def _row(key: tuple[When, str], expected: Leaf, got: Leaf | None, bounds: Bounds) -> Placed:
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
    )


def _agree(expected: Leaf, got: Leaf, bounds: Bounds) -> bool:
    # One that is on one device only has no sharding over the mesh, whatever it would be given to run at all.
    if not got.placed and len({str(each) for each in expected.slices}) > 1:
        return False
    if bounds.dims == "any":
        return _sharing(got) == _sharing(expected)
    return got.slices == expected.slices


def _sharing(leaf: Leaf) -> list[int]:
    """Who holds the same slice as whom: per device, the first device that holds what it holds."""
    texts = [str(each) for each in leaf.slices]
    return [texts.index(text) for text in texts]


def _is_held_whole(row: Placed) -> bool:
    """Does every device hold all of a leaf that should be split?"""
    whole = tuple((0, size) for size in row.shape)
    got, expected = row.got, row.expected
    return got is not None and all(part == whole for part in got) and not all(part == whole for part in expected)


def _told(rows: list[tuple[Pair, Placed]], subject: Subject) -> str:
    """One sentence on all leaves that are wrong in the same way, and what to do about them."""
    paths = list(dict.fromkeys(row.path for _, row in rows))
    places = {row.when for _, row in rows}
    found_on = [pair for pair in subject.pairs if any(pair is other for other, _ in rows)]
    names = ", ".join(paths[:_MAX_NAMED]) + (f" and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else "")
    if all(path.startswith("result") for path in paths):
        where = "the result"
    else:
        where = " and ".join(text for when, text in _WHERE.items() if when in places)
    on = "every mesh" if len(found_on) == len(subject.pairs) else subject.places(found_on)
    row = rows[0][1]
    text = f"{names} in {where}, on {on}: expected {row.expected_spec}, got {row.got_spec}."
    if row.got is None:
        return text
    if not _is_held_whole(row):
        return f"{text} Each device must hold the slice that it should, or the next step has to move it first."
    advice = [text for when, text in _ADVICE.items() if when in places]
    holds = "the whole leaf" if len(paths) == 1 else "all of each leaf"
    return " ".join([f"{text} Every device holds {holds}, so nothing is saved.", *advice])
