"""A class of 40 at a short problem, psum_by_hand: 30 people work alone, and ten disguise what one of them sent.

Everybody solves it in the same five steps, and there are only a few ways to write each. A person who works alone draws
each way, the usual ones more often, so many honest solutions have most of their steps in common: that is what makes a
short problem hard. No solution of this class ships with the problem, but most of the ways do.
"""

import random

from tests.app.teaching.similarity.disguises import (
    all_at_once,
    imported_otherwise,
    moved,
    padded,
    reformatted,
    renamed,
    swapped,
    thorough,
    with_variables,
)

# For each choice, the usual way first.
_DEVICES = (
    'mesh.shape["data"]',
    "mesh.size",
    "mesh.devices.size",
    "len(mesh.devices)",
    "mesh.devices.shape[0]",
    'dict(mesh.shape)["data"]',
)
_MISSING = (
    "-d % n",
    "(n - d % n) % n",
    "(d + n - 1) // n * n - d",
    "-(-d // n) * n - d",
    "n - 1 - (d - 1) % n",
    "n * math.ceil(d / n) - d",
    "0 if d % n == 0 else n - d % n",
)
_SUM = (
    "local.sum(axis=0)",
    "jnp.sum(local, axis=0)",
    'jnp.einsum("md->d", local)',
    "local.sum(0)",
    "jnp.ones(len(local), local.dtype) @ local",
    "functools.reduce(jnp.add, local)",
    "jnp.add.reduce(local, axis=0)",
)
_PAD = (
    "jnp.pad(total, (0, missing))",
    "jnp.concatenate([total, jnp.zeros(missing, total.dtype)])",
    "jnp.zeros(d + missing, total.dtype).at[:d].set(total)",
    "jnp.append(total, jnp.zeros(missing, total.dtype))",
    'jnp.pad(total, [(0, missing)], mode="constant", constant_values=0)',
    "jax.lax.pad(total, jnp.zeros((), total.dtype), [(0, missing, 0)])",
    "jnp.hstack((total, jnp.zeros((missing,), dtype=total.dtype)))",
    "jax.lax.dynamic_update_slice(jnp.zeros(d + missing, total.dtype), total, (0,))",
)
_SCATTER = (
    'jax.lax.psum_scatter(PADDED, "data", tiled=True)',
    'jax.lax.psum_scatter(PADDED, "data", scatter_dimension=0, tiled=True)',
    'jax.lax.psum_scatter(PADDED.reshape(n, -1), "data")',
    'jax.lax.psum_scatter(PADDED, axis_name="data", tiled=True)',
    'jax.lax.psum_scatter(jnp.reshape(PADDED, (n, (d + missing) // n)), "data", tiled=False)',
)
_GATHER = (
    'jax.lax.all_gather(CHUNK, "data", tiled=True)',
    'jax.lax.all_gather(CHUNK, "data", axis=0, tiled=True)',
    'jax.lax.all_gather(CHUNK, "data").ravel()',
    'jax.lax.all_gather(CHUNK, "data").reshape(-1)',
    'jax.lax.all_gather(CHUNK, axis_name="data", tiled=True)',
    'jnp.concatenate(jax.lax.all_gather(CHUNK, "data"))',
)
_CUT = ("[:d]", "[0:d]", "[: parts.shape[1]]", "[jnp.arange(d)]")
_SPECS = (
    'in_specs=P("data"), out_specs=P(), check_vma=False',
    'in_specs=(P("data"),), out_specs=P(), check_vma=False',
    'in_specs=P("data", None), out_specs=P(None), check_vma=False',
    'check_vma=False, out_specs=P(), in_specs=P("data")',
)
_LENGTH = ("d = parts.shape[1]", "_, d = parts.shape", "d = parts.shape[-1]", "d = len(parts[0])")
_GUARD = (
    "",
    "",
    "",
    "    assert parts.ndim == 2\n",
    '    if parts.ndim != 2:\n        raise ValueError("expected two dimensions")\n',
    "    assert parts.shape[0] % n == 0, parts.shape\n",
    "    parts = jnp.asarray(parts)\n",
)
_NAMES = (("total", "padded", "chunk"), ("s", "p", "c"), ("vector", "buffer", "mine"), ("acc", "acc", "acc"))
DISGUISES = (
    renamed,
    all_at_once,
    thorough,
    lambda source: swapped(renamed(source)),
    lambda source: with_variables(reformatted(renamed(source))),
    lambda source: padded(moved(renamed(source))),
    lambda source: imported_otherwise(swapped(source)),
    thorough,
    lambda source: reformatted(with_variables(swapped(renamed(source)))),
    thorough,
)


def short_class(seed: int) -> tuple[dict[str, str], set[frozenset[str]]]:
    """The source of each of 40 people, and the pairs of whom one copied."""
    draw = random.Random(seed)
    sources = {f"alone{number:02}": _source(draw) for number in range(30)}
    copied = draw.sample(sorted(sources), len(DISGUISES))
    pairs = set()
    for number, (victim, disguise) in enumerate(zip(copied, DISGUISES, strict=True)):
        sources[f"copier{number}"] = disguise(sources[victim])
        pairs.add(frozenset((victim, f"copier{number}")))
    return sources, pairs


def _source(draw: random.Random) -> str:
    def one_of(ways: tuple[str, ...]) -> str:
        return draw.choices(ways, [1 / (place + 1) for place in range(len(ways))])[0]

    total, padded_name, chunk = draw.choice(_NAMES)
    pad = one_of(_PAD).replace("total", total)
    scatter, gather = one_of(_SCATTER), one_of(_GATHER)
    add_up, cut = one_of(_SUM), one_of(_CUT)
    head = f"    {one_of(_LENGTH)}\n    n = {one_of(_DEVICES)}\n"
    helper = ""
    if draw.random() < 0.15:  # the padding is a function of its own
        helper = f"def fill({total}, d, missing):\n    return {pad}\n\n\n"
        pad = f"fill({total}, d, missing)"
    cut_inside = draw.random() < 0.6
    inside = f"        {total} = {add_up}\n"
    if draw.random() < 0.2:
        inside += (
            f"        return {gather.replace('CHUNK', scatter.replace('PADDED', pad))}{cut if cut_inside else ''}\n"
        )
    else:
        inside += f"        {padded_name} = {pad}\n        {chunk} = {scatter.replace('PADDED', padded_name)}\n"
        inside += f"        return {gather.replace('CHUNK', chunk)}{cut if cut_inside else ''}\n"
    specs, rest = one_of(_SPECS), "" if cut_inside else cut
    style = draw.choices(("decorator", "call", "variable", "jit"), (5, 3, 2, 1))[0]
    if style == "decorator":
        inside = f"    @functools.partial(jax.shard_map, mesh=mesh, {specs})\n    def add_up(local):\n{inside}"
        end = f"    return add_up(parts){rest}\n"
    else:
        inside = f"    def add_up(local):\n{inside}"
        mapped = f"jax.shard_map(add_up, mesh=mesh, {specs})"
        end = f"    return {mapped}(parts){rest}\n"
        if style == "variable":
            end = f"    run = {mapped}\n    return run(parts){rest}\n"
        elif style == "jit":
            end = f"    return jax.jit({mapped})(parts){rest}\n"
    guard, missing = one_of(_GUARD), f"    missing = {one_of(_MISSING)}\n"
    imports = "import functools\nimport math\n\nimport jax\nimport jax.numpy as jnp\n"
    imports += "from jax.sharding import PartitionSpec as P\n\n\n"
    return f"{imports}{helper}def all_reduce(mesh, parts):\n{head}{guard}{missing}\n{inside}\n{end}"
