"""A pipeline that XLA's compiler scheduled for H100s, and calls of a jitted function.

What the schedule hides is read from the text that the question shows, the bubble comes from a simulation, and JAX
counts which calls it traces. Nothing here compiles for a GPU: PROGRAMS at the end has the compiler's texts.
"""

import re
from functools import cache, partial
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES = 8
MICROBATCHES = [9, 10, 11, 12, 13, 14, 15]
EXPOSED = {
    (True, False): "only the first",
    (False, True): "only the second",
    (True, True): "both",
    (False, False): "neither",
}
# The arguments of a call, each with what is new about it: calls with the same notes share a program.
PARAMETERS = [
    ("params", ""),
    ('{"b": params["b"], "w": params["w"]}', ""),
    ('params | {"g": params["b"]}', "the dict has another leaf"),
]
BATCHES = [
    ("x", ""),
    ("x + 1", ""),
    ("np.asarray(x)", ""),
    ("x[:16]", "`x` has another shape"),
    ("x.astype(jnp.bfloat16)", "`x` has another dtype"),
    ("jax.device_put(x, split)", "`x` has another sharding"),
]
RATES = [
    ("0.1", ""),
    ("0.01", ""),
    ("jnp.float32(0.1)", "`lr` is an array, so its type is no longer weak"),
    ("jnp.float32(0.01)", "`lr` is an array, so its type is no longer weak"),
    ("1", "`lr` is an integer"),
]
CLIPS = [
    ("", ""),
    (", clip=0.5", "`clip` is static, and has the value 0.5"),
    (", clip=0.25", "`clip` is static, and has the value 0.25"),
]
CALLS = 7

_COMPUTATION = re.compile(r"^(?:ENTRY )?%([\w.-]+) \{\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
_INSTRUCTION = re.compile(r"^ +(?:ROOT )?(%\S+) = (\([^)]*\) |[\w.]+\[[\d,]*\] |)([\w-]+)\((.*?)\)", re.MULTILINE)


def draw(rng):
    """What the schedule exposes is drawn first, because most schedules expose the same."""
    programs = _choice(rng, list(_by_exposed().values()))
    program = PROGRAMS[_choice(rng, programs)]
    rows, width, hidden = _choice(rng, program["sizes"])
    text = filled(program, _choice(rng, MICROBATCHES), rows, width, hidden)
    return {"program": text, **_calls(rng)}


def truth(parameters):
    found = facts(parameters["program"])
    traced = traces(tuple(parameters["calls"]))
    return {
        "exposed": EXPOSED[tuple(not each["products"] for each in found["collectives"])],
        "flops": sum(sum(each["products"]) for each in found["collectives"]),
        "iterations": found["trips"],
        "bubble": bubble(found["stages"], found["microbatches"], found["hop"]),
        "bubble_twice": bubble(found["stages"], 2 * found["microbatches"], found["hop"]),
        "traces": sum(traced),
        "last_trace": max(number for number, each in enumerate(traced, 1) if each),
    }


def steps(parameters):
    found, traced = facts(parameters["program"]), traces(tuple(parameters["calls"]))
    first, second = found["collectives"]
    ticks = schedule(found["stages"], found["microbatches"], found["hop"])
    waits = "one iteration" if found["hop"] == 1 else "two iterations"
    return {
        "first_name": first["name"],
        "second_name": second["name"],
        "first_between": _between(first),
        "second_between": _between(second),
        "flops_sum": " + ".join(f"{each:_}" for each in [*first["products"], *second["products"]]) or "0",
        "last_number": found["trips"] - 1,
        "microbatches": found["microbatches"],
        "twice": 2 * found["microbatches"],
        "twice_iterations": len(schedule(found["stages"], 2 * found["microbatches"], found["hop"])),
        "stages": found["stages"],
        "pairs": found["pairs"],
        "waits": waits,
        "idle": found["trips"] - found["microbatches"],
        "ticks": "\n".join(_row(stage, [tick[stage] for tick in ticks]) for stage in range(found["stages"])),
        "calls_table": "\n".join(
            f"| {number} | `{call}` | {'yes' if is_new else 'no'} | {_reason(parameters['notes'], number, is_new)} |"
            for number, (call, is_new) in enumerate(zip(parameters["calls"], traced, strict=True), 1)
        ),
    }


def facts(text):
    """What the text says of the loop, its two collectives, and the pipeline.

    `products` are the FLOPs of the matrix products between the start of a collective and its done, `lines` the number
    of all instructions there, and `hop` how many iterations after a stage the next one works on its result.
    """
    computations = {match[1]: match[2] for match in _COMPUTATION.finditer(text)}
    (loop,) = re.finditer(r" while\(.*condition=%([\w.-]+), body=%([\w.-]+)", text)
    (compare,) = re.findall(r"calls=%([\w.-]+)", computations[loop[1]])
    (trips,) = re.findall(r"constant\((\d+)\)", computations[compare])
    (pairs,) = re.findall(r"source_target_pairs=\{((?:\{\d+,\d+\},?)+)\}", computations[loop[2]])
    (batch,) = re.findall(r"= \w+\[(\d+),\d+,\d+\] parameter\(0\)", text)
    found = {
        "collectives": _collectives(computations[loop[2]]),
        "products": _products(computations[loop[2]]),
        "trips": int(trips),
        "stages": _cycle(pairs),
        "pairs": pairs,
        "microbatches": int(batch),
    }
    (hop,) = [each for each in (1, 2) if len(schedule(found["stages"], found["microbatches"], each)) == found["trips"]]
    return found | {"hop": hop}


def _collectives(body):
    """The collectives of a loop's body, in the order of their starts."""
    lines = list(_INSTRUCTION.finditer(body))
    started = [each for each in lines if each[3].endswith("-start")]
    found = []
    for start in started:
        (done,) = [each for each in lines if each[3].endswith("-done") and each[4] == start[1]]
        between = body[start.end() : done.start()]
        names = [each[1] for each in lines if start.end() <= each.start() < done.start()]
        found.append(
            {
                "name": start[1],
                "kind": start[3].removesuffix("-start"),
                "products": [_flops(body, each) for each in _product_lines(between)],
                "lines": len(names),
            }
        )
    first, second = found
    return [first, second]


def _products(body):
    return [_flops(body, each) for each in _product_lines(body)]


def _product_lines(text):
    return [each for each in text.splitlines() if 'custom_call_target="__cublas' in each]


def _flops(body, line):
    """Those of a product of two matrices, whose shapes are in the lines that define them."""
    one, other = _INSTRUCTION.match(line)[4].split(", ")
    (rows, inner), (also_inner, columns) = _shape(body, one), _shape(body, other)
    if inner != also_inner:
        raise ValueError(f"not a product of matrices: {line}")
    return 2 * prod((rows, inner, columns))


def _shape(body, name):
    found = re.search(rf"^ +{re.escape(name)} = \w+\[([\d,]+)\]", body, re.MULTILINE)
    return [int(each) for each in found[1].split(",")]


def _cycle(pairs):
    """How many devices a microbatch visits before it would come back to its first one."""
    target = {int(one): int(other) for one, other in re.findall(r"\{(\d+),(\d+)\}", pairs)}
    visited = [0]
    while target[visited[-1]] != 0:
        visited.append(target[visited[-1]])
    return len(visited)


@cache
def schedule(stages, microbatches, hop):
    """Simulate a pipeline: for each iteration, the microbatch of each stage, or None.

    The first stage begins one microbatch per iteration. A stage works on what the stage before it finished `hop`
    iterations earlier. The last iteration is the one in which the last stage has the last microbatch.
    """
    ticks = []
    while not ticks or ticks[-1][-1] != microbatches - 1:
        begun = len(ticks) if len(ticks) < microbatches else None
        before = ticks[-hop] if len(ticks) >= hop else (None,) * stages
        ticks.append((begun, *before[:-1]))
    return ticks


def bubble(stages, microbatches, hop):
    """The share of a stage's iterations in which it has no microbatch, in percent."""
    ticks = schedule(stages, microbatches, hop)
    (idle,) = {sum(tick[stage] is None for tick in ticks) for stage in range(stages)}
    return 100 * idle / len(ticks)


@cache
def traces(calls):
    """Whether JAX traces the step in each of these calls, one after the other."""
    traced = []

    @partial(jax.jit, static_argnames="clip")
    def step(params, x, lr, clip=1.0):
        traced.append(True)
        return jax.tree.map(lambda p: p - lr * jnp.clip(jnp.mean(x), -clip, clip), params)

    mesh = Mesh(np.array(jax.devices()[:DEVICES]), ("data",))
    names = {
        "jax": jax,
        "jnp": jnp,
        "np": np,
        "step": step,
        "params": {"w": jnp.ones((16, 16)), "b": jnp.zeros(16)},
        "x": jnp.ones((24, 16)),
        "split": NamedSharding(mesh, P("data")),
    }
    found = []
    for call in calls:
        before = len(traced)
        eval(call, names)
        found.append(len(traced) > before)
    return tuple(found)


def _calls(rng):
    """Calls of which some differ from the first in something that makes another program, and some do not."""
    while True:
        chosen = [(0, 0, 0, 0)]
        while len(chosen) < CALLS:
            call = [0, 0, 0, 0]
            for place in rng.choice(4, int(rng.choice([1, 1, 1, 2])), replace=False):
                call[place] = int(rng.integers(1, len(_ARGUMENTS[place])))
            if tuple(call) not in chosen:
                chosen.append(tuple(call))
        notes = [[_ARGUMENTS[place][each][1] for place, each in enumerate(call)] for call in chosen]
        different = {tuple(each) for each in notes}
        # At least one call is like another one that is not the first, and at least one like the first.
        plain = sum(not any(each) for each in notes)
        if plain >= 2 and len(notes) - plain > len(different) - 1:
            break
    calls = [
        f"step({params}, {x}, {lr}{clip})"
        for params, x, lr, clip in ([_ARGUMENTS[place][each][0] for place, each in enumerate(one)] for one in chosen)
    ]
    listing = "\n".join(f"{call}  # {number}" for number, call in enumerate(calls, 1))
    return {"calls": calls, "notes": notes, "listing": listing}


_ARGUMENTS = (PARAMETERS, BATCHES, RATES, CLIPS)


def _reason(notes, number, is_traced):
    own = notes[number - 1]
    if number == 1:
        return "the first call"
    if is_traced:
        return "; ".join(each for each in own if each)
    return f"like call {1 + notes.index(own)}"


def _between(collective):
    if not collective["products"]:
        return "no product, so it is exposed"
    count = len(collective["products"])
    flops = ", ".join(f"{each:_}" for each in collective["products"])
    return f"{count} product of {flops} FLOPs" if count == 1 else f"{count} products of {flops} FLOPs"


def _row(stage, microbatches):
    cells = " ".join("." if each is None else str(each) for each in microbatches)
    return f"stage {stage}: {cells}"


def _choice(rng, options):
    return options[int(rng.integers(len(options)))]


@cache
def _by_exposed():
    """The numbers of the programs, by which of their collectives are exposed."""
    found = {}
    for number, program in enumerate(PROGRAMS):
        collectives = facts(filled(program, MICROBATCHES[0], *program["sizes"][0]))["collectives"]
        found.setdefault(tuple(not each["products"] for each in collectives), []).append(number)
    return found


def filled(program, microbatches, rows, width, hidden):
    """The text for some sizes. The compiler writes the same one for all sizes in `sizes`."""
    stages, group = program["stages"], DEVICES // program["stages"]
    values = {
        "M": microbatches,
        "T": microbatches + program["hop"] * (stages - 1),
        "R": rows,
        "W": width,
        "H": hidden,
        "W/F": width // group,
        "H/F": hidden // group,
        "pairs": _braces((s * group + f, (s + 1) % stages * group + f) for f in range(group) for s in range(stages)),
        "groups": _braces([s * group + f for f in range(group)] for s in range(stages)),
    }
    return re.sub(r"<([^<>]+)>", lambda name: str(values[name[1]]), program["text"]).strip()


def _braces(groups):
    return f"{{{','.join('{' + ','.join(map(str, group)) + '}' for group in groups)}}}"


# What the compiler wrote, with names of sizes in place of numbers. `hop` is 2 if the source sends a result one
# iteration late. `sizes` are rows, width and hidden width for which it writes the same text.
PROGRAMS = [
    {
        "stages": 4,
        "hop": 1,
        "sizes": [(256, 768, 2560), (256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.63 = f32[<W/F>,<H>] get-tuple-element(%param), index=5
  %all-gather-start = (f32[<W/F>,<H>], f32[<W>,<H>]) all-gather-start(%get-tuple-element.63), replica_groups=<groups>, dimensions={0}
  %all-gather-done = f32[<W>,<H>] all-gather-done(%all-gather-start)
  %get-tuple-element.52 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.52, %all-gather-done), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.40.0 = f32[<R>,<H>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.40.0)
  %get-tuple-element.64 = f32[<H>,<W>] get-tuple-element(%param), index=6
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.64), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.41.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh.1 = f32[<R>,<W>] fusion(%get-tuple-element.41.0)
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%wrapped_tanh.1), source_target_pairs=<pairs>
  %axis_index.32.0 = u32[] partition-id()
  %get-tuple-element.51 = s32[] get-tuple-element(%param), index=0
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.61 = s32[<T>] get-tuple-element(%param), index=3
  %get-tuple-element.62 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=4
  %get-tuple-element.53 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %loop_add_select_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.53, %wrapped_tanh.1, %get-tuple-element.61, %get-tuple-element.51, %axis_index.32.0, %collective-permute-done, %get-tuple-element.62)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.51)
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=1
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=0
  ROOT %tuple.12 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_41_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_41_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.37.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.37.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %axis_index.44.0 = u32[] partition-id()
  %constant_42_clone_1_0 = s32[] constant(0)
  %copy.15 = s32[] copy(%constant_42_clone_1_0)
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %param.8 = f32[<H>,<W>] parameter(2)
  %param.7 = f32[<W/F>,<H>] parameter(1)
  %wrapped_iota = s32[<T>] fusion()
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %loop_broadcast_fusion = f32[<R>,<W>] fusion()
  %tuple.10 = tuple(…)
  %while.11 = while(%tuple.10), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.39.0 = f32[<R>,<W>] get-tuple-element(%while.11), index=2
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 1,
        "sizes": [(256, 768, 2560), (256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.71 = f32[<W>,<H>] get-tuple-element(%param), index=6
  %get-tuple-element.58 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.58, %get-tuple-element.71), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.45.0 = f32[<R>,<H>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.45.0)
  %get-tuple-element.59 = f32[<H>,<W>] get-tuple-element(%param), index=2
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.59), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.46.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh.1 = f32[<R>,<W>] fusion(%get-tuple-element.46.0)
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%wrapped_tanh.1), source_target_pairs=<pairs>
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.72 = f32[<H/F>,<W>] get-tuple-element(%param), index=7
  %all-gather-start = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%get-tuple-element.72), replica_groups=<groups>, dimensions={0}
  %get-tuple-element.57 = s32[] get-tuple-element(%param), index=0
  %copy.9 = s32[] copy(%get-tuple-element.57)
  %axis_index.32.0 = u32[] partition-id()
  %loop_add_fusion = s32[] fusion(%copy.9)
  %get-tuple-element.69 = s32[<T>] get-tuple-element(%param), index=4
  %get-tuple-element.70 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=5
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%param), index=3
  %loop_add_select_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.60, %wrapped_tanh.1, %get-tuple-element.69, %copy.9, %axis_index.32.0, %collective-permute-done, %get-tuple-element.70)
  %all-gather-done = f32[<H>,<W>] all-gather-done(%all-gather-start)
  %get-tuple-element.66 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=1
  %get-tuple-element.68 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=0
  ROOT %tuple.12 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_41_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_41_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.42.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.42.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %param.8 = f32[<H/F>,<W>] parameter(2)
  %all-gather-start.1 = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%param.8), replica_groups=<groups>, dimensions={0}
  %loop_broadcast_fusion = f32[<R>,<W>] fusion()
  %axis_index.44.0 = u32[] partition-id()
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %constant_42_clone_1_0 = s32[] constant(0)
  %copy.18 = s32[] copy(%constant_42_clone_1_0)
  %wrapped_iota = s32[<T>] fusion()
  %all-gather-done.1 = f32[<H>,<W>] all-gather-done(%all-gather-start.1)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %param.7 = f32[<W>,<H>] parameter(1)
  %tuple.10 = tuple(…)
  %while.13 = while(%tuple.10), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.44.0 = f32[<R>,<W>] get-tuple-element(%while.13), index=3
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 1,
        "sizes": [(256, 768, 2560), (256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.2_spmd {
  %param = parameter(0)
  %get-tuple-element.63 = f32[<W>,<H/F>] get-tuple-element(%param), index=5
  %get-tuple-element.52 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H/F>], s8[4194304]) custom-call(%get-tuple-element.52, %get-tuple-element.63), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.40.0 = f32[<R>,<H/F>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H/F>] fusion(%get-tuple-element.40.0)
  %get-tuple-element.64 = f32[<H/F>,<W>] get-tuple-element(%param), index=6
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.64), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.41.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %all-reduce-start = f32[<R>,<W>] all-reduce-start(%get-tuple-element.41.0), replica_groups=<groups>
  %all-reduce-done = f32[<R>,<W>] all-reduce-done(%all-reduce-start)
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%all-reduce-done), source_target_pairs=<pairs>
  %axis_index.32.0 = u32[] partition-id()
  %get-tuple-element.51 = s32[] get-tuple-element(%param), index=0
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.61 = s32[<T>] get-tuple-element(%param), index=3
  %get-tuple-element.62 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=4
  %get-tuple-element.53 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %loop_add_select_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.53, %all-reduce-done, %get-tuple-element.61, %get-tuple-element.51, %axis_index.32.0, %collective-permute-done, %get-tuple-element.62)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.51)
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=1
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=0
  ROOT %tuple.12 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_41_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_41_clone_2), direction=LT
}

%region_2.3_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.37.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.37.0), calls=%fused_compare
}

ENTRY %main.5_spmd {
  %axis_index.44.0 = u32[] partition-id()
  %constant_42_clone_1_0 = s32[] constant(0)
  %copy.16 = s32[] copy(%constant_42_clone_1_0)
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %param.8 = f32[<H/F>,<W>] parameter(2)
  %param.7 = f32[<W>,<H/F>] parameter(1)
  %wrapped_iota = s32[<T>] fusion()
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %loop_broadcast_fusion = f32[<R>,<W>] fusion()
  %tuple.10 = tuple(…)
  %while.11 = while(%tuple.10), condition=%region_2.3_spmd, body=%region_0.2_spmd
  ROOT %get-tuple-element.39.0 = f32[<R>,<W>] get-tuple-element(%while.11), index=2
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 2,
        "sizes": [(256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.2_spmd {
  %param = parameter(0)
  %get-tuple-element.71 = f32[<W>,<H/F>] get-tuple-element(%param), index=6
  %get-tuple-element.58 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H/F>], s8[4194304]) custom-call(%get-tuple-element.58, %get-tuple-element.71), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.45.0 = f32[<R>,<H/F>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H/F>] fusion(%get-tuple-element.45.0)
  %get-tuple-element.72 = f32[<H/F>,<W>] get-tuple-element(%param), index=7
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.72), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.46.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %all-reduce-start = f32[<R>,<W>] all-reduce-start(%get-tuple-element.46.0), replica_groups=<groups>
  %all-reduce-done = f32[<R>,<W>] all-reduce-done(%all-reduce-start)
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%get-tuple-element.59), source_target_pairs=<pairs>
  %axis_index.32.0 = u32[] partition-id()
  %get-tuple-element.57 = s32[] get-tuple-element(%param), index=0
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.69 = s32[<T>] get-tuple-element(%param), index=4
  %get-tuple-element.70 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=5
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%param), index=3
  %loop_add_select_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.60, %all-reduce-done, %get-tuple-element.69, %get-tuple-element.57, %axis_index.32.0, %collective-permute-done, %get-tuple-element.70)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.57)
  %copy.16 = f32[<R>,<W>] copy(%all-reduce-done)
  %get-tuple-element.66 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=1
  %get-tuple-element.68 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=0
  ROOT %tuple.12 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_43_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_43_clone_2), direction=LT
}

%region_2.3_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.42.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.42.0), calls=%fused_compare
}

ENTRY %main.5_spmd {
  %loop_broadcast_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion()
  %get-tuple-element.73 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=0
  %get-tuple-element.74 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=1
  %axis_index.44.0 = u32[] partition-id()
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %wrapped_iota = s32[<T>] fusion()
  %constant_44_clone_1_0 = s32[] constant(0)
  %copy.20 = s32[] copy(%constant_44_clone_1_0)
  %param.7 = f32[<W>,<H/F>] parameter(1)
  %param.8 = f32[<H/F>,<W>] parameter(2)
  %tuple.10 = tuple(…)
  %while.13 = while(%tuple.10), condition=%region_2.3_spmd, body=%region_0.2_spmd
  ROOT %get-tuple-element.44.0 = f32[<R>,<W>] get-tuple-element(%while.13), index=3
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 2,
        "sizes": [(256, 768, 3072), (256, 896, 3584), (384, 640, 2560)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.72 = f32[<W/F>,<H>] get-tuple-element(%param), index=6
  %all-gather-start = (f32[<W/F>,<H>], f32[<W>,<H>]) all-gather-start(%get-tuple-element.72), replica_groups=<groups>, dimensions={0}
  %axis_index.32.0 = u32[] partition-id()
  %all-gather-done = f32[<W>,<H>] all-gather-done(%all-gather-start)
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%get-tuple-element.60), source_target_pairs=<pairs>
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.59, %all-gather-done), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.58 = s32[] get-tuple-element(%param), index=0
  %get-tuple-element.45.0 = f32[<R>,<H>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.45.0)
  %get-tuple-element.73 = f32[<H>,<W>] get-tuple-element(%param), index=7
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.73), custom_call_target="__cublas$lt$matmul"
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.46.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %get-tuple-element.70 = s32[<T>] get-tuple-element(%param), index=4
  %get-tuple-element.71 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=5
  %get-tuple-element.61 = f32[<R>,<W>] get-tuple-element(%param), index=3
  %loop_add_select_tanh_fusion = (f32[<R>,<W>], f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.61, %get-tuple-element.70, %get-tuple-element.58, %axis_index.32.0, %get-tuple-element.46.0, %collective-permute-done, %get-tuple-element.71)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.58)
  %get-tuple-element.67 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=2
  %get-tuple-element.68 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=1
  %get-tuple-element.69 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=0
  ROOT %tuple.13 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_43_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_43_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.42.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.42.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %loop_broadcast_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion()
  %get-tuple-element.74 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=0
  %get-tuple-element.75 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=1
  %axis_index.44.0 = u32[] partition-id()
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %wrapped_iota = s32[<T>] fusion()
  %constant_44_clone_1_0 = s32[] constant(0)
  %copy.19 = s32[] copy(%constant_44_clone_1_0)
  %param.7 = f32[<W/F>,<H>] parameter(1)
  %param.8 = f32[<H>,<W>] parameter(2)
  %tuple.11 = tuple(…)
  %while.13 = while(%tuple.11), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.44.0 = f32[<R>,<W>] get-tuple-element(%while.13), index=3
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 2,
        "sizes": [(256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.66 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%get-tuple-element.66), source_target_pairs=<pairs>
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.81 = f32[<H/F>,<W>] get-tuple-element(%param), index=8
  %all-gather-start = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%get-tuple-element.81), replica_groups=<groups>, dimensions={0}
  %get-tuple-element.80 = f32[<W>,<H>] get-tuple-element(%param), index=7
  %get-tuple-element.65 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.65, %get-tuple-element.80), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.67 = f32[<H>,<W>] get-tuple-element(%param), index=3
  %get-tuple-element.50.0 = f32[<R>,<H>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.50.0)
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.67), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.64 = s32[] get-tuple-element(%param), index=0
  %copy.10 = s32[] copy(%get-tuple-element.64)
  %axis_index.32.0 = u32[] partition-id()
  %loop_add_fusion = s32[] fusion(%copy.10)
  %get-tuple-element.51.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %get-tuple-element.78 = s32[<T>] get-tuple-element(%param), index=5
  %get-tuple-element.79 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=6
  %get-tuple-element.68 = f32[<R>,<W>] get-tuple-element(%param), index=4
  %loop_add_select_tanh_fusion = (f32[<R>,<W>], f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.68, %get-tuple-element.78, %copy.10, %axis_index.32.0, %get-tuple-element.51.0, %collective-permute-done, %get-tuple-element.79)
  %all-gather-done = f32[<H>,<W>] all-gather-done(%all-gather-start)
  %copy.18 = f32[<H>,<W>] copy(%all-gather-done)
  %get-tuple-element.74 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=2
  %get-tuple-element.75 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=1
  %get-tuple-element.77 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=0
  ROOT %tuple.13 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_43_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_43_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.47.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.47.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %param.8 = f32[<H/F>,<W>] parameter(2)
  %all-gather-start.1 = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%param.8), replica_groups=<groups>, dimensions={0}
  %loop_broadcast_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion()
  %axis_index.44.0 = u32[] partition-id()
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %constant_44_clone_1_0 = s32[] constant(0)
  %copy.22 = s32[] copy(%constant_44_clone_1_0)
  %wrapped_iota = s32[<T>] fusion()
  %all-gather-done.1 = f32[<H>,<W>] all-gather-done(%all-gather-start.1)
  %get-tuple-element.82 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=0
  %get-tuple-element.83 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=1
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %param.7 = f32[<W>,<H>] parameter(1)
  %tuple.11 = tuple(…)
  %while.15 = while(%tuple.11), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.49.0 = f32[<R>,<W>] get-tuple-element(%while.15), index=4
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 2,
        "sizes": [(256, 768, 2560), (256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.82 = f32[<H/F>,<W>] get-tuple-element(%param), index=8
  %all-gather-start = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%get-tuple-element.82), replica_groups=<groups>, dimensions={0}
  %get-tuple-element.80 = f32[<W>,<H>] get-tuple-element(%param), index=6
  %get-tuple-element.66 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.3 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.66, %get-tuple-element.80), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.50.0 = f32[<R>,<H>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.50.0)
  %all-gather-done = f32[<H>,<W>] all-gather-done(%all-gather-start)
  %get-tuple-element.67 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%get-tuple-element.67), source_target_pairs=<pairs>
  %get-tuple-element.81 = f32[<H>,<H>] get-tuple-element(%param), index=7
  %custom-call.4 = (f32[<R>,<H>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.81), custom_call_target="__cublas$lt$matmul"
  %axis_index.32.0 = u32[] partition-id()
  %get-tuple-element.65 = s32[] get-tuple-element(%param), index=0
  %get-tuple-element.51.0 = f32[<R>,<H>] get-tuple-element(%custom-call.4), index=0
  %wrapped_tanh.1 = f32[<R>,<H>] fusion(%get-tuple-element.51.0)
  %custom-call.5 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh.1, %all-gather-done), custom_call_target="__cublas$lt$matmul"
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.52.0 = f32[<R>,<W>] get-tuple-element(%custom-call.5), index=0
  %get-tuple-element.78 = s32[<T>] get-tuple-element(%param), index=4
  %get-tuple-element.79 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=5
  %get-tuple-element.68 = f32[<R>,<W>] get-tuple-element(%param), index=3
  %loop_add_select_tanh_fusion = (f32[<R>,<W>], f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.68, %get-tuple-element.78, %get-tuple-element.65, %axis_index.32.0, %get-tuple-element.52.0, %collective-permute-done, %get-tuple-element.79)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.65)
  %get-tuple-element.75 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=2
  %get-tuple-element.76 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=1
  %get-tuple-element.77 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=0
  ROOT %tuple.13 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_43_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_43_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.47.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.47.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %loop_broadcast_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion()
  %get-tuple-element.83 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=0
  %get-tuple-element.84 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=1
  %axis_index.44.0 = u32[] partition-id()
  %param.7 = f32[<M>,<R>,<W>] parameter(0)
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.7, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %wrapped_iota = s32[<T>] fusion()
  %constant_44_clone_1_0 = s32[] constant(0)
  %copy.20 = s32[] copy(%constant_44_clone_1_0)
  %param.10 = f32[<H/F>,<W>] parameter(3)
  %param.8 = f32[<W>,<H>] parameter(1)
  %param.9 = f32[<H>,<H>] parameter(2)
  %tuple.11 = tuple(…)
  %while.13 = while(%tuple.11), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.49.0 = f32[<R>,<W>] get-tuple-element(%while.13), index=3
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 1,
        "sizes": [(256, 768, 2560), (256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.64 = f32[<H/F>,<W>] get-tuple-element(%param), index=6
  %all-gather-start = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%get-tuple-element.64), replica_groups=<groups>, dimensions={0}
  %get-tuple-element.63 = f32[<W>,<H>] get-tuple-element(%param), index=5
  %get-tuple-element.52 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.52, %get-tuple-element.63), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.40.0 = f32[<R>,<H>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.40.0)
  %all-gather-done = f32[<H>,<W>] all-gather-done(%all-gather-start)
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %all-gather-done), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.41.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh.1 = f32[<R>,<W>] fusion(%get-tuple-element.41.0)
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%wrapped_tanh.1), source_target_pairs=<pairs>
  %axis_index.32.0 = u32[] partition-id()
  %get-tuple-element.51 = s32[] get-tuple-element(%param), index=0
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.61 = s32[<T>] get-tuple-element(%param), index=3
  %get-tuple-element.62 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=4
  %get-tuple-element.53 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %loop_add_select_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.53, %wrapped_tanh.1, %get-tuple-element.61, %get-tuple-element.51, %axis_index.32.0, %collective-permute-done, %get-tuple-element.62)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.51)
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=1
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=0
  ROOT %tuple.12 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_41_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_41_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.37.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.37.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %axis_index.44.0 = u32[] partition-id()
  %constant_42_clone_1_0 = s32[] constant(0)
  %copy.15 = s32[] copy(%constant_42_clone_1_0)
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %param.8 = f32[<H/F>,<W>] parameter(2)
  %param.7 = f32[<W>,<H>] parameter(1)
  %wrapped_iota = s32[<T>] fusion()
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %loop_broadcast_fusion = f32[<R>,<W>] fusion()
  %tuple.10 = tuple(…)
  %while.11 = while(%tuple.10), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.39.0 = f32[<R>,<W>] get-tuple-element(%while.11), index=2
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 1,
        "sizes": [(256, 768, 2560), (256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.72 = f32[<H/F>,<H>] get-tuple-element(%param), index=6
  %all-gather-start = (f32[<H/F>,<H>], f32[<H>,<H>]) all-gather-start(%get-tuple-element.72), replica_groups=<groups>, dimensions={0}
  %get-tuple-element.71 = f32[<W>,<H>] get-tuple-element(%param), index=5
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.3 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.59, %get-tuple-element.71), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.45.0 = f32[<R>,<H>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.45.0)
  %all-gather-done = f32[<H>,<H>] all-gather-done(%all-gather-start)
  %custom-call.4 = (f32[<R>,<H>], s8[4194304]) custom-call(%wrapped_tanh, %all-gather-done), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.46.0 = f32[<R>,<H>] get-tuple-element(%custom-call.4), index=0
  %wrapped_tanh.1 = f32[<R>,<H>] fusion(%get-tuple-element.46.0)
  %get-tuple-element.73 = f32[<H>,<W>] get-tuple-element(%param), index=7
  %custom-call.5 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh.1, %get-tuple-element.73), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.47.0 = f32[<R>,<W>] get-tuple-element(%custom-call.5), index=0
  %wrapped_tanh.2 = f32[<R>,<W>] fusion(%get-tuple-element.47.0)
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%wrapped_tanh.2), source_target_pairs=<pairs>
  %axis_index.32.0 = u32[] partition-id()
  %get-tuple-element.58 = s32[] get-tuple-element(%param), index=0
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.69 = s32[<T>] get-tuple-element(%param), index=3
  %get-tuple-element.70 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=4
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %loop_add_select_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.60, %wrapped_tanh.2, %get-tuple-element.69, %get-tuple-element.58, %axis_index.32.0, %collective-permute-done, %get-tuple-element.70)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.58)
  %get-tuple-element.67 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=1
  %get-tuple-element.68 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=0
  ROOT %tuple.12 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_41_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_41_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.42.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.42.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %axis_index.44.0 = u32[] partition-id()
  %constant_42_clone_1_0 = s32[] constant(0)
  %copy.16 = s32[] copy(%constant_42_clone_1_0)
  %param.7 = f32[<M>,<R>,<W>] parameter(0)
  %param.10 = f32[<H>,<W>] parameter(3)
  %param.9 = f32[<H/F>,<H>] parameter(2)
  %param.8 = f32[<W>,<H>] parameter(1)
  %wrapped_iota = s32[<T>] fusion()
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.7, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %loop_broadcast_fusion = f32[<R>,<W>] fusion()
  %tuple.10 = tuple(…)
  %while.11 = while(%tuple.10), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.44.0 = f32[<R>,<W>] get-tuple-element(%while.11), index=2
}
""",  # noqa: E501
    },
    {
        "stages": 4,
        "hop": 2,
        "sizes": [(256, 768, 2560), (256, 768, 3072), (256, 896, 3584), (384, 640, 2560), (384, 896, 3584)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.73 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%get-tuple-element.73), source_target_pairs=<pairs>
  %get-tuple-element.88 = f32[<W>,<H>] get-tuple-element(%param), index=7
  %get-tuple-element.72 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.3 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.72, %get-tuple-element.88), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.55.0 = f32[<R>,<H>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.55.0)
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.90 = f32[<H/F>,<W>] get-tuple-element(%param), index=9
  %all-gather-start = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%get-tuple-element.90), replica_groups=<groups>, dimensions={0}
  %get-tuple-element.89 = f32[<H>,<H>] get-tuple-element(%param), index=8
  %custom-call.4 = (f32[<R>,<H>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.89), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.74 = f32[<H>,<W>] get-tuple-element(%param), index=3
  %get-tuple-element.56.0 = f32[<R>,<H>] get-tuple-element(%custom-call.4), index=0
  %wrapped_tanh.1 = f32[<R>,<H>] fusion(%get-tuple-element.56.0)
  %custom-call.5 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh.1, %get-tuple-element.74), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.71 = s32[] get-tuple-element(%param), index=0
  %copy.11 = s32[] copy(%get-tuple-element.71)
  %axis_index.32.0 = u32[] partition-id()
  %loop_add_fusion = s32[] fusion(%copy.11)
  %get-tuple-element.57.0 = f32[<R>,<W>] get-tuple-element(%custom-call.5), index=0
  %get-tuple-element.86 = s32[<T>] get-tuple-element(%param), index=5
  %get-tuple-element.87 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=6
  %get-tuple-element.75 = f32[<R>,<W>] get-tuple-element(%param), index=4
  %loop_add_select_tanh_fusion = (f32[<R>,<W>], f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.75, %get-tuple-element.86, %copy.11, %axis_index.32.0, %get-tuple-element.57.0, %collective-permute-done, %get-tuple-element.87)
  %all-gather-done = f32[<H>,<W>] all-gather-done(%all-gather-start)
  %copy.19 = f32[<H>,<W>] copy(%all-gather-done)
  %get-tuple-element.82 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=2
  %get-tuple-element.83 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=1
  %get-tuple-element.85 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=0
  ROOT %tuple.13 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_43_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_43_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.52.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.52.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %param.10 = f32[<H/F>,<W>] parameter(3)
  %all-gather-start.1 = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%param.10), replica_groups=<groups>, dimensions={0}
  %loop_broadcast_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion()
  %axis_index.44.0 = u32[] partition-id()
  %param.7 = f32[<M>,<R>,<W>] parameter(0)
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.7, %axis_index.44.0)
  %constant_44_clone_1_0 = s32[] constant(0)
  %copy.23 = s32[] copy(%constant_44_clone_1_0)
  %wrapped_iota = s32[<T>] fusion()
  %all-gather-done.1 = f32[<H>,<W>] all-gather-done(%all-gather-start.1)
  %get-tuple-element.91 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=0
  %get-tuple-element.92 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=1
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %param.8 = f32[<W>,<H>] parameter(1)
  %param.9 = f32[<H>,<H>] parameter(2)
  %tuple.11 = tuple(…)
  %while.15 = while(%tuple.11), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.54.0 = f32[<R>,<W>] get-tuple-element(%while.15), index=4
}
""",  # noqa: E501
    },
    {
        "stages": 2,
        "hop": 1,
        "sizes": [(256, 768, 2560), (384, 768, 2560)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.63 = f32[<W/F>,<H>] get-tuple-element(%param), index=5
  %all-gather-start = (f32[<W/F>,<H>], f32[<W>,<H>]) all-gather-start(%get-tuple-element.63), replica_groups=<groups>, dimensions={0}
  %all-gather-done = f32[<W>,<H>] all-gather-done(%all-gather-start)
  %get-tuple-element.52 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.52, %all-gather-done), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.40.0 = f32[<R>,<H>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.40.0)
  %get-tuple-element.64 = f32[<H>,<W>] get-tuple-element(%param), index=6
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.64), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.41.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh.1 = f32[<R>,<W>] fusion(%get-tuple-element.41.0)
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%wrapped_tanh.1), source_target_pairs=<pairs>
  %axis_index.32.0 = u32[] partition-id()
  %get-tuple-element.51 = s32[] get-tuple-element(%param), index=0
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.61 = s32[<T>] get-tuple-element(%param), index=3
  %get-tuple-element.62 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=4
  %get-tuple-element.53 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %loop_add_select_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.53, %wrapped_tanh.1, %get-tuple-element.61, %get-tuple-element.51, %axis_index.32.0, %collective-permute-done, %get-tuple-element.62)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.51)
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=1
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=0
  ROOT %tuple.12 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_37_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_37_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.37.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.37.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %axis_index.44.0 = u32[] partition-id()
  %constant_38_clone_1_0 = s32[] constant(0)
  %copy.15 = s32[] copy(%constant_38_clone_1_0)
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %param.8 = f32[<H>,<W>] parameter(2)
  %param.7 = f32[<W/F>,<H>] parameter(1)
  %wrapped_iota = s32[<T>] fusion()
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %loop_broadcast_fusion = f32[<R>,<W>] fusion()
  %tuple.10 = tuple(…)
  %while.11 = while(%tuple.10), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.39.0 = f32[<R>,<W>] get-tuple-element(%while.11), index=2
}
""",  # noqa: E501
    },
    {
        "stages": 2,
        "hop": 2,
        "sizes": [(256, 768, 2560), (384, 768, 2560)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.72 = f32[<W/F>,<H>] get-tuple-element(%param), index=6
  %all-gather-start = (f32[<W/F>,<H>], f32[<W>,<H>]) all-gather-start(%get-tuple-element.72), replica_groups=<groups>, dimensions={0}
  %axis_index.32.0 = u32[] partition-id()
  %all-gather-done = f32[<W>,<H>] all-gather-done(%all-gather-start)
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%get-tuple-element.60), source_target_pairs=<pairs>
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.59, %all-gather-done), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.58 = s32[] get-tuple-element(%param), index=0
  %get-tuple-element.45.0 = f32[<R>,<H>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.45.0)
  %get-tuple-element.73 = f32[<H>,<W>] get-tuple-element(%param), index=7
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.73), custom_call_target="__cublas$lt$matmul"
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.46.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %get-tuple-element.70 = s32[<T>] get-tuple-element(%param), index=4
  %get-tuple-element.71 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=5
  %get-tuple-element.61 = f32[<R>,<W>] get-tuple-element(%param), index=3
  %loop_add_select_tanh_fusion = (f32[<R>,<W>], f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.61, %get-tuple-element.70, %get-tuple-element.58, %axis_index.32.0, %get-tuple-element.46.0, %collective-permute-done, %get-tuple-element.71)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.58)
  %get-tuple-element.67 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=2
  %get-tuple-element.68 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=1
  %get-tuple-element.69 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=0
  ROOT %tuple.13 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_40_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_40_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.42.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.42.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %loop_broadcast_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion()
  %get-tuple-element.74 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=0
  %get-tuple-element.75 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=1
  %axis_index.44.0 = u32[] partition-id()
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %wrapped_iota = s32[<T>] fusion()
  %constant_41_clone_1_0 = s32[] constant(0)
  %copy.19 = s32[] copy(%constant_41_clone_1_0)
  %param.7 = f32[<W/F>,<H>] parameter(1)
  %param.8 = f32[<H>,<W>] parameter(2)
  %tuple.11 = tuple(…)
  %while.13 = while(%tuple.11), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.44.0 = f32[<R>,<W>] get-tuple-element(%while.13), index=3
}
""",  # noqa: E501
    },
    {
        "stages": 2,
        "hop": 1,
        "sizes": [(256, 768, 2560), (384, 768, 2560)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.64 = f32[<H/F>,<W>] get-tuple-element(%param), index=6
  %all-gather-start = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%get-tuple-element.64), replica_groups=<groups>, dimensions={0}
  %get-tuple-element.63 = f32[<W>,<H>] get-tuple-element(%param), index=5
  %get-tuple-element.52 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.2 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.52, %get-tuple-element.63), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.40.0 = f32[<R>,<H>] get-tuple-element(%custom-call.2), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.40.0)
  %all-gather-done = f32[<H>,<W>] all-gather-done(%all-gather-start)
  %custom-call.3 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh, %all-gather-done), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.41.0 = f32[<R>,<W>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh.1 = f32[<R>,<W>] fusion(%get-tuple-element.41.0)
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%wrapped_tanh.1), source_target_pairs=<pairs>
  %axis_index.32.0 = u32[] partition-id()
  %get-tuple-element.51 = s32[] get-tuple-element(%param), index=0
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.61 = s32[<T>] get-tuple-element(%param), index=3
  %get-tuple-element.62 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=4
  %get-tuple-element.53 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %loop_add_select_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.53, %wrapped_tanh.1, %get-tuple-element.61, %get-tuple-element.51, %axis_index.32.0, %collective-permute-done, %get-tuple-element.62)
  %loop_add_fusion = s32[] fusion(%get-tuple-element.51)
  %get-tuple-element.59 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=1
  %get-tuple-element.60 = f32[<R>,<W>] get-tuple-element(%loop_add_select_fusion), index=0
  ROOT %tuple.12 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_37_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_37_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.37.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.37.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %axis_index.44.0 = u32[] partition-id()
  %constant_38_clone_1_0 = s32[] constant(0)
  %copy.15 = s32[] copy(%constant_38_clone_1_0)
  %param.6 = f32[<M>,<R>,<W>] parameter(0)
  %param.8 = f32[<H/F>,<W>] parameter(2)
  %param.7 = f32[<W>,<H>] parameter(1)
  %wrapped_iota = s32[<T>] fusion()
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.6, %axis_index.44.0)
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %loop_broadcast_fusion = f32[<R>,<W>] fusion()
  %tuple.10 = tuple(…)
  %while.11 = while(%tuple.10), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.39.0 = f32[<R>,<W>] get-tuple-element(%while.11), index=2
}
""",  # noqa: E501
    },
    {
        "stages": 2,
        "hop": 2,
        "sizes": [(256, 768, 2560)],
        "text": """
%region_0.1_spmd {
  %param = parameter(0)
  %get-tuple-element.73 = f32[<R>,<W>] get-tuple-element(%param), index=2
  %collective-permute-start = (f32[<R>,<W>], f32[<R>,<W>]) collective-permute-start(%get-tuple-element.73), source_target_pairs=<pairs>
  %get-tuple-element.88 = f32[<W>,<H>] get-tuple-element(%param), index=7
  %get-tuple-element.72 = f32[<R>,<W>] get-tuple-element(%param), index=1
  %custom-call.3 = (f32[<R>,<H>], s8[4194304]) custom-call(%get-tuple-element.72, %get-tuple-element.88), custom_call_target="__cublas$lt$matmul"
  %collective-permute-done = f32[<R>,<W>] collective-permute-done(%collective-permute-start)
  %get-tuple-element.90 = f32[<H/F>,<W>] get-tuple-element(%param), index=9
  %all-gather-start = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%get-tuple-element.90), replica_groups=<groups>, dimensions={0}
  %get-tuple-element.55.0 = f32[<R>,<H>] get-tuple-element(%custom-call.3), index=0
  %wrapped_tanh = f32[<R>,<H>] fusion(%get-tuple-element.55.0)
  %get-tuple-element.89 = f32[<H>,<H>] get-tuple-element(%param), index=8
  %custom-call.4 = (f32[<R>,<H>], s8[4194304]) custom-call(%wrapped_tanh, %get-tuple-element.89), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.74 = f32[<H>,<W>] get-tuple-element(%param), index=3
  %get-tuple-element.56.0 = f32[<R>,<H>] get-tuple-element(%custom-call.4), index=0
  %wrapped_tanh.1 = f32[<R>,<H>] fusion(%get-tuple-element.56.0)
  %custom-call.5 = (f32[<R>,<W>], s8[4194304]) custom-call(%wrapped_tanh.1, %get-tuple-element.74), custom_call_target="__cublas$lt$matmul"
  %get-tuple-element.71 = s32[] get-tuple-element(%param), index=0
  %copy.11 = s32[] copy(%get-tuple-element.71)
  %axis_index.32.0 = u32[] partition-id()
  %loop_add_fusion = s32[] fusion(%copy.11)
  %get-tuple-element.57.0 = f32[<R>,<W>] get-tuple-element(%custom-call.5), index=0
  %get-tuple-element.86 = s32[<T>] get-tuple-element(%param), index=5
  %get-tuple-element.87 = f32[<M>,<R>,<W>] get-tuple-element(%param), index=6
  %get-tuple-element.75 = f32[<R>,<W>] get-tuple-element(%param), index=4
  %loop_add_select_tanh_fusion = (f32[<R>,<W>], f32[<R>,<W>], f32[<R>,<W>]) fusion(%get-tuple-element.75, %get-tuple-element.86, %copy.11, %axis_index.32.0, %get-tuple-element.57.0, %collective-permute-done, %get-tuple-element.87)
  %all-gather-done = f32[<H>,<W>] all-gather-done(%all-gather-start)
  %copy.19 = f32[<H>,<W>] copy(%all-gather-done)
  %get-tuple-element.82 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=2
  %get-tuple-element.83 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=1
  %get-tuple-element.85 = f32[<R>,<W>] get-tuple-element(%loop_add_select_tanh_fusion), index=0
  ROOT %tuple.13 = tuple(…)
}

%fused_compare {
  %param_0.24 = s32[] parameter(0)
  %constant_40_clone_2 = s32[] constant(<T>)
  ROOT %lt.6.1 = pred[] compare(%param_0.24, %constant_40_clone_2), direction=LT
}

%region_1.2_spmd {
  %param.1 = parameter(0)
  %get-tuple-element.52.0 = s32[] get-tuple-element(%param.1), index=0
  ROOT %loop_compare_fusion = pred[] fusion(%get-tuple-element.52.0), calls=%fused_compare
}

ENTRY %main.4_spmd {
  %param.10 = f32[<H/F>,<W>] parameter(3)
  %all-gather-start.1 = (f32[<H/F>,<W>], f32[<H>,<W>]) all-gather-start(%param.10), replica_groups=<groups>, dimensions={0}
  %loop_broadcast_fusion = (f32[<R>,<W>], f32[<R>,<W>]) fusion()
  %axis_index.44.0 = u32[] partition-id()
  %param.7 = f32[<M>,<R>,<W>] parameter(0)
  %loop_select_fusion = f32[1,<R>,<W>] fusion(%param.7, %axis_index.44.0)
  %constant_41_clone_1_0 = s32[] constant(0)
  %copy.23 = s32[] copy(%constant_41_clone_1_0)
  %wrapped_iota = s32[<T>] fusion()
  %all-gather-done.1 = f32[<H>,<W>] all-gather-done(%all-gather-start.1)
  %get-tuple-element.91 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=0
  %get-tuple-element.92 = f32[<R>,<W>] get-tuple-element(%loop_broadcast_fusion), index=1
  %bitcast.3.0 = f32[<R>,<W>] bitcast(%loop_select_fusion)
  %param.8 = f32[<W>,<H>] parameter(1)
  %param.9 = f32[<H>,<H>] parameter(2)
  %tuple.11 = tuple(…)
  %while.15 = while(%tuple.11), condition=%region_1.2_spmd, body=%region_0.1_spmd
  ROOT %get-tuple-element.54.0 = f32[<R>,<W>] get-tuple-element(%while.15), index=4
}
""",  # noqa: E501
    },
]
