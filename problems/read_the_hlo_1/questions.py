"""Steps on a mesh of 8 devices, compiled by XLA. What they communicate is read from the compiled programs.

The bytes that a device sends come from a second program, which does the same as the collective with one
collective-permute for each message. Nothing here knows a formula for them.
"""

import re
from functools import cache
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

MESHES = [{"data": 2, "model": 4}, {"data": 4, "model": 2}]
AXES = [("data",), ("model",), ("data", "model")]
# None of them is a number of devices, or one less.
TRIPS = [5, 6, 9, 10, 11, 12]
# All arrays of the steps are of this dtype.
ELEMENT = jnp.dtype(jnp.float32).itemsize
KINDS = ["all-gather", "reduce-scatter", "all-reduce", "all-to-all", "collective-permute"]

_COMPUTATION = re.compile(r"^(?:ENTRY )?%([\w.-]+) \(.*?^}$", re.MULTILINE | re.DOTALL)
_COLLECTIVE = re.compile(rf"^.* ({'|'.join(KINDS)})\((.*?)\), .*$", re.MULTILINE)
_SHAPE = re.compile(r"\bf32\[([\d,]+)\]")
# The attributes of an instruction that the question leaves out.
_LEFT_OUT = re.compile(
    r", (?:metadata|backend_config|sharding|channel_id|use_global_device_ids|kind|to_apply)=.*?(?=, \w+=|$)",
    re.MULTILINE,
)


def draw(rng):
    """A step, by its seed, and what the compiler makes of it. The seed alone says nothing about the answers."""
    seed = int(rng.integers(2**31))
    axes, text = compiled(seed)
    return {
        "seed": seed,
        "axes": axes,
        "mesh_code": f"Mesh(np.array(jax.devices()).reshape{tuple(axes.values())}, {tuple(axes)})",
        "mesh_ids": str(np.arange(8).reshape(tuple(axes.values())).tolist()),
        "device": seed % 8,
        "program": shortened(text),
    }


def truth(parameters):
    found = facts(parameters)
    return {
        "kind": found["kind"],
        "axes": " and ".join(found["over"]),
        "highest": max(found["group"]),
        "operand": found["operand"],
        "executions": prod(found["trips"]),
        "sent": prod(found["trips"]) * found["messages"] * found["message"],
    }


def steps(parameters):
    found = facts(parameters)
    count, product = len(found["operands"]), _times([*_dims(found["operands"][0]), ELEMENT])
    trips = found["trips"]
    once = found["messages"] * found["message"]
    return {
        "line": _cut(found["line"]),
        "meaning": _MEANING[found["kind"]],
        "groups": ", ".join(_braces(each) for each in found["groups"]),
        "group": _braces(found["group"]),
        "along": " and ".join(f"`{name}`" for name in found["over"]),
        "size": len(found["group"]),
        "shapes": f"{count} parts of {product}" if count > 1 else product,
        "where": _place(found),
        "product": f"{_times(trips)} = {prod(trips)}" if len(trips) > 1 else str(prod(trips)),
        "messages": found["messages"],
        "message": found["message"],
        "plural": "message" if found["messages"] == 1 else "messages",
        "route": _ROUTE[found["kind"]],
        "once": once,
    }


def facts(parameters):
    """What the compiled program says of its only collective."""
    axes, text = compiled(parameters["seed"])
    computations = {match[1]: match[0] for match in _COMPUTATION.finditer(text)}
    (place,) = [name for name, body in computations.items() if _COLLECTIVE.search(body)]
    (match,) = _COLLECTIVE.finditer(computations[place])
    line, kind = match[0].strip(), match[1]
    if _cut(line).partition(" = ")[2] not in parameters["program"]:
        raise ValueError(
            "this version of JAX compiles the step differently, so its answers are not those of the question"
        )
    operands = [_shape_of(computations[place], name) for name in match[2].split(", ")]
    operand = _bytes_of(" ".join(operands))
    groups = _groups(line)
    over = _axes_of(groups, axes)
    messages = _messages(kind, operand, tuple(over), tuple(axes.items()))
    return {
        "line": line,
        "kind": kind,
        "operands": operands,
        "operand": operand,
        "result": _bytes_of(line.partition(f" {kind}(")[0]),
        "groups": groups,
        "group": next(each for each in groups if parameters["device"] in each),
        "over": over,
        "place": place,
        "trips": _trips(computations, place),
        "loops": list(_loops(text).values()),
        "messages": len(messages),
        "message": messages[0],
    }


def shortened(text):
    """The program as the question shows it.

    It keeps the main computation, the bodies and conditions of its loops, and the comparisons that conditions call.
    The types behind the name of a computation, layouts, comments, calls of other computations, and the attributes in
    _LEFT_OUT are left out.
    """
    computations = {match[1]: match[0] for match in _COMPUTATION.finditer(text)}
    kept = set()
    for name, body in computations.items():
        if body.startswith("ENTRY"):
            kept.add(name)
        for loop in re.finditer(r"condition=%([\w.-]+), body=%([\w.-]+)", body):
            kept.update(loop.groups())
            kept.update(re.findall(r"calls=%([\w.-]+)", computations[loop[1]]))
    shown = "\n\n".join(_cut(body) for name, body in computations.items() if name in kept)
    return re.sub(r", calls=%([\w.-]+)", lambda call: call[0] if call[1] in kept else "", shown)


@cache
def compiled(seed):
    """The mesh of a step, and the text of its compiled program."""
    rng = np.random.default_rng(seed)
    axes = MESHES[rng.integers(len(MESHES))]
    over = AXES[rng.integers(len(AXES))]
    step = STEPS[rng.integers(len(STEPS))]
    trips = [int(each) for each in rng.choice(TRIPS, 2, replace=False)]
    rows, width = (int(each) for each in rng.choice([16, 24, 32, 40, 48, 56], 2, replace=False))
    size = prod(axes[name] for name in over)
    function, in_specs, out_specs, shapes = step(over, size, trips, rows, width)
    return axes, _text(axes, function, in_specs, out_specs, shapes)


def _text(axes, function, in_specs, out_specs, shapes):
    mesh = Mesh(np.array(jax.devices()).reshape(tuple(axes.values())), tuple(axes))
    mapped = jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)
    arrays = [
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
        for shape, spec in zip(shapes, in_specs, strict=True)
    ]
    return re.sub(r"/\*.*?\*/", "", jax.jit(mapped).lower(*arrays).compile().as_text())


# The steps. Each gives the function of one device, its specs, and the shapes of its arrays. `over` is split in `size`.


def _gather_each_layer(over, size, trips, rows, width):
    def step(x, weights):
        def layer(h, w):
            return jnp.tanh(h @ lax.all_gather(w, over, axis=0, tiled=True)), None

        return lax.scan(layer, x, weights)[0]

    return step, (P(over), P(None, over)), P(over), [(rows * size, width), (trips[0], width, width)]


def _gather_all_layers_first(over, size, trips, rows, width):
    def step(x, weights):
        whole = lax.all_gather(weights, over, axis=1, tiled=True)
        return lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, whole)[0]

    return step, (P(over), P(None, over)), P(over), [(rows * size, width), (trips[0], width, width)]


def _gather_each_layer_of_each_microbatch(over, size, trips, rows, width):
    def step(x, weights):
        def layer(h, w):
            return jnp.tanh(h @ lax.all_gather(w, over, axis=0, tiled=True)), None

        def microbatch(total, h):
            return total + lax.scan(layer, h, weights)[0], None

        return lax.scan(microbatch, jnp.zeros(x.shape[1:]), x)[0]

    shapes = [(trips[1], rows * size, width), (trips[0], width, width)]
    return step, (P(None, over), P(None, over)), P(over), shapes


def _gradient(weights, x):
    return x.T @ jnp.tanh(x @ weights)


def _microbatches(each, at_the_end):
    """The gradient of every microbatch, added up: what `each` makes of one, and `at_the_end` of their sum."""

    def step(x, weights):
        start = jax.eval_shape(each, weights)
        total = lax.scan(lambda sum_, rows: (sum_ + each(_gradient(weights, rows)), None), jnp.zeros(start.shape), x)[0]
        return at_the_end(total)

    return step


def _whole(gradient):
    return gradient


def _scatter_each_microbatch(over, size, trips, rows, width):
    def scatter(gradient):
        return lax.psum_scatter(gradient, over, scatter_dimension=0, tiled=True)

    shapes = [(trips[0], rows * size, width), (width, width)]
    return _microbatches(scatter, _whole), (P(None, over), P()), P(over), shapes


def _scatter_once(over, size, trips, rows, width):
    def scatter(gradient):
        return lax.psum_scatter(gradient, over, scatter_dimension=0, tiled=True)

    shapes = [(trips[0], rows * size, width), (width, width)]
    return _microbatches(_whole, scatter), (P(None, over), P()), P(over), shapes


def _reduce_each_microbatch(over, size, trips, rows, width):
    shapes = [(trips[0], rows * size, width), (width, width)]
    return _microbatches(lambda each: lax.psum(each, over), _whole), (P(None, over), P()), P(), shapes


def _reduce_once(over, size, trips, rows, width):
    shapes = [(trips[0], rows * size, width), (width, width)]
    return _microbatches(_whole, lambda total: lax.psum(total, over)), (P(None, over), P()), P(), shapes


def _reduce_activations(over, size, trips, rows, width):
    def step(x, columns, rows_):
        def layer(h, pair):
            return lax.psum(jnp.tanh(h @ pair[0]) @ pair[1], over), None

        return lax.scan(layer, x, (columns, rows_))[0]

    shapes = [(rows, width), (trips[0], width, 2 * width), (trips[0], 2 * width, width)]
    return step, (P(), P(None, None, over), P(None, over)), P(), shapes


def _exchange_each_chunk(over, size, trips, rows, width):
    def step(x, weights):
        def chunk(total, h):
            return total + lax.all_to_all(jnp.tanh(h @ weights), over, 1, 0, tiled=True), None

        return lax.scan(chunk, jnp.zeros((rows * size, width // size)), x)[0]

    return step, (P(None, over), P()), P(None, over), [(trips[0], rows * size, width), (width, width)]


def _exchange_once(over, size, trips, rows, width):
    def step(x, weights):
        h = lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, weights)[0]
        return lax.all_to_all(h, over, 1, 0, tiled=True)

    return step, (P(over), P()), P(None, over), [(rows * size, width), (trips[0], width, width)]


def _next(size, distance=1):
    return [(device, (device + distance) % size) for device in range(size)]


def _pass_on_each_layer(over, size, trips, rows, width):
    def step(x, weights):
        def layer(h, w):
            return lax.ppermute(jnp.tanh(h @ w), over, _next(size)), None

        return lax.scan(layer, x, weights)[0]

    return step, (P(over), P()), P(over), [(rows * size, width), (trips[0], width, width)]


def _pass_on_once(over, size, trips, rows, width):
    def step(x, weights):
        h = lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, weights)[0]
        return lax.ppermute(h, over, _next(size))

    return step, (P(over), P()), P(over), [(rows * size, width), (trips[0], width, width)]


STEPS = [
    _gather_each_layer,
    _gather_all_layers_first,
    _gather_each_layer_of_each_microbatch,
    _scatter_each_microbatch,
    _scatter_once,
    _reduce_each_microbatch,
    _reduce_once,
    _reduce_activations,
    _exchange_each_chunk,
    _exchange_once,
    _pass_on_each_layer,
    _pass_on_once,
]


# The same collectives as single messages: rings, and for an all-to-all one message to each other device.


def _gather_in_a_ring(part, over, size):
    held = [part]
    for _ in range(size - 1):
        held.append(lax.ppermute(held[-1], over, _next(size)))
    return jnp.stack(held)


def _scatter_in_a_ring(part, over, size):
    blocks, me = part.reshape(size, -1), lax.axis_index(over)
    total = blocks[(me - 1) % size]
    for hop in range(2, size + 1):
        total = lax.ppermute(total, over, _next(size)) + blocks[(me - hop) % size]
    return total


def _reduce_in_a_ring(part, over, size):
    return _gather_in_a_ring(_scatter_in_a_ring(part, over, size), over, size)


def _exchange_directly(part, over, size):
    blocks, me = part.reshape(size, -1), lax.axis_index(over)
    return jnp.stack(
        [lax.ppermute(blocks[(me + distance) % size], over, _next(size, distance)) for distance in range(1, size)]
    )


def _pass_on(part, over, size):
    return lax.ppermute(part, over, _next(size))


BY_MESSAGES = {
    "all-gather": _gather_in_a_ring,
    "reduce-scatter": _scatter_in_a_ring,
    "all-reduce": _reduce_in_a_ring,
    "all-to-all": _exchange_directly,
    "collective-permute": _pass_on,
}


@cache
def _messages(kind, operand, over, mesh):
    """The bytes of each message that one device sends, from the compiled collective-permutes."""
    axes = dict(mesh)
    size, elements = prod(axes[name] for name in over), operand // ELEMENT

    def one(part):
        return BY_MESSAGES[kind](part, over, size)

    text = _text(axes, one, (P(over),), P(over), [(elements * size,)])
    return [_bytes_of(each[0]) for each in re.finditer(r"^.* = \S+ collective-permute\(", text, re.MULTILINE)]


# Reading a compiled program.

_MEANING = {
    "all-gather": "Each device sends its piece, and has all pieces of its group afterwards",
    "reduce-scatter": "The operands of the group are added up, and each device keeps one piece of the sum",
    "all-reduce": "The operands of the group are added up, and every device has the whole sum",
    "all-to-all": "Each device sends a different piece to every device of its group, and receives one from each",
    "collective-permute": "Each device sends its operand to one other device, its target in `source_target_pairs`",
}
_ROUTE = {
    "all-gather": "Around a ring, a device sends its own piece and then each one that arrives, except for the last one",
    "reduce-scatter": "Around a ring, a device passes on one partial sum of a piece for each other device of the group",
    "all-reduce": "Around a ring, this is a reduce-scatter and then an all-gather of the pieces of the sum",
    "all-to-all": "A device keeps its own piece and sends one to each other device of the group",
    "collective-permute": "A device sends its operand to its target",
}


def _braces(group):
    return f"{{{', '.join(map(str, group))}}}"


def _times(factors):
    return " \N{MULTIPLICATION SIGN} ".join(map(str, factors))


def _cut(text):
    """Without layouts, such as the {1,0} in f32[2,3]{1,0}, types behind a computation's name, and some attributes."""
    text = re.sub(r"(?<=\])\{[\d,]*\}", "", text)
    text = re.sub(r"^((?:ENTRY )?%[\w.-]+) \(.*\{$", r"\1 {", text, flags=re.MULTILINE)
    return _LEFT_OUT.sub("", text)


def _shape_of(computation, name):
    found = re.search(rf"^ +(?:ROOT )?{re.escape(name)} = (\S+) ", computation, re.MULTILINE)
    return found[1]


def _dims(shape):
    return [int(each) for each in _SHAPE.match(shape)[1].split(",")]


def _bytes_of(text):
    """The bytes of all arrays whose shapes are in a text."""
    return sum(prod(_dims(shape[0])) * ELEMENT for shape in _SHAPE.finditer(text))


def _groups(line):
    """The groups of the collective, or the cycles of the pairs of a permute."""
    found = re.search(r"(replica_groups|source_target_pairs)=\{(\{[\d,{}]+\})\}", line)
    groups = [[int(each) for each in group.split(",")] for group in re.findall(r"\{([\d,]+)\}", found[2])]
    if found[1] == "replica_groups":
        return sorted(sorted(group) for group in groups)
    target, cycles = dict(groups), set()
    for device in target:
        cycle = [device]
        while target[cycle[-1]] != device:
            cycle.append(target[cycle[-1]])
        cycles.add(tuple(sorted(cycle)))
    return sorted(map(list, cycles))


def _axes_of(groups, axes):
    """The axes along which the devices of a group differ, by their places in JAX's mesh."""
    mesh = Mesh(np.array(jax.devices()).reshape(tuple(axes.values())), tuple(axes))
    places = {device.id: place for place, device in np.ndenumerate(mesh.devices)}
    return [name for dim, name in enumerate(axes) if len({places[device][dim] for device in groups[0]}) > 1]


def _loops(text):
    """The body of each loop: how often XLA says that it runs. Its counter goes up from 0 in steps of 1."""
    counted = r'"known_init_step":\{"init":"0","step":"1"\},"known_trip_count":\{"n":"(\d+)"\}'
    found = re.finditer(rf"^.* while\(.*body=%([\w.-]+).*{counted}.*$", text, re.MULTILINE)
    return {match[1]: int(match[2]) for match in found}


def _trips(computations, place):
    """How often each of the loops around a computation runs, the outermost first."""
    trips = []
    while not computations[place].startswith("ENTRY"):
        (caller,) = [name for name, body in computations.items() if f"body=%{place}," in body]
        trips.insert(0, _loops(computations[caller])[place])
        place = caller
    return trips


def _place(found):
    if not found["trips"]:
        return "in the main computation (`ENTRY`), outside of the loop, so it is executed once"
    if len(found["trips"]) == 1:
        last = found["trips"][0] - 1
        return f"in `%{found['place']}`, the body of the loop. The condition lets the counter run from 0 to {last}"
    inner, outer = found["trips"][1], found["trips"][0]
    return (
        f"in `%{found['place']}`, the body of the inner loop, which runs {inner} times in each of the {outer} "
        "passes of the outer one"
    )
