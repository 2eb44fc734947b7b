"""Run the program blocks of a problem's texts, and compute the numbers that these quote.

A block ```python runs alone, as it is printed, and so does a block ```python program of an editorial. A block
```python starter is shown beside the student's code: it runs after the problem's starter, with a `seed`.
`python -m tests.prove` starts it (tests/prove/measuring.py).
"""

import contextlib
import importlib.util
import io
import json
import re
from dataclasses import dataclass
from functools import cache
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
from tests.problems.on_8_devices import CHECKOUT, at_full_size
from tests.problems.passages import blocks, expressions, value_of

# What the compiler for TPUs says of submissions at full size. tests/tpu measures it again.
ON_TPU = Path(__file__).parents[1] / "tpu" / "full_size.json"
# What the compiler for GPUs makes of programs. tests/gpu measures it again.
ON_GPU = Path(__file__).parents[1] / "gpu" / "measured_programs.json"
_PROBLEMS = CHECKOUT / "problems"


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
    except Exception as error:  # the receipt has every exception of a block
        return {"printed": printed.getvalue(), "error": f"{type(error).__name__}: {error}"}, names
    return {"printed": printed.getvalue(), "error": None}, names


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


def measure(slug: str) -> dict[str, Any]:
    """What each block prints, the error that ends it, and the value of each expression of numbers/<slug>.txt."""
    folder = _PROBLEMS / slug
    ran = [run(folder, tag, code) for tag, code in blocks(folder)]
    wanted = expressions(slug)
    names = _names(slug, wanted, ran) if wanted else {}
    return {
        "blocks": [result for result, _ in ran],
        "numbers": {expression: value_of(expression, names) for expression in wanted},
    }


def _names(slug: str, wanted: list[str], ran: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """What the expressions of a problem may use. Programs are compiled when an expression first needs them."""
    folder = _PROBLEMS / slug
    sizes = cache(lambda: batch_sizes(folder))
    names: dict[str, Any] = {
        "rows": lambda rows, kind: _bytes(sizes()[rows], kind),
        "whole": lambda optimizer: optimizer_state(optimizer, 1),
        "zero1": lambda optimizer: optimizer_state(optimizer, 8),
    }
    if slug == "fsdp_linear_real":
        # "(1024, 512) on each device", and "0.38 times the kernel's bytes as scratch".
        found = re.findall(r"^(\(.*?\)|\S+)", ran[0][0]["printed"], re.MULTILINE)
        names |= dict(zip(("shard", "scratch"), found, strict=True)) | {"unsharded": unsharded_scratch(ran[0][1])}
    if slug == "fsdp_step":
        names["losses"] = losses_along_the_gradient(_PROBLEMS)
    if slug == "nnx_state_paths":
        names["listed"] = lambda name="": listed_rows(folder, name)
    if 'mode = "program"' in (folder / "problem.toml").read_text(encoding="utf-8"):
        programs = Programs(folder)
        names |= {"case": programs.case, "other": programs.other, "kept": programs.kept, "starter": programs.starter}
        if programs.meshes != [[1]]:
            names |= {"m8": programs.m8, "m4": programs.m4}
        names["loop"] = lambda name: Traffic([each for each in programs.other(name).permute if each.in_loop])
        names["sizes"] = lambda name, kind, join: join.join(
            f"{each.logical_bytes:,}" for each in programs.other(name).traffic(kind)
        )
    names["on_gpu"] = lambda name: SimpleNamespace(**json.loads(ON_GPU.read_text(encoding="utf-8"))[slug][name])
    if at_size := sorted({name for each in wanted for name in re.findall(r'full\("(.*?)"\)', each)}):
        measured_at_size = at_full_size(folder, at_size)
        names["full"] = lambda name: SimpleNamespace(**measured_at_size[name])
        names["chip"] = CHIPS.__getitem__
        names["shape"] = read_package(folder).manifest.program.full_size.shapes.__getitem__
        names["on_tpu"] = lambda name: SimpleNamespace(**json.loads(ON_TPU.read_text(encoding="utf-8"))[name])
    return names


def unsharded_scratch(names: dict[str, Any]) -> int:
    """Bytes, for the layer of fsdp_linear_real made without the shardings of its results; the names are its block's."""
    made = jax.jit(names["make"]).lower().compile()
    return int(made.memory_analysis().temp_size_in_bytes)


def _bytes(collectives: list[dict[str, Any]], kind: str) -> int:
    return sum(each["bytes"] for each in collectives if each["kind"] == kind)
