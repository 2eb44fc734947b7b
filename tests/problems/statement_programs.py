"""Run every program block of the statements, and compute the passages that hold numbers, as JSON.

A block ```python runs alone, as it is printed, and so does a block ```python program of an editorial. A block
```python starter is shown beside the student's code: it runs after the problem's starter, with a `seed`. The passages
are those of the problems that are named.
Usage: statement_programs.py PROBLEMS_FOLDER SLUG... OUTPUT_FILE
"""

import contextlib
import importlib.util
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.core.chips import CHIPS
from grader.program.census import take_census
from grader.review.reader import read_package
from tests.problems.measured_programs import Programs, Traffic
from tests.problems.on_8_devices import at_full_size
from tests.problems.passages import computed, passages

# What the compiler for TPUs says of submissions at full size. tests/tpu measures it again.
ON_TPU = Path(__file__).parents[1] / "tpu" / "full_size.json"
# What the compiler for GPUs makes of programs. tests/gpu measures it again.
ON_GPU = Path(__file__).parents[1] / "gpu" / "measured_programs.json"
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(folder: Path) -> Iterator[tuple[str, str]]:
    """The tag and the text of each block of the statement, and of the editorial's programs."""
    for name in ("statement.md", "editorial.md"):
        for tag, code in BLOCK.findall((folder / name).read_text(encoding="utf-8")):
            if name == "statement.md" or tag.strip() == "program":
                yield tag.strip(), code


def run(folder: Path, tag: str, code: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a block prints, and how it ends; and its names."""
    names: dict[str, Any] = {"__name__": "__block__"}
    printed = io.StringIO()
    try:
        if tag == "starter":
            exec((folder / "starter.py").read_text(encoding="utf-8"), names)
            names["seed"] = 0
        elif tag not in ("", "program"):
            raise ValueError(f"a block has the unknown tag {tag!r}")
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{folder.name}/statement.md", "exec"), names)
    except Exception as error:  # the test shows every exception of a block
        return {"printed": printed.getvalue(), "error": f"{type(error).__name__}: {error}", "code": code}, names
    return {"printed": printed.getvalue(), "error": None, "code": code}, names


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("submission", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def collectives(text: str) -> list[dict[str, Any]]:
    return [{"kind": each.kind, "bytes": each.logical_bytes} for each in take_census(text, 8).collectives]


UNPINNED = {
    "fsdp_auto_step": "accepted/nothing_pinned.py",
    "constraint_gather_weights": "rejected/wrong_communication/no_constraint.py",
}


def batch_sizes(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The collectives of a problem's step without any pin, by the number of rows."""
    module = load(folder / "submissions" / UNPINNED[folder.name])
    mesh = Mesh(jax.devices(), ("fsdp",))
    state, rows = module.init(mesh, 0), NamedSharding(mesh, P("fsdp"))
    step = jax.jit(lambda state, x, y: module.step(mesh, state, x, y), donate_argnums=0)
    found = {}
    for size in (32, 48, 64, 96, 128, 384):
        x, y = (jax.ShapeDtypeStruct((size, width), jnp.float32, sharding=rows) for width in (40, 24))
        found[str(size)] = collectives(step.lower(state, x, y).compile().as_text())
    return found


def losses_along_the_gradient(problems: Path) -> dict[str, float]:
    """The parabola of fsdp_step, in its first public case: L(lr) = before - lr * slope + lr**2 * bend."""
    folder = problems / "fsdp_step"
    case = load(folder / "cases.py").public_cases()[0]
    entry = load(folder / "reference.py").fsdp_step
    before, after = (float(each) for each in entry(**case))
    lr = case["lr"]
    _, other = (float(each) for each in entry(**(case | {"lr": 2 * lr})))
    bend = ((other - before) / (2 * lr) - (after - before) / lr) / lr
    slope = -(after - before) / lr + lr * bend
    best = slope / (2 * bend)
    return {"before": before, "after": after, "lr": lr, "best": best, "lowest": before - slope * best / 2}


def optimizer_state(optimizer: str, devices: int) -> int:
    """The bytes of state that one device stores for the network of opt_state_bytes, by the rule of its statement."""
    shapes = {"embed": (257, 512), "w": (512, 256), "b": (256,)}
    state = eval(f"optax.{optimizer}", {"optax": optax}).init({name: jnp.zeros(each) for name, each in shapes.items()})
    mesh = Mesh(jax.devices()[:devices], ("data",))
    split, whole = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
    placed = [
        jax.device_put(leaf, split if leaf.ndim and leaf.shape[0] % devices == 0 else whole)
        for leaf in jax.tree.leaves(state)
    ]
    return sum(leaf.addressable_shards[0].data.nbytes for leaf in placed)


@dataclass(frozen=True)
class Rows:
    """One list of nnx_state_paths, whose rows end in their bytes."""

    lines: list[str]

    @property
    def rows(self) -> int:
        return len(self.lines)

    @property
    def bytes(self) -> int:
        return sum(int(line.rsplit(" ", 1)[1]) for line in self.lines)


def listed_rows(folder: Path, name: str) -> SimpleNamespace:
    """Both lists that a submission returns for the second public case; without a name, those of the reference."""
    path = folder / (f"submissions/{name}.py" if name else "reference.py")
    result = load(path).table_of(**load(folder / "cases.py").public_cases()[1])
    return SimpleNamespace(**{name: Rows(lines) for name, lines in result.items()})


def explicit_axes() -> dict[str, str]:
    """The statements about Explicit axes: the name of the error that each piece of code raises, or `fine`."""
    mesh = jax.make_mesh((8,), ("x",))
    split, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
    rows, bias = jax.device_put(jnp.ones((16, 8)), split), jax.device_put(jnp.ones(8), split)
    columns, layers = jax.device_put(jnp.ones((4, 8)), NamedSharding(mesh, P(None, "x"))), jnp.ones((8, 4, 4))
    square = jax.device_put(jnp.ones((8, 8)), split)

    def outcome(function: Callable[..., object], *args: jax.Array) -> str:
        try:
            function(*args)
        except Exception as error:  # the name of it is the answer
            return type(error).__name__
        return "fine"

    def scanned(layers: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda h, w: (h @ w, None), jnp.ones((4, 4)), layers)[0]

    def copied(mesh: Mesh) -> Callable[[jax.Array], jax.Array]:
        return jax.shard_map(lambda part: part, mesh=mesh, in_specs=P("x"), out_specs=P("x"))

    return {
        "axis types of jax.make_mesh": mesh.axis_types[0].name,
        "axis types of Mesh": Mesh(jax.devices(), ("x",)).axis_types[0].name,
        "a constraint with a split spec": outcome(jax.jit(lambda a: jax.lax.with_sharding_constraint(a, split)), bias),
        "split rows plus a split bias": outcome(jnp.add, rows, bias),
        "a product over a split dimension": outcome(jnp.matmul, columns, square),
        "an index into split layers": outcome(lambda a: a[0], jax.device_put(layers, split)),
        "a scan over split layers": outcome(scanned, jax.device_put(layers, split)),
        "shard_map of an array with another sharding": outcome(copied(mesh), jax.device_put(rows, whole)),
        "the same on Auto axes": outcome(copied(Mesh(jax.devices(), ("x",))), jnp.ones((16, 8))),
    }


class Measured:
    """What no submission can give, each measured when a passage first needs it. `last` has the names of the blocks."""

    def __init__(self, problems: Path, last: dict[str, dict[str, Any]]) -> None:
        self._problems = problems
        self._last = last

    def batch_sizes(self, slug: str) -> dict[str, list[dict[str, Any]]]:
        return batch_sizes(self._problems / slug)

    def unsharded_scratch(self) -> int:
        """Bytes, for the layer of fsdp_linear_real made without the shardings of its results."""
        made = jax.jit(self._last["fsdp_linear_real"]["make"]).lower().compile()
        return int(made.memory_analysis().temp_size_in_bytes)


def passages_of(slug: str, problems: Path, blocks: list[dict[str, Any]], measured: Measured) -> dict[str, list[str]]:
    """The passages of a problem's texts that hold numbers, computed."""
    sizes = cache(measured.batch_sizes)
    names: dict[str, Any] = {
        "rows": lambda rows, kind: _bytes(sizes(slug)[rows], kind),
        "whole": lambda optimizer: optimizer_state(optimizer, 1),
        "zero1": lambda optimizer: optimizer_state(optimizer, 8),
    }
    if slug == "fsdp_linear_real":
        # "(1024, 512) on each device", and "0.38 times the kernel's bytes as scratch".
        found = re.findall(r"^(\(.*?\)|\S+)", blocks[0]["printed"], re.MULTILINE)
        names |= dict(zip(("shard", "scratch"), found, strict=True)) | {"unsharded": measured.unsharded_scratch()}
    if slug == "fsdp_step":
        names["losses"] = losses_along_the_gradient(problems)
    if slug == "nnx_state_paths":
        names["listed"] = lambda name="": listed_rows(problems / slug, name)
    if 'mode = "program"' in (problems / slug / "problem.toml").read_text(encoding="utf-8"):
        programs = Programs(problems / slug)
        names |= {"case": programs.case, "other": programs.other, "kept": programs.kept, "starter": programs.starter}
        if programs.meshes != [[1]]:
            names |= {"m8": programs.m8, "m4": programs.m4}
        names["loop"] = lambda name: Traffic([each for each in programs.other(name).permute if each.in_loop])
        names["sizes"] = lambda name, kind, join: join.join(
            f"{each.logical_bytes:,}" for each in programs.other(name).traffic(kind)
        )
    listed = passages(slug)
    names["on_gpu"] = lambda name: SimpleNamespace(**json.loads(ON_GPU.read_text(encoding="utf-8"))[slug][name])
    if at_size := sorted({name for text in chain(*listed.values()) for name in re.findall(r'full\("(.*?)"\)', text)}):
        measured_at_size = at_full_size(problems / slug, at_size)
        names["full"] = lambda name: SimpleNamespace(**measured_at_size[name])
        names["chip"] = CHIPS.__getitem__
        names["shape"] = read_package(problems / slug).manifest.program.full_size.shapes.__getitem__
        names["on_tpu"] = lambda name: SimpleNamespace(**json.loads(ON_TPU.read_text(encoding="utf-8"))[name])
    return {file: [computed(each, names) for each in texts] for file, texts in listed.items()}


def _bytes(collectives: list[dict[str, Any]], kind: str) -> int:
    return sum(each["bytes"] for each in collectives if each["kind"] == kind)


def main() -> None:
    problems, *slugs, output = sys.argv[1:]
    found: dict[str, list[dict[str, Any]]] = {}
    last: dict[str, dict[str, Any]] = {}
    for folder in sorted(path.parent for path in Path(problems).glob("*/problem.toml")):
        results = [run(folder, tag, code) for tag, code in blocks(folder)]
        found[folder.name] = [result for result, _ in results]
        last[folder.name] = results[0][1] if results else {}
    measured = Measured(Path(problems), last)
    texts = {slug: passages_of(slug, Path(problems), found[slug], measured) for slug in slugs}
    report = {"devices": len(jax.devices()), "blocks": found, "explicit_axes": explicit_axes(), "passages": texts}
    Path(output).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
