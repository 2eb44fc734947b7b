"""Judge the questions of each answer-mode problem on 8 host devices, and place what they ask about, as JSON.

Usage: answer_questions.py PROBLEMS_FOLDER OUTPUT_FILE
"""

import importlib.util
import json
import math
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from app.authoring.package_check import judge_package
from grader.answers.question_variants import Variants
from grader.core.context import QUIET
from grader.judging.judge import Judge
from grader.program.axes import axes_of
from grader.program.census import take_census
from grader.review.reader import read_package
from tests.grader.modes.answer.answer_package import InHere


def held_by_devices(parameters: dict[str, Any], spec: str) -> list[tuple[np.ndarray, ...]]:
    """The row and column numbers in the shard of each device, after JAX has put them there."""
    axes, rows, columns = (parameters[name] for name in ("axes", "rows", "columns"))
    mesh = Mesh(np.array(jax.devices()).reshape(tuple(axes.values())), tuple(axes))
    sharding = NamedSharding(mesh, eval(spec, {"P": P}))
    numbers = np.indices((rows, columns), dtype=np.int32)
    # From NumPy, which JAX cuts itself: for an array of a device it would compile a program that cuts it.
    placed = [jax.device_put(each, sharding).addressable_shards for each in numbers]
    return [tuple(np.asarray(each.data) for each in pair) for pair in zip(*placed, strict=True)]


def who_holds_what(parameters: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    held = held_by_devices(parameters, parameters["spec"])
    rows, columns = held[parameters["device"]]
    same = [number for number, each in enumerate(held) if all(map(np.array_equal, each, (rows, columns)))]
    others = held_by_devices(parameters, answers["spec"])
    words = {
        f"device{number}": f"{rows.min()} to {rows.max()} | {columns.min()} to {columns.max()}"
        for number, (rows, columns) in enumerate(others)
    }
    return {
        "shard_rows": rows.shape[0],
        "shard_columns": columns.shape[1],
        "first_row": int(rows.min()),
        "last_column": int(columns.max()),
        "copies": len(same),
        "highest": max(same),
        "spec": answers["spec"] if words == parameters["wanted"] else f"not {answers['spec']}",
    }


def opt_state_bytes(parameters: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    devices = parameters["devices"]
    vocabulary, wide, hidden = (parameters[name] for name in ("vocabulary", "wide", "hidden"))
    shapes = {"embed": (vocabulary, wide), "w": (wide, hidden), "b": (hidden,)}
    optimizer = eval(parameters["optimizer"], {"optax": optax, "jnp": jnp})
    typed = {name: jax.ShapeDtypeStruct(shape, parameters["dtype"]) for name, shape in shapes.items()}
    own, state = (
        jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), tree)
        for tree in (typed, jax.eval_shape(optimizer.init, typed))
    )
    mesh = Mesh(np.array(jax.devices()[:devices]), ("data",))

    def on_one_device(tree: Any) -> tuple[int, int]:
        """Its bytes by the rule of the statement, and how many of them are in whole arrays."""
        total = whole = 0
        for leaf in jax.tree.leaves(tree):
            is_split = leaf.ndim > 0 and leaf.shape[0] % devices == 0
            placed = jax.device_put(leaf, NamedSharding(mesh, P("data") if is_split else P()))
            (each,) = {shard.data.nbytes for shard in placed.addressable_shards}
            total += each
            whole += 0 if is_split else each
        return total, whole

    zero1, whole = on_one_device(state)
    return {
        "state": sum(leaf.nbytes for leaf in jax.tree.leaves(state)),
        "zero1": zero1,
        "whole": whole,
        "fsdp": zero1 + on_one_device(own)[0],
    }


def read_the_hlo_1(parameters: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    """What the grader reads from the same program, all of it; and nothing, if the question does not show its lines."""
    axes, text = questions_of("read_the_hlo_1").compiled(parameters["seed"])
    without_layouts = re.sub(r"(?<=\])\{[\d,]*\}", "", text)
    if [line for line in parameters["program"].splitlines() if not is_cut_from(line, without_layouts)]:
        return {}
    (found,) = take_census(text, 8, axes).collectives
    assert found.executions is not None
    return {
        "kind": found.kind,
        "axes": " and ".join(axes_of(found.groups, axes) or ()),
        "highest": max(next(each for each in found.groups if parameters["device"] in each)),
        "operand": sum(4 * math.prod(each) for each in found.operand_shapes),
        "executions": found.executions,
        "sent": found.executions * found.ring_bytes,
    }


def is_cut_from(line: str, text: str) -> bool:
    """Whether an instruction of the text has this name, type, operation and operands, and all of these attributes."""
    head, *attributes = re.split(r", (?=\w+=)", line.removesuffix(" {"))
    full = next((each for each in text.splitlines() if each.startswith(head)), None)
    return full is not None and all(f", {each}" in full for each in attributes)


@cache
def questions_of(slug: str) -> Any:
    path = Path(sys.argv[1]) / slug / "questions.py"
    spec = importlib.util.spec_from_file_location(f"questions_of_{slug}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def messages_do_the_same() -> dict[str, bool]:
    """The collectives of read_the_hlo_1 as single messages: whether each returns what the collective returns."""
    questions = questions_of("read_the_hlo_1")
    size, over = 8, ("x",)
    mesh = Mesh(np.array(jax.devices()), over)
    ahead = [(device, (device + 1) % size) for device in range(size)]

    def exchanged(part: jax.Array) -> jax.Array:
        """Every block but the own one, which no message carries, in the order of the messages."""
        blocks = jax.lax.all_to_all(part.reshape(size, -1), over, 0, 0)
        return blocks[(jax.lax.axis_index(over) - jnp.arange(1, size)) % size]

    def gathered(part: jax.Array) -> jax.Array:
        """The own block first, then that of the device before it, and so on, as they arrive in a ring."""
        return jax.lax.all_gather(part, over)[(jax.lax.axis_index(over) - jnp.arange(size)) % size]

    def reduced(part: jax.Array) -> jax.Array:
        return jax.lax.psum(part, over).reshape(size, -1)[(jax.lax.axis_index(over) - jnp.arange(size)) % size]

    wanted: dict[str, Callable[[jax.Array], jax.Array]] = {
        "all-gather": gathered,
        "reduce-scatter": lambda part: jax.lax.psum_scatter(part, over, tiled=True),
        "all-reduce": reduced,
        "all-to-all": exchanged,
        "collective-permute": lambda part: jax.lax.ppermute(part, over, ahead),
    }
    numbers = jnp.asarray(np.random.default_rng(0).integers(0, 1000, 16 * size), jnp.float32)

    def run(function: Callable[[jax.Array], jax.Array]) -> np.ndarray:
        mapped = jax.shard_map(function, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
        return np.asarray(jax.jit(mapped)(numbers))

    def by_messages(kind: str) -> Callable[[jax.Array], jax.Array]:
        return lambda part: questions.BY_MESSAGES[kind](part, over, size)

    return {kind: bool(np.array_equal(run(by_messages(kind)), run(each))) for kind, each in wanted.items()}


PLACED = {"who_holds_what": who_holds_what, "opt_state_bytes": opt_state_bytes, "read_the_hlo_1": read_the_hlo_1}


def alike(questions: Variants) -> dict[str, int]:
    """In how many questions two wrong formulas give the same answers, by their names."""
    found: dict[str, int] = defaultdict(int)
    for variant in questions.variants:
        names = defaultdict(list)
        for each in variant.mistakes:
            if each.answers:
                names[json.dumps(each.answers, sort_keys=True)].append(each.name)
        for same in names.values():
            if len(same) > 1:
                found[" ".join(same)] += 1
    return found


def main() -> None:
    problems, output = Path(sys.argv[1]), Path(sys.argv[2])
    report: dict[str, Any] = {"messages": messages_do_the_same()}
    for folder in sorted(path.parent for path in problems.glob("*/questions.py")):
        package = read_package(folder)
        with tempfile.TemporaryDirectory() as kept, ThreadPoolExecutor(1) as executor:
            judge = Judge(InHere(), b"tests", Path(kept))
            found = judge_package(package, judge, QUIET, executor, lambda _: None)
            questions = judge.variants(package)
        assert questions is not None
        report[folder.name] = {
            "findings": [f"{each.rule} {each.file}: {each.message}" for each in found.faults],
            "questions": len(questions.variants),
            "mistakes": [each.name for each in questions.variants[0].mistakes],
            "alike": alike(questions),
            "wrong": [
                {"parameters": each.parameters, "truth": each.truth, "placed": placed}
                for each in questions.variants
                if (placed := PLACED[folder.name](each.parameters, each.truth)) != each.truth
            ],
        }
    output.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
