"""Judge the questions of each problem of mode answer on 8 host devices, and place what they ask about, as JSON.

Usage: answer_questions.py PROBLEMS_FOLDER OUTPUT_FILE
"""

import json
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from app.authoring.checking import judge_package
from grader.context import QUIET
from grader.judge import Judge
from grader.package.reader import read_package
from grader.variants import Variants
from tests.grader.modes.answer.asked import InHere


def held_by_devices(parameters: dict[str, Any], spec: str) -> list[tuple[np.ndarray, ...]]:
    """The row and column numbers in the shard of each device, after JAX has put them there."""
    axes, rows, columns = (parameters[name] for name in ("axes", "rows", "columns"))
    mesh = Mesh(np.array(jax.devices()).reshape(tuple(axes.values())), tuple(axes))
    sharding = NamedSharding(mesh, eval(spec, {"P": P}))
    numbers = np.indices((rows, columns), dtype=np.int32)
    placed = [jax.device_put(jnp.asarray(each), sharding).addressable_shards for each in numbers]
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
    own = {name: jnp.zeros(shape, parameters["dtype"]) for name, shape in shapes.items()}
    state = eval(parameters["optimizer"], {"optax": optax, "jnp": jnp}).init(own)
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


PLACED = {"who_holds_what": who_holds_what, "opt_state_bytes": opt_state_bytes}


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
    report = {}
    for folder in sorted(path.parent for path in problems.glob("*/questions.py")):
        package = read_package(folder)
        with tempfile.TemporaryDirectory() as kept, ThreadPoolExecutor(1) as executor:
            judge = Judge(InHere(), b"tests", Path(kept))
            found = judge_package(package, judge, QUIET, executor, lambda _: None)
            questions = judge.variants(package)
        assert questions is not None
        report[folder.name] = {
            "findings": [f"{each.rule} {each.file}: {each.message}" for each in found.findings],
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
