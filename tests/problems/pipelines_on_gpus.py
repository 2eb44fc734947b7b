"""Compile the pipelines of read_the_hlo_2 for H100s again, and write which of its texts are no longer what XLA writes.

Usage: pipelines_on_gpus.py PROBLEMS_FOLDER OUTPUT_FILE
"""

import importlib.util
import itertools
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.core.chips import CHIPS
from grader.verifier.chip import devices_of, find_compiler, schedule_for_gpu
from tests.grader.program.scheduled_programs import lowered_for

# The products of a stage, in the order of PROGRAMS: `w` multiplies by a whole weight, `g` by one that is gathered for
# it, `a` by one that was gathered an iteration ahead, `c` by columns, and `r` by rows, with a sum over fsdp.
PRODUCTS = ["gw", "wa", "cr", "cr", "gw", "wa", "wwg", "wg", "wgw", "wwa", "gw", "gw", "wg", "wwa"]
SPECS = {
    "w": P("stage"),
    "g": P(("stage", "fsdp")),
    "a": P(("stage", "fsdp")),
    "c": P("stage", "fsdp"),
    "r": P(("stage", "fsdp")),
}
_COMPUTATION = re.compile(r"^(?:ENTRY )?%([\w.-]+) \(.*?^}$", re.MULTILINE | re.DOTALL)
_NOT_SHOWN = re.compile(
    r", (?:metadata|backend_config|frontend_attributes|sharding|channel_id|use_global_device_ids|kind|to_apply"
    r"|output_to_operand_aliasing|control-predecessors)=.*?(?=, [\w-]+=|$)",
    re.MULTILINE,
)


def pipeline(products: str, stages: int, microbatches: int, *, is_late: bool) -> Callable[..., jax.Array]:
    """A pipeline for shard_map.

    Args:
      is_late: a device sends what it finished in the iteration before, and not what it has just finished.
    """
    iterations = microbatches + (2 if is_late else 1) * (stages - 1)
    ring = [(stage, (stage + 1) % stages) for stage in range(stages)]
    ahead = products.find("a")

    def whole(weight: jax.Array) -> jax.Array:
        return lax.all_gather(weight, "fsdp", axis=0, tiled=True)

    def step(x: jax.Array, *weights: jax.Array) -> jax.Array:
        def layer(h: jax.Array, gathered: Any) -> jax.Array:
            for kind, weight in zip(products, weights, strict=True):
                h = h @ {"g": whole, "a": lambda _: gathered}.get(kind, lambda own: own)(weight)
                h = lax.psum(h, "fsdp") if kind == "r" else jnp.tanh(h)
            return h

        def fed(iteration: Any, arrived: jax.Array) -> jax.Array:
            return jnp.where(lax.axis_index("stage") == 0, x[jnp.minimum(iteration, microbatches - 1)], arrived)

        def following() -> Any:
            return whole(weights[ahead]) if ahead >= 0 else ()

        def one_iteration(carried: Any, iteration: jax.Array) -> tuple[Any, None]:
            ready, done, gathered, total = carried
            if is_late:
                sent = lax.ppermute(done, "stage", ring)
                h = layer(ready, gathered)
                ready, done = fed(iteration + 1, sent), h
            else:
                h = layer(ready, gathered)
                ready = fed(iteration + 1, lax.ppermute(h, "stage", ring))
            is_last = (lax.axis_index("stage") == stages - 1) & (iteration >= iterations - microbatches)
            return (ready, done, following(), total + jnp.where(is_last, h, 0)), None

        zeros = jnp.zeros(x.shape[1:])
        first = fed(0, zeros), zeros if is_late else (), following(), zeros
        return lax.scan(one_iteration, first, jnp.arange(iterations))[0][3]

    return step


def compiled_text(products: str, program: dict[str, Any], microbatches: int, sizes: tuple[int, int, int]) -> str:
    rows, width, hidden = sizes
    stages, group = program["stages"], 8 // program["stages"]
    axes = {"stage": stages, "fsdp": group}
    mesh = jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * 2)
    is_split = "r" not in products
    dimensions = [width, *[hidden] * (len(products) - 1), width]
    shapes = [(microbatches, rows * group if is_split else rows, width)]
    shapes += [(taken * stages, given) for taken, given in itertools.pairwise(dimensions)]
    specs = (P(None, "fsdp") if is_split else P(), *(SPECS[kind] for kind in products))
    function = jax.shard_map(
        pipeline(products, stages, microbatches, is_late=program["hop"] == 2),
        mesh=mesh,
        in_specs=specs,
        out_specs=P(("stage", "fsdp")) if is_split else P("stage"),
        check_vma=False,  # each device has its own carry from the first iteration on
    )
    arguments = [
        jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh, spec))
        for shape, spec in zip(shapes, specs, strict=True)
    ]
    chips = devices_of(CHIPS["h100"], "h100:8", (stages, group))
    text, _ = schedule_for_gpu(lowered_for(jax.jit(function), arguments, chips, "gpu"))
    return shown(text)


def shown(text: str) -> str:
    """The loop and what starts it, as the question shows them: without most attributes and types of tuples."""
    computations = {found[1]: found[0] for found in _COMPUTATION.finditer(text)}
    kept = set()
    for name, body in computations.items():
        if body.startswith("ENTRY"):
            kept.add(name)
        for condition, repeated in re.findall(r"condition=%([\w.-]+), body=%([\w.-]+)", body):
            kept |= {condition, repeated, *re.findall(r"calls=%([\w.-]+)", computations[condition])}
    lines = "\n\n".join(_plain(body) for name, body in computations.items() if name in kept)
    lines = re.sub(r", calls=%([\w.-]+)", lambda called: called[0] if called[1] in kept else "", lines)
    lines = re.sub(r"= \([^()]*\) (parameter|while)\(", r"= \1(", lines)
    lines = re.sub(r"= \([^()]*\) tuple\(.*\)$", "= tuple(…)", lines, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in lines.strip().splitlines())


def numbered(text: str) -> str:
    """The text with its instructions numbered as they come: XLA's own numbers also count what it has removed.

    The program's parameters come in the order of those numbers, so they are left out.
    """
    loop, entry = text.split("\nENTRY ")
    entry = re.sub(r"^ .* parameter\(\d+\)\n", "", entry, flags=re.MULTILINE)
    names: dict[str, str] = {}
    return re.sub(r"%[\w.-]+", lambda name: names.setdefault(name[0], f"%{len(names)}"), f"{loop}\n{entry}")


def _plain(body: str) -> str:
    body = re.sub(r"/\*.*?\*/", "", body)
    body = re.sub(r"(?<=\])\{[^}]*\}", "", body)
    body = re.sub(r"^((?:ENTRY )?%[\w.-]+) \(.*\{$", r"\1 {", body, flags=re.MULTILINE)
    return _NOT_SHOWN.sub("", body)


def questions_of(problems: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("questions", problems / "read_the_hlo_2" / "questions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    problems, output = Path(sys.argv[1]), Path(sys.argv[2])
    find_compiler("gpu")
    questions = questions_of(problems)
    microbatches = itertools.cycle(questions.MICROBATCHES)
    differences: list[dict[str, Any]] = []
    for number, (products, program) in enumerate(zip(PRODUCTS, questions.PROGRAMS, strict=True)):
        for sizes in program["sizes"]:
            number_of = next(microbatches)
            expected = questions.filled(program, number_of, *sizes)
            found = compiled_text(products, program, number_of, sizes)
            lines = itertools.zip_longest(*(numbered(text).splitlines() for text in (expected, found)))
            changed = [[one, other] for one, other in lines if one != other]
            if changed:
                differences.append({"program": number, "sizes": sizes, "microbatches": number_of, "changed": changed})
    output.write_text(json.dumps({"differences": differences}), encoding="utf-8")


if __name__ == "__main__":
    main()
