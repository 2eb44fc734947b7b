"""Judge the questions of an answer-mode problem on 8 host devices, and place what they ask about.

`python -m tests.prove` starts it (tests/prove/measuring.py).
"""

import importlib.util
import io
import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from functools import cache, partial
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

_PROBLEMS = Path(__file__).parents[2] / "problems"


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


def process_rows(parameters: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    """From the row numbers that arrive on each device, with the mesh and the spec as the question writes them."""
    size, mine = parameters["devices"], parameters["process"]

    def held(name: str) -> list[set[int]]:
        placement = parameters[name]
        mesh = eval(placement["mesh"], {"Mesh": Mesh, "np": np, "jax": jax})
        sharding = NamedSharding(mesh, eval(placement["spec"], {"P": P}))
        shards = jax.device_put(np.arange(parameters["rows"], dtype=np.int32), sharding).addressable_shards
        by_device = {shard.device.id: np.asarray(shard.data).tolist() for shard in shards}
        firsts = range(0, len(by_device), size)
        return [{row for device in range(first, first + size) for row in by_device[device]} for first in firsts]

    one, two, three = held("one"), held("two"), held("three")
    gap = next(row for row in range(min(two[mine]), parameters["rows"] + 1) if row not in two[mine])
    sets = {frozenset(rows) for rows in three}
    return {
        "one_first": min(one[mine]),
        "two_first": min(two[mine]),
        "two_run": gap - min(two[mine]),
        "two_last": max(two[mine]),
        "three_rows": len(three[mine]),
        "three_same": three.count(three[mine]),
        "three_total": sum(map(len, three)),
        "guessed": parameters["share"] * len(sets),
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


def read_the_hlo_2(parameters: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    """From the lines from start to done, microbatches sent along the pairs, and the step that the question shows."""
    program = parameters["program"]
    (body,) = re.findall(r"body=%([\w.-]+)", program)
    lines = program.split(f"%{body} {{\n")[1].split("\n}")[0].splitlines()
    defined = {found[1]: found[2] for line in lines if (found := re.match(r" +(%\S+) = (.*)", line))}

    def shape(name: str) -> list[int]:
        return [int(each) for each in defined[name].split("[")[1].split("]")[0].split(",")]

    during: dict[str, int] = {}
    in_flight = ""
    for name, line in defined.items():
        if "-start(" in line:
            assert not in_flight
            in_flight = name
            during[name] = 0
        elif "-done(" in line:
            in_flight = ""
        elif "matmul" in line and in_flight:
            left, right = line.split("custom-call(")[1].split(")")[0].split(", ")
            during[in_flight] += 2 * math.prod(shape(left)) * shape(right)[1]

    (permute,) = [line for line in defined.values() if "collective-permute-start(" in line]
    carried = defined[permute.split("collective-permute-start(")[1].split(")")[0]]
    pairs = tuple((int(one), int(other)) for one, other in re.findall(r"\{(\d+),(\d+)\}", permute))
    (microbatches,) = (int(each) for each in re.findall(r"\[(\d+),\d+,\d+\] parameter\(0\)", program))
    iterations, bubble = pipelined(pairs, microbatches, "get-tuple-element(%param)" in carried)
    _, bubble_twice = pipelined(pairs, 2 * microbatches, "get-tuple-element(%param)" in carried)

    question = (_PROBLEMS / "read_the_hlo_2" / "question.md").read_text(encoding="utf-8")
    code = question.split("```python\n")[1].split("{{")[0]
    names = {"jax": jax, "jnp": jnp, "np": np, "partial": partial, "Mesh": Mesh, "NamedSharding": NamedSharding, "P": P}
    exec(code, names)
    traced = []
    for number, call in enumerate(parameters["listing"].splitlines(), 1):
        with redirect_stdout(io.StringIO()) as printed:
            exec(call, names)
        if printed.getvalue():
            traced.append(number)
    first, second = (not each for each in during.values())
    exposed = {(True, False): "only the first", (False, True): "only the second", (True, True): "both"}
    return {
        "exposed": exposed.get((first, second), "neither"),
        "flops": sum(during.values()),
        "iterations": iterations,
        "bubble": bubble,
        "bubble_twice": bubble_twice,
        "traces": len(traced),
        "last_trace": traced[-1],
    }


def pipelined(pairs: tuple[tuple[int, int], ...], microbatches: int, is_late: bool) -> tuple[int, float]:
    """How many iterations a pipeline needs, and its bubble in percent: its microbatches are numbers that devices send.

    Args:
      is_late: a device sends what it finished in the iteration before.
    """
    target, send = dict(pairs), sent_along(pairs)
    lasts = [device for device in target if target[device] < device]
    firsts = [target[device] for device in lasts]
    none = np.full(len(jax.devices()), -1)
    arrived, done = none, none
    worked: list[np.ndarray] = []
    while not worked or (worked[-1][lasts] != microbatches - 1).any():
        work = arrived.copy()
        work[firsts] = len(worked) if len(worked) < microbatches else -1
        arrived, done = np.asarray(send(done if is_late else work)), work
        worked.append(work)
    (idle,) = {int(each) for each in (np.array(worked) == -1).sum(axis=0)}
    return len(worked), 100 * idle / len(worked)


@cache
def sent_along(pairs: tuple[tuple[int, int], ...]) -> Callable[[np.ndarray], jax.Array]:
    mesh = Mesh(np.array(jax.devices()), ("x",))

    def send(numbers: jax.Array) -> jax.Array:
        return jax.lax.ppermute(numbers, "x", pairs)

    return jax.jit(jax.shard_map(send, mesh=mesh, in_specs=P("x"), out_specs=P("x")))


def is_cut_from(line: str, text: str) -> bool:
    """Whether an instruction of the text has this name, type, operation and operands, and all of these attributes."""
    head, *attributes = re.split(r", (?=\w+=)", line.removesuffix(" {"))
    full = next((each for each in text.splitlines() if each.startswith(head)), None)
    return full is not None and all(f", {each}" in full for each in attributes)


@cache
def questions_of(slug: str) -> Any:
    path = _PROBLEMS / slug / "questions.py"
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


def fit_the_batch(parameters: dict[str, Any], answers: dict[str, Any]) -> dict[str, Any]:
    """Add one sequence after the other until nothing fits, cut rows as NumPy does, and count what a layer gathers."""
    questions = questions_of("fit_the_batch")
    few, many = parameters["temporaries_few"], parameters["temporaries_many"]
    per = (many - few) // (parameters["many"] - parameters["few"])
    weights = parameters["parameters"] * 4 // parameters["axes"]["fsdp"]
    state, fixed = 3 * weights, few - parameters["few"] * per
    assert (
        sum(math.prod(each) for each in questions.shapes_of(parameters["model"]).values()) == parameters["parameters"]
    )
    memory = parameters["memory"] * 1_000_000_000 * parameters["share"] // 100
    largest = 0
    while state + fixed + (largest + 1) * per <= memory:
        largest += 1
    mine = np.arange(parameters["batch"]).reshape(parameters["devices"], -1)[0]
    count = 1
    while len({len(part) for part in np.array_split(mine, count)}) > 1 or len(np.array_split(mine, count)[0]) > largest:
        count += 1
    gathers = sum(2 for _ in np.array_split(mine, count))  # forward, and again in the backward pass
    return {
        "state": state,
        "sequence": per,
        "fixed": fixed,
        "largest": largest,
        "microbatches": count,
        "size": len(np.array_split(mine, count)[0]),
        "gathers": gathers,
    }


def answers_by_placing(slug: str) -> Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]:
    """The function of this module that has the name of the problem, and finds the answers without its formulas."""
    found: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] | None = globals().get(slug)
    assert found is not None, f"{__file__} has no function {slug}(parameters, answers), which finds the answers"
    return found


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


def measure(slug: str) -> dict[str, Any]:
    """What the rules find, how alike the wrong formulas are, and the answers that placed arrays do not confirm."""
    package = read_package(_PROBLEMS / slug)
    with tempfile.TemporaryDirectory() as kept, ThreadPoolExecutor(1) as executor:
        judge = Judge(InHere(), b"tests", Path(kept))
        found = judge_package(package, judge, QUIET, executor, lambda _: None)
        questions = judge.variants(package)
    assert questions is not None
    report: dict[str, Any] = {
        "findings": [f"{each.rule} {each.file}: {each.message}" for each in found.faults],
        "questions": len(questions.variants),
        "mistakes": [each.name for each in questions.variants[0].mistakes],
        "alike": alike(questions),
        "wrong": [
            {"parameters": each.parameters, "truth": each.truth, "placed": placed}
            for each in questions.variants
            if (placed := answers_by_placing(slug)(each.parameters, each.truth)) != each.truth
        ],
    }
    if slug == "read_the_hlo_1":
        # It takes the bytes that a device sends from single messages.
        report["messages"] = messages_do_the_same()
    return report
